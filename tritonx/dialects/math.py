"""The mathematics dialect, `math`: elementwise functions on scalars and tiles, in MLIR's text."""

from __future__ import annotations

from typing import ClassVar

from xdsl.ir import Dialect
from xdsl.irdl import IRDLOperation, operand_def, prop_def, result_def, traits_def
from xdsl.traits import Pure

from tritonx.dialects.arith.checks import check_float, check_integer
from tritonx.dialects.arith.flags import NO_FAST_MATH, FastMathFlagsAttr
from tritonx.ir.define import TypeRules, define, same


class _FloatUnary(IRDLOperation):
    """A function of a floating-point number."""

    operand = operand_def()
    fastmath = prop_def(FastMathFlagsAttr, default_value=NO_FAST_MATH)
    result = result_def()
    traits = traits_def(Pure())
    FORMAT: ClassVar[str] = "$operand (`fastmath` `` $fastmath^)? attr-dict `:` type($result)"
    TYPES: ClassVar[TypeRules] = {"operand": ("result", same)}

    def verify_(self) -> None:
        check_float(self)


@define
class AbsFOp(_FloatUnary):
    """Absolute value."""

    name = "math.absf"


@define
class CeilOp(_FloatUnary):
    """Rounds up."""

    name = "math.ceil"


@define
class CosOp(_FloatUnary):
    """Cosine."""

    name = "math.cos"


@define
class ErfOp(_FloatUnary):
    """Error function."""

    name = "math.erf"


@define
class Exp2Op(_FloatUnary):
    """Power of two."""

    name = "math.exp2"


@define
class ExpOp(_FloatUnary):
    """Power of e."""

    name = "math.exp"


@define
class FloorOp(_FloatUnary):
    """Rounds down."""

    name = "math.floor"


@define
class Log2Op(_FloatUnary):
    """Logarithm to base 2."""

    name = "math.log2"


@define
class LogOp(_FloatUnary):
    """Natural logarithm."""

    name = "math.log"


@define
class RsqrtOp(_FloatUnary):
    """Reciprocal of the square root."""

    name = "math.rsqrt"


@define
class SinOp(_FloatUnary):
    """Sine."""

    name = "math.sin"


@define
class SqrtOp(_FloatUnary):
    """Square root."""

    name = "math.sqrt"


@define
class TanhOp(_FloatUnary):
    """Hyperbolic tangent."""

    name = "math.tanh"


@define
class TanOp(_FloatUnary):
    """Tangent."""

    name = "math.tan"


@define
class Log10Op(_FloatUnary):
    """Logarithm to base 10."""

    name = "math.log10"


@define
class Log1pOp(_FloatUnary):
    """log(1 + x)."""

    name = "math.log1p"


@define
class ExpM1Op(_FloatUnary):
    """exp(x) - 1."""

    name = "math.expm1"


@define
class RoundOp(_FloatUnary):
    """Rounds to nearest, ties away from zero."""

    name = "math.round"


@define
class RoundEvenOp(_FloatUnary):
    """Rounds to nearest, ties to even."""

    name = "math.roundeven"


@define
class TruncOp(_FloatUnary):
    """Rounds towards zero."""

    name = "math.trunc"


@define
class AbsIOp(IRDLOperation):
    """Absolute value of a signed integer."""

    name = "math.absi"
    operand = operand_def()
    result = result_def()
    traits = traits_def(Pure())
    FORMAT: ClassVar[str] = "$operand attr-dict `:` type($result)"
    TYPES: ClassVar[TypeRules] = {"operand": ("result", same)}

    def verify_(self) -> None:
        check_integer(self)


@define
class FmaOp(IRDLOperation):
    """a * b + c, rounded once."""

    name = "math.fma"
    a = operand_def()
    b = operand_def()
    c = operand_def()
    fastmath = prop_def(FastMathFlagsAttr, default_value=NO_FAST_MATH)
    result = result_def()
    traits = traits_def(Pure())
    FORMAT: ClassVar[str] = "$a `,` $b `,` $c (`fastmath` `` $fastmath^)? attr-dict `:` type($result)"
    TYPES: ClassVar[TypeRules] = {"a": ("result", same), "b": ("result", same), "c": ("result", same)}

    def verify_(self) -> None:
        check_float(self)


Math = Dialect(
    "math",
    [
        AbsFOp,
        AbsIOp,
        CeilOp,
        CosOp,
        ErfOp,
        Exp2Op,
        ExpM1Op,
        ExpOp,
        FloorOp,
        FmaOp,
        Log10Op,
        Log1pOp,
        Log2Op,
        LogOp,
        RoundEvenOp,
        RoundOp,
        RsqrtOp,
        SinOp,
        SqrtOp,
        TanOp,
        TanhOp,
        TruncOp,
    ],
)

__all__ = [
    "AbsFOp",
    "AbsIOp",
    "CeilOp",
    "CosOp",
    "ErfOp",
    "Exp2Op",
    "ExpM1Op",
    "ExpOp",
    "FloorOp",
    "FmaOp",
    "Log1pOp",
    "Log2Op",
    "Log10Op",
    "LogOp",
    "Math",
    "RoundEvenOp",
    "RoundOp",
    "RsqrtOp",
    "SinOp",
    "SqrtOp",
    "TanOp",
    "TanhOp",
    "TruncOp",
]
