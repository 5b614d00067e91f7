"""Barriers in shared memory (mbarrier), fences and cluster barriers."""

from __future__ import annotations

from typing import ClassVar

from xdsl.dialects.builtin import BoolAttr, IntegerAttr, UnitAttr, i1, i32
from xdsl.irdl import (
    AttrSizedOperandSegments,
    IRDLOperation,
    operand_def,
    opt_operand_def,
    opt_prop_def,
    prop_def,
    var_operand_def,
)
from xdsl.utils.exceptions import VerifyException

from tritonx.dialects.effects import Completion, Effect, Effects, Kind, Proxy, Resource, arrives, effects, writes
from tritonx.dialects.gpu_layout.rules import MEMDESC
from tritonx.dialects.layout_constraints import NO_TENSORS, LayoutConstraint
from tritonx.dialects.nvidia.rules import check_barrier, check_within_block
from tritonx.ir.define import define
from tritonx.ir.spelling import LevelError, Spellings, TextLevel, replace, spellings

ON_BARRIER = "attr-dict `:` type($alloc)"


@define
class InitBarrierOp(IRDLOperation):
    """Makes a barrier that completes a phase after `count` arrivals."""

    name = "ttng.init_barrier"
    alloc = operand_def(MEMDESC)
    count = prop_def(IntegerAttr.constr(i32))
    LAYOUTS: ClassVar[LayoutConstraint] = NO_TENSORS
    EFFECTS: ClassVar[Effects] = effects(writes("alloc", Resource.MBARRIER))
    FORMAT: ClassVar[str] = f"$alloc `,` int($count) {ON_BARRIER}"

    def verify_(self) -> None:
        check_barrier(self.alloc.type)
        if self.count.value.data < 1:
            raise VerifyException(f"'count' must be positive, got {self.count.value.data}")


@define
class InvalBarrierOp(IRDLOperation):
    """Ends a barrier, so that its memory may be used for something else."""

    name = "ttng.inval_barrier"
    alloc = operand_def(MEMDESC)
    LAYOUTS: ClassVar[LayoutConstraint] = NO_TENSORS
    EFFECTS: ClassVar[Effects] = effects(writes("alloc", Resource.MBARRIER))
    FORMAT: ClassVar[str] = f"$alloc {ON_BARRIER}"

    def verify_(self) -> None:
        check_barrier(self.alloc.type)


@define
class BarrierExpectOp(IRDLOperation):
    """Arrives once, and has the phase wait for `size` bytes of asynchronous copies as well."""

    name = "ttng.barrier_expect"
    alloc = operand_def(MEMDESC)
    size = prop_def(IntegerAttr.constr(i32))
    pred = operand_def(i1)
    LAYOUTS: ClassVar[LayoutConstraint] = NO_TENSORS
    EFFECTS: ClassVar[Effects] = effects(Effect(Kind.EXPECT, Resource.MBARRIER, "alloc"))
    PREDICATE: ClassVar[str] = "pred"
    FORMAT: ClassVar[str] = "$alloc `,` int($size) attr-dict `,` $pred `:` type($alloc)"

    def verify_(self) -> None:
        check_within_block(self)
        check_barrier(self.alloc.type)


@define
class WaitBarrierOp(IRDLOperation):
    """Waits until the phase of parity `phase` completes; `deps` keeps memory alive that arrives by then."""

    name = "ttng.wait_barrier"
    alloc = operand_def(MEMDESC)
    phase = operand_def(i32)
    pred = opt_operand_def(i1)
    deps = var_operand_def(MEMDESC)
    irdl_options = (AttrSizedOperandSegments(as_property=True),)
    LAYOUTS: ClassVar[LayoutConstraint] = NO_TENSORS
    EFFECTS: ClassVar[Effects] = effects(Effect(Kind.WAIT, Resource.MBARRIER, "alloc", completion=Completion.MBARRIER))
    PREDICATE: ClassVar[str] = "pred"
    FORMAT: ClassVar[str] = (
        "$alloc `,` $phase (`,` $pred^)? (`deps` $deps^)? attr-dict `:` type($alloc) (`,` type($deps)^)?"
    )

    @staticmethod
    def segment_sizes(count: int) -> tuple[int, ...] | None:
        return {2: (1, 1, 0, 0), 3: (1, 1, 1, 0)}.get(count)

    def verify_(self) -> None:
        check_barrier(self.alloc.type)


@define
class ArriveBarrierOp(IRDLOperation):
    """Arrives `count` times."""

    name = "ttng.arrive_barrier"
    alloc = operand_def(MEMDESC)
    count = prop_def(IntegerAttr.constr(i32))
    pred = opt_operand_def(i1)
    LAYOUTS: ClassVar[LayoutConstraint] = NO_TENSORS
    EFFECTS: ClassVar[Effects] = effects(arrives("alloc"))
    FORMAT: ClassVar[str] = f"$alloc `,` int($count) (`,` $pred^)? {ON_BARRIER}"

    def verify_(self) -> None:
        check_within_block(self)
        check_barrier(self.alloc.type)
        if self.count.value.data < 1:
            raise VerifyException(f"'count' must be positive, got {self.count.value.data}")


