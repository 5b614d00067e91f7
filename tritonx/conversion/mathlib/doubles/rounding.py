"""Sums, products and fused multiply-adds that are rounded down (rd), up (ru) or to zero (rz).

The result to nearest is moved to its neighbour where the sign of what was rounded off says so. That sign is exact: of a
sum by Knuth, of a product by a fused multiply-add, of a fused multiply-add by Boldo and Muller ("Exact and approximated
error of the FMA", 2011). Operands whose rest would underflow or overflow are scaled for the question. f32 is computed
in f64, where the sum of the two parts is exact."""

from __future__ import annotations

from collections.abc import Callable

from tritonx.conversion.llvm_writer import Writer
from tritonx.conversion.mathlib.code import Code
from tritonx.conversion.mathlib.doubles.pairs import exact, two_product, two_sum
from tritonx.conversion.mathlib.doubles.values import Double, Truth, select, select_word

_INFINITY = float("inf")
_FACTORS = {"add": 2, "sub": 2, "mul": 2, "fma": 3}
Exact = tuple[Double, Double]
"""The result to nearest, and a number with the sign of what the exact one is more."""


def _finite(xs: tuple[Double, ...]) -> Truth:
    found = abs(xs[0]) < _INFINITY
    for x in xs[1:]:
        found = found & (abs(x) < _INFINITY)
    return found


def _moved(nearest: Double, rest: tuple[Truth, Truth], finite: Truth, mode: str, least: float) -> Double:
    """``nearest``, or its neighbour; ``rest`` says whether the exact result is below or above it."""
    negative = nearest.is_negative()
    below = ((nearest.equals(_INFINITY)) | (rest[0] & abs(nearest).differs(_INFINITY))) & finite
    above = ((nearest.equals(-_INFINITY)) | (rest[1] & abs(nearest).differs(_INFINITY))) & finite
    if mode == "rz":
        below, above = below & ~negative, above & negative
    if mode == "rd":
        above = above ^ above
    if mode == "ru":
        below = below ^ below
    zero = nearest.equals(0.0)
    bits = nearest.bits()
    outward = (below & negative) | (above & ~negative)
    stepped = select_word(outward, bits + 1, bits - 1).double()
    edge = select(below, nearest.const(-least), nearest.const(least))
    if mode == "rz":
        edge = nearest
    return select(below | above, select(zero, edge, stepped), nearest)


def _sum(a: Double, b: Double) -> Exact:
    s = two_sum(a, b)
    return s.hi, s.lo


def _product(a: Double, b: Double) -> Exact:
    p = a * b
    first = abs(a) < abs(b)
    small = abs(p) < 2.0**-900
    large = select(first, b, a)
    other = select(first, a, b)
    other = select(small, other * 2.0**600, other)
    rest = other.fma(large, -select(small, p * 2.0**600, p))
    vanished = p.equals(0.0) & a.differs(0.0) & b.differs(0.0)
    return p, select(vanished, p.const(1.0).signed_as(p), rest)


def _scaled(p: Double, a: Double, b: Double, c: Double) -> tuple[Double, Double, Double, Double]:
    """(a, b, c, factor) such that no part of a · b + c underflows or overflows that decides."""
    smaller = abs(a) < abs(b)
    least, largest = select(smaller, a, b), select(smaller, b, a)
    up = (abs(p) < 2.0**-900) & (abs(c) < 2.0**300)
    down = (abs(p) > 2.0**900) | (abs(c) > 2.0**1000)
    least = select(up, least * 2.0**600, least)
    largest = select(down, largest * 2.0**-200, largest)
    factor = select(up, 2.0**600, select(down, p.const(2.0**-200), 1.0))
    moved = c * factor
    moved = select(moved.equals(0.0) & c.differs(0.0), p.const(2.0**-1000).signed_as(c), moved)
    return least, largest, moved, factor


def _fused(a: Double, b: Double, c: Double) -> Exact:
    nearest = a.fma(b, c)
    p = a * b
    x, y, z, factor = _scaled(p, a, b, c)
    product = two_product(x, y)
    low = two_sum(z, product.lo)
    high = two_sum(product.hi, low.hi)
    gap = (high.hi - nearest * factor) + high.lo
    rest = two_sum(gap, low.lo).hi
    vanished = product.hi.equals(0.0) & a.differs(0.0) & b.differs(0.0)
    return nearest, select(vanished, p.const(1.0).signed_as(p), rest)


def _negative_zero(xs: tuple[Double, ...]) -> Truth:
    """Whether an exact zero has a part with a minus sign."""
    first = xs[0].is_negative() if len(xs) == 2 else xs[0].is_negative() ^ xs[1].is_negative()
    return first | xs[-1].is_negative()


def directed(name: str) -> tuple[Callable[..., Double], int]:
    """The function of f64 called ``add_rd``, ``fma_rz`` and so on, and its number of arguments."""
    kind, _, mode = name.partition("_")

    def function(*xs: Double) -> Double:
        if kind == "sub":
            xs = (xs[0], -xs[1])
        nearest, rest = {"add": _sum, "sub": _sum, "mul": _product, "fma": _fused}[kind](*xs)
        value = _moved(nearest, (rest < 0.0, rest > 0.0), _finite(xs), mode, 5e-324)
        if mode == "rd" and kind != "mul":
            empty = nearest.equals(0.0) & rest.equals(0.0)
            value = select(empty & _negative_zero(xs), -0.0, value)
        return value

    return function, _FACTORS[kind]


def directed_single(name: str) -> tuple[Callable[..., Double], int]:
    """The same of f32."""
    kind, _, mode = name.partition("_")

    def function(*xs: Double) -> Double:
        if kind == "sub":
            xs = (xs[0], -xs[1])
        w = xs[0].code.writer
        wide = tuple(_extended(w, x) for x in xs)
        total = exact(wide[0] * wide[1]) if kind == "mul" else two_sum(_head(wide), wide[-1])
        nearest = Double(xs[0].code, w.inst(f"fptrunc double {total.hi.text} to float"))
        gap = total.hi - _extended(w, nearest)
        gap = select(gap.equals(0.0), total.lo, gap)
        value = _moved(nearest, (gap < 0.0, gap > 0.0), _finite(xs), mode, 2.0**-149)
        if mode == "rd" and kind != "mul":
            value = select(total.hi.equals(0.0) & _negative_zero(xs), -0.0, value)
        return value

    return function, _FACTORS[kind]


def _head(wide: tuple[Double, ...]) -> Double:
    return wide[0] if len(wide) == 2 else wide[0] * wide[1]


def _extended(w: Writer, x: Double) -> Double:
    return Double(Code(w, 0, double=True), w.inst(f"fpext float {x.text} to double"))
