"""Every operator × pair of types × (tile, scalar, compile-time number), and every cast."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from both_case import DTYPES, FLOATS, HEADER, INTEGERS, NAMES, TYPES, Case

BINARY = ("+", "-", "*", "/", "//", "%", "&", "|", "^", "<<", ">>", "<", "<=", ">", ">=", "==", "!=", "and", "or")
UNARY = ("-x", "+x", "~x", "not x", "abs(x)", "x.abs()", "x == x", "x")
NUMBERS: tuple[Any, ...] = (
    *(0, 1, -1, 3, 31, 64, 127, 128, 255, 2**31 - 1, 2**31, -(2**31), 2**32 + 1, 2**63, True, False),
    *(0.0, -0.0, 0.5, 3.0, float("inf"), float("nan"), 1e-40, 1e300, 65520.0),
)

TILES = """@triton.jit
def kernel(out, a, b):
    i = tl.arange(0, 512)
    x = tl.load(a + i)
    y = tl.load(b + i)
    show(out, {expression}, 512)
"""
TILE_AND_SCALAR = """@triton.jit
def kernel(out, a, b):
    pid = tl.program_id(0)
    i = tl.arange(0, 32)
    {x} = tl.load(a + i * {apart})
    {y} = tl.load(b + pid)
    show(out + pid * 512, {expression}, 32)
"""
SCALARS = """@triton.jit
def kernel(out, a, b):
    pid = tl.program_id(0)
    x = tl.load(a + pid * 24)
    y = tl.load(b + pid)
    show_scalar(out + pid * 512, {expression})
"""
NUMBER = """@triton.jit
def kernel(out, a, C: tl.constexpr):
    i = tl.arange(0, 32)
    x = tl.load(a + i * 16)
    show(out, {expression}, 32)
"""
ONE = """@triton.jit
def kernel(out, a):
    i = tl.arange(0, 512)
    x = tl.load(a + i)
    show(out, {expression}, 512)
"""
ONE_SCALAR = """@triton.jit
def kernel(out, a):
    pid = tl.program_id(0)
    x = tl.load(a + pid * 24)
    show_scalar(out + pid * 512, {expression})
"""
GRID = 15


def pairs() -> Iterator[Case]:
    for op in BINARY:
        for left in TYPES:
            for right in TYPES:
                arrays = {"out": "i8", "a": left, "b": right}
                name, expression = f"{left} {op} {right}", f"x {op} y"
                yield Case(f"tiles: {name}", HEADER + TILES.format(expression=expression), arrays)
                text = TILE_AND_SCALAR.format(x="x", y="y", apart=16, expression=expression)
                yield Case(f"tile and scalar: {name}", HEADER + text, arrays, grid=GRID)
                swapped = {"out": "i8", "a": right, "b": left}
                text = TILE_AND_SCALAR.format(x="y", y="x", apart=16, expression=expression)
                yield Case(f"scalar and tile: {name}", HEADER + text, swapped, grid=GRID)
                yield Case(f"scalars: {name}", HEADER + SCALARS.format(expression=expression), arrays, grid=GRID)


def numbers() -> Iterator[Case]:
    for op in BINARY:
        for type_ in TYPES:
            for number in NUMBERS:
                for expression in (f"x {op} C", f"C {op} x"):
                    name = f"number: {expression} of {type_}, C = {number!r}"
                    source = HEADER + NUMBER.format(expression=expression)
                    yield Case(name, source, {"out": "i8", "a": type_}, {"C": number})


def unary() -> Iterator[Case]:
    for type_ in TYPES:
        for expression in (*UNARY, *casts(type_)):
            arrays = {"out": "i8", "a": type_}
            yield Case(f"tile: {expression} of {type_}", HEADER + ONE.format(expression=expression), arrays)
            source = HEADER + ONE_SCALAR.format(expression=expression)
            yield Case(f"scalar: {expression} of {type_}", source, arrays, grid=GRID)


def casts(source: str) -> Iterator[str]:
    for to in TYPES:
        yield f"x.to(tl.{NAMES[to]})"
        yield f"tl.cast(x, tl.{NAMES[to]}, bitcast=True)"
        if source in FLOATS and to not in ("i1", *INTEGERS) and DTYPES[to].itemsize < DTYPES[source].itemsize:
            yield f'x.to(tl.{NAMES[to]}, fp_downcast_rounding="rtz")'
            yield f'x.to(tl.{NAMES[to]}, fp_downcast_rounding="rtne")'


def cases() -> list[Case]:
    return [*pairs(), *numbers(), *unary()]
