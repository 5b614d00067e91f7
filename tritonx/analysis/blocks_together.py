"""How many blocks a multiprocessor's shared memory holds with the tiles of a loop's products, before any is placed."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import Operation, SSAValue

from tritonx.analysis.buffers import tile_bytes
from tritonx.dialects import tile
from tritonx.dialects.control_flow import loop_around
from tritonx.ir.edit import is_defined_inside
from tritonx.ir.properties import stated_number
from tritonx.ir.walk import ops_in

RESERVED = 1024
"""Bytes that a multiprocessor keeps for each block, from compute capability 8.0 on (CUDA C++ programming guide, "Shared
memory"): it has as many more than a block may have."""

BARRIER = 8
"""Bytes of an mbarrier."""

WARPS = 64
"""That a multiprocessor holds, whatever they take."""

STAGES = "tt.num_stages"
"""How many slots a loop wants itself."""


def barriers_cost_a_block(loads: Sequence[tile.LoadOp], stages: int, block_bytes: int, warps: int) -> bool:
    """Whether there is a block less where the tiles that a loop loads for its products have barriers, one for each of
    their slots. Three slots for two tiles of 64×64 in f16 and a third such tile are 57,344 bytes: four blocks of
    233,472, and three with barriers (attention of 64 elements lost 5 % by that)."""
    loop = loop_around(loads[0])
    assert loop is not None, "they are a loop's"
    asked = stated_number(loop.attributes, STAGES)
    slots = max(1, stages if asked is None else asked)
    nbytes = slots * sum(tile_bytes(load.result) for load in loads) + sum(map(tile_bytes, _from_outside(loop)))
    room, most = block_bytes + RESERVED, WARPS // warps
    with_barriers = nbytes + slots * len(loads) * BARRIER
    return min(most, room // (nbytes + RESERVED)) > room // (with_barriers + RESERVED)


def _from_outside(loop: Operation) -> set[SSAValue]:
    """Operands of a loop's products that are made in front of it."""
    products = [op for op in ops_in(loop) if isinstance(op, tile.DotOp)]
    return {value for op in products for value in (op.a, op.b) if not is_defined_inside(value, loop)}
