"""How many blocks a multiprocessor's shared memory holds with the tiles of a loop's products, before any is placed."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from xdsl.dialects.builtin import IntegerAttr
from xdsl.ir import Operation, SSAValue

from tritonx.dialects import tile
from tritonx.dialects.control_flow import loop_around
from tritonx.ir.edit import is_defined_inside
from tritonx.ir.types import bit_width, element_type, shape_of, type_of
from tritonx.ir.walk import ops_in

RESERVED = 1024
"""Bytes that a multiprocessor keeps for each block, from compute capability 8.0 on (CUDA C++ programming guide, "Shared
memory"): it has as many more than a block may have."""

BARRIER = 8
"""Bytes of an mbarrier."""


WARPS = 64
"""That a multiprocessor holds, whatever they take."""


def barriers_cost_a_block(loads: Sequence[tile.LoadOp], stages: int, block_bytes: int, warps: int) -> bool:
    """Whether there is a block less where the tiles that a loop loads for its products have barriers, one for each of
    their slots. Three slots for two tiles of 64×64 in f16 and a third such tile are 57,344 bytes: four blocks of
    233,472, and three with barriers (attention of 64 elements lost 5 % by that)."""
    loop = loop_around(loads[0])
    assert loop is not None, "they are a loop's"
    asked = loop.attributes.get("tt.num_stages")
    slots = max(1, asked.value.data if isinstance(asked, IntegerAttr) else stages)
    nbytes = slots * sum(_nbytes(load.result) for load in loads) + sum(map(_nbytes, _from_outside(loop)))
    room, most = block_bytes + RESERVED, WARPS // warps
    with_barriers = nbytes + slots * len(loads) * BARRIER
    return min(most, room // (nbytes + RESERVED)) > room // (with_barriers + RESERVED)


def _from_outside(loop: Operation) -> set[SSAValue]:
    """Operands of a loop's products that are made in front of it."""
    products = [op for op in ops_in(loop) if isinstance(op, tile.DotOp)]
    return {value for op in products for value in (op.a, op.b) if not is_defined_inside(value, loop)}


def _nbytes(value: SSAValue) -> int:
    return prod(shape_of(type_of(value))) * bit_width(element_type(type_of(value))) // 8
