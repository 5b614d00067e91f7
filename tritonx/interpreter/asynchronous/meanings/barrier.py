"""Barriers in shared memory, fences and the cluster's barrier.

What one thread does (make a barrier, arrive, announce bytes) the first warp's does, in each block on the block's own
barrier; all warps wait.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
from xdsl.ir import Operation

from tritonx.dialects import nvidia as ttng
from tritonx.interpreter.asynchronous.barriers import MBarrier
from tritonx.interpreter.asynchronous.clocks import Knowledge
from tritonx.interpreter.asynchronous.footprints import View, bytes_between
from tritonx.interpreter.asynchronous.machine import Machine
from tritonx.interpreter.asynchronous.program import Coroutine, Program, Table
from tritonx.interpreter.asynchronous.reports import Kind
from tritonx.interpreter.asynchronous.shared import Mode, Touch
from tritonx.interpreter.execution import Function
from tritonx.interpreter.values import Array
from tritonx.ir.dispatch import case

BYTES = 8
"""Size of a barrier (PTX ISA, "mbarrier object")."""


def barrier_at(bind: Program, op: Operation, view: View, block: int, agent: int) -> MBarrier | None:
    """The barrier of a block at a view; reports where there is none. `agent` uses it."""
    machine = bind.machine
    address = block * machine.stride + view.base
    machine.shared.touch(op, [Touch(bytes_between(address, BYTES), Mode.ATOMIC, agent)])
    found = machine.barriers.get(address)
    if found is None:
        machine.reports.add(Kind.NO_BARRIER, op, f"no barrier has been made at byte {view.base}")
        return None
    machine.shared.check_contents(op, view.buffer, address + np.arange(BYTES))
    return found


def _each_block(bind: Program, act: Callable[[int], None]) -> Coroutine:
    """One thread of each block does something; others may go before."""
    yield None
    for block in range(bind.machine.blocks):
        act(block)
    return ()


def _init(op: ttng.InitBarrierOp, bind: Program) -> Function:
    machine, count = bind.machine, op.count.value.data

    def make(view: View) -> Coroutine:
        def act(block: int) -> None:
            address = block * machine.stride + view.base
            touch = Touch(bytes_between(address, BYTES), Mode.WRITE, bind.group.elected(block))
            machine.shared.touch(op, [touch])
            machine.shared.reserve(view.buffer, np.array([address]), BYTES)
            machine.barriers[address] = MBarrier(count, machine.clocks, machine.reports, op)

        return (yield from _each_block(bind, act))

    return make


def _inval(op: ttng.InvalBarrierOp, bind: Program) -> Function:
    machine = bind.machine

    def end(view: View) -> Coroutine:
        def act(block: int) -> None:
            address = block * machine.stride + view.base
            if barrier_at(bind, op, view, block, bind.group.elected(block)) is None:
                return
            touch = Touch(bytes_between(address, BYTES), Mode.WRITE, bind.group.elected(block))
            machine.shared.touch(op, [touch])
            del machine.barriers[address]

        return (yield from _each_block(bind, act))

    return end


def _told(op: Operation, bind: Program, tell: Callable[[MBarrier, Knowledge], None]) -> Function:
    """One thread of each block tells the barrier something, and with it what it has seen."""

    def act(view: View, block: int) -> None:
        agent = bind.group.elected(block)
        barrier = barrier_at(bind, op, view, block, agent)
        if barrier is not None:
            tell(barrier, bind.machine.clocks.release(agent))
            note(bind.machine, op, view)

    def told(view: View, predicate: Array | bool = True) -> Coroutine:
        return (yield from _each_block(bind, partial(act, view) if predicate else _nothing))

    return told


def _expect(op: ttng.BarrierExpectOp, bind: Program) -> Function:
    size = op.size.value.data
    return _told(op, bind, lambda barrier, clock: barrier.expect(op, clock, size))


def _arrive(op: ttng.ArriveBarrierOp, bind: Program) -> Function:
    count = op.count.value.data
    return _told(op, bind, lambda barrier, clock: barrier.arrive(op, clock, count))


def _nothing(block: int) -> None:
    """What a predicate has switched off."""


def _wait(op: ttng.WaitBarrierOp, bind: Program) -> Function:
    machine, group = bind.machine, bind.group
    predicated = op.pred is not None

    def wait(view: View, phase: Array, *rest: Array) -> Coroutine:
        yield None
        if predicated and not rest[0]:
            return ()
        parity, since = int(phase) & 1, machine.time
        for block in range(machine.blocks):
            agents = group.in_block(block)
            found = [barrier_at(bind, op, view, block, agent) for agent in agents]
            barrier = found[0]
            if barrier is None:
                continue
            if not barrier.ended(parity):
                group.at = op
                yield partial(barrier.ended, parity)
            for agent in agents:
                barrier.observe(op, agent)
        if machine.timeline is not None:
            machine.timeline.span(group.name, op, since, machine.time)
        return ()

    return wait


def _copies_arrive(op: ttng.AsyncCopyMbarrierArriveOp, bind: Program) -> Function:
    """When a thread's copies so far are done, it arrives; without `noIncrement` on top of the count."""
    machine, counted = bind.machine, op.noIncrement is not None

    def arrive(view: View) -> Coroutine:
        yield None
        for (block, _), agent in bind.group.agents.items():
            barrier = barrier_at(bind, op, view, block, agent)
            if barrier is None:
                continue
            known = machine.clocks.only([number for number, _ in bind.group.copies[agent].all()])
            if not counted:
                barrier.pending += machine.warp_size
            machine.issue(op, partial(barrier.arrive, op, known, machine.warp_size))
        return ()

    return arrive


