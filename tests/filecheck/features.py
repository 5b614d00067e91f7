"""What a test may name in a REQUIRES line, for lit and for pytest alike: the features of this machine."""

from tritonx.backends.amd.device_library import found
from tritonx.backends.nvidia.assemble import find_ptxas
from tritonx.backends.nvidia.disassemble import find_nvdisasm

FEATURES = frozenset({*({"sass"} if find_ptxas() and find_nvdisasm() else ()), *({"ockl"} if found("ockl.bc") else ())})
"""``sass``: cubins can be made and disassembled. ``ockl``: ROCm's library for messages to the host is at hand."""
