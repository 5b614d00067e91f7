"""Which compute capabilities have what the ops of `ttng` need; an op on another chip is refused, with both named.

PTX ISA 9.0, the target notes of each instruction. Ops for which no code is written yet are named here as well, so that
every op of the dialect either has an emitter on a chip or a reason why not."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tritonx.backends.nvidia.emit.machine import NvidiaMachine
from tritonx.dialects import nvidia as ttng
from tritonx.ir.failure import PassError

if TYPE_CHECKING:
    from xdsl.ir import Operation

    from tritonx.conversion.gpu_to_llvm.function import Emit, FunctionEmitter


NEWEST = 10000
"""Later than any."""


@dataclass(frozen=True)
class Feature:
    """What chips from one compute capability to another have; the last is open where the newest has it."""

    name: str
    first: int
    last: int = NEWEST
    instead: str = ""

    def on(self, capability: int) -> bool:
        return self.first <= capability <= self.last

    def where(self) -> str:
        """On which chips it is."""
        if self.last == NEWEST:
            return f"compute capability {shown(self.first)} or later"
        if self.first == self.last:
            return f"compute capability {shown(self.first)}"
        return f"compute capability {shown(self.first)} to {shown(self.last)}"


MBARRIERS = Feature("mbarriers that count bytes", 90)
BLOCK_COPIES = Feature("the tensor memory accelerator", 90, instead="load and store by pointers")
CLUSTERS = Feature("clusters", 90)
WARP_GROUPS = Feature("products of a warp group", 90, 90, "leave tt.dot to the compiler")
ROWS_BY_INDEX = Feature(
    "block copies of rows by their indices", 100, 103, "descriptors in tt are loads and stores here"
)
LAUNCH_CONTROL = Feature("cluster launch control", 100, instead="loop over programs")
TENSOR_MEMORY = Feature("tensor memory", 100, 103, "leave tt.dot to the compiler")
PACKED = Feature("packed arithmetic", 75)

FEATURES: dict[type[Operation], Feature] = {
    ttng.InitBarrierOp: MBARRIERS,
    ttng.InvalBarrierOp: MBARRIERS,
    ttng.BarrierExpectOp: MBARRIERS,
    ttng.WaitBarrierOp: MBARRIERS,
    ttng.ArriveBarrierOp: MBARRIERS,
    ttng.AsyncCopyMbarrierArriveOp: MBARRIERS,
    ttng.FenceAsyncSharedOp: BLOCK_COPIES,
    ttng.ClusterArriveOp: CLUSTERS,
    ttng.ClusterWaitOp: CLUSTERS,
    ttng.ClusterBarrierOp: CLUSTERS,
    ttng.FenceMbarrierInitOp: CLUSTERS,
    ttng.CLCTryCancelOp: LAUNCH_CONTROL,
    ttng.CLCTryCancelSyncOp: LAUNCH_CONTROL,
    ttng.CLCLoadResultOp: LAUNCH_CONTROL,
    ttng.CLCIsCanceledOp: LAUNCH_CONTROL,
    ttng.CLCGetProgramIdOp: LAUNCH_CONTROL,
    ttng.AsyncTMACopyGlobalToLocalOp: BLOCK_COPIES,
    ttng.AsyncTMACopyLocalToGlobalOp: BLOCK_COPIES,
    ttng.AsyncTMAReduceOp: BLOCK_COPIES,
    ttng.AsyncTMAGatherOp: ROWS_BY_INDEX,
    ttng.AsyncTMAScatterOp: ROWS_BY_INDEX,
    ttng.TMAStoreWaitOp: BLOCK_COPIES,
    ttng.TensormapCreateOp: BLOCK_COPIES,
    ttng.TensormapFenceproxyAcquireOp: BLOCK_COPIES,
    ttng.ReinterpretTensorDescOp: BLOCK_COPIES,
    ttng.TensormapAtLaunchOp: BLOCK_COPIES,
    ttng.WarpGroupDotOp: WARP_GROUPS,
    ttng.WarpGroupDotWaitOp: WARP_GROUPS,
    ttng.TMEMAllocOp: TENSOR_MEMORY,
    ttng.TMEMLoadOp: TENSOR_MEMORY,
    ttng.TMEMStoreOp: TENSOR_MEMORY,
    ttng.TMEMSubsliceOp: TENSOR_MEMORY,
    ttng.TMEMCopyOp: TENSOR_MEMORY,
    ttng.TMEMWaitOp: TENSOR_MEMORY,
    ttng.TCGen5MMAOp: TENSOR_MEMORY,
    ttng.TCGen5MMAScaledOp: TENSOR_MEMORY,
    ttng.TCGen5CommitOp: TENSOR_MEMORY,
    ttng.PackedArithOp: PACKED,
}


def shown(capability: int) -> str:
    """``90`` → ``9.0``."""
    return f"{capability // 10}.{capability % 10}"


def where_there_is(table: Mapping[type[Operation], Emit]) -> dict[type[Operation], Emit]:
    """The emitters of the ops of `FEATURES`, which refuse an op on a chip that has not what it needs."""
    return {op: _checked(feature, table.get(op)) for op, feature in FEATURES.items()}


def _checked(feature: Feature, emit: Emit | None) -> Emit:
    def emit_or_refuse(op: Operation, f: FunctionEmitter) -> None:
        assert isinstance(f.machine, NvidiaMachine)
        capability = f.machine.capability
        if not feature.on(capability):
            reason = f"{op.name} needs {feature.name}, which compute capability {shown(capability)} does not have"
            raise PassError(op, reason, "; ".join(filter(None, (f"{feature.where()} does", feature.instead))))
        if emit is None:
            raise PassError(op, f"no code is generated for {op.name} on this target")
        emit(op, f)

    return emit_or_refuse
