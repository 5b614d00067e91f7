"""What each op of the language makes of a block's padding.

A block of 96 elements has 128 in the IR: its *storage*. What lies in the other 32, its *padding*, is unknown: whatever
the ops that made the block have left there. An op of kind ``LANES`` or ``AXES`` may be given such blocks, as it never
lets an element of the padding into another place. Every other op must be given storage, seen as a block of its own
(``PaddingSemantics``): who does that has thought of the padding, and ``SemanticsBase`` refuses all that has not been
(``UnsupportedExtents``), so that nothing is computed from what is unknown.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum, auto

from xdsl.ir import Operation

from tritonx.dialects import arith, gpu, llvm, math, tile
from tritonx.dialects.layout_constraints import ELEMENTWISE


class Padding(Enum):
    """What an op needs of the padding."""

    LANES = auto()
    """Each element is computed from those in the same place: nothing."""
    AXES = auto()
    """Whole axes are moved, made or joined: nothing."""
    MASK = auto()
    """It reads, writes, prints or checks: a mask that leaves the padding out."""
    NEUTRAL = auto()
    """It brings elements of an axis together: the axis' padding holds what changes nothing."""
    INDICES = auto()
    """It moves elements within an axis: indices of storage."""
    COPIED = auto()
    """It runs code of the user's on each element: the padding holds copies of an element."""
    NONE = auto()
    """It is given no block, or none with padding."""


def _kind(kind: Padding, *ops: type[Operation]) -> Mapping[type[Operation], Padding]:
    return dict.fromkeys(ops, kind)


PADDING: Mapping[type[Operation], Padding] = {
    **_kind(
        Padding.LANES,
        arith.AddfOp, arith.AddiOp, arith.AndIOp, arith.CmpfOp, arith.CmpiOp, arith.DivSIOp, arith.DivUIOp,
        arith.DivfOp, arith.ExtFOp, arith.ExtSIOp, arith.ExtUIOp, arith.FPToSIOp, arith.FPToUIOp, arith.MaxSIOp,
        arith.MaxUIOp, arith.MaximumfOp, arith.MaxnumfOp, arith.MinSIOp, arith.MinUIOp, arith.MinimumfOp,
        arith.MinnumfOp, arith.MulfOp, arith.MuliOp, arith.OrIOp, arith.RemFOp, arith.RemSIOp, arith.RemUIOp,
        arith.SIToFPOp, arith.SelectOp, arith.ShLIOp, arith.ShRSIOp, arith.ShRUIOp, arith.SubfOp, arith.SubiOp,
        arith.TruncFOp, arith.TruncIOp, arith.UIToFPOp, arith.XOrIOp,
        math.AbsFOp, math.AbsIOp, math.CeilOp, math.CosOp, math.ErfOp, math.Exp2Op, math.ExpOp, math.FloorOp,
        math.FmaOp, math.Log2Op, math.LogOp, math.RsqrtOp, math.SinOp, math.SqrtOp,
        tile.AddPtrOp, tile.BitcastOp, tile.ClampFOp, tile.ExternElementwiseOp, tile.FpToFpOp, tile.IntToPtrOp,
        tile.MulhiUIOp, tile.PreciseDivFOp, tile.PreciseSqrtOp, tile.PtrToIntOp,
    ),
    **_kind(
        Padding.AXES,
        tile.BroadcastOp, tile.ExpandDimsOp, tile.JoinOp, tile.SplatOp, tile.SplitOp, tile.TransOp,
    ),
    **_kind(
        Padding.MASK,
        tile.AssertOp, tile.AtomicCASOp, tile.AtomicRMWOp, tile.DescriptorGatherOp, tile.DescriptorScatterOp,
        tile.HistogramOp, tile.LoadOp, tile.PrintOp, tile.StoreOp,
    ),
    **_kind(Padding.NEUTRAL, tile.DotOp, tile.DotScaledOp, tile.ReduceOp, tile.ScanOp),
    **_kind(Padding.INDICES, tile.CatOp, tile.GatherOp, tile.MakeRangeOp, tile.ReshapeOp),
    **_kind(Padding.COPIED, tile.ElementwiseInlineAsmOp, tile.MapElementwiseOp),
    **_kind(
        Padding.NONE,
        gpu.BarrierOp, llvm.AssumeOp, tile.DescriptorLoadOp, tile.DescriptorReduceOp, tile.DescriptorStoreOp,
        tile.FuncOp, tile.GetNumProgramsOp, tile.GetProgramIdOp, tile.MakeTensorDescOp, tile.MapElementwiseReturnOp,
        tile.ReduceReturnOp, tile.ScanReturnOp, tile.UnsplatOp,
    ),
}  # fmt: skip
"""Every op that the language's functions become; a test holds it complete."""

ANYTHING = frozenset(op for op, kind in PADDING.items() if kind in (Padding.LANES, Padding.AXES))
"""The ops to which padding does not matter."""


def ignores_padding(op: type[Operation]) -> bool:
    """Whether padding does not matter to it; an op of another package says so by the layouts of its tensors."""
    return op in ANYTHING or (op not in PADDING and getattr(op, "LAYOUTS", None) is ELEMENTWISE)


class UnsupportedExtents(ValueError):
    """A block whose extents are not powers of two where an op cannot have one."""
