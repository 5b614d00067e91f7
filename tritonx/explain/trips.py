"""How often loops are executed in a launch, from its arguments: numbers take the place of the kernel's scalar
parameters and of a program's index, and what the bounds of loops fold to is read. Nothing is executed."""

from __future__ import annotations

import math
from collections.abc import Mapping

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Operation, SSAValue

from tritonx.dialects import scf, tile
from tritonx.dialects.arith import ConstantOp
from tritonx.ir.edit import erase, insert_before
from tritonx.ir.fold import attribute_for, constant_of
from tritonx.ir.source import source_of
from tritonx.ir.walk import ops_in
from tritonx.runtime.launch.grids import program_at
from tritonx.transforms.tile.fold import Fold
from tritonx.transforms.tile.inline import Inline
from tritonx.transforms.tile.lift_control_flow import LiftControlFlow

Chain = tuple[str, ...]
"""File, line and column of a loop, then of the calls through which it was inlined."""

Trips = dict[Chain, float]
"""How often a program executes the body of a loop, on average of the programs that are tried."""


class UnknownTrips(Exception):
    """How often `loop` is executed does not follow from the launch."""

    def __init__(self, loop: Operation) -> None:
        super().__init__("the bounds of a loop are no numbers that follow from the launch's arguments")
        self.loop = loop


def chain_of(op: Operation) -> Chain:
    """Two calls of one function have two."""
    return tuple(f"{point.file}:{point.line}:{point.column}" for point in source_of(op))


def trips_of(module: ModuleOp, scalars: Mapping[int, int], grid: tuple[int, int, int]) -> Trips:
    """Of a kernel of `tt` whose parameters have these values by position. The first, the middle and the last program
    are tried. Raises `UnknownTrips`."""
    programs = math.prod(grid)
    chosen = sorted({0, programs // 2, programs - 1}) if programs else []
    found: Trips = {}
    for number in chosen:
        for loop, times in _of_program(module.clone(), scalars, program_at(number, grid), grid):
            at = chain_of(loop)
            found[at] = found.get(at, 0.0) + times / len(chosen)
    return found


def _of_program(
    module: ModuleOp, scalars: Mapping[int, int], program: tuple[int, ...], grid: tuple[int, ...]
) -> list[tuple[Operation, float]]:
    context = Context()
    Inline().apply(context, module)
    LiftControlFlow().apply(context, module)
    functions = [op for op in module.ops if isinstance(op, tile.FuncOp)]
    for function in functions:
        if not function.is_kernel:
            for op in ops_in(function):
                if isinstance(op, scf.ForOp | scf.WhileOp):
                    raise UnknownTrips(op)
    kernel = next(function for function in functions if function.is_kernel)
    if len(kernel.body.blocks) != 1:  # a cycle of blocks
        raise UnknownTrips(kernel)
    entry = kernel.body.block
    for at, value in scalars.items():
        _become(entry.args[at], value, entry)
    for op in list(ops_in(kernel)):
        if isinstance(op, tile.GetProgramIdOp | tile.GetNumProgramsOp):
            known = program if isinstance(op, tile.GetProgramIdOp) else grid
            _become(op.result, known[op.axis.value.data], entry)
    found: list[tuple[Operation, float]] = [(op, 0.0) for op in ops_in(kernel) if isinstance(op, scf.ForOp)]
    _visit(entry, module, 1.0, found)
    return found


def _visit(block: Block, module: ModuleOp, times: float, found: list[tuple[Operation, float]]) -> None:
    """The loops of a block that is executed so often, and those in them."""
    Fold().apply(Context(), module)
    for op in list(block.ops):
        if isinstance(op, scf.WhileOp):
            raise UnknownTrips(op)
        if isinstance(op, scf.ForOp):
            low, high, step = (constant_of(bound) for bound in (op.lb, op.ub, op.step))
            if not (isinstance(low, int) and isinstance(high, int) and isinstance(step, int)) or step <= 0:
                raise UnknownTrips(op)
            count = max(0, -(-(high - low) // step))
            found.append((op, times * count))
            middles = [] if not count else [count // 2] if count % 2 else [count // 2 - 1, count // 2]
            for middle in middles:  # a loop inside has the bounds of these iterations
                copy = op.clone()
                insert_before(copy, op)
                body = copy.body.block
                _become(body.args[0], low + middle * step, body)
                _visit(body, module, times * count / len(middles), found)
                erase(copy)
        elif isinstance(op, scf.IfOp):
            decided = constant_of(op.cond)
            for taken, region in ((True, op.true_region), (False, op.false_region)):
                if region.blocks and (decided is None or bool(decided) == taken):
                    _visit(region.block, module, times, found)


def _become(value: SSAValue, number: int, block: Block) -> None:
    """The value is this number, in a block that its uses are in."""
    first = block.first_op
    assert first is not None, "a block has a terminator"
    constant = ConstantOp.create(properties={"value": attribute_for(number, value.type)}, result_types=(value.type,))
    insert_before(constant, first)
    value.replace_all_uses_with(constant.results[0])
