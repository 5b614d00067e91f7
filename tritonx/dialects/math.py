"""The mathematics dialect, `math`: elementwise functions on scalars and tiles, in MLIR's text."""

from __future__ import annotations

from typing import ClassVar

from xdsl.ir import Dialect
from xdsl.irdl import IRDLOperation, operand_def, prop_def, result_def

from tritonx.dialects.arith.checks import check_float, check_integer
from tritonx.dialects.arith.flags import NO_FAST_MATH, FastMathFlagsAttr
from tritonx.dialects.arith.floating import FloatUnary
from tritonx.dialects.effects import PURE, Effects
from tritonx.dialects.layout_constraints import ELEMENTWISE, LayoutConstraint
from tritonx.ir.declaration import TypeRules, same
from tritonx.ir.define import define


@define
class AbsFOp(FloatUnary):
    """Absolute value."""

    name = "math.absf"


@define
class CeilOp(FloatUnary):
    """Rounds up."""

    name = "math.ceil"


@define
class CosOp(FloatUnary):
    """Cosine."""

    name = "math.cos"


@define
class ErfOp(FloatUnary):
    """Error function."""

    name = "math.erf"


@define
class Exp2Op(FloatUnary):
    """Power of two."""

    name = "math.exp2"


@define
class ExpOp(FloatUnary):
    """Power of e."""

    name = "math.exp"


@define
class FloorOp(FloatUnary):
    """Rounds down."""

    name = "math.floor"


@define
class Log2Op(FloatUnary):
    """Logarithm to base 2."""

    name = "math.log2"


@define
class LogOp(FloatUnary):
    """Natural logarithm."""

    name = "math.log"


@define
class RsqrtOp(FloatUnary):
    """Reciprocal of the square root."""

    name = "math.rsqrt"


@define
class SinOp(FloatUnary):
    """Sine."""

    name = "math.sin"


@define
class SqrtOp(FloatUnary):
    """Square root."""

    name = "math.sqrt"


@define
class TanhOp(FloatUnary):
    """Hyperbolic tangent."""

    name = "math.tanh"


@define
class TanOp(FloatUnary):
    """Tangent."""

    name = "math.tan"


@define
class Log10Op(FloatUnary):
    """Logarithm to base 10."""

    name = "math.log10"


@define
class Log1pOp(FloatUnary):
    """log(1 + x)."""

    name = "math.log1p"


@define
class ExpM1Op(FloatUnary):
    """exp(x) - 1."""

    name = "math.expm1"


@define
class RoundOp(FloatUnary):
    """Rounds to nearest, ties away from zero."""

    name = "math.round"


@define
class RoundEvenOp(FloatUnary):
    """Rounds to nearest, ties to even."""

    name = "math.roundeven"


@define
class TruncOp(FloatUnary):
    """Rounds towards zero."""

    name = "math.trunc"


@define
class AbsIOp(IRDLOperation):
    """Absolute value of a signed integer."""

    name = "math.absi"
    operand = operand_def()
    result = result_def()
    LAYOUTS: ClassVar[LayoutConstraint] = ELEMENTWISE
    EFFECTS: ClassVar[Effects] = PURE
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
    LAYOUTS: ClassVar[LayoutConstraint] = ELEMENTWISE
    EFFECTS: ClassVar[Effects] = PURE
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
