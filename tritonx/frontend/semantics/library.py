"""Functions of ``tl.extra.libdevice`` made of the language's own ops, for targets whose library lacks them.

A device library has names for what the language says with an operator (``fadd_rn``, ``float_as_int``,
``int2float_rn``), and functions that follow from others. Such a name becomes those ops wherever the backend's table
does not have it. Special functions are in `special`, arithmetic with a directed rounding in `directed`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from tritonx.frontend.semantics.directed import DIRECTED
from tritonx.frontend.semantics.special import SPECIAL
from tritonx.language.types.dtypes import dtype, float32, float64, int32, int64, uint32, uint64
from tritonx.language.values.tensor import tensor

if TYPE_CHECKING:
    from tritonx.frontend.semantics import Semantics

Composition = Callable[["Semantics", Sequence[tensor]], tensor]


def _cast(to: dtype) -> Composition:
    return lambda sem, args: sem.cast(args[0], to)


def _unsigned_cast(to: dtype, result: dtype) -> Composition:
    """float to unsigned, whose bits the library gives as the signed type."""
    return lambda sem, args: sem.bitcast(sem.cast(args[0], to), result)


def _bits(to: dtype) -> Composition:
    return lambda sem, args: sem.bitcast(args[0], to)


def _binary(name: str) -> Composition:
    return lambda sem, args: getattr(sem, name)(args[0], args[1])


def _unary(name: str) -> Composition:
    return lambda sem, args: sem.unary(name, args[0])


def _other(sem: Semantics, name: str, *args: object) -> tensor:
    """Another function of the library, from the target's table or from this one."""
    return sem.extern_function(name, args)


def _exact_division(sem: Semantics, args: Sequence[tensor]) -> tensor:
    return sem.div_rn(args[0], args[1]) if args[0].dtype == float32 else sem.truediv(args[0], args[1])


def _exact_root(sem: Semantics, args: Sequence[tensor]) -> tensor:
    return sem.unary("sqrt_rn" if args[0].dtype == float32 else "sqrt", args[0])


def _reciprocal(sem: Semantics, args: Sequence[tensor]) -> tensor:
    one = sem.full(args[0].type.shape, 1.0, args[0].dtype)
    return _exact_division(sem, (one, args[0]))


def _inverse(name: str) -> Composition:
    return lambda sem, args: sem.truediv(1.0, _other(sem, name, *args))


def _fma(sem: Semantics, args: Sequence[tensor]) -> tensor:
    return sem.fma(args[0], args[1], args[2])


def _saturate(sem: Semantics, args: Sequence[tensor]) -> tensor:
    """To [0, 1]; NaN gives 0, because the number wins in a maximum."""
    return sem.minimum(sem.maximum(args[0], 0.0), 1.0)


# Integers.


