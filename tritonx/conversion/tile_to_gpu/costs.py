"""What ops of a layout and layout conversions cost, in cycles of one warp.

The unit is the issue of one simple instruction by a warp. An elementwise op costs one for each register that a thread
holds, or eight where the hardware needs a sequence; a load four and one for each sector of memory that a warp touches;
a conversion what `tritonx.layouts.convert.conversion_cost` says, and more for predicates. A wider float costs nothing,
so that what moves does so while it is half as wide, and takes half of the registers. But elements that other threads
hold as well are widened once where that is as good, and an operand of multiply-adds is better moved to memory as it is
read there. An op in a loop counts four times for each level. These weights only have to rank alternatives:
whether to move a value or to compute it again where it is wanted.
"""

from __future__ import annotations

from functools import lru_cache

from xdsl.ir import Attribute, Operation

from tritonx.conversion.tile_to_gpu.propagation import HEAVY, propagation_of
from tritonx.dialects import arith, scf, tile
from tritonx.ir.types import bit_width, element_type, i1, is_integer, is_pointer, is_tensor, shape_of, type_of
from tritonx.layouts import LayoutError, LinearLayout, access_vectors, contiguous_elements, linear_layout
from tritonx.layouts.convert import conversion_cost as layout_conversion_cost
from tritonx.layouts.dims import LANE, REGISTER, WARP
from tritonx.layouts.encodings import (
    DistributedEncoding,
    DotOperandEncoding,
    Encoding,
    Ints,
    SharedEncoding,
)
from tritonx.layouts.gf2 import rank
from tritonx.layouts.matrix_units import by_multiply_adds

IMPOSSIBLE = 1 << 40
HEAVY_WEIGHT = 8
LOAD_ISSUE = 4
SECTOR_BITS = 32 * 8
LOOP_WEIGHT = 4
HELD = 128
"""Elements of an operand of multiply-adds that a thread can have in registers beside its sums. Of f16 that are widened
and multiplied by f32 on an H200, 64 are better widened there than stored (106 µs and 134); 256 and more are not (67 and
62; 512: 128 and 62; 1024: 171 and 65)."""
INDEX_COST = 4
"""Of each register of an index that arrives: what had been one sum and constants, which addresses take in for nothing,
is an unknown number."""
MADE_IN_PLACE = 256
"""Elements of a product's operand that each thread makes for itself, as a choice by a mask, though others make them as
well: products of f32 on an H200 with 64, 256, 512 and 1024 so chosen took 94, 55, 59 to 102 and 107 µs, with operands
made once and stored 116, 64, 58 to 101 and 56."""
PREDICATE_COST = 3
"""Of an i1 that moves: a predicate is made a number, and found in a word and compared where it arrives."""


def loop_weight(op: Operation) -> int:
    """How often an op counts, from the loops around it."""
    weight = 1
    parent = op.parent_op()
    while parent is not None:
        if isinstance(parent, scf.ForOp | scf.WhileOp):
            weight *= LOOP_WEIGHT
        parent = parent.parent_op()
    return weight


def conversion_cost(type_: Attribute, source: DistributedEncoding, target: Encoding) -> int:
    """The cost of a `convert_layout`, or of a store to shared memory of 16 bytes at a time."""
    cost = _moving_cost(source, target, shape_of(type_), element_bits(type_))
    return cost + PREDICATE_COST * registers(source, shape_of(type_)) if cost and element_type(type_) == i1 else cost


@lru_cache(maxsize=8192)
def _moving_cost(source: DistributedEncoding, target: Encoding, shape: Ints, bits: int) -> int:
    """Of elements of so many bits."""
    if source == target:
        return 0
    if isinstance(target, SharedEncoding):
        return -(-registers(source, shape) * bits // 128)
    try:
        return layout_conversion_cost(linear_layout(source, shape), linear_layout(target, shape), bits)
    except LayoutError:
        return IMPOSSIBLE


def is_index(type_: Attribute) -> bool:
    """Whether a tensor is of integers or pointers."""
    return element_type(type_) != i1 and (is_integer(type_) or is_pointer(type_))


def element_bits(type_: Attribute) -> int:
    """Bits that an element takes when it moves."""
    return max(8, bit_width(type_))


def rematerialisation_cost(op: Operation, key: DistributedEncoding) -> int:
    """The cost for one key of an op that computes a tensor."""
    if isinstance(op, tile.LoadOp):
        return _load_cost(op, key)
    propagation = propagation_of(op)
    if propagation.free_source:
        return 1 if not isinstance(op, tile.MakeRangeOp) else registers(key, shape_of(type_of(op.results[0])))
    if not propagation.computes:
        return 0
    result = next(r for r in op.results if is_tensor(type_of(r)))
    held = registers(key, shape_of(type_of(result)))
    if isinstance(op, arith.ExtFOp) and (held <= HELD or not _is_operand_of_multiply_adds(key)):
        return 0 if isinstance(key, DotOperandEncoding) else held - _own(key, shape_of(type_of(result)))
    return held * (HEAVY_WEIGHT if isinstance(op, HEAVY) else 1)


def _is_operand_of_multiply_adds(key: DistributedEncoding) -> bool:
    """Each thread needs whole rows or columns of it: a product reads them from memory as it goes, unless they are made
    in registers."""
    return isinstance(key, DotOperandEncoding) and by_multiply_adds(key.parent)


def registers(encoding: DistributedEncoding, shape: Ints) -> int:
    """Distinct elements that a thread holds."""
    layout = linear_layout(encoding, shape)
    return 1 << rank(layout.columns(REGISTER))


def _own(encoding: DistributedEncoding, shape: Ints) -> int:
    """Elements that a thread would hold if no other one had them as well; a copy is no more than it holds."""
    layout = linear_layout(encoding, shape)
    return max(1, (1 << layout.total_out_bits) >> (layout.in_bits(LANE) + layout.in_bits(WARP)))


def _load_cost(op: Operation, key: DistributedEncoding) -> int:
    """Instructions, each with the sectors that the lanes of a warp touch; neighbours are taken to lie along the dim
    on which the thread holds most."""
    type_ = type_of(op.results[0])
    shape, bits = shape_of(type_), element_bits(type_)
    layout = linear_layout(key, shape)
    held = contiguous_elements(layout)
    dim = max(range(len(held)), key=lambda d: (held[d], d))
    return access_cost(layout, dim, max(1, 128 // bits), bits)


def access_cost(layout: LinearLayout, dim: int, width: int, bits: int) -> int:
    """Of instructions that each move `width` neighbours along `dim`, as far as a thread holds them."""
    return len(access_vectors(layout, dim, width).groups) * (LOAD_ISSUE + _sectors(layout, dim, bits))


def _sectors(layout: LinearLayout, dim: int, bits: int) -> int:
    name = layout.outs[dim][0]
    below = max(1, SECTOR_BITS // bits)
    places = [basis & ~((below - 1) << layout.offset_of(name)) for basis in layout.columns(LANE)]
    return 1 << rank(places)
