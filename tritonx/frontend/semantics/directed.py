"""Arithmetic and conversions of ``tl.extra.libdevice`` that round down, up or towards zero, for targets without them.

Each result is the one that is rounded to nearest, or the next number beside it: which one, the sign of the error says,
the exact value less that result. The error of a sum is a number (D. Knuth, The Art of Computer Programming 2, 4.2.2,
theorem B), those of products, quotients and roots are what a fused multiply-add leaves. fp32 is computed in fp64, where
a product is exact, and a quotient or root that is no number of fp32 is none after its rounding to fp64 either, as it
differs from each by more than 2^-49 of itself.

Of fp64, what would underflow is scaled by powers of two. Only `fma` is not: there, products below 2^-960 and those that
overflow before the sum does not are rounded as if they had not.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tritonx.language.types.dtypes import float32, float64, int32, int64
from tritonx.language.values.tensor import tensor

if TYPE_CHECKING:
    from tritonx.frontend.semantics import Semantics

Composition = Callable[["Semantics", Sequence[tensor]], tensor]
MODES = ("rd", "ru", "rz")
_INFINITY = float("inf")


@dataclass(frozen=True, slots=True)
class _Sum:
    """The exact value ``high + low``: ``high`` is that rounded to nearest, and of ``low`` only the sign counts."""

    high: tensor
    low: tensor


def _zero(sem: Semantics) -> tensor:
    return sem.scalar_constant(0.0, float64)


def _mirrored(sem: Semantics, x: tensor) -> tensor:
    """-x; ``minus`` is the language's, which subtracts from zero and so loses the sign of one."""
    return sem.mul(x, -1.0)


def _two_sum(sem: Semantics, a: tensor, b: tensor) -> _Sum:
    high = sem.add(a, b)
    rest = sem.sub(high, a)
    return _Sum(high, sem.add(sem.sub(a, sem.sub(high, rest)), sem.sub(b, rest)))


def _beside(sem: Semantics, x: tensor, up: bool) -> tensor:
    """The next number above or below: of an infinity the largest one."""
    integer = int32 if x.dtype == float32 else int64
    bits = sem.bitcast(x, integer)
    outwards = sem.greater_than(x, 0.0) if up else sem.less_than(x, 0.0)
    step = sem.where(outwards, sem.scalar_constant(1, integer), sem.scalar_constant(-1, integer))
    smallest = 1 if up else 1 - (1 << (integer.int_bitwidth - 1))
    moved = sem.where(sem.equal(x, 0.0), sem.scalar_constant(smallest, integer), sem.add(bits, step, False))
    return sem.bitcast(moved, x.dtype)


def _rounded(sem: Semantics, mode: str, nearest: tensor, error: tensor) -> tensor:
    """``nearest + error`` rounded; an error that is NaN is none."""
    below, above = sem.less_than(error, 0.0), sem.greater_than(error, 0.0)
    if mode == "rz":
        below = sem.logical_and(below, sem.greater_than(nearest, 0.0))
        above = sem.logical_and(above, sem.less_than(nearest, 0.0))
    if mode != "ru":
        nearest = sem.where(below, _beside(sem, nearest, False), nearest)
    if mode != "rd":
        nearest = sem.where(above, _beside(sem, nearest, True), nearest)
    return nearest


def _to_float(sem: Semantics, mode: str, exact: _Sum) -> tensor:
    """As fp32."""
    nearest = sem.cast(exact.high, float32)
    error = sem.sub(exact.high, sem.cast(nearest, float64))
    error = sem.where(sem.equal(error, 0.0), exact.low, error)
    return _rounded(sem, mode, nearest, error)


def _is_finite(sem: Semantics, x: tensor) -> tensor:
    return sem.less_than(sem.abs(x), _INFINITY)


def _overflow(sem: Semantics, found: _Sum, finite: tensor) -> _Sum:
    """An infinity that finite operands gave is beyond the exact value."""
    beyond = sem.logical_and(sem.equal(sem.abs(found.high), _INFINITY), finite)
    return _Sum(found.high, sem.where(beyond, sem.minus(found.high), found.low))


def _add(sem: Semantics, a: tensor, b: tensor) -> _Sum:
    finite = sem.logical_and(_is_finite(sem, a), _is_finite(sem, b))
    return _overflow(sem, _two_sum(sem, a, b), finite)


def _unless_zero(sem: Semantics, found: _Sum, inexact: tensor) -> _Sum:
    """A zero that is no exact one has underflowed from its own side."""
    side = sem.extern_function("copysign", (sem.scalar_constant(1.0, float64), found.high))
    below = sem.logical_and(sem.equal(found.high, 0.0), inexact)
    return _Sum(found.high, sem.where(below, side, found.low))


def _mul(sem: Semantics, a: tensor, b: tensor) -> _Sum:
    found = sem.mul(a, b)
    small = sem.less_than(sem.abs(found), 2.0**-900)
    first = sem.less_than(sem.abs(a), sem.abs(b))
    scale = sem.where(small, sem.scalar_constant(2.0**600, float64), sem.scalar_constant(1.0, float64))
    x = sem.mul(a, sem.where(first, scale, sem.scalar_constant(1.0, float64)))
    y = sem.mul(b, sem.where(first, sem.scalar_constant(1.0, float64), scale))
    error = sem.fma(x, y, sem.minus(sem.mul(found, scale)))
    nonzero = sem.logical_and(sem.not_equal(a, 0.0), sem.not_equal(b, 0.0))
    finite = sem.logical_and(_is_finite(sem, a), _is_finite(sem, b))
    return _overflow(sem, _unless_zero(sem, _Sum(found, error), nonzero), finite)


