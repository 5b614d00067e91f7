"""Executing a kernel of a `ttg` module, program after program, with reports of what is wrong with it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TextIO

import numpy as np
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from tritonx.interpreter.arguments import bind_arguments, normalise_grid
from tritonx.interpreter.asynchronous.by_effects import is_barrier_of_some
from tritonx.interpreter.asynchronous.group import Warps
from tritonx.interpreter.asynchronous.machine import Machine, Order
from tritonx.interpreter.asynchronous.meanings import MEANINGS
from tritonx.interpreter.asynchronous.program import Meaning
from tritonx.interpreter.asynchronous.reports import Hang, Report, Reports, position_of
from tritonx.interpreter.asynchronous.timeline import Timeline
from tritonx.interpreter.execution import Execution
from tritonx.interpreter.machine import Machine as Functions
from tritonx.interpreter.memory import Memory


class Wrong(AssertionError):
    """A program with reports; the message is all of them."""

    def __init__(self, reports: Sequence[Report]) -> None:
        super().__init__("\n".join(map(str, reports)))
        self.reports = tuple(reports)


@dataclass(frozen=True)
class Setting:
    """How to execute. `warps`: whether the module says where warps wait (None: where its memory is placed).
    `timeline`: where to write down what the first program did. `locate` gives an op's location, for reports."""

    warps: Warps | None = None
    order: Order = field(default_factory=Order)
    timeline: Timeline | None = None
    poison: bool = True
    output: TextIO | None = None
    locate: Callable[[Operation], str | None] = position_of


def execute(
    module: ModuleOp,
    grid: int | Sequence[int],
    args: Sequence[object],
    setting: Setting | None = None,
    *,
    function: str | None = None,
    memory: Memory | None = None,
    arg_names: Sequence[str] | None = None,
    meanings: Mapping[type[Operation], Meaning] = MEANINGS,
) -> tuple[Report, ...]:
    """Run a kernel of `module` over `grid`, as `interpret` does; arrays are read and written in place.

    Returns what was found wrong with it; a program that hangs ends there, and so does the run. Raises a `KernelFault`
    with the kernel's line where an access to global memory is wrong, `InvalidLaunch` where the arguments do not fit.
    """
    setting = setting or Setting()
    execution = Execution(
        grid=normalise_grid(grid),
        memory=Memory() if memory is None else memory,
        poison=setting.poison,
        output=setting.output,
    )
    kernel = Functions(module, execution).entry(function)
    values = bind_arguments(kernel, args, execution.memory, arg_names)
    reports = Reports(locate=setting.locate)
    warps = setting.warps or warps_of(module)
    timeline = setting.timeline
    x_extent, y_extent, z_extent = execution.grid
    with np.errstate(all="ignore"):
        for z, y, x in np.ndindex(z_extent, y_extent, x_extent):
            execution.program = reports.program = (x, y, z)
            machine = Machine(module, execution, reports, meanings, warps, setting.order, timeline)
            timeline = None
            try:
                machine.run(kernel, values)
            except Hang:
                break
    return reports.all()


def warps_of(module: ModuleOp) -> Warps:
    """Whether a module says itself where its warps wait: where its memory has been placed. Before that, accesses happen
    in the order of the program. Where some warps alone meet at a barrier, each is executed by itself."""
    if any(map(is_barrier_of_some, module.walk())):
        return Warps.ALONE
    return Warps.APART if "ttg.shared" in module.attributes else Warps.TOGETHER


def check(module: ModuleOp, grid: int | Sequence[int], args: Sequence[object], setting: Setting | None = None) -> None:
    """Run, and raise `Wrong` if there is a report."""
    found = execute(module, grid, args, setting)
    if found:
        raise Wrong(found)
