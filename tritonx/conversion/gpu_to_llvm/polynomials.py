"""The vector functions of ``conversion.mathlib`` on tiles: f32 functions that no instruction computes well enough."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tritonx.conversion.gpu_to_llvm.values import Tile
from tritonx.conversion.mathlib import F32, Code

if TYPE_CHECKING:
    from tritonx.conversion.gpu_to_llvm.function import FunctionEmitter

POLYNOMIALS = frozenset(F32)
"""The names it knows, with the argument counts of ``F32``."""


def polynomial(f: FunctionEmitter, name: str, operands: list[Tile]) -> Tile:
    """The function ``name`` of f32 tiles."""
    function, _ = F32[name]
    n = operands[0].n
    width = n if n > 1 else 0
    return Tile.wide("float", n, function(Code(f, width), *(f.wide(t) for t in operands)))
