"""Functions of libdevice that `conversion.mathlib.doubles` has as well: they stand in where the library is missing.

Their results are other bits than the library's (the errors of both are stated), which is why the library's digest is
part of the cache's key."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from tritonx.backends.nvidia.libdevice.libdevice_names import FUNCTIONS
from tritonx.conversion.gpu_to_llvm.calls import call_each
from tritonx.conversion.gpu_to_llvm.values import Tile
from tritonx.conversion.mathlib.doubles.table import NAMES, define

if TYPE_CHECKING:
    from tritonx.conversion.gpu_to_llvm.function import FunctionEmitter

_FORMATS = {"fp32": False, "fp64": True}


@cache
def table() -> dict[str, tuple[str, bool]]:
    """Symbol of libdevice → (name of the function of our own, whether it is of f64)."""
    return {
        symbol: ("pown" if name == "pow" and types[1] == "int32" else name, _FORMATS[types[0]])
        for name, overloads in FUNCTIONS.items()
        if name in NAMES
        for types, (symbol, _) in overloads.items()
        if types[0] in _FORMATS
    }


def own_function(f: FunctionEmitter, symbol: str, operands: list[Tile], result: str) -> Tile | None:
    """The function that stands in for ``symbol``, called on every element; None where there is none."""
    if (found := table().get(symbol)) is None:
        return None
    name, double = found
    return call_each(f, define(f.module, name, double=double), operands, result)
