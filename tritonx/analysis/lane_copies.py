"""Which loads a warp's copies can bring to shared memory where these write consecutive memory, lane after lane.

The layout of the copying threads then follows from the memory (`layouts/lane_order`), and the tile of pointers must be
made in it: which is done where it is made of ranges, numbers and arithmetic, as tiles of pointers nearly always are.
A copy reads what its lanes' elements are in global memory: in whole pieces, or it is not worth it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product

from xdsl.ir import Attribute, Operation, SSAValue

from tritonx.analysis.access_width import access_width
from tritonx.analysis.axis_info import AxisFacts
from tritonx.analysis.buffers import tensor_layout
from tritonx.dialects import tile
from tritonx.dialects.gpu_layout import (
    ConvertLayoutOp,
    LocalAllocOp,
    LocalLoadOp,
    MemDescType,
    attribute_of,
    distributed_encoding,
    encoding_value,
    memdesc,
)
from tritonx.dialects.layout_constraints import Broadcast, Elementwise, ExpandDims, FromScalars, constraint_of
from tritonx.ir.effects import has_effects
from tritonx.ir.fold.constants import constant_of
from tritonx.ir.types import bit_width, element_type, is_tensor, shape_of, type_as, type_of
from tritonx.layouts import LinearLayout, linear_layout
from tritonx.layouts.access import placement
from tritonx.layouts.dims import LANE, OFFSET, WARP
from tritonx.layouts.encodings import LinearEncoding, PaddedSharedEncoding
from tritonx.layouts.gf2 import rank
from tritonx.layouts.lane_order import lane_ordered
from tritonx.layouts.transposed_access import read_accesses, swizzled_rows

PIECE = 64
"""Bytes that lie together in global memory of which a warp's copy must read all, or none: half a line of the caches."""


@dataclass(frozen=True)
class LaneCopy:
    """A copy of `width` elements a lane to memory of this type, by threads in which the tile lies like `encoding`."""

    memory: MemDescType
    encoding: LinearEncoding
    width: int


def loaded_by_lanes(
    load: tile.LoadOp, alloc: LocalAllocOp, facts: AxisFacts, lane_bytes: Sequence[int]
) -> LaneCopy | None:
    """How copies of one of these numbers of bytes do what a load does, and the store of it in a buffer, which may have
    another layout for that if it can be read as fast; None where none can, or by less than half
    of what lanes can copy and threads would load."""
    if load.isVolatile.value.data or (load.other is not None and constant_of(load.other) != 0):
        return None
    memories = [*_memories(alloc, _fast(facts, load.ptr))]
    least = min(max(lane_bytes), _loaded_bytes(load, facts)) // 2
    wide = sorted((nbytes for nbytes in lane_bytes if nbytes >= least), reverse=True)
    for nbytes, memory in product(wide, memories):
        found = copied_by_lanes(load.ptr, load.mask, memory, facts, (nbytes,))
        if found is not None:
            return found
    return None


def _loaded_bytes(load: tile.LoadOp, facts: AxisFacts) -> int:
    """Of a thread's loads. Copies of a quarter of it are as many instructions as a store saves: 232 instructions an
    iteration instead of 170 in a product of f32 (128×128×32, gfx950)."""
    type_ = type_of(load.result)
    bits = max(8, bit_width(element_type(type_)))
    return access_width(facts, tensor_layout(type_), load.ptr, load.mask, bits) * bits // 8


def _fast(facts: AxisFacts, pointers: SSAValue) -> int:
    """Along which dimension elements are neighbours in global memory."""
    contiguity = facts.of(pointers).contiguity
    return max(range(len(contiguity)), key=lambda dim: (contiguity[dim], dim))


