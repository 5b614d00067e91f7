"""Scalar functions called on every element of a tile."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from tritonx.conversion.gpu_to_llvm.elementwise import LAZY_FROM
from tritonx.conversion.gpu_to_llvm.values import Tile

if TYPE_CHECKING:
    from tritonx.conversion.gpu_to_llvm.function import FunctionEmitter

Signatures = frozenset[tuple[str, tuple[str, ...], str]]
"""Functions by symbol, LLVM types of the operands, LLVM type of the result."""

_LLVM_TYPES = {"fp16": "half", "bf16": "bfloat", "fp32": "float", "fp64": "double"}


def signatures(functions: Mapping[str, Mapping[tuple[str, ...], tuple[str, str]]]) -> Signatures:
    """Of a backend's table of library functions (``Backend.extern_functions``)."""

    def llvm(name: str) -> str:
        return _LLVM_TYPES.get(name) or name.replace("uint", "i").replace("int", "i")

    return frozenset(
        (symbol, tuple(map(llvm, types)), llvm(result))
        for overloads in functions.values()
        for types, (symbol, result) in overloads.items()
    )


def call_each(f: FunctionEmitter, symbol: str, operands: list[Tile], result: str) -> Tile:
    """Call a scalar function, the module's or an external one, on every element, once for equal operands."""
    if symbol not in f.module.definitions:
        f.module.declare(result, symbol, [t.elem for t in operands])
    return each_called(f, symbol, operands, result)


def each_called(f: FunctionEmitter, callee: str, operands: list[Tile], result: str) -> Tile:
    """``call_each`` of what LLVM's ``call`` has behind the type: a known symbol, or assembly."""
    n = operands[0].n
    if n >= LAZY_FROM and any(t.prefers_vector for t in operands) and f.may_be_written_late(f.current):

        def piece(first: int, count: int) -> str:
            runs = [Tile.wide(t.elem, count, f.run(t, first, count)) for t in operands]
            return f.wide(called(f, callee, runs, result))

        return Tile(result, n, lazy=piece)
    return called(f, callee, operands, result)


def called(f: FunctionEmitter, callee: str, operands: list[Tile], result: str) -> Tile:
    """The calls of ``each_called``, written now."""
    elems = [t.elem for t in operands]
    made: dict[tuple[str, ...], str] = {}
    names: list[str] = []
    for key in zip(*(f.scalars(t) for t in operands), strict=True):
        if key not in made:
            arguments = ", ".join(f"{e} {x}" for e, x in zip(elems, key, strict=True))
            made[key] = f.inst(f"call {result} {callee}({arguments})")
        names.append(made[key])
    return joined(f, result, names)


def joined(f: FunctionEmitter, elem: str, names: list[str]) -> Tile:
    """Scalars as a tile in its vector form."""
    return f.gathered(elem, names)
