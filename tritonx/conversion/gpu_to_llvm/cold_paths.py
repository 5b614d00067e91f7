"""What few threads have to do: the code is behind one branch, shared by all ops that may wait for it together.

An op whose result few threads must complete (a vector that a mask divides) leaves that `ColdPath` to the emitter, which
has it written before the first op that writes memory, branches to another block or reads the result for more than
elements of its own. So other loads are under way before the first result is asked for."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from xdsl.ir import Operation, SSAValue

from tritonx.analysis.axis_rules import is_repeatable
from tritonx.ir.effects import is_terminator, may_write

if TYPE_CHECKING:
    from tritonx.conversion.gpu_to_llvm.function import FunctionEmitter

MOST = 16
"""Vectors, of up to four registers each, that wait at once."""


@dataclass(frozen=True)
class ColdPath:
    """`tests`: i1 names, one of which holds in a thread that has something to do. `names`, each of LLVM type `type`,
    are what the others have; `write` writes what is to be done and gives the names in their place. `take` receives
    those that hold in either case."""

    result: SSAValue
    tests: tuple[str, ...]
    type: str
    names: tuple[str, ...]
    write: Callable[[], Sequence[str]]
    take: Callable[[list[str]], None]


class Left:
    """What is left to be done, and the ops that wait for it."""

    def __init__(self) -> None:
        self.todo: list[ColdPath] = []
        self.waiting: list[Operation] = []
        self.results: set[SSAValue] = set()

    def add(self, cold_path: ColdPath) -> None:
        self.todo.append(cold_path)
        self.results.add(cold_path.result)

    def takes(self, op: Operation) -> bool:
        """Whether `op` waits as well: it reads what is left, and only computes element by element."""
        if not self.todo or self.results.isdisjoint(op.operands) or op.regions or not is_repeatable(op):
            return False
        self.waiting.append(op)
        self.results.update(op.results)
        return True

    def holds(self, op: Operation) -> bool:
        """Whether what is left must be written before `op` is."""
        if not self.todo:
            return False
        if op.regions or is_terminator(op) or may_write(op) or not self.results.isdisjoint(op.operands):
            return True
        return sum(len(each.names) for each in self.todo) > MOST

    def write(self, f: FunctionEmitter) -> list[Operation]:
        """All that is left, behind one branch; the ops that waited for it come next."""
        todo, self.todo = self.todo, []
        waiting, self.waiting = self.waiting, []
        self.results.clear()
        before = f.block
        with f.where(any_of(f, [test for each in todo for test in each.tests])):
            done = [each.write() for each in todo]
            behind = f.block
        joined = [
            [
                f.inst(f"phi {each.type} [ {a}, %{before} ], [ {b}, %{behind} ]")
                for a, b in zip(each.names, names, strict=True)
            ]
            for each, names in zip(todo, done, strict=True)
        ]
        for each, names in zip(todo, joined, strict=True):
            each.take(names)
        return waiting


def any_of(f: FunctionEmitter, tests: Sequence[str]) -> str:
    """Whether one of `tests`, at least one, holds."""
    first, *others = dict.fromkeys(tests)
    for test in others:
        first = f.inst(f"or i1 {first}, {test}")
    return first