@define
class AsyncCopyMbarrierArriveOp(IRDLOperation):
    """Arrives when this thread's asynchronous copies so far are done."""

    name = "ttng.async_copy_mbarrier_arrive"
    barrier = operand_def(MEMDESC)
    noIncrement = opt_prop_def(UnitAttr)
    LAYOUTS: ClassVar[LayoutConstraint] = NO_TENSORS
    EFFECTS: ClassVar[Effects] = effects(arrives("barrier", Completion.COPY_GROUP))
    FORMAT: ClassVar[str] = "$barrier attr-dict `:` type($barrier)"

    def verify_(self) -> None:
        check_barrier(self.barrier.type)


@define
class FenceAsyncSharedOp(IRDLOperation):
    """Orders ordinary writes to shared memory before what asynchronous copies and matrix units read; for the cluster
    if `bCluster`.
    """

    name = "ttng.fence_async_shared"
    bCluster = prop_def(BoolAttr)
    LAYOUTS: ClassVar[LayoutConstraint] = NO_TENSORS
    EFFECTS: ClassVar[Effects] = effects(Effect(Kind.FENCE, Resource.MEMDESC, proxy=Proxy.ASYNC))
    FORMAT: ClassVar[str] = "attr-dict"


@define
class FenceMbarrierInitOp(IRDLOperation):
    """Orders the making of mbarriers before what other blocks of the cluster do with them behind the cluster's
    barrier."""

    name = "ttng.fence_mbarrier_init_release_cluster"
    LAYOUTS: ClassVar[LayoutConstraint] = NO_TENSORS
    EFFECTS: ClassVar[Effects] = effects(Effect(Kind.FENCE, Resource.MBARRIER))
    FORMAT: ClassVar[str] = "attr-dict"
    SPELLINGS: ClassVar[Spellings] = Spellings({TextLevel.V3_8: "ttng.fence_mbarrier_init_release_cluster"})


PARTS = "ttng.cluster_arrive {relaxed = false}\nttng.cluster_wait"
"""The barrier of a cluster in two parts, as 3.9 no longer has them."""


def _barrier_in_parts(op: ClusterBarrierOp, level: TextLevel) -> None:
    if level < TextLevel.V3_8 and op.parent is not None:
        arrive = ClusterArriveOp.create(properties={"relaxed": op.relaxed}, location=op.location)
        op.parent.insert_op_before(arrive, op)
        replace(op, ClusterWaitOp.create())


def _parts_as_barrier(op: ClusterArriveOp, level: TextLevel) -> None:
    """3.9 has the barrier as a whole only."""
    wait = op.next_op
    if level < TextLevel.V3_9:
        return
    if not isinstance(wait, ClusterWaitOp):
        raise LevelError(f"Triton {level} has no {op.name} without a wait behind it", op)
    replace(op, ClusterBarrierOp.create(properties={"relaxed": op.relaxed}))
    wait.detach()
    wait.erase()


def _part(op: ClusterWaitOp, level: TextLevel) -> None:
    if level >= TextLevel.V3_9 and op.parent is not None:
        raise LevelError(f"Triton {level} has no {op.name} by itself", op)


@define
class ClusterBarrierOp(IRDLOperation):
    """All threads of the cluster meet: `ttng.cluster_arrive` and `ttng.cluster_wait`."""

    name = "ttng.cluster_barrier"
    relaxed = prop_def(BoolAttr, default_value=BoolAttr.from_bool(False))
    LAYOUTS: ClassVar[LayoutConstraint] = NO_TENSORS
    EFFECTS: ClassVar[Effects] = effects(Effect(Kind.ARRIVE, Resource.CLUSTER), Effect(Kind.WAIT, Resource.CLUSTER))
    FORMAT: ClassVar[str] = "attr-dict"
    SPELLINGS: ClassVar[Spellings] = spellings(
        {TextLevel.V3_6: PARTS, TextLevel.V3_8: "ttng.cluster_barrier"},
        write=_barrier_in_parts,
    )


@define
class ClusterArriveOp(IRDLOperation):
    """Arrives at the cluster's barrier."""

    name = "ttng.cluster_arrive"
    SPELLINGS: ClassVar[Spellings] = spellings(
        {TextLevel.V3_6: PARTS, TextLevel.V3_9: "ttng.cluster_barrier"},
        write=_parts_as_barrier,
    )
    relaxed = prop_def(BoolAttr)
    LAYOUTS: ClassVar[LayoutConstraint] = NO_TENSORS
    EFFECTS: ClassVar[Effects] = effects(Effect(Kind.ARRIVE, Resource.CLUSTER))
    FORMAT: ClassVar[str] = "attr-dict"


@define
class ClusterWaitOp(IRDLOperation):
    """Waits at the cluster's barrier."""

    name = "ttng.cluster_wait"
    SPELLINGS: ClassVar[Spellings] = spellings({TextLevel.V3_6: "ttng.cluster_wait", TextLevel.V3_9: None}, write=_part)
    LAYOUTS: ClassVar[LayoutConstraint] = NO_TENSORS
    EFFECTS: ClassVar[Effects] = effects(Effect(Kind.WAIT, Resource.CLUSTER))
    FORMAT: ClassVar[str] = "attr-dict"
