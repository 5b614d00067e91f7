"""Functions that call each other: what a function has in memory lies above what all its callers have.

A caller's memory is in use while the function that it calls runs. Which callers those are is not known beforehand, so
that each function has its own above the highest of them.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import ModuleOp

from tritonx.dialects import tile
from tritonx.ir.walk import ops_in


def functions_of(module: ModuleOp) -> list[tile.FuncOp]:
    """The functions with a body, each after those that call it."""
    functions = {
        f.sym_name.data: f for f in module.ops if isinstance(f, tile.FuncOp) and f.body.blocks.first is not None
    }
    if len(functions) == 1:
        return [*functions.values()]
    order: list[tile.FuncOp] = []
    seen: set[str] = set()

    def visit(name: str) -> None:
        if name in seen or name not in functions:
            return
        seen.add(name)
        for callee in _calls_of(functions[name]):
            visit(callee)
        order.append(functions[name])

    for name in functions:
        visit(name)
    order.reverse()
    return order


def _calls_of(function: tile.FuncOp) -> list[str]:
    """Names of the functions that a function calls."""
    return [op.callee.string_value() for op in ops_in(function) if isinstance(op, tile.CallOp)]


class Bases:
    """Where the memory of each function begins; asked for in the order of `functions_of`."""

    def __init__(self, functions: Sequence[tile.FuncOp]) -> None:
        self._base: dict[str, int] = {f.sym_name.data: 0 for f in functions}

    def of(self, function: tile.FuncOp) -> int:
        return self._base[function.sym_name.data]

    def end(self, function: tile.FuncOp, end: int) -> None:
        """What the function has ends there: what it calls has its own from there on."""
        for callee in _calls_of(function) if len(self._base) > 1 else ():
            if callee in self._base:
                self._base[callee] = max(self._base[callee], end)
