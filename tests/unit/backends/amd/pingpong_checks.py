"""What the tests of ping-pong share: a program with and without the pass, and what each barrier and wait is for."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from xdsl.dialects.builtin import ModuleOp

from tests.unit.interpreter.asynchronous.mutants import mutated
from tests.unit.transforms.gpu.test_executed import Program
from tritonx.backends.amd.passes.block_pingpong import BlockPingpong
from tritonx.dialects import scf
from tritonx.dialects.amd import CondBarrierOp
from tritonx.dialects.gpu_layout import AsyncWaitOp, LocalBarrierOp
from tritonx.interpreter.asynchronous import Report
from tritonx.interpreter.asynchronous.reports import Kind
from tritonx.interpreter.asynchronous.run import warps_of
from tritonx.ir.edit import erase
from tritonx.ir.explain import collected
from tritonx.ir.pipeline import pass_context
from tritonx.ir.text import print_module
from tritonx.ir.verify import verify

Run = Callable[[Program], tuple[Report, ...]]
"""Runs a program, whose result must be right unless something is reported."""


def without_pingpong(program: Program) -> Program:
    """Through all passes but the one for ping-pong."""
    for one in program.passes:
        if one.name != BlockPingpong.name:
            program.apply(one)
    return program


def alternated(program: Program, pingpong: BlockPingpong, remark: str) -> ModuleOp:
    """The program's module behind the pass, which says this remark alone."""
    module = program.bound.module
    with collected() as remarks:
        pingpong.apply(pass_context(), module)
    assert [r.text for r in remarks] == [remark]
    verify(module)
    program.warps = warps_of(module)
    return module


def barriers_in_loop(module: ModuleOp) -> list[int]:
    """The numbers, among all barriers, of those in the loop; the last one in front of it is the one before."""
    barriers = [op for op in module.walk() if isinstance(op, LocalBarrierOp)]
    return [number for number, op in enumerate(barriers) if isinstance(op.parent_op(), scf.ForOp)]


def check_copies_are_guarded(program: Program, module: ModuleOp, run: Run, what: str) -> None:
    """A loop with two barriers needs both and the one in front, and a wait for fewer copies is found in front of it and
    in it; a half that is held at one end of the loop alone waits for ever."""
    waits = [op for op in module.walk() if isinstance(op, AsyncWaitOp)]
    within = barriers_in_loop(module)
    inner = next(number for number, op in enumerate(waits) if isinstance(op.parent_op(), scf.ForOp))
    assert len(within) == 2
    text, bound = print_module(module), program.bound
    mutants = [("barrier dropped", number) for number in (within[0] - 1, *within)]
    mutants += [("copies' wait loosened", number) for number in (inner - 1, inner)]
    for mutation, number in mutants:
        program.bound = replace(bound, module=mutated(text, mutation, number))
        found = run(program)
        assert found, f"{mutation}, number {number}: {what}"
        assert all(report.kind is not Kind.HANG for report in found)
    program.bound = bound
    check_halves_meet(program, text, within[0] - 1, run, what)


def check_halves_meet(program: Program, text: str, before: int, run: Run, what: str) -> None:
    """A half that is held at one end of the loop alone waits for ever, without the barrier in front of the loop too,
    whose number is ``before``."""
    bound = program.bound
    for number in range(2):
        program.bound = replace(bound, module=mutated(text, "barrier dropped", before))
        halves = [op for op in program.bound.module.walk() if isinstance(op, CondBarrierOp)]
        assert len(halves) == 2
        erase(halves[number])
        program.warps = warps_of(program.bound.module)
        assert any(report.kind in (Kind.HANG, Kind.DIVERGED) for report in run(program)), what
