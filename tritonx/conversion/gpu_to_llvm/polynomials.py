"""The vector functions of ``conversion.mathlib`` on tiles: f32 functions that no instruction computes well enough."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tritonx.conversion.gpu_to_llvm import trigonometry
from tritonx.conversion.gpu_to_llvm.values import Tile
from tritonx.conversion.mathlib import F32, Code

if TYPE_CHECKING:
    from tritonx.conversion.gpu_to_llvm.function import FunctionEmitter

POLYNOMIALS = frozenset(F32)
"""The names it knows, with the argument counts of ``F32``."""


class TileWriter:
    """What ``Code`` writes through: lines of a function emitter."""

    def __init__(self, f: FunctionEmitter) -> None:
        self.f = f

    @property
    def block(self) -> str:
        return self.f.block

    def let(self, expression: str) -> str:
        return self.f.inst(expression)

    def call(self, result_type: str, name: str, *arguments: tuple[str, str]) -> str:
        if name in trigonometry.FUNCTIONS:
            return trigonometry.large(self.f, name, arguments[0][1])
        symbol = self.f.module.declare(result_type, f"@{name}", [t for t, _ in arguments])
        return self.f.inst(f"call {result_type} {symbol}({', '.join(f'{t} {v}' for t, v in arguments)})")

    def fresh_label(self, stem: str) -> str:
        return self.f.new_label(stem)

    def branch_if(self, condition: str, then: str, otherwise: str) -> None:
        self.f.line(f"br i1 {condition}, label %{then}, label %{otherwise}")

    def label_only(self, name: str) -> None:
        self.f.label(name)

    def label(self, name: str) -> None:
        self.f.branch(name)
        self.f.label(name)


def polynomial(f: FunctionEmitter, name: str, operands: list[Tile]) -> Tile:
    """The function ``name`` of f32 tiles."""
    function, _ = F32[name]
    n = operands[0].n
    width = n if n > 1 else 0
    return Tile.wide("float", n, function(Code(TileWriter(f), width), *(f.wide(t) for t in operands)))
