"""What an op of the language makes of a block's padding.

A block of 96 elements has 128 in the IR: its *storage*. What lies in the other 32, its *padding*, is unknown: whatever
the ops that made the block have left there. An op may be given such blocks that never lets an element of the padding
into another place: one that computes each element from those in its place, or one that moves, makes or joins whole
axes. Which those are follows from how the layouts of their tensors hang together (``LAYOUTS``). Every other op must be
given storage, seen as a block of its own (``PaddingSemantics``), with what it needs in the padding: a mask that leaves
it out, what changes no sum, indices of storage, copies of an element. Who does that has thought of the padding, and
``SemanticsBase`` refuses all that has not been (``UnsupportedExtents``), so that nothing is computed from what is
unknown.
"""

from __future__ import annotations

from functools import cache

from xdsl.ir import Operation

from tritonx.dialects.layout_constraints import (
    Broadcast,
    Elementwise,
    ExpandDims,
    Joined,
    SplitApart,
    Transposed,
    layouts_of,
)
from tritonx.dialects.tile import SplatOp

WHOLE_AXES = (Broadcast, ExpandDims, Joined, SplitApart, Transposed)


@cache
def ignores_padding(op: type[Operation]) -> bool:
    """Whether padding does not matter to the op, as the layouts of its tensors say: of another package's as well."""
    return op is SplatOp or isinstance(layouts_of(op), (Elementwise, *WHOLE_AXES))


class UnsupportedExtents(ValueError):
    """A block whose extents are not powers of two where an op cannot have one."""
