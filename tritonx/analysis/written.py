"""Through which of a kernel's arguments it may store: from every store, atomic and descriptor store back to the
arguments that its pointer comes from.

A pointer is followed through arithmetic, changes of shape, selections, loops, branches and calls. One that was loaded
from memory, or made of an integer, comes from no argument. So a store really can go through each argument that is
named; through others one can only where the kernel makes up the pointer."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, cast

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, SSAValue

from tritonx.analysis.pointer_sources import sources
from tritonx.dialects import tile

_WRITES: dict[type[Operation], str] = {
    tile.StoreOp: "ptr",
    tile.AtomicRMWOp: "ptr",
    tile.AtomicCASOp: "ptr",
    tile.DescriptorStoreOp: "desc",
    tile.DescriptorReduceOp: "desc",
    tile.DescriptorScatterOp: "desc",
}
"""Ops that write to memory → the operand that says where."""


def written_arguments(module: ModuleOp, name: str) -> tuple[int, ...]:
    """The numbers of the arguments of the function ``name`` that it, or a function it calls, may store through."""
    functions = {op.sym_name.data: op for op in module.ops if isinstance(op, tile.FuncOp)}
    return _Functions(functions).written(name)


class _Functions:
    def __init__(self, functions: dict[str, tile.FuncOp]) -> None:
        self._functions = functions
        self._known: dict[str, tuple[int, ...]] = {}

    def written(self, name: str) -> tuple[int, ...]:
        if name not in self._known:
            self._known[name] = ()  # what a recursive call adds, its caller finds as well
            function = self._functions.get(name)
            if function is not None and function.body.blocks:
                self._known[name] = self._find(function)
        return self._known[name]

    def _find(self, function: tile.FuncOp) -> tuple[int, ...]:
        entry = function.body.blocks[0]
        pending = [pointer for op in function.walk() for pointer in self._targets(op)]
        seen: set[SSAValue] = set()
        while pending:
            value = pending.pop()
            if value not in seen:
                seen.add(value)
                pending.extend(sources(value))
        return tuple(argument.index for argument in entry.args if argument in seen)

    def _targets(self, op: Operation) -> Iterable[SSAValue]:
        """Pointers that the op itself writes through."""
        operand = _WRITES.get(type(op))
        if operand is not None:
            return (getattr(op, operand),)
        if isinstance(op, tile.CallOp):
            return [op.operands[i] for i in self.written(cast(Any, op.callee).root_reference.data)]
        return ()
