"""The sizes that a tile may have, which are Triton's: extents are powers of two, and there are at most 2^20 elements.

Everything behind relies on it: layouts are linear over GF(2), so that an extent is a number of bits, and a tile lies in
registers, so that a larger one has no code.
"""

from __future__ import annotations

from functools import lru_cache

from xdsl.ir import Attribute, Operation

from tritonx.dialects.layout_constraints import constraint_of
from tritonx.ir.errors import VerifyFailure
from tritonx.ir.types import is_tensor, shape_of, type_of

MAX_ELEMENTS = 1 << 20
"""Of a tile; `TRITON_MAX_TENSOR_NUMEL` to the author of a kernel."""


def check_sizes(op: Operation) -> None:
    """Raises `VerifyFailure` where a tile that an op of ours takes, makes or hands to its blocks has no such size."""
    if constraint_of(op) is None:
        return
    arguments = [argument for region in op.regions for block in region.blocks for argument in block.args]
    for value in (*op.operands, *op.results, *arguments):
        type_ = type_of(value)
        if is_tensor(type_) and (reason := _fault(type_)) is not None:
            raise VerifyFailure(reason, op)


@lru_cache(maxsize=4096)
def _fault(type_: Attribute) -> str | None:
    elements = 1
    for extent in shape_of(type_):
        if extent <= 0 or extent & (extent - 1):
            return f"the extents of a tile must be powers of two, got {type_}"
        elements *= extent
    if elements > MAX_ELEMENTS:
        return f"a tile has at most {MAX_ELEMENTS} elements, got {elements} in {type_}"
    return None
