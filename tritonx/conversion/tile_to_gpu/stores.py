"""The layouts in which a store may be made.

Accesses of one shape agree on one layout (`coalesce`), so that what is loaded is stored as it is. A value of another
layout, the result of a product above all, is converted in any case, so that a store is free to have its own:

- as many neighbours in a thread as it moves at once, and not as many as others do: a thread with eight halves that goes
  to memory one by one leaves its neighbours seven apart, and each instruction touches eight times as many sectors;
- its warps over rows: a thread then has few rows and more of each, and of each row there is an address to compute.
  Of 128×256 elements in 8 warps, one a lane, that is 16 rows and 8 columns in place of 128 rows and one column;
- or, on targets that say so, the layout of the product's result, where a thread has neighbours of `RESULT_BITS` or more
  there. A converted tile may be stored by half as many instructions, but takes as many to go through shared memory,
  with barriers, and often more of that memory than the loop in front. Where an instruction swaps registers between
  lanes, two that have the neighbours of each other's elements swap half of them, so that each stores twice as many.
"""

from __future__ import annotations

import math
from dataclasses import replace
from functools import lru_cache

from tritonx.analysis.access_width import pointer_accesses
from tritonx.analysis.axis_info import AxisFacts
from tritonx.conversion.tile_to_gpu.blocked import blocked
from tritonx.conversion.tile_to_gpu.costs import access_cost, element_bits
from tritonx.dialects import tile
from tritonx.ir.types import shape_of, type_of
from tritonx.layouts import linear_layout
from tritonx.layouts.dims import BLOCK, LANE, REGISTER, WARP
from tritonx.layouts.encodings import BlockedEncoding, DistributedEncoding, Ints, LinearEncoding
from tritonx.layouts.tiling import storage_shape


def store_encodings(op: tile.StoreOp, agreed: BlockedEncoding, facts: AxisFacts) -> tuple[BlockedEncoding, ...]:
    """What a store through a tile of pointers may have in place of the encoding that is `agreed`, which is first."""
    shape = shape_of(type_of(op.ptr))
    own = _narrowed(agreed, shape, _width(op, agreed, agreed.order[0], facts))
    return tuple(dict.fromkeys((agreed, warps_over_rows(agreed, shape), own, warps_over_rows(own, shape))))


RESULT_BITS = 64
"""What a thread stores at once of a product's result at least: four neighbours of 16 bits. Triton 3.9 does so for all
results of matrix cores; not timed."""


def result_encoding(
    op: tile.StoreOp, native: DistributedEncoding, fast: int, facts: AxisFacts, swapped: tuple[int, ...]
) -> DistributedEncoding | None:
    """The layout in which a product's result, in its unit's layout, is stored by threads with neighbours along `fast`:
    that, or with one lane of `swapped` (masks) in place of a register; None where neither has `RESULT_BITS`."""
    layouts = (native, swapped_encoding(native, shape_of(type_of(op.ptr)), fast, swapped))
    widths = {layout: _width(op, layout, fast, facts) for layout in layouts if layout is not None}
    widest = max(widths, key=lambda layout: widths[layout])  # the first of equal ones
    return widest if widths[widest] * element_bits(type_of(op.value)) >= RESULT_BITS else None


@lru_cache(maxsize=1024)
def swapped_encoding(
    native: DistributedEncoding, shape: Ints, fast: int, swapped: tuple[int, ...]
) -> DistributedEncoding | None:
    """`native` where a thread has the neighbours along `fast` of the lane that has those of its own, and gives elements
    of another register for them; None where no lane of `swapped` has them."""
    layout = linear_layout(native, shape)
    registers, lanes = list(layout.bases(REGISTER)), list(layout.bases(LANE))
    width = 1
    while _step(shape, fast, width) in registers:
        width *= 2
    wanted = _step(shape, fast, width)
    others = [basis for basis in registers if any(basis) and not 0 < basis[fast] < width]
    if wanted not in lanes or 1 << lanes.index(wanted) not in swapped or not others:
        return None
    given = min(others, key=lambda basis: (basis[fast] == 0, sum(basis)))
    lanes[lanes.index(wanted)] = given
    registers.remove(given)
    registers.insert(width.bit_length() - 1, wanted)
    return LinearEncoding(tuple(registers), tuple(lanes), layout.bases(WARP), layout.bases(BLOCK))


def _step(shape: Ints, dim: int, size: int) -> Ints:
    return tuple(size if d == dim else 0 for d in range(len(shape)))


def store_cost(op: tile.StoreOp, encoding: BlockedEncoding, facts: AxisFacts) -> int:
    """The instructions of a store in `encoding`, in cycles of a warp (`costs`)."""
    fast, layout = encoding.order[0], linear_layout(encoding, shape_of(type_of(op.ptr)))
    return access_cost(layout, fast, _width(op, encoding, fast, facts), element_bits(type_of(op.value)))


def _width(op: tile.StoreOp, encoding: DistributedEncoding, fast: int, facts: AxisFacts) -> int:
    """How many elements a thread stores at once."""
    layout = linear_layout(encoding, shape_of(type_of(op.ptr)))
    accesses = pointer_accesses(facts, layout, op.ptr, op.mask, element_bits(type_of(op.value)), may_split=True)
    return accesses.width if accesses.dim == fast else 1


def _narrowed(encoding: BlockedEncoding, shape: Ints, width: int) -> BlockedEncoding:
    """`encoding` with `width` elements along its fastest dim in a thread."""
    per_thread = list(encoding.size_per_thread)
    per_thread[encoding.order[0]] = width
    warps, lanes = math.prod(encoding.warps_per_cta), math.prod(encoding.threads_per_warp)
    return blocked(shape, tuple(per_thread), encoding.order, warps, lanes, 1 << len(encoding.cga))


@lru_cache(maxsize=1024)
def warps_over_rows(encoding: BlockedEncoding, shape: Ints) -> BlockedEncoding:
    """`encoding` with its warps along the slowest dims first, and its lanes as they are."""
    sizes = list(storage_shape(shape))
    for basis in encoding.cga:
        for d, step in enumerate(basis):
            sizes[d] //= 2 if step else 1
    warps, free = [1] * len(sizes), math.prod(encoding.warps_per_cta)
    for d in reversed(encoding.order):
        room = sizes[d] // (encoding.size_per_thread[d] * encoding.threads_per_warp[d])
        warps[d] = max(1, min(free, room))
        free //= warps[d]
    warps[encoding.order[-1]] *= free
    return replace(encoding, warps_per_cta=tuple(warps))
