"""What a test may name in a REQUIRES line, for lit and for pytest alike: the features of this machine."""

from tritonx.backends.nvidia.assembler.assemble import find_ptxas
from tritonx.backends.nvidia.assembler.disassemble import find_nvdisasm

FEATURES = frozenset({"sass"} if find_ptxas() and find_nvdisasm() else ())
"""``sass``: cubins can be made and disassembled."""
