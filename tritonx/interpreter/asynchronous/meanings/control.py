"""Control flow as coroutines, barriers of a group, and warp specialisation."""

from __future__ import annotations

import numpy as np

from tritonx.dialects import gpu, gpu_layout, scf, tile
from tritonx.interpreter.asynchronous.group import Group, Warps
from tritonx.interpreter.asynchronous.program import Coroutine, Program, Table
from tritonx.interpreter.errors import UnsupportedInInterpreter
from tritonx.interpreter.execution import Function
from tritonx.interpreter.machine import position_of
from tritonx.interpreter.meanings.control import loop_range
from tritonx.interpreter.values import Array, dtype_of, undefined
from tritonx.ir.dispatch import case
from tritonx.ir.types import is_tensor, shape_of, type_of


def _if(op: scf.IfOp, bind: Program) -> Function:
    then, otherwise = bind.coroutine(op.true_region), bind.coroutine(op.false_region)

    def choose(condition: Array) -> Coroutine:
        return (yield from (then if condition else otherwise)())

    return choose


def _for(op: scf.ForOp, bind: Program) -> Function:
    body, numbers = bind.coroutine(op.body), loop_range(op)

    def loop(lower: Array, upper: Array, step: Array, *carried: object) -> Coroutine:
        for index in numbers(lower, upper, step):
            carried = yield from body(index, *carried)
        return carried

    return loop


def _while(op: scf.WhileOp, bind: Program) -> Function:
    before, after = bind.coroutine(op.before_region), bind.coroutine(op.after_region)

    def loop(*carried: object) -> Coroutine:
        while True:
            proceed, *passed = yield from before(*carried)
            if not proceed:
                return tuple(passed)
            carried = yield from after(*passed)
            yield None

    return loop


def _execute_region(op: scf.ExecuteRegionOp, bind: Program) -> Function:
    body = bind.coroutine(op.region)

    def run() -> Coroutine:
        return (yield from body())

    return run


def _call(op: tile.CallOp, bind: Program) -> Function:
    callee = bind.callee(op.callee.root_reference.data)

    def call(*arguments: object) -> Coroutine:
        return (yield from callee(*arguments))

    return call


def _barrier(op: gpu.BarrierOp | gpu_layout.LocalBarrierOp | gpu_layout.BarrierOp, bind: Program) -> Function:
    """The warps of the group meet; of a partition, its own."""
    group, meeting = bind.group, bind.machine.meeting

    def mark() -> None:
        if bind.machine.timeline is not None:
            bind.machine.timeline.mark(group.name, op, bind.machine.time)

    def meet() -> None:
        mark()
        group.meet()

    def meet_others() -> Coroutine:
        mark()
        assert meeting is not None
        return (yield from meeting.arrive(group, op))

    return meet if meeting is None else meet_others


def _warp_specialize(op: gpu_layout.WarpSpecializeOp, bind: Program) -> Function:
    """All warps meet, the partitions start, the default region runs on the group's own warps; at the end all meet."""
    machine, group = bind.machine, bind.group
    default = bind.coroutine(op.defaultRegion)
    counts = [int(n) for n in op.partitionNumWarps.get_values()]

    def run(*captured: object) -> Coroutine:
        started = _partitions(bind, counts)
        _hand_over(bind, [group], started)
        for made, region in zip(started, op.partitions, strict=True):
            made.coroutine = Program(machine, made).coroutine(region)(*captured)
            machine.start(made)
        results = yield from default()
        group.at = op
        yield lambda: not any(made in machine.groups for made in started)
        _hand_over(bind, started, [group])
        return results

    return run


def _hand_over(bind: Program, leaving: list[Group], coming: list[Group]) -> None:
    """All warps meet: what those know that did something, all others know afterwards."""
    bind.machine.clocks.meet([agent for group in (*leaving, *coming) for agent in group.all])


def _partitions(bind: Program, counts: list[int]) -> list[Group]:
    """A group for each partition: its warps come behind the kernel's, and those of the partitions before."""
    together = bind.machine.warps is Warps.TOGETHER
    first = 1 if together else bind.machine.num_warps
    made: list[Group] = []
    for number, count in enumerate(counts):
        made.append(Group(bind.machine, f"partition {number}", first, count))
        first += 1 if together else count
    return made


def _predicate_stage(op: gpu_layout.PredicateStageOp, bind: Program) -> Function:
    """Stage `stage` of an iteration has work while the iteration that started it so many steps ago was in range."""
    ahead = op.maxStage.value.data - op.stage.value.data

    def has_work(iv: Array, ub: Array, step: Array) -> Array:
        return iv < ub - step * type(step)(ahead)

    return has_work


def _warp_id(op: gpu_layout.WarpIdOp, bind: Program) -> Function:
    """A number that differs between the warps of a group is no value here, where each op is executed once for all."""
    if bind.group.only is not None:
        number = np.int32(bind.group.only)
        return lambda: number
    if bind.group.warps > 1:
        reason = f"'{op.name}' differs between the {bind.group.warps} warps of a group, which are executed together"
        raise UnsupportedInInterpreter(reason).at(position_of(op), None)
    return lambda: np.int32(0)


def _mask(op: gpu_layout.MaskOp, bind: Program) -> Function:
    body = bind.coroutine(op.region)
    types = [type_of(result) for result in op.results]

    def run(predicate: Array) -> Coroutine:
        if predicate:
            return (yield from body())
        values = [(type_, undefined(dtype_of(type_), bind.execution.poison)) for type_ in types]
        return tuple(np.full(shape_of(type_), value) if is_tensor(type_) else value for type_, value in values)

    return run


TABLE: Table = {
    **case(scf.IfOp, _if),
    **case(scf.ForOp, _for),
    **case(scf.WhileOp, _while),
    **case(scf.ExecuteRegionOp, _execute_region),
    **case(tile.CallOp, _call),
    **case(gpu.BarrierOp, _barrier),
    **case((gpu_layout.LocalBarrierOp, gpu_layout.BarrierOp), _barrier),
    **case(gpu_layout.WarpSpecializeOp, _warp_specialize),
    **case(gpu_layout.PredicateStageOp, _predicate_stage),
    **case(gpu_layout.MaskOp, _mask),
    **case(gpu_layout.WarpIdOp, _warp_id),
}
