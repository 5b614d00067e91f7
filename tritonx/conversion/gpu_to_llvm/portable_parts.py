"""What a machine may leave out: math functions beyond a table of names, and messages."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tritonx.conversion.gpu_to_llvm.calls import Signatures, call_each
from tritonx.conversion.gpu_to_llvm.elementwise import call_intrinsic, lanewise
from tritonx.conversion.gpu_to_llvm.values import Tile
from tritonx.conversion.scalar.floats import reciprocal_root
from tritonx.ir.failure import PassError

if TYPE_CHECKING:
    from tritonx.conversion.gpu_to_llvm.function import FunctionEmitter

Mangle = Callable[[str, list[str]], str]
"""(name of a function, LLVM types of its operands) → its symbol."""


@dataclass(frozen=True)
class NamedFunctions:
    """Math functions that a target's library has: ``names`` are the emitters' names → the library's, ``further`` those
    of ``tl.extra.libdevice`` that are none of the emitters'. They are of ``types``, and called by the symbol that
    ``mangle`` makes. Roots and quotients are LLVM's instructions, correctly rounded."""

    mangle: Mangle
    names: Mapping[str, str]
    further: Mapping[str, str] = field(default_factory=dict[str, str])
    types: frozenset[str] = frozenset({"float", "double"})

    def function(self, f: FunctionEmitter, name: str, operands: list[Tile]) -> Tile | None:
        elem = operands[0].elem
        if name in ("div", "precise_div", "approximate_div"):
            return None
        if name in ("sqrt", "precise_sqrt"):
            return call_intrinsic(f, "sqrt", operands)
        if name == "rsqrt":
            return lanewise(f, elem, operands, lambda ops, x: reciprocal_root(ops, elem, x[0]))
        if name in self.names:
            return self._call(f, self.names[name], operands, elem)
        return None

    def library_signatures(self) -> Signatures:
        """A library that is built in lists nothing."""
        return frozenset()

    def extern(self, f: FunctionEmitter, symbol: str, operands: list[Tile], result: str) -> Tile | None:
        name = self.further.get(symbol) or self.names.get(symbol)
        if name is None or any(t.elem not in self.types for t in operands):
            return None
        return self._call(f, name, operands, result)

    def _call(self, f: FunctionEmitter, name: str, operands: list[Tile], result: str) -> Tile:
        return call_each(f, self.mangle(name, [t.elem for t in operands]), operands, result)


class NoMessages:
    """A kernel says nothing, and cannot be stopped; one that would is refused."""

    def print_line(self, f: FunctionEmitter, text: str, values: list[tuple[str, str, bool]]) -> None:
        assert f.current is not None
        raise PassError(f.current, "the target cannot print")

    def assert_(self, f: FunctionEmitter, failed: str, message: str, file: str, line: int, function: str) -> None:
        assert f.current is not None
        raise PassError(f.current, "the target cannot stop a kernel")
