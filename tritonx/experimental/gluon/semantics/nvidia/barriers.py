"""mbarriers, fences and barriers of clusters."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from xdsl.dialects.builtin import BoolAttr, IntegerAttr, UnitAttr
from xdsl.dialects.builtin import i32 as i32_attr

from tritonx.dialects.nvidia.barrier import (
    ArriveBarrierOp,
    AsyncCopyMbarrierArriveOp,
    BarrierExpectOp,
    ClusterBarrierOp,
    FenceAsyncSharedOp,
    InitBarrierOp,
    InvalBarrierOp,
    WaitBarrierOp,
)
from tritonx.experimental.gluon.semantics.access import AccessSemantics
from tritonx.experimental.gluon.values import shared_memory_descriptor
from tritonx.ir.declaration import SEGMENTS, sizes_of_segments
from tritonx.language.types.dtypes import int1, int32
from tritonx.language.values.tensor import tensor


def number(value: Any, what: str, least: int = 0) -> IntegerAttr[Any]:
    """An i32 attribute; ValueError for what is no number that is known at compile time, or less than ``least``."""
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        raise ValueError(f"expected '{what}' to be an int of at least {least} but got {value}")
    return IntegerAttr(value, i32_attr)


class BarrierSemantics(AccessSemantics):
    def predicate(self, value: Any) -> tensor:
        """A condition as an int1; ValueError for a block."""
        condition = self.to_tensor(value)
        if condition.type.is_block():
            raise ValueError(f"a predicate is one condition, not {condition}")
        return condition if condition.dtype.is_bool() else self.cast(condition, int1)

    def barrier_init(self, barrier: shared_memory_descriptor, count: Any) -> None:
        self.builder.create(InitBarrierOp, [barrier.handle], (), {"count": number(count, "count", 1)})

    def barrier_invalidate(self, barrier: shared_memory_descriptor) -> None:
        self.builder.create(InvalBarrierOp, [barrier.handle])

    def barrier_wait(
        self, barrier: shared_memory_descriptor, phase: Any, pred: Any, deps: Sequence[shared_memory_descriptor]
    ) -> None:
        """Wait for the end of the phase of parity ``phase``; memory of ``deps`` is needed until then."""
        parity = self.cast(self.to_tensor(phase), int32)
        operands = [barrier.handle, parity.handle, self.predicate(pred).handle, *(each.handle for each in deps)]
        self.builder.create(WaitBarrierOp, operands, (), {SEGMENTS: sizes_of_segments((1, 1, 1, len(deps)))})

    def barrier_arrive(self, barrier: shared_memory_descriptor, count: Any, pred: Any, from_cta: Any) -> None:
        self.check_own_barrier(from_cta)
        properties = {"count": number(count, "count", 1)}
        self.builder.create(ArriveBarrierOp, [barrier.handle, self.predicate(pred).handle], (), properties)

    def barrier_expect(self, barrier: shared_memory_descriptor, size: Any, pred: Any, from_cta: Any) -> None:
        """Arrive, and have the phase wait for ``size`` bytes of copies as well."""
        self.check_own_barrier(from_cta)
        properties = {"size": number(size, "bytes_per_cta")}
        self.builder.create(BarrierExpectOp, [barrier.handle, self.predicate(pred).handle], (), properties)

    def check_own_barrier(self, from_cta: Any) -> None:
        """ValueError for an arrival at the barrier of another block of a cluster."""
        if from_cta is not None and from_cta != self.options.num_ctas - 1:
            raise ValueError("a block arrives at its own barriers only: from_cta is not supported")

    def arrive_behind_copies(self, barrier: shared_memory_descriptor, increment_count: Any) -> None:
        properties = {} if increment_count else {"noIncrement": UnitAttr()}
        self.builder.create(AsyncCopyMbarrierArriveOp, [barrier.handle], (), properties)

    def fence_async_shared(self, cluster: bool) -> None:
        self.builder.create(FenceAsyncSharedOp, (), (), {"bCluster": BoolAttr.from_bool(cluster)})

    def cluster_barrier(self, relaxed: bool) -> None:
        self.builder.create(ClusterBarrierOp, (), (), {"relaxed": BoolAttr.from_bool(relaxed)})

    def meet(self, cluster: bool) -> None:
        if cluster and self.options.num_ctas > 1:
            self.cluster_barrier(relaxed=False)
        else:
            super().meet(cluster)
