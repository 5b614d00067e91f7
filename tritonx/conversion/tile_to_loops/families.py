"""Which ops the planner treats how; see plan.py for what the words mean."""

from __future__ import annotations

from functools import cache
from typing import TypeGuard, cast

from xdsl.ir import Operation
from xdsl.irdl import IRDLOperation

from tritonx.dialects import arith, tile, ub
from tritonx.dialects.layout_constraints import Elementwise, LookedUp, layouts_of
from tritonx.dialects.llvm import AssumeOp
from tritonx.ir.effects import may_read, may_write

LOADS: frozenset[type[Operation]] = frozenset((tile.LoadOp, tile.DescriptorLoadOp, tile.DescriptorGatherOp))

TRIVIAL: frozenset[type[Operation]] = frozenset(
    (
        arith.AddiOp,
        arith.SubiOp,
        arith.AndIOp,
        arith.OrIOp,
        arith.XOrIOp,
        arith.AddfOp,
        arith.SubfOp,
        arith.MulfOp,
        arith.NegfOp,
        arith.MaxnumfOp,
        arith.MinnumfOp,
        arith.CmpiOp,
        arith.CmpfOp,
        arith.SelectOp,
        arith.ExtFOp,
        arith.ExtSIOp,
        arith.ExtUIOp,
        arith.TruncIOp,
        arith.BitcastOp,
        tile.BitcastOp,
        tile.AddPtrOp,
        tile.ExpandDimsOp,
        tile.BroadcastOp,
        tile.TransOp,
        tile.SplitOp,
    )
)
"""One instruction a vector: computed again rather than written and read."""

CHEAP: frozenset[type[Operation]] = frozenset(
    (
        arith.ConstantOp,
        arith.AddiOp,
        arith.SubiOp,
        arith.MuliOp,
        arith.AndIOp,
        arith.OrIOp,
        arith.XOrIOp,
        arith.ShLIOp,
        arith.ShRSIOp,
        arith.ShRUIOp,
        arith.CmpiOp,
        arith.SelectOp,
        arith.ExtSIOp,
        arith.ExtUIOp,
        arith.TruncIOp,
        arith.SIToFPOp,
        arith.BitcastOp,
        tile.BitcastOp,
        tile.MakeRangeOp,
        tile.SplatOp,
        tile.ExpandDimsOp,
        tile.BroadcastOp,
        tile.TransOp,
        tile.AddPtrOp,
        tile.ReshapeOp,
        ub.PoisonOp,
    )
)
"""Index arithmetic: a few of these are recomputed at every use, in loops of any shape."""


def _tables() -> dict[type[Operation], tuple[int, ...]]:
    """The operands from any place of which an op of the tile dialect takes elements, as its class declares."""
    found: dict[type[Operation], tuple[int, ...]] = {}
    for op in tile.Tile.operations:
        declared = layouts_of(op)
        if isinstance(declared, LookedUp):
            names = [name for name, _ in cast("type[IRDLOperation]", op).get_irdl_definition().operands]
            found[op] = tuple(names.index(name) for name in declared.besides)
    return found


VIEW_SOURCES: dict[type[Operation], tuple[int, ...]] = {
    tile.ExpandDimsOp: (0,),
    tile.BroadcastOp: (0,),
    tile.TransOp: (0,),
    tile.ReshapeOp: (0,),
    tile.SplitOp: (0,),
    **_tables(),
    tile.DescriptorGatherOp: (1,),
}
"""Operands that are read in another order than the loop's: they must be in memory (or cheap)."""

EFFECT_ANCHORS: frozenset[type[Operation]] = frozenset(
    (
        tile.StoreOp,
        tile.AssertOp,
        tile.AtomicRMWOp,
        tile.AtomicCASOp,
        tile.AtomicLoadOp,
        tile.AtomicStoreOp,
    )
)
"""Ops with an effect for every element that run inside a loop over a tile (a store may share it, the others are
alone).
"""

INLINE: frozenset[type[Operation]] = frozenset((*LOADS, *CHEAP, *TRIVIAL, *VIEW_SOURCES))


@cache
def _is_elementwise(op: type[Operation]) -> bool:
    """Whether an element of the only result is computed from the elements in its place."""
    if not isinstance(layouts_of(op), Elementwise):
        return False
    return len(cast("type[IRDLOperation]", op).get_irdl_definition().results) == 1


def is_inline(op: object) -> TypeGuard[Operation]:
    """Whether `op` (or the block that an argument belongs to) is an op that is evaluated where its result is used."""
    return type(op) in INLINE or (isinstance(op, Operation) and _is_elementwise(type(op)))


def writes_memory(op: Operation) -> bool:
    """Whether the op, or one in its regions, has an effect that must keep its place among others and among loads. An
    assumption has none, though it may not be dropped."""
    return may_write(op) and not isinstance(op, AssumeOp)


def reads_memory(op: Operation) -> bool:
    """Whether the op, or one in its regions, reads memory."""
    return may_read(op)