def _div(sem: Semantics, a: tensor, b: tensor) -> _Sum:
    found = sem.truediv(a, b)
    small = sem.logical_and(sem.less_than(sem.abs(a), 2.0**500), sem.less_than(sem.abs(b), 2.0**500))
    scale = sem.where(small, sem.scalar_constant(2.0**500, float64), sem.scalar_constant(1.0, float64))
    rest = sem.fma(sem.minus(found), sem.mul(b, scale), sem.mul(a, scale))
    error = sem.where(sem.less_than(b, 0.0), sem.minus(rest), rest)
    nonzero = sem.logical_and(sem.not_equal(a, 0.0), _is_finite(sem, b))
    finite = sem.logical_and(_is_finite(sem, a), sem.not_equal(b, 0.0))
    return _overflow(sem, _unless_zero(sem, _Sum(found, error), nonzero), finite)


def _sqrt(sem: Semantics, a: tensor) -> _Sum:
    found = sem.unary("sqrt", a)
    small = sem.less_than(a, 2.0**-500)
    one = sem.scalar_constant(1.0, float64)
    root = sem.mul(found, sem.where(small, sem.scalar_constant(2.0**200, float64), one))
    square = sem.mul(a, sem.where(small, sem.scalar_constant(2.0**400, float64), one))
    return _Sum(found, sem.fma(sem.minus(root), root, square))


def _fma(sem: Semantics, a: tensor, b: tensor, c: tensor) -> _Sum:
    """S. Boldo, J.-M. Muller, "Exact and approximated error of the FMA", 2011."""
    found = sem.fma(a, b, c)
    product = sem.mul(a, b)
    low = _two_sum(sem, c, sem.fma(a, b, sem.minus(product)))
    high = _two_sum(sem, product, low.high)
    error = sem.add(sem.add(sem.sub(high.high, found), high.low), low.low)
    finite = sem.logical_and(sem.logical_and(_is_finite(sem, a), _is_finite(sem, b)), _is_finite(sem, c))
    return _overflow(sem, _Sum(found, error), finite)


def _zero_below(sem: Semantics, mode: str, value: tensor, mirrored: tensor) -> tensor:
    """Rounded down, a sum that is zero is -0 unless both parts are +0: as the mirrored sum has it to nearest."""
    return sem.where(sem.equal(value, 0.0), _mirrored(sem, mirrored), value) if mode == "rd" else value


def _sum(mode: str, negate: bool) -> Composition:
    def function(sem: Semantics, args: Sequence[tensor]) -> tensor:
        a, b = args
        if negate:
            b = _mirrored(sem, b)
        if a.dtype == float32:
            found = _to_float(sem, mode, _two_sum(sem, sem.cast(a, float64), sem.cast(b, float64)))
        else:
            exact = _add(sem, a, b)
            found = _rounded(sem, mode, exact.high, exact.low)
        return _zero_below(sem, mode, found, sem.add(_mirrored(sem, a), _mirrored(sem, b)))

    return function


def _product_and_sum(mode: str) -> Composition:
    def function(sem: Semantics, args: Sequence[tensor]) -> tensor:
        a, b, c = args
        if a.dtype == float32:
            x, y, z = (sem.cast(value, float64) for value in args)
            found = _to_float(sem, mode, _two_sum(sem, sem.mul(x, y), z))
        else:
            exact = _fma(sem, a, b, c)
            found = _rounded(sem, mode, exact.high, exact.low)
        return _zero_below(sem, mode, found, sem.fma(_mirrored(sem, a), b, _mirrored(sem, c)))

    return function


def _of_one_rounding(mode: str, function: Callable[..., _Sum]) -> Composition:
    """``function`` of fp64 operands; for fp32 its result is exact enough."""

    def rounded(sem: Semantics, args: Sequence[tensor]) -> tensor:
        exact = function(sem, *[sem.cast(value, float64) for value in args])
        if args[0].dtype == float32:
            return _to_float(sem, mode, _Sum(exact.high, _zero(sem)))
        return _rounded(sem, mode, exact.high, exact.low)

    return rounded


def _reciprocal(sem: Semantics, x: tensor) -> _Sum:
    return _div(sem, sem.full(x.type.shape, 1.0, float64), x)


def _converted(mode: str, to_float: bool) -> Composition:
    """From a number of any type; one of 64 bits is the sum of its halves."""

    def function(sem: Semantics, args: Sequence[tensor]) -> tensor:
        x = args[0]
        if x.dtype.is_int() and x.dtype.int_bitwidth == 64:
            upper = sem.cast(sem.shr(x, 32), float64)
            lower = sem.cast(sem.and_(x, sem.scalar_constant(2**32 - 1, x.dtype)), float64)
            exact = _two_sum(sem, sem.mul(upper, 2.0**32), lower)
        else:
            exact = _Sum(sem.cast(x, float64), _zero(sem))
        return _to_float(sem, mode, exact) if to_float else _rounded(sem, mode, exact.high, exact.low)

    return function


def _named(mode: str) -> dict[str, Composition]:
    return {
        f"add_{mode}": _sum(mode, False),
        f"sub_{mode}": _sum(mode, True),
        f"fma_{mode}": _product_and_sum(mode),
        f"mul_{mode}": _of_one_rounding(mode, _mul),
        f"div_{mode}": _of_one_rounding(mode, _div),
        f"rcp_{mode}": _of_one_rounding(mode, _reciprocal),
        f"sqrt_{mode}": _of_one_rounding(mode, _sqrt),
        **{f"{kind}2float_{mode}": _converted(mode, True) for kind in ("double", "int", "uint", "ll", "ull")},
        **{f"{kind}2double_{mode}": _converted(mode, False) for kind in ("ll", "ull")},
    }


DIRECTED: Mapping[str, Composition] = {name: made for mode in MODES for name, made in _named(mode).items()}
