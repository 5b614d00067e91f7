"""How wide the accesses through a tile of pointers may be, from the axis facts and the tile's layout."""

from __future__ import annotations

from xdsl.ir import SSAValue

from tritonx.analysis.axis_info import AxisFacts
from tritonx.ir.types import PointerType, bit_width, element_type, is_tensor, type_of
from tritonx.layouts import LinearLayout, access_vectors, memory_width


def access_width(
    facts: AxisFacts, layout: LinearLayout, pointer: SSAValue, mask: SSAValue | None, bits: int, max_bits: int = 128
) -> int:
    """Elements of `bits` bits in one access: registers i*w to i*w + w - 1 are neighbours in memory, aligned to the
    access as far as `pointer_alignment` says, and under one value of the mask."""
    info = facts.of(pointer)
    constancy = None if mask is None or not is_tensor(type_of(mask)) else facts.of(mask).constancy
    dim, width = memory_width(layout, bits, info.contiguity, info.divisibility, constancy, max_bits)
    while width > 1:
        vectors = access_vectors(layout, dim, width)
        if vectors.width == width and vectors.groups[0] == tuple(range(width)):
            return width
        width //= 2
    return 1


def pointer_alignment(facts: AxisFacts, pointer: SSAValue) -> int:
    """Bytes that divide the first address of every run of neighbours (at least the element's own size)."""
    info = facts.of(pointer)
    element = element_type(type_of(pointer))
    own = max(1, bit_width(element.pointee) // 8) if isinstance(element, PointerType) else 1
    # The dim that is contiguous is the one that vectors run along.
    fast = max(range(info.rank), key=lambda d: (info.contiguity[d], d))
    return max(own, min(info.divisibility[fast], 1 << 30))
