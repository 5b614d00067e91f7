"""``tt.dot`` by the matrix cores: MFMA on CDNA, WMMA on RDNA; the layouts of operands and result are those of the
encodings.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tritonx.backends.amd.targets import Processor
from tritonx.conversion.gpu_to_llvm.encodings import encoding_of
from tritonx.ir.failure import PassError
from tritonx.layouts.encodings import BlockedEncoding

if TYPE_CHECKING:
    from tritonx.conversion.gpu_to_llvm.function import FunctionEmitter


def matrix(f: FunctionEmitter, processor: Processor, op: Any) -> bool:
    """Emit ``op`` if its result has a matrix-core layout; False leaves it to multiply-adds."""
    if isinstance(encoding_of(op.c.type), BlockedEncoding):
        return False
    raise PassError(op, f"no matrix instruction is emitted for this layout on {processor.name} yet")
