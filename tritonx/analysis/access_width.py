"""How wide the accesses through a tile of pointers may be, from the axis facts and the tile's layout."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.ir import Attribute, SSAValue

from tritonx.analysis.axis_info import AxisFacts
from tritonx.analysis.axis_value import Ints
from tritonx.analysis.buffers import tensor_layout
from tritonx.analysis.mask_edges import mask_edges
from tritonx.analysis.stated_facts import is_stated
from tritonx.dialects.gpu_layout import MemDescType, encoding_value
from tritonx.ir.types import PointerType, bit_width, element_type, is_tensor, type_of
from tritonx.layouts import LayoutError, LinearLayout, access_vectors, linear_layout, memory_width
from tritonx.layouts.access import placement, shared_access
from tritonx.layouts.dims import REGISTER

SPLIT_WORDS = 128
"""Words of a thread's registers that an access by vectors that may be split holds at most: all of them, whole or put
together, are in registers at the branch, where elements could be loaded, computed with and stored by and by. Half of
the 255 registers of a thread; no other number has been measured."""


@dataclass(frozen=True)
class Accesses:
    """Vectors of `width` elements along `dim`. `split`: the mask may change once within one, which is then accessed
    element by element (`mask_edges`); otherwise each has one mask."""

    dim: int
    width: int
    split: bool = False


def pointer_accesses(
    facts: AxisFacts, layout: LinearLayout, pointer: SSAValue, mask: SSAValue | None, bits: int, *, may_split: bool
) -> Accesses:
    """The vectors in which elements of `bits` bits are accessed through `pointer` (`accesses`)."""
    info = facts.of(pointer)
    return accesses(facts, layout, info.contiguity, info.divisibility, mask, bits, (pointer,) if may_split else ())


def accesses(
    facts: AxisFacts,
    layout: LinearLayout,
    contiguity: Ints,
    divisibility: Ints,
    mask: SSAValue | None,
    bits: int,
    addresses: tuple[SSAValue, ...] = (),
) -> Accesses:
    """The vectors in which elements of `bits` bits are accessed in runs of `contiguity`, whose first addresses
    `divisibility` divides, in bytes.

    Those that are whole but at the mask's edge are as wide as the addresses let them be, where they would have less
    than two words otherwise, and not more than `SPLIT_WORDS` are held by a thread; given the values that `addresses`
    are made of, if nothing is only stated of them or of the mask (`stated_facts`)."""
    if mask is None or not is_tensor(type_of(mask)):
        return Accesses(*memory_width(layout, bits, contiguity, divisibility))
    dim, width = memory_width(layout, bits, contiguity, divisibility, facts.of(mask).constancy)
    words = layout.in_size(REGISTER) * bits // 32
    if addresses and width * bits < 64 and words <= SPLIT_WORDS:
        at, wide = memory_width(layout, bits, contiguity, divisibility, mask_edges(facts, mask))
        if wide > width and not is_stated((*addresses, mask)):
            return Accesses(at, wide, split=True)
    return Accesses(dim, width)


def access_width(facts: AxisFacts, layout: LinearLayout, pointer: SSAValue, mask: SSAValue | None, bits: int) -> int:
    """Elements of `bits` bits in one access: registers i*w to i*w + w - 1 are neighbours in memory, aligned to the
    access as far as `pointer_alignment` says, and under one value of the mask."""
    found = pointer_accesses(facts, layout, pointer, mask, bits, may_split=False)
    width = found.width
    while width > 1:
        vectors = access_vectors(layout, found.dim, width)
        if vectors.width == width and vectors.groups[0] == tuple(range(width)):
            return width
        width //= 2
    return 1


def stored_width(tile_type: Attribute, memory: MemDescType, width: int) -> int:
    """Of `width` elements of a tile that a thread has next to each other, those that lie together in memory as well:
    all, or one; 0 where the memory is not laid out for such a tile."""
    try:
        places = placement(tensor_layout(tile_type), linear_layout(encoding_value(memory.encoding), memory.shape))
    except LayoutError:
        return 0
    bits = bit_width(element_type(tile_type))
    return width if shared_access(places, bits, max_vec_bits=width * bits).vec == width else 1


def pointer_alignment(facts: AxisFacts, pointer: SSAValue) -> int:
    """Bytes that divide the first address of every run of neighbours (at least the element's own size)."""
    info = facts.of(pointer)
    element = element_type(type_of(pointer))
    own = max(1, bit_width(element.pointee) // 8) if isinstance(element, PointerType) else 1
    # The dim that is contiguous is the one that vectors run along.
    fast = max(range(info.rank), key=lambda d: (info.contiguity[d], d))
    return max(own, min(info.divisibility[fast], 1 << 30))
