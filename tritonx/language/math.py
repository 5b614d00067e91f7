"""``tl.math``: elementwise functions of fp32 and fp64 (``ValueError`` for other types)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tritonx.language.builtin import INJECTED, builtin, tensor_method
from tritonx.language.constexpr import unwrap

if TYPE_CHECKING:
    from tritonx.frontend.semantics import Semantics
    from tritonx.language.tensor import tensor

__all__ = [
    "abs",
    "ceil",
    "cos",
    "div_rn",
    "erf",
    "exp",
    "exp2",
    "fdiv",
    "floor",
    "fma",
    "log",
    "log2",
    "rsqrt",
    "sin",
    "sqrt",
    "sqrt_rn",
    "umulhi",
]


@tensor_method
@builtin
def exp(x: object, _semantic: Semantics = INJECTED) -> tensor:
    """e^x.

    >>> tl.exp(tl.full((2,), 1.0, tl.float32))
    [2.718, 2.718]
    """
    return _semantic.unary("exp", x)


@tensor_method
@builtin
def exp2(x: object, _semantic: Semantics = INJECTED) -> tensor:
    """2^x.

    >>> tl.exp2(tl.arange(0, 4).to(tl.float32))
    [1.0, 2.0, 4.0, 8.0]
    """
    return _semantic.unary("exp2", x)


@tensor_method
@builtin
def log(x: object, _semantic: Semantics = INJECTED) -> tensor:
    """The natural logarithm.

    >>> tl.log(tl.full((2,), 10.0, tl.float32))
    [2.303, 2.303]
    """
    return _semantic.unary("log", x)


@tensor_method
@builtin
def log2(x: object, _semantic: Semantics = INJECTED) -> tensor:
    """The logarithm to base 2.

    >>> tl.log2(tl.full((2,), 8.0, tl.float32))
    [3.0, 3.0]
    """
    return _semantic.unary("log2", x)


@tensor_method
@builtin
def sin(x: object, _semantic: Semantics = INJECTED) -> tensor:
    """The sine.

    >>> tl.sin(tl.arange(0, 4).to(tl.float32))
    [0.0, 0.8415, 0.9093, 0.1411]
    """
    return _semantic.unary("sin", x)


@tensor_method
@builtin
def cos(x: object, _semantic: Semantics = INJECTED) -> tensor:
    """The cosine.

    >>> tl.cos(tl.arange(0, 4).to(tl.float32))
    [1.0, 0.5403, -0.4161, -0.99]
    """
    return _semantic.unary("cos", x)


@tensor_method
@builtin
def sqrt(x: object, _semantic: Semantics = INJECTED) -> tensor:
    """The square root, approximate in fp32 on GPUs.

    >>> tl.sqrt(tl.arange(0, 4).to(tl.float32))
    [0.0, 1.0, 1.414, 1.732]
    """
    return _semantic.unary("sqrt", x)


@tensor_method
@builtin
def rsqrt(x: object, _semantic: Semantics = INJECTED) -> tensor:
    """1 / sqrt(x).

    >>> tl.rsqrt(tl.full((2,), 4.0, tl.float32))
    [0.5, 0.5]
    """
    return _semantic.unary("rsqrt", x)


@tensor_method
@builtin
def erf(x: object, _semantic: Semantics = INJECTED) -> tensor:
    """The error function.

    >>> tl.erf(tl.full((2,), 0.5, tl.float32))
    [0.5205, 0.5205]
    """
    return _semantic.unary("erf", x)


@tensor_method
@builtin
def floor(x: object, _semantic: Semantics = INJECTED) -> tensor:
    """Rounded down.

    >>> tl.floor(tl.load(floats + tl.arange(0, 4)) - 1)
    [-1.0, -1.0, 0.0, 0.0]
    """
    return _semantic.unary("floor", x)


@tensor_method
@builtin
def ceil(x: object, _semantic: Semantics = INJECTED) -> tensor:
    """Rounded up.

    >>> tl.ceil(tl.load(floats + tl.arange(0, 4)) - 1)
    [-1.0, -0.0, 0.0, 1.0]
    """
    return _semantic.unary("ceil", x)


@tensor_method
@builtin
def sqrt_rn(x: object, _semantic: Semantics = INJECTED) -> tensor:
    """The correctly rounded square root of fp32.

    >>> tl.sqrt_rn(tl.full((2,), 2.0, tl.float32))
    [1.414, 1.414]
    """
    return _semantic.unary("sqrt_rn", x)


@tensor_method
@builtin
def abs(x: object, _semantic: Semantics = INJECTED) -> tensor:
    """Absolute value of integers and floats.

    >>> tl.abs(tl.arange(0, 4) - 2)
    [2, 1, 0, 1]
    """
    return _semantic.abs(x)


@builtin
def fma(x: object, y: object, z: object, _semantic: Semantics = INJECTED) -> tensor:
    """``x * y + z`` with one rounding.

    >>> x = tl.arange(0, 4).to(tl.float32)
    >>> tl.fma(x, x, 0.5)
    [0.5, 1.5, 4.5, 9.5]
    """
    return _semantic.fma(x, y, z)


@builtin
def fdiv(x: object, y: object, ieee_rounding: object = False, _semantic: Semantics = INJECTED) -> tensor:
    """Division of floats.

    >>> tl.fdiv(tl.arange(0, 4).to(tl.float32), 4.0)
    [0.0, 0.25, 0.5, 0.75]
    """
    return _semantic.fdiv(x, y, unwrap(ieee_rounding))


@builtin
def div_rn(x: object, y: object, _semantic: Semantics = INJECTED) -> tensor:
    """The correctly rounded quotient of fp32.

    >>> tl.div_rn(tl.arange(0, 4).to(tl.float32), 3.0)
    [0.0, 0.3333, 0.6667, 1.0]
    """
    return _semantic.div_rn(x, y)


@builtin
def umulhi(x: object, y: object, _semantic: Semantics = INJECTED) -> tensor:
    """The high half of the product of two 32- or 64-bit integers, taken as unsigned.

    >>> tl.umulhi(tl.full((2,), 1 << 20, tl.int32), 1 << 16)
    [16, 16]
    """
    return _semantic.umulhi(x, y)
