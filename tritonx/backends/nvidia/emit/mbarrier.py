"""Barriers in shared memory, fences and cluster barriers: `ttng` ops as PTX.

PTX ISA 9.0, sections 9.7.13.15 (mbarrier), 9.7.13.4 (fence.proxy.async) and 9.7.13.5 (barrier.cluster). What one thread
does for its group is a guarded instruction and no branch. An mbarrier's wait is left by each thread for itself: its
acquire makes the copies that the phase counted visible to the thread that waited."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tritonx.dialects.nvidia import (
    ArriveBarrierOp,
    AsyncCopyMbarrierArriveOp,
    BarrierExpectOp,
    ClusterArriveOp,
    ClusterBarrierOp,
    ClusterWaitOp,
    FenceAsyncSharedOp,
    FenceMbarrierInitOp,
    InitBarrierOp,
    InvalBarrierOp,
    WaitBarrierOp,
)
from tritonx.ir.dispatch import case
from tritonx.ir.failure import PassError

if TYPE_CHECKING:
    from xdsl.ir import Operation, SSAValue

    from tritonx.conversion.gpu_to_llvm.function import Emit, FunctionEmitter

CONVERGENT = "#2"


def assembly(f: FunctionEmitter, text: str, constraints: str = "", operands: str = "") -> None:
    """Instructions with an effect on memory and no result; no copy of them may be made."""
    f.module.attributes[CONVERGENT] = "convergent nounwind"
    clobber = f"{constraints},~{{memory}}" if constraints else "~{memory}"
    f.line(f'call void asm sideeffect "{text}", "{clobber}"({operands}) {CONVERGENT}')


def shared_address(f: FunctionEmitter, value: SSAValue) -> str:
    """The operand that is the address of a buffer which nothing swizzles."""
    return f"ptr addrspace(3) {f.view(value).pointer}"


def in_first_thread(f: FunctionEmitter, predicate: SSAValue | None = None) -> str:
    """An i1 that holds in the group's first thread, where ``predicate`` does."""
    first = f.threads.is_first
    if predicate is None or (condition := f.scalar(predicate)) == "true":
        return first
    return f.inst(f"and i1 {first}, {condition}")


def init(op: InitBarrierOp, f: FunctionEmitter) -> None:
    count = op.count.value.data
    text = f"@$1 mbarrier.init.shared::cta.b64 [$0], {count};"
    assembly(f, text, "r,b", f"{shared_address(f, op.alloc)}, i1 {in_first_thread(f)}")


def invalidate(op: InvalBarrierOp, f: FunctionEmitter) -> None:
    text = "@$1 mbarrier.inval.shared::cta.b64 [$0];"
    assembly(f, text, "r,b", f"{shared_address(f, op.alloc)}, i1 {in_first_thread(f)}")


def expect(op: BarrierExpectOp, f: FunctionEmitter) -> None:
    text = f"@$1 mbarrier.arrive.expect_tx.shared::cta.b64 _, [$0], {op.size.value.data};"
    assembly(f, text, "r,b", f"{shared_address(f, op.alloc)}, i1 {in_first_thread(f, op.pred)}")


def wait(op: WaitBarrierOp, f: FunctionEmitter) -> None:
    """Tries until the phase is over. ``try_wait`` itself suspends the thread for a while."""
    operands = f"{shared_address(f, op.alloc)}, i32 {f.scalar(op.phase)}"
    skip, end, constraints = "", "", "r,r"
    if op.pred is not None and (condition := f.scalar(op.pred)) != "true":
        skip, end = "@!$2 bra.uni DONE;\\0A\\09", "DONE:\\0A\\09"
        operands, constraints = f"{operands}, i1 {condition}", "r,r,b"
    text = (
        f"{{\\0A\\09.reg .pred complete;\\0A\\09{skip}WAIT:\\0A\\09"
        "mbarrier.try_wait.parity.shared::cta.b64 complete, [$0], $1;\\0A\\09"
        f"@!complete bra.uni WAIT;\\0A\\09{end}}}"
    )
    assembly(f, text, constraints, operands)


def arrive(op: ArriveBarrierOp, f: FunctionEmitter) -> None:
    """One thread arrives for all of its group, behind the barrier at which they have come together."""
    text = f"@$1 mbarrier.arrive.shared::cta.b64 _, [$0], {op.count.value.data};"
    assembly(f, text, "r,b", f"{shared_address(f, op.alloc)}, i1 {in_first_thread(f, op.pred)}")


def arrive_with_copies(op: AsyncCopyMbarrierArriveOp, f: FunctionEmitter) -> None:
    """Every thread arrives once its own copies are done."""
    kept = ".noinc" if op.noIncrement is not None else ""
    assembly(f, f"cp.async.mbarrier.arrive{kept}.shared::cta.b64 [$0];", "r", shared_address(f, op.barrier))


def fence(op: FenceAsyncSharedOp, f: FunctionEmitter) -> None:
    assembly(f, f"fence.proxy.async.shared::{'cluster' if op.bCluster.value.data else 'cta'};")


def cluster_arrive(op: ClusterArriveOp, f: FunctionEmitter) -> None:
    assembly(f, f"barrier.cluster.arrive{'.relaxed' if op.relaxed.value.data else ''}.aligned;")


def cluster_wait(op: ClusterWaitOp, f: FunctionEmitter) -> None:
    assembly(f, "barrier.cluster.wait.aligned;")


def cluster_barrier(op: ClusterBarrierOp, f: FunctionEmitter) -> None:
    if f.threads.group != f.module.group:
        raise PassError(op, "a partition waits for the cluster", "all warps of a block do, outside of partitions")
    relaxed = ".relaxed" if op.relaxed.value.data else ""
    assembly(f, f"barrier.cluster.arrive{relaxed}.aligned; barrier.cluster.wait.aligned;")


def fence_made_barriers(op: FenceMbarrierInitOp, f: FunctionEmitter) -> None:
    assembly(f, "fence.mbarrier_init.release.cluster;")


TABLE: dict[type[Operation], Emit] = {
    **case(InitBarrierOp, init),
    **case(InvalBarrierOp, invalidate),
    **case(BarrierExpectOp, expect),
    **case(WaitBarrierOp, wait),
    **case(ArriveBarrierOp, arrive),
    **case(AsyncCopyMbarrierArriveOp, arrive_with_copies),
    **case(FenceAsyncSharedOp, fence),
    **case(ClusterArriveOp, cluster_arrive),
    **case(ClusterWaitOp, cluster_wait),
    **case(ClusterBarrierOp, cluster_barrier),
    **case(FenceMbarrierInitOp, fence_made_barriers),
}
