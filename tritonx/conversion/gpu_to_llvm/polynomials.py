"""The vector functions of ``conversion.mathlib`` on tiles: f32 functions that no instruction computes well enough."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tritonx.conversion.gpu_to_llvm.values import Tile
from tritonx.conversion.mathlib import F32, Code

if TYPE_CHECKING:
    from tritonx.conversion.gpu_to_llvm.function import FunctionEmitter

POLYNOMIALS = frozenset(F32)
"""The names it knows, with the argument counts of ``F32``."""


TOGETHER = 2
"""Elements whose function is computed before the next ones are started. What is between takes registers for so many,
and the assembler overlaps neighbours where it has some to spare: Jensen-Shannon divergences of rows of 2048, 16
elements a thread, take 80 registers, with all elements at once 152."""


def polynomial(f: FunctionEmitter, name: str, operands: list[Tile]) -> Tile:
    """The function ``name`` of f32 tiles."""
    function, _ = F32[name]
    n = operands[0].n
    width = min(n, TOGETHER)
    code = Code(f, width if n > 1 else 0)
    if n == width:
        return Tile.wide("float", n, function(code, *(f.wide(t) for t in operands)))
    parts = [function(code, *(f.run(t, first, width) for t in operands)) for first in range(0, n, width)]
    return Tile.wide("float", n, f.concat("float", parts, width))
