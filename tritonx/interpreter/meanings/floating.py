"""Floating point: arithmetic, comparison, elementary functions.

Sums, products, quotients and square roots are rounded once, to the op's own format (f16 and bf16 included: computing
them in f32 and rounding again gives the same). In the 8-bit formats every result is rounded as a conversion to them
is, so it saturates. An elementary function is computed in f64 and rounded: the result is
the correctly rounded one but for a few arguments in 2**29, and does not depend on the machine's vector unit. Under
f64 it is the C library's.
"""

# Operands are arrays of any dtype: to pyright, what NumPy makes of them is partially unknown.
# pyright: reportUnknownArgumentType=false, reportUnknownLambdaType=false
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false

from __future__ import annotations

import numpy as np
from xdsl.ir import Operation

from tritonx.dialects import arith, math, tile
from tritonx.dialects.tile.enums import PropagateNan
from tritonx.interpreter import arithmetic
from tritonx.interpreter.execution import Binder, Function, Meaning, Table, always
from tritonx.interpreter.rounding import round_to
from tritonx.interpreter.values import Array, dtype_of
from tritonx.ir.dispatch import case
from tritonx.ir.types import type_of

_NATIVE = (np.dtype(np.float32), np.dtype(np.float64))


def elementary(function: Function) -> Meaning:
    """A function computed in f64 and rounded once to the op's format."""

    def meaning(op: Operation, bind: Binder) -> Function:
        return in_double(function, dtype_of(type_of(op.results[0])))

    return meaning


def in_double(function: Function, dtype: np.dtype) -> Function:
    """`function` on f64 arrays, as a function on arrays of `dtype` that rounds its result to `dtype`."""
    if dtype == np.float64:
        return function
    return lambda *xs: round_to(function(*(x.astype(np.float64) for x in xs)), dtype)


def in_single(function: Function) -> Meaning:
    """A function whose result is exact, or correctly rounded, when computed in f32 for the narrower formats."""

    def meaning(op: Operation, bind: Binder) -> Function:
        dtype = dtype_of(type_of(op.results[0]))
        if dtype in _NATIVE:
            return function
        return lambda *xs: round_to(function(*(x.astype(np.float32) for x in xs)), dtype)

    return meaning


def rounded(function: Function) -> Meaning:
    """A function that NumPy has in every format; in those of 8 bits it is computed in f32 and rounded."""

    def meaning(op: Operation, bind: Binder) -> Function:
        return in_single(function)(op, bind) if dtype_of(type_of(op.results[0])).itemsize == 1 else function

    return meaning


def reciprocal_square_root(x: Array) -> Array:
    """1 / sqrt(x) in f64."""
    return 1.0 / np.sqrt(x)


def _false(x: Array, y: Array) -> Array:
    return np.logical_and(x != x, False)


def _true(x: Array, y: Array) -> Array:
    return np.logical_or(x != x, True)


def _unordered(x: Array, y: Array) -> Array:
    return np.isnan(x) | np.isnan(y)


def _ordered(x: Array, y: Array) -> Array:
    return ~_unordered(x, y)


def _or_unordered(compare: Function) -> Function:
    return lambda x, y: compare(x, y) | _unordered(x, y)


def _and_ordered(compare: Function) -> Function:
    return lambda x, y: compare(x, y) & _ordered(x, y)


# In the order of the predicate's numbers. IEEE comparisons are false on NaN, except "not equal".
_COMPARE: tuple[Function, ...] = (
    _false,
    np.equal,  # oeq
    np.greater,  # ogt
    np.greater_equal,  # oge
    np.less,  # olt
    np.less_equal,  # ole
    _and_ordered(np.not_equal),  # one
    _ordered,
    _or_unordered(np.equal),  # ueq
    _or_unordered(np.greater),  # ugt
    _or_unordered(np.greater_equal),  # uge
    _or_unordered(np.less),  # ult
    _or_unordered(np.less_equal),  # ule
    np.not_equal,  # une
    _unordered,
    _true,
)


def _compare(op: arith.CmpfOp, bind: Binder) -> Function:
    return _COMPARE[op.predicate.value.data]


def _clamp(op: tile.ClampFOp, bind: Binder) -> Function:
    if op.propagateNan.value.data == PropagateNan.ALL:
        least, most = arithmetic.maximum, arithmetic.minimum
    else:
        least, most = arithmetic.maximum_number, arithmetic.minimum_number
    return rounded(lambda x, low, high: most(least(x, low), high))(op, bind)


TABLE: Table = {
    arith.AddfOp: rounded(np.add),
    arith.SubfOp: rounded(np.subtract),
    arith.MulfOp: rounded(np.multiply),
    arith.DivfOp: rounded(np.divide),
    arith.RemFOp: rounded(arithmetic.remainder_float),
    arith.NegfOp: rounded(np.negative),
    arith.MaximumfOp: rounded(arithmetic.maximum),
    arith.MinimumfOp: rounded(arithmetic.minimum),
    arith.MaxnumfOp: rounded(arithmetic.maximum_number),
    arith.MinnumfOp: rounded(arithmetic.minimum_number),
    **case(arith.CmpfOp, _compare),
    math.AbsFOp: rounded(np.abs),
    math.FloorOp: in_single(np.floor),
    math.CeilOp: in_single(np.ceil),
    math.TruncOp: in_single(np.trunc),
    math.RoundOp: in_single(arithmetic.round_half_away),
    math.RoundEvenOp: in_single(np.rint),
    math.SqrtOp: in_single(np.sqrt),
    math.RsqrtOp: elementary(reciprocal_square_root),
    math.ExpOp: elementary(np.exp),
    math.Exp2Op: elementary(np.exp2),
    math.LogOp: elementary(np.log),
    math.Log2Op: elementary(np.log2),
    math.Log10Op: elementary(np.log10),
    math.Log1pOp: elementary(np.log1p),
    math.ExpM1Op: elementary(np.expm1),
    math.TanOp: elementary(np.tan),
    math.SinOp: elementary(np.sin),
    math.CosOp: elementary(np.cos),
    math.TanhOp: elementary(np.tanh),
    math.ErfOp: elementary(arithmetic.erf),
    math.FmaOp: always(arithmetic.fused_multiply_add),
    **case(tile.ClampFOp, _clamp),
    tile.PreciseSqrtOp: in_single(np.sqrt),
    tile.PreciseDivFOp: rounded(np.divide),
    tile.ApproxDivFOp: rounded(np.divide),
}
