"""``tl.math``: elementwise functions of fp32 and fp64 (``ValueError`` for other types)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tritonx.language.builtin import INJECTED, builtin, tensor_method
from tritonx.language.constexpr import unwrap

if TYPE_CHECKING:
    from tritonx.frontend.semantics import Semantics
    from tritonx.language.tensor import tensor


@tensor_method
@builtin
def exp(x: object, _semantic: Semantics = INJECTED) -> tensor:
    """e^x."""
    return _semantic.unary("exp", x)


@tensor_method
@builtin
def exp2(x: object, _semantic: Semantics = INJECTED) -> tensor:
    """2^x."""
    return _semantic.unary("exp2", x)


@tensor_method
@builtin
def log(x: object, _semantic: Semantics = INJECTED) -> tensor:
    """The natural logarithm."""
    return _semantic.unary("log", x)


@tensor_method
@builtin
def log2(x: object, _semantic: Semantics = INJECTED) -> tensor:
    """The logarithm to base 2."""
    return _semantic.unary("log2", x)


@tensor_method
@builtin
def sin(x: object, _semantic: Semantics = INJECTED) -> tensor:
    """The sine."""
    return _semantic.unary("sin", x)


@tensor_method
@builtin
def cos(x: object, _semantic: Semantics = INJECTED) -> tensor:
    """The cosine."""
    return _semantic.unary("cos", x)


@tensor_method
@builtin
def sqrt(x: object, _semantic: Semantics = INJECTED) -> tensor:
    """The square root, approximate in fp32 on GPUs."""
    return _semantic.unary("sqrt", x)


@tensor_method
@builtin
def rsqrt(x: object, _semantic: Semantics = INJECTED) -> tensor:
    """1 / sqrt(x)."""
    return _semantic.unary("rsqrt", x)


@tensor_method
@builtin
def erf(x: object, _semantic: Semantics = INJECTED) -> tensor:
    """The error function."""
    return _semantic.unary("erf", x)


@tensor_method
@builtin
def floor(x: object, _semantic: Semantics = INJECTED) -> tensor:
    """Rounded down."""
    return _semantic.unary("floor", x)


@tensor_method
@builtin
def ceil(x: object, _semantic: Semantics = INJECTED) -> tensor:
    """Rounded up."""
    return _semantic.unary("ceil", x)


@tensor_method
@builtin
def sqrt_rn(x: object, _semantic: Semantics = INJECTED) -> tensor:
    """The correctly rounded square root of fp32."""
    return _semantic.unary("sqrt_rn", x)


@tensor_method
@builtin
def abs(x: object, _semantic: Semantics = INJECTED) -> tensor:
    """Absolute value of integers and floats."""
    return _semantic.abs(x)


@builtin
def fma(x: object, y: object, z: object, _semantic: Semantics = INJECTED) -> tensor:
    """``x * y + z`` with one rounding."""
    return _semantic.fma(x, y, z)


@builtin
def fdiv(x: object, y: object, ieee_rounding: object = False, _semantic: Semantics = INJECTED) -> tensor:
    """Division of floats."""
    return _semantic.fdiv(x, y, unwrap(ieee_rounding))


@builtin
def div_rn(x: object, y: object, _semantic: Semantics = INJECTED) -> tensor:
    """The correctly rounded quotient of fp32."""
    return _semantic.div_rn(x, y)


@builtin
def umulhi(x: object, y: object, _semantic: Semantics = INJECTED) -> tensor:
    """The high half of the product of two 32- or 64-bit integers, taken as unsigned."""
    return _semantic.umulhi(x, y)