def _memories(alloc: LocalAllocOp, fast: int) -> Iterator[MemDescType]:
    """The layouts that a buffer may have: its own, and rows as they lie in global memory, swizzled so that readers take
    no longer; the fastest first."""
    own = type_as(alloc.result, MemDescType)
    yield own
    users = [use.operation for use in alloc.result.uses]
    if len(own.shape) != 2 or not all(isinstance(user, LocalLoadOp) for user in users):
        return
    readers = [type_of(user.results[0]) for user in users]
    bits, limit = max(8, bit_width(own.element_type)), _reading(own, readers)
    found: list[tuple[int, int, MemDescType]] = []
    for encoding in swizzled_rows(own.shape, fast, bits):
        memory = memdesc(own.shape, own.element_type, attribute_of(encoding))
        if (cycles := _reading(memory, readers)) <= limit:
            found.append((cycles, -encoding.vec, memory))
    yield from (memory for _, _, memory in sorted(found, key=lambda one: one[:2]))


def _reading(memory: MemDescType, readers: Sequence[Attribute]) -> int:
    """Cycles in which a warp reads memory as each of these types."""
    bits, layout = bit_width(memory.element_type), linear_layout(encoding_value(memory.encoding), memory.shape)
    accesses = [read_accesses(placement(tensor_layout(type_), layout), bits, _encoding(type_)) for type_ in readers]
    return sum(len(access.accesses) * access.wavefronts for access in accesses)


def _encoding(type_: Attribute) -> object:
    return distributed_encoding(type_) if is_tensor(type_) else None


def copied_by_lanes(
    pointers: SSAValue, mask: SSAValue | None, memory: MemDescType, facts: AxisFacts, lane_bytes: Sequence[int]
) -> LaneCopy | None:
    """The widest copies of a tile of pointers to memory of this type, of one of these numbers of bytes."""
    encoding, type_ = encoding_value(memory.encoding), type_of(pointers)
    if isinstance(encoding, PaddedSharedEncoding) or memory.alloc_shape[-len(memory.shape) :] != memory.shape:
        return None
    if not is_tensor(type_) or not all(map(can_be_made_otherwise, (pointers, *(() if mask is None else (mask,))))):
        return None
    bits, places, threads = bit_width(memory.element_type), linear_layout(encoding, memory.shape), tensor_layout(type_)
    for nbytes in sorted(lane_bytes, reverse=True):
        width = 8 * nbytes // max(8, bits)
        if width < 1:
            continue
        made = lane_ordered(places, width, threads.in_size(LANE), threads.in_size(WARP))
        if made is None or access_width(facts, linear_layout(made, shape_of(type_)), pointers, mask, bits) < width:
            continue
        if _reads_whole_pieces(places, width * threads.in_size(LANE), facts, pointers, bits):
            return LaneCopy(memory, made, width)
    return None


def _reads_whole_pieces(memory: LinearLayout, elements: int, facts: AxisFacts, pointers: SSAValue, bits: int) -> bool:
    """Whether the elements of a warp's copy, the lowest offsets of the memory, are whole pieces of global memory."""
    fast = _fast(facts, pointers)
    dim = memory.out_dims[fast]
    wanted = min(facts.of(pointers).contiguity[fast], memory.out_size(dim), max(1, 8 * PIECE // max(8, bits)))
    bases = memory.columns(OFFSET)[: elements.bit_length() - 1]
    steps = [1 << bit + memory.offset_of(dim) for bit in range(wanted.bit_length() - 1)]
    return rank((*bases, *steps)) == rank(bases)


def can_be_made_otherwise(value: SSAValue) -> bool:
    """Whether a tile is made of ranges, numbers and scalars, so that it can be made in any layout."""
    seen: set[SSAValue] = set()
    left = [value]
    while left:
        value = left.pop()
        if value in seen or not is_tensor(type_of(value)):
            continue
        seen.add(value)
        op = value.owner
        if not isinstance(op, Operation) or not is_made_alike(op):
            return False
        left += op.operands
    return True


def is_made_alike(op: Operation) -> bool:
    """Whether an op gives the same tile in whatever layout it is wanted, from operands in a layout that follows."""
    constraint = constraint_of(op)
    if isinstance(constraint, Elementwise):
        return not has_effects(op) and not op.regions
    return isinstance(op, ConvertLayoutOp) or isinstance(constraint, FromScalars | ExpandDims | Broadcast)