def _fence(op: ttng.FenceAsyncSharedOp, bind: Program) -> Function:
    def fence() -> None:
        for agent in bind.group.all:
            bind.machine.clocks.fence(agent)
        bind.machine.shared.forget(bind.machine.running())

    return fence


def _cluster_arrive(op: ttng.ClusterArriveOp | ttng.ClusterBarrierOp, bind: Program) -> Function:
    def arrive() -> None:
        bind.machine.cluster.extend(bind.machine.clocks.release(agent) for agent in bind.group.all)

    return arrive


def _cluster_wait(op: ttng.ClusterWaitOp | ttng.ClusterBarrierOp, bind: Program) -> Function:
    machine = bind.machine

    def wait() -> None:
        if not machine.cluster:
            machine.reports.add(Kind.HANG, op, "no warp has arrived at the cluster's barrier")
        for known in machine.cluster:
            for agent in bind.group.all:
                machine.clocks.acquire(agent, known)
        machine.cluster.clear()

    return wait


def _cluster_barrier(op: ttng.ClusterBarrierOp, bind: Program) -> Function:
    arrive, wait = _cluster_arrive(op, bind), _cluster_wait(op, bind)

    def meet() -> None:
        arrive()
        wait()

    return meet


def _fence_made(op: ttng.FenceMbarrierInitOp, bind: Program) -> Function:
    """What follows is ordered by the cluster's barrier here, as all memory of a block is."""
    return lambda: None


def note(machine: Machine, op: Operation, view: View) -> None:
    """An arrival, for the timeline."""
    if machine.timeline is not None:
        machine.timeline.mark(f"barrier at {view.base}", op, machine.time)


TABLE: Table = {
    **case(ttng.InitBarrierOp, _init),
    **case(ttng.InvalBarrierOp, _inval),
    **case(ttng.BarrierExpectOp, _expect),
    **case(ttng.ArriveBarrierOp, _arrive),
    **case(ttng.WaitBarrierOp, _wait),
    **case(ttng.AsyncCopyMbarrierArriveOp, _copies_arrive),
    **case(ttng.FenceAsyncSharedOp, _fence),
    **case(ttng.ClusterArriveOp, _cluster_arrive),
    **case(ttng.ClusterWaitOp, _cluster_wait),
    **case(ttng.ClusterBarrierOp, _cluster_barrier),
    **case(ttng.FenceMbarrierInitOp, _fence_made),
}
