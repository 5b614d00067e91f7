"""``tl.math``: elementwise functions of fp32 and fp64 (``ValueError`` for other types)."""

from __future__ import annotations

from typing import Any

from tritonx.language.builtin import builtin
from tritonx.language.constexpr import unwrap


@builtin
def exp(x: Any, _semantic: Any = None) -> Any:
    """e^x."""
    return _semantic.unary("exp", x)


@builtin
def exp2(x: Any, _semantic: Any = None) -> Any:
    """2^x."""
    return _semantic.unary("exp2", x)


@builtin
def log(x: Any, _semantic: Any = None) -> Any:
    """The natural logarithm."""
    return _semantic.unary("log", x)


@builtin
def log2(x: Any, _semantic: Any = None) -> Any:
    """The logarithm to base 2."""
    return _semantic.unary("log2", x)


@builtin
def sin(x: Any, _semantic: Any = None) -> Any:
    """The sine."""
    return _semantic.unary("sin", x)


@builtin
def cos(x: Any, _semantic: Any = None) -> Any:
    """The cosine."""
    return _semantic.unary("cos", x)


@builtin
def sqrt(x: Any, _semantic: Any = None) -> Any:
    """The square root, approximate in fp32 on GPUs."""
    return _semantic.unary("sqrt", x)


@builtin
def rsqrt(x: Any, _semantic: Any = None) -> Any:
    """1 / sqrt(x)."""
    return _semantic.unary("rsqrt", x)


@builtin
def erf(x: Any, _semantic: Any = None) -> Any:
    """The error function."""
    return _semantic.unary("erf", x)


@builtin
def floor(x: Any, _semantic: Any = None) -> Any:
    """Rounded down."""
    return _semantic.unary("floor", x)


@builtin
def ceil(x: Any, _semantic: Any = None) -> Any:
    """Rounded up."""
    return _semantic.unary("ceil", x)


@builtin
def sqrt_rn(x: Any, _semantic: Any = None) -> Any:
    """The correctly rounded square root of fp32."""
    return _semantic.unary("sqrt_rn", x)


@builtin
def abs(x: Any, _semantic: Any = None) -> Any:
    """Absolute value of integers and floats."""
    return _semantic.abs(x)


@builtin
def fma(x: Any, y: Any, z: Any, _semantic: Any = None) -> Any:
    """``x * y + z`` with one rounding."""
    return _semantic.fma(x, y, z)


@builtin
def fdiv(x: Any, y: Any, ieee_rounding: Any = False, _semantic: Any = None) -> Any:
    """Division of floats."""
    return _semantic.fdiv(x, y, unwrap(ieee_rounding))


@builtin
def div_rn(x: Any, y: Any, _semantic: Any = None) -> Any:
    """The correctly rounded quotient of fp32."""
    return _semantic.div_rn(x, y)


@builtin
def umulhi(x: Any, y: Any, _semantic: Any = None) -> Any:
    """The high half of the product of two 32- or 64-bit integers, taken as unsigned."""
    return _semantic.umulhi(x, y)
