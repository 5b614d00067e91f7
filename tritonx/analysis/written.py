"""Through which of a kernel's arguments it may store: from every op that writes global memory back to the
arguments that its pointer comes from.

A pointer is followed through all ops that compute it, along the edges of control flow, and through calls. One that was
loaded from memory, or made of an integer, comes from no argument. So a store really can go through each argument that
is named; through others one can only where the kernel makes up the pointer."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, SSAValue

from tritonx.analysis.checked_accesses import table_argument
from tritonx.analysis.pointer_sources import pointers_of, sources
from tritonx.dialects import tile
from tritonx.dialects.effects import Kind, Resource, declared_by
from tritonx.ir.walk import ops_in


def written_arguments(module: ModuleOp, name: str) -> tuple[int, ...]:
    """The numbers of the arguments of the function ``name`` that it, or a function it calls, may store through."""
    functions = {op.sym_name.data: op for op in module.ops if isinstance(op, tile.FuncOp)}
    return _Functions(functions).written(name)


class _Functions:
    def __init__(self, functions: dict[str, tile.FuncOp]) -> None:
        self._functions = functions
        self._written: dict[str, tuple[int, ...]] = {}
        self._returned: dict[tuple[str, int], tuple[int, ...]] = {}

    def written(self, name: str) -> tuple[int, ...]:
        if name not in self._written:
            self._written[name] = ()  # what a recursive call adds, its caller finds as well
            function = self._functions.get(name)
            if function is not None and function.body.blocks:
                targets = [pointer for op in ops_in(function) for pointer in self._targets(op)]
                self._written[name] = self._behind(function, targets)
        return self._written[name]

    def returned(self, name: str, index: int) -> tuple[int, ...]:
        """The arguments of a function that its result of this number may point into."""
        if (name, index) not in self._returned:
            self._returned[name, index] = ()
            function = self._functions.get(name)
            if function is not None and function.body.blocks:
                ends = [op.srcs[index] for op in ops_in(function) if isinstance(op, tile.ReturnOp)]
                self._returned[name, index] = self._behind(function, ends)
        return self._returned[name, index]

    def _behind(self, function: tile.FuncOp, values: Iterable[SSAValue]) -> tuple[int, ...]:
        """The arguments that values of a function may come from."""
        pending, seen = list(values), set[SSAValue]()
        while pending:
            value = pending.pop()
            if value not in seen:
                seen.add(value)
                pending.extend(self._sources(value))
        table = table_argument(function)
        found = (argument.index for argument in function.body.blocks[0].args if argument in seen)
        return tuple(index for index in found if index != table)

    def _targets(self, op: Operation) -> Iterable[SSAValue]:
        """Pointers that the op itself writes through."""
        if isinstance(op, tile.CallOp):
            return [op.operands[i] for i in self.written(op.callee.string_value())]
        declared = declared_by(type(op))
        if declared is None:
            return pointers_of(op)
        written = (e for e in declared.own(op) if e.kind is Kind.WRITE and e.resource is Resource.GLOBAL)
        return [pointer for effect in written for pointer in (effect.values(op) or pointers_of(op))]

    def _sources(self, value: SSAValue) -> Sequence[SSAValue]:
        call = value.owner
        if not isinstance(call, tile.CallOp):
            return sources(value)
        index = call.results.index(value)  # pyright: ignore[reportArgumentType] -- a result, as its owner is an op
        return [call.operands[i] for i in self.returned(call.callee.string_value(), index)]
