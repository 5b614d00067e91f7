"""Which ops the planner treats how; see plan.py for what the words mean."""

from __future__ import annotations

from typing import TypeGuard, cast

from xdsl.ir import Operation
from xdsl.irdl import IRDLOperation

from tritonx.dialects import arith, math, tile, ub
from tritonx.dialects.layout_constraints import LookedUp, layouts_of
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
    )
)
"""Ops with an effect for every element that run inside a loop over a tile (a store may share it, the others are
alone).
"""

INLINE: frozenset[type[Operation]] = frozenset(
    (
        *LOADS,
        *CHEAP,
        *TRIVIAL,
        *VIEW_SOURCES,
        arith.DivSIOp,
        arith.DivUIOp,
        arith.RemSIOp,
        arith.RemUIOp,
        arith.FloorDivSIOp,
        arith.CeilDivSIOp,
        arith.CeilDivUIOp,
        arith.MaxSIOp,
        arith.MinSIOp,
        arith.MaxUIOp,
        arith.MinUIOp,
        arith.DivfOp,
        arith.RemFOp,
        arith.MaximumfOp,
        arith.MinimumfOp,
        arith.TruncFOp,
        arith.UIToFPOp,
        arith.FPToSIOp,
        arith.FPToUIOp,
        arith.IndexCastOp,
        math.AbsFOp,
        math.AbsIOp,
        math.CeilOp,
        math.FloorOp,
        math.RoundOp,
        math.RoundEvenOp,
        math.TruncOp,
        math.CosOp,
        math.SinOp,
        math.TanOp,
        math.ErfOp,
        math.Exp2Op,
        math.ExpOp,
        math.ExpM1Op,
        math.LogOp,
        math.Log2Op,
        math.Log10Op,
        math.Log1pOp,
        math.RsqrtOp,
        math.SqrtOp,
        math.TanhOp,
        math.FmaOp,
        tile.ClampFOp,
        tile.ExternElementwiseOp,
        tile.FpToFpOp,
        tile.IntToPtrOp,
        tile.PtrToIntOp,
        tile.MulhiUIOp,
        tile.PreciseDivFOp,
        tile.PreciseSqrtOp,
    )
)


def is_inline(op: object) -> TypeGuard[Operation]:
    """Whether `op` (or the block that an argument belongs to) is an op that is evaluated where its result is used."""
    return type(op) in INLINE


def writes_memory(op: Operation) -> bool:
    """Whether the op, or one in its regions, has an effect that must keep its place among others and among loads. An
    assumption has none, though it may not be dropped."""
    return may_write(op) and not isinstance(op, AssumeOp)


def reads_memory(op: Operation) -> bool:
    """Whether the op, or one in its regions, reads memory."""
    return may_read(op)
