"""``tl.math``: elementwise functions of fp32 and fp64 (``ValueError`` for other types)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tritonx.language.builtins.builtin import INJECTED, builtin, tensor_method
from tritonx.language.values.constexpr import unwrap

if TYPE_CHECKING:
    from tritonx.frontend.semantics import Semantics
    from tritonx.language.values.tensor import tensor

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
    """e^x; fp32 or fp64, a block or scalar, whose shape and dtype stay. Raises ValueError for other dtypes.

    >>> tl.exp(tl.full((2,), 1.0, tl.float32))
    [2.718, 2.718]
    """
    return _semantic.unary("exp", x)


@tensor_method
@builtin
def exp2(x: object, _semantic: Semantics = INJECTED) -> tensor:
    """2^x; see ``exp``.

    >>> tl.exp2(tl.arange(0, 4).to(tl.float32))
    [1.0, 2.0, 4.0, 8.0]
    """
    return _semantic.unary("exp2", x)


@tensor_method
@builtin
def log(x: object, _semantic: Semantics = INJECTED) -> tensor:
    """The natural logarithm; see ``exp``.

    >>> tl.log(tl.full((2,), 10.0, tl.float32))
    [2.303, 2.303]
    """
    return _semantic.unary("log", x)


@tensor_method
@builtin
def log2(x: object, _semantic: Semantics = INJECTED) -> tensor:
    """The logarithm to base 2; see ``exp``.

    >>> tl.log2(tl.full((2,), 8.0, tl.float32))
    [3.0, 3.0]
    """
    return _semantic.unary("log2", x)


@tensor_method
@builtin
def sin(x: object, _semantic: Semantics = INJECTED) -> tensor:
    """The sine of an angle in radians; see ``exp``.

    >>> tl.sin(tl.arange(0, 4).to(tl.float32))
    [0.0, 0.8415, 0.9093, 0.1411]
    """
    return _semantic.unary("sin", x)


@tensor_method
@builtin
def cos(x: object, _semantic: Semantics = INJECTED) -> tensor:
    """The cosine of an angle in radians; see ``exp``.

    >>> tl.cos(tl.arange(0, 4).to(tl.float32))
    [1.0, 0.5403, -0.4161, -0.99]
    """
    return _semantic.unary("cos", x)


@tensor_method
@builtin
def sqrt(x: object, _semantic: Semantics = INJECTED) -> tensor:
    """The square root, approximate in fp32 on GPUs; see ``exp``.

    >>> tl.sqrt(tl.arange(0, 4).to(tl.float32))
    [0.0, 1.0, 1.414, 1.732]
    """
    return _semantic.unary("sqrt", x)


@tensor_method
@builtin
def rsqrt(x: object, _semantic: Semantics = INJECTED) -> tensor:
    """1 / sqrt(x); see ``exp``.

    >>> tl.rsqrt(tl.full((2,), 4.0, tl.float32))
    [0.5, 0.5]
    """
    return _semantic.unary("rsqrt", x)


@tensor_method
@builtin
def erf(x: object, _semantic: Semantics = INJECTED) -> tensor:
    """The error function; see ``exp``.

    >>> tl.erf(tl.full((2,), 0.5, tl.float32))
    [0.5205, 0.5205]
    """
    return _semantic.unary("erf", x)


@tensor_method
@builtin
def floor(x: object, _semantic: Semantics = INJECTED) -> tensor:
    """Rounded down; see ``ceil``.

    >>> tl.floor(tl.load(floats + tl.arange(0, 4)) - 1)
    [-1.0, -1.0, 0.0, 0.0]
    """
    return _semantic.unary("floor", x)


@tensor_method
@builtin
def ceil(x: object, _semantic: Semantics = INJECTED) -> tensor:
    """Rounded up; fp32 or fp64, a block or scalar, whose shape and dtype stay. Raises ValueError for other dtypes.

    >>> tl.ceil(tl.load(floats + tl.arange(0, 4)) - 1)
    [-1.0, -0.0, 0.0, 1.0]
    """
    return _semantic.unary("ceil", x)


@tensor_method
@builtin
def sqrt_rn(x: object, _semantic: Semantics = INJECTED) -> tensor:
    """The correctly rounded square root of fp32, a block or scalar. Raises ValueError for other dtypes.

    >>> tl.sqrt_rn(tl.full((2,), 2.0, tl.float32))
    [1.414, 1.414]
    """
    return _semantic.unary("sqrt_rn", x)


@tensor_method
@builtin
def abs(x: object, _semantic: Semantics = INJECTED) -> tensor:
    """The absolute value of a block or scalar of integers or floats, of the same shape and dtype; the least integer
    stays what it is. Raises AssertionError for pointers.

    >>> tl.abs(tl.arange(0, 4) - 2)
    [2, 1, 0, 1]
    """
    return _semantic.abs(x)


@builtin
def fma(x: object, y: object, z: object, _semantic: Semantics = INJECTED) -> tensor:
    """``x * y + z`` in the operands' common dtype, of blocks or scalars of shapes that broadcast; for floats with one
    rounding.

    >>> x = tl.arange(0, 4).to(tl.float32)
    >>> tl.fma(x, x, 0.5)
    [0.5, 1.5, 4.5, 9.5]
    """
    return _semantic.fma(x, y, z)


@builtin
def fdiv(
    x: object, y: object, ieee_rounding: object = False, approx: object = False, _semantic: Semantics = INJECTED
) -> tensor:
    """The quotient of floats, blocks or scalars of shapes that broadcast: of one dtype, which stays, and from the level
    3.9 in the dtype of ``/``. ``ieee_rounding`` has fp32 rounded correctly, from 3.9; ``approx`` allows an
    approximate quotient of fp32. Raises TypeError for integers, ValueError for both together.

    >>> tl.fdiv(tl.arange(0, 4).to(tl.float32), 4.0)
    [0.0, 0.25, 0.5, 0.75]
    """
    return _semantic.fdiv(x, y, unwrap(ieee_rounding), unwrap(approx))


@builtin
def div_rn(x: object, y: object, _semantic: Semantics = INJECTED) -> tensor:
    """The correctly rounded quotient of fp32, blocks or scalars of shapes that broadcast. Raises ValueError for other
    dtypes.

    >>> tl.div_rn(tl.arange(0, 4).to(tl.float32), 3.0)
    [0.0, 0.3333, 0.6667, 1.0]
    """
    return _semantic.div_rn(x, y)


@builtin
def umulhi(x: object, y: object, _semantic: Semantics = INJECTED) -> tensor:
    """The high half of the product of two integers of 32 or of 64 bits, taken as unsigned; blocks or scalars of shapes
    that broadcast, in their common dtype. Raises ValueError for other dtypes.

    >>> tl.umulhi(tl.full((2,), 1 << 20, tl.int32), 1 << 16)
    [16, 16]
    """
    return _semantic.umulhi(x, y)
