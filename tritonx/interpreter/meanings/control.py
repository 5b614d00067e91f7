"""Calls, the program's place in the grid, structured control flow. Branches between blocks are the machine's own
business."""

# Operands are arrays of any dtype: to pyright, what NumPy makes of them is partially unknown.
# pyright: reportUnknownArgumentType=false, reportUnknownLambdaType=false
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from tritonx.dialects import gpu, llvm, scf, tile, ub
from tritonx.interpreter.errors import DeviceAssertion
from tritonx.interpreter.execution import Binder, Function, Table, always
from tritonx.interpreter.values import Array, dtype_of, undefined
from tritonx.ir.dispatch import case
from tritonx.ir.types import is_tensor, shape_of, type_of


def _program_id(op: tile.GetProgramIdOp, bind: Binder) -> Function:
    axis: int = op.axis.value.data
    return lambda: np.int32(bind.execution.program[axis])


def _num_programs(op: tile.GetNumProgramsOp, bind: Binder) -> Function:
    count = np.int32(bind.execution.grid[op.axis.value.data])
    return lambda: count


def _call(op: tile.CallOp, bind: Binder) -> Function:
    return bind.function(op.callee.root_reference.data)


def _if(op: scf.IfOp, bind: Binder) -> Function:
    then = bind.region(op.true_region)
    otherwise: Function = bind.region(op.false_region) if op.false_region.blocks else tuple[Array, ...]
    return lambda condition: then() if condition else otherwise()


def loop_range(op: scf.ForOp) -> Callable[[Array, Array, Array], Iterator[Array]]:
    """The counters of an `scf.for`, from its bounds and step."""
    counter = dtype_of(type_of(op.operands[0])).type
    unsigned_bits = 8 * np.dtype(counter).itemsize if "unsignedCmp" in op.properties else 0

    def bound(value: Array) -> int:
        number = int(value)
        return number + (1 << unsigned_bits) if unsigned_bits and number < 0 else number

    def counters(lower: Array, upper: Array, step: Array) -> Iterator[Array]:
        for index in range(bound(lower), bound(upper), bound(step)):
            yield counter(index - (1 << unsigned_bits) if unsigned_bits and index >> unsigned_bits - 1 else index)

    return counters


def _for(op: scf.ForOp, bind: Binder) -> Function:
    body, counters = bind.region(op.body), loop_range(op)

    def loop(lower: Array, upper: Array, step: Array, *carried: Array) -> tuple[Array, ...]:
        for index in counters(lower, upper, step):
            carried = body(index, *carried)
        return carried

    return loop


def _while(op: scf.WhileOp, bind: Binder) -> Function:
    before, after = bind.region(op.before_region), bind.region(op.after_region)

    def loop(*carried: Array) -> tuple[Array, ...]:
        proceed, *passed = before(*carried)
        while proceed:
            proceed, *passed = before(*after(*passed))
        return tuple(passed)

    return loop


def _execute_region(op: scf.ExecuteRegionOp, bind: Binder) -> Function:
    return bind.region(op.region)


def _poison(op: ub.PoisonOp, bind: Binder) -> Function:
    type_ = type_of(op.results[0])
    value = undefined(dtype_of(type_), bind.execution.poison)
    result = np.full(shape_of(type_), value) if is_tensor(type_) else value
    return lambda: result


def _assume(op: llvm.AssumeOp, bind: Binder) -> Function:
    def assume(condition: Array) -> None:
        if not condition and bind.execution.check_assertions:
            raise DeviceAssertion("what tl.assume promises does not hold")

    return assume


def _unreachable() -> None:
    raise DeviceAssertion("execution reached a place that the compiler was told it never reaches")


def _nothing() -> None:
    """Programs run one after the other and lanes together: there is nothing to wait for."""


TABLE: Table = {
    **case(tile.GetProgramIdOp, _program_id),
    **case(tile.GetNumProgramsOp, _num_programs),
    **case(tile.CallOp, _call),
    **case(scf.IfOp, _if),
    **case(scf.ForOp, _for),
    **case(scf.WhileOp, _while),
    **case(scf.ExecuteRegionOp, _execute_region),
    **case(ub.PoisonOp, _poison),
    ub.UnreachableOp: always(_unreachable),
    **case(llvm.AssumeOp, _assume),
    gpu.BarrierOp: always(_nothing),
    tile.GridDependencyWaitOp: always(_nothing),
    tile.GridDependencyLaunchDependentsOp: always(_nothing),
}