def _count_bits(sem: Semantics, args: Sequence[tensor]) -> tensor:
    """Bits of pairs, of nibbles, of bytes; the product adds up the bytes."""
    x = _as_unsigned(sem, args[0])
    bits = x.dtype.int_bitwidth
    ones = (1 << bits) - 1
    x = sem.sub(x, sem.and_(sem.shr(x, 1), ones // 3), False)
    x = sem.add(sem.and_(x, ones // 15 * 3), sem.and_(sem.shr(x, 2), ones // 15 * 3), False)
    x = sem.and_(sem.add(x, sem.shr(x, 4), False), ones // 255 * 15)
    return sem.cast(sem.shr(sem.mul(x, ones // 255, False), bits - 8), int32)


def _as_unsigned(sem: Semantics, x: tensor) -> tensor:
    return sem.bitcast(x, uint64 if x.dtype.int_bitwidth == 64 else uint32)


def _leading_zeros(sem: Semantics, args: Sequence[tensor]) -> tensor:
    """The bits below the highest one set are filled; what remains above are the leading zeros."""
    x = _as_unsigned(sem, args[0])
    for step in (1, 2, 4, 8, 16, 32)[: x.dtype.int_bitwidth.bit_length() - 1]:
        x = sem.or_(x, sem.shr(x, step))
    return _count_bits(sem, (sem.invert(x),))


def _first_set(sem: Semantics, args: Sequence[tensor]) -> tensor:
    """The number of the lowest bit set, from 1; 0 for none."""
    x = _as_unsigned(sem, args[0])
    below = sem.xor_(x, sem.sub(x, 1, False))  # the lowest bit set and all below it
    return sem.where(sem.equal(x, 0), sem.scalar_constant(0, int32), _count_bits(sem, (below,)))


def _reverse_bits(sem: Semantics, args: Sequence[tensor]) -> tensor:
    x = _as_unsigned(sem, args[0])
    bits = x.dtype.int_bitwidth
    width = 1
    while width < bits:
        mask = sum(((1 << width) - 1) << at for at in range(0, bits, 2 * width))
        x = sem.or_(sem.shl(sem.and_(x, mask), width), sem.and_(sem.shr(x, width), mask))
        width *= 2
    return sem.bitcast(x, args[0].dtype)


def _high_product(sem: Semantics, args: Sequence[tensor]) -> tensor:
    """The unsigned high half; for signed ones less y where x is negative, and less x where y is."""
    x, y = args
    high = sem.umulhi(x, y)
    if x.dtype.is_int_unsigned():
        return high
    zero = sem.constant(0, x.dtype)
    high = sem.sub(high, sem.where(sem.less_than(x, zero), y, zero), False)
    return sem.sub(high, sem.where(sem.less_than(y, zero), x, zero), False)


def _product_of_24_bits(sem: Semantics, args: Sequence[tensor]) -> tensor:
    x, y = (sem.shr(sem.shl(v, 8), 8) for v in args)
    return sem.mul(x, y, False)


def _average(round_up: bool) -> Composition:
    """(x + y) / 2 without overflow: what both have, and half of what one has."""

    def average(sem: Semantics, args: Sequence[tensor]) -> tensor:
        half = sem.shr(sem.xor_(args[0], args[1]), 1)
        if round_up:
            return sem.sub(sem.or_(args[0], args[1]), half, False)
        return sem.add(sem.and_(args[0], args[1]), half, False)

    return average


def _sum_of_difference(sem: Semantics, args: Sequence[tensor]) -> tensor:
    x, y, z = args
    difference = sem.sub(sem.maximum(x, y), sem.minimum(x, y), False)
    return sem.add(sem.bitcast(difference, z.dtype), z, False)


def _double_of_halves(sem: Semantics, args: Sequence[tensor]) -> tensor:
    high, low = sem.cast(args[0], int64), sem.cast(sem.bitcast(args[1], uint32), int64)
    return sem.bitcast(sem.or_(sem.shl(high, 32), low), float64)


def _half_of_double(shift: int) -> Composition:
    return lambda sem, args: sem.cast(sem.shr(sem.bitcast(args[0], int64), shift), int32)


# Floats.


def _scale(sem: Semantics, args: Sequence[tensor]) -> tensor:
    """x * 2^n in three steps of exact powers, so that neither the powers nor an intermediate overflows before the
    result does.
    """
    x, n = args
    integer, bias, mantissa = (int32, 127, 23) if x.dtype == float32 else (int64, 1023, 52)
    n = sem.cast(sem.minimum(sem.maximum(n, -3 * bias + 3), 3 * bias), integer)
    step = sem.floordiv(n, 3)
    for exponent in (step, step, sem.sub(n, sem.mul(step, 2, False), False)):
        power = sem.bitcast(sem.shl(sem.add(exponent, bias, False), mantissa), x.dtype)
        x = sem.mul(x, power)
    return x


def _exponent(sem: Semantics, args: Sequence[tensor]) -> tensor:
    x = args[0]
    exponent = _other(sem, "logb", x)
    magnitude = sem.abs(x)
    finite = sem.logical_and(sem.less_than(magnitude, float("inf")), sem.greater_than(magnitude, 0.0))
    whole = sem.cast(sem.where(finite, exponent, 0.0), int32)
    special = sem.where(
        sem.equal(magnitude, float("inf")), sem.constant(2**31 - 1, int32), sem.constant(-(2**31), int32)
    )
    return sem.where(finite, whole, special)


def _reduced(sem: Semantics, x: tensor) -> tensor:
    """x less the nearest even integer: in [-1, 1]."""
    return sem.sub(x, sem.mul(_other(sem, "rint", sem.mul(x, 0.5)), 2.0))


def _sin_of_half_turns(sem: Semantics, args: Sequence[tensor]) -> tensor:
    """sin(pi x), exactly 0 at integers."""
    r = _reduced(sem, args[0])
    magnitude = sem.abs(r)
    folded = sem.where(sem.greater_than(magnitude, 0.5), sem.sub(1.0, magnitude), magnitude)
    sine = sem.unary("sin", sem.mul(folded, math.pi))
    return sem.where(sem.less_than(r, 0.0), sem.minus(sine), sine)


def _cos_of_half_turns(sem: Semantics, args: Sequence[tensor]) -> tensor:
    """cos(pi x) = sin(pi (1/2 - |r|))."""
    return _sin_of_half_turns(sem, (sem.sub(0.5, sem.abs(_reduced(sem, args[0]))),))


def _rounded(name: str) -> Composition:
    return lambda sem, args: sem.cast(_other(sem, name, args[0]), int64)


def _norm(sem: Semantics, args: Sequence[tensor]) -> tensor:
    total = args[0]
    for value in args[1:]:
        total = _other(sem, "hypot", total, value)
    return total


def _inverse_norm(sem: Semantics, args: Sequence[tensor]) -> tensor:
    return sem.truediv(1.0, _norm(sem, args))


def _normal_distribution(sem: Semantics, args: Sequence[tensor]) -> tensor:
    return sem.mul(_other(sem, "erfc", sem.mul(args[0], -math.sqrt(0.5))), 0.5)


COMPOSED: Mapping[str, Composition] = {
    **SPECIAL, **DIRECTED,
    "abs": lambda sem, args: sem.abs(args[0]),
    "add_rn": _binary("add"), "sub_rn": _binary("sub"), "mul_rn": _binary("mul"), "fma_rn": _fma, "fma": _fma,
    "div_rn": _exact_division, "sqrt_rn": _exact_root, "rcp_rn": _reciprocal, "rsqrt": _unary("rsqrt"),
    "rsqrt_rn": lambda sem, args: _reciprocal(sem, (_exact_root(sem, args),)), "saturatef": _saturate,
    "fast_expf": _unary("exp"), "fast_logf": _unary("log"), "fast_log2f": _unary("log2"), "fast_sinf": _unary("sin"),
    "fast_cosf": _unary("cos"), "fast_dividef": _binary("truediv"),
    "fast_exp10f": lambda sem, args: sem.unary("exp2", sem.mul(args[0], math.log2(10))),
    "fast_log10f": lambda sem, args: sem.mul(sem.unary("log2", args[0]), math.log10(2)),
    "fast_tanf": lambda sem, args: sem.truediv(sem.unary("sin", args[0]), sem.unary("cos", args[0])),
    "fast_powf": lambda sem, args: sem.unary("exp2", sem.mul(args[1], sem.unary("log2", args[0]))),
    "fast_tanhf": lambda sem, args: _other(sem, "tanh", args[0]),
    "int2float_rn": _cast(float32), "int2double_rn": _cast(float64), "uint2float_rn": _cast(float32),
    "uint2double_rn": _cast(float64), "ll2float_rn": _cast(float32), "ll2double_rn": _cast(float64),
    "ull2float_rn": _cast(float32), "ull2double_rn": _cast(float64), "double2float_rn": _cast(float32),
    "float2int_rz": _cast(int32), "double2int_rz": _cast(int32), "float2ll_rz": _cast(int64),
    "double2ll_rz": _cast(int64), "float2uint_rz": _unsigned_cast(uint32, int32),
    "double2uint_rz": _unsigned_cast(uint32, int32), "float2ull_rz": _unsigned_cast(uint64, int64),
    "double2ull_rz": _unsigned_cast(uint64, int64),
    "float_as_int": _bits(int32), "float_as_uint": _bits(int32), "int_as_float": _bits(float32),
    "uint_as_float": _bits(float32), "double_as_longlong": _bits(int64), "longlong_as_double": _bits(float64),
    "hiloint2double": _double_of_halves, "double2hiint": _half_of_double(32), "double2loint": _half_of_double(0),
    "popc": _count_bits, "clz": _leading_zeros, "ffs": _first_set, "brev": _reverse_bits, "mulhi": _high_product,
    "mul24": _product_of_24_bits, "hadd": _average(False), "rhadd": _average(True), "sad": _sum_of_difference,
    "ldexp": _scale, "scalbn": _scale, "ilogb": _exponent, "sinpi": _sin_of_half_turns, "cospi": _cos_of_half_turns,
    "llrint": _rounded("rint"), "llround": _rounded("round"), "rcbrt": _inverse("cbrt"), "rhypot": _inverse("hypot"),
    "norm3d": _norm, "norm4d": _norm, "rnorm3d": _inverse_norm, "rnorm4d": _inverse_norm,
    "normcdf": _normal_distribution,
}  # fmt: skip
