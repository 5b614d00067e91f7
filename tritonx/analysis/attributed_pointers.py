"""Which pointers come from the arguments of a kernel alone.

Such a pointer is an argument, or is computed of such pointers: by arithmetic, a select, a loop, a call. A pointer that
was loaded from memory or made of an integer leads to memory that no argument tells of, and so does one that is chosen
between such a pointer and another."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import BlockArgument, SSAValue

from tritonx.analysis.pointer_sources import sources
from tritonx.dialects import tile
from tritonx.ir.location import SourcePoint
from tritonx.ir.source import source_of
from tritonx.ir.walk import ops_in


@dataclass(frozen=True)
class AttributedPointers:
    """Asks of pointers anywhere in a module; calls are followed both ways."""

    functions: dict[str, tile.FuncOp]
    calls: dict[str, list[tile.CallOp]]

    @staticmethod
    def of(module: ModuleOp) -> AttributedPointers:
        functions = {op.sym_name.data: op for op in module.ops if isinstance(op, tile.FuncOp)}
        calls: dict[str, list[tile.CallOp]] = {}
        for function in functions.values():
            for op in ops_in(function):
                if isinstance(op, tile.CallOp):
                    calls.setdefault(op.callee.string_value(), []).append(op)
        return AttributedPointers(functions, calls)

    def is_attributed(self, pointer: SSAValue) -> bool:
        """Whether the pointer comes from arguments of the kernel alone."""
        pending, seen = [pointer], set[SSAValue]()
        while pending:
            value = pending.pop()
            if value in seen:
                continue
            seen.add(value)
            further = self._further(value)
            if further is None:
                return False
            pending += further
        return True

    def called_from(self, function: tile.FuncOp) -> tuple[SourcePoint, ...]:
        """Where a function is called from, and that one's caller, and so on, as far as there is only one call."""
        found: list[SourcePoint] = []
        seen = {function}
        while len(calls := self.calls.get(function.sym_name.data, [])) == 1:
            around = calls[0].parent_op()
            while around is not None and not isinstance(around, tile.FuncOp):
                around = around.parent_op()
            if around is None or around in seen:
                break
            found += source_of(calls[0])
            seen.add(function := around)
        return tuple(found)

    def _further(self, value: SSAValue) -> list[SSAValue] | None:
        """What a pointer comes from: nothing for an argument of a kernel, None for memory and integers."""
        if isinstance(value, BlockArgument) and isinstance(function := value.block.parent_op(), tile.FuncOp):
            made = [] if function.is_kernel else self.calls.get(function.sym_name.data, [])
            return [call.operands[value.index] for call in made]
        if isinstance(call := value.owner, tile.CallOp):
            function = self.functions.get(call.callee.string_value())
            if function is None or function.body.blocks.first is None:
                return None
            index = next(n for n, result in enumerate(call.results) if result is value)
            return [op.srcs[index] for op in ops_in(function) if isinstance(op, tile.ReturnOp)]
        return list(sources(value)) or None
