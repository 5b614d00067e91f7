"""The mathematics dialect, `math`, with fast creation and MLIR's text. See `tritonx.ir.derive`."""

from __future__ import annotations

from typing import ClassVar

from xdsl.dialects import math as base
from xdsl.ir import Dialect
from xdsl.irdl import IRDLOperation

from tritonx.dialects.arith.checks import check_float, check_integer
from tritonx.ir.define import TypeRules, same
from tritonx.ir.derive import derive

UNARY = "$operand (`fastmath` `` $fastmath^)? attr-dict `:` type($result)"
FROM_RESULT: TypeRules = {"operand": ("result", same)}


@derive(check=check_float)
class AbsFOp(base.AbsFOp):
    """Absolute value."""

    FORMAT: ClassVar[str] = UNARY
    TYPES: ClassVar[TypeRules] = FROM_RESULT


@derive(check=check_float)
class CeilOp(base.CeilOp):
    """Rounds up."""

    FORMAT: ClassVar[str] = UNARY
    TYPES: ClassVar[TypeRules] = FROM_RESULT


@derive(check=check_float)
class CosOp(base.CosOp):
    """Cosine."""

    FORMAT: ClassVar[str] = UNARY
    TYPES: ClassVar[TypeRules] = FROM_RESULT


@derive(check=check_float)
class ErfOp(base.ErfOp):
    """Error function."""

    FORMAT: ClassVar[str] = UNARY
    TYPES: ClassVar[TypeRules] = FROM_RESULT


@derive(check=check_float)
class Exp2Op(base.Exp2Op):
    """Power of two."""

    FORMAT: ClassVar[str] = UNARY
    TYPES: ClassVar[TypeRules] = FROM_RESULT


@derive(check=check_float)
class ExpOp(base.ExpOp):
    """Power of e."""

    FORMAT: ClassVar[str] = UNARY
    TYPES: ClassVar[TypeRules] = FROM_RESULT


@derive(check=check_float)
class FloorOp(base.FloorOp):
    """Rounds down."""

    FORMAT: ClassVar[str] = UNARY
    TYPES: ClassVar[TypeRules] = FROM_RESULT


@derive(check=check_float)
class Log2Op(base.Log2Op):
    """Logarithm to base 2."""

    FORMAT: ClassVar[str] = UNARY
    TYPES: ClassVar[TypeRules] = FROM_RESULT


@derive(check=check_float)
class LogOp(base.LogOp):
    """Natural logarithm."""

    FORMAT: ClassVar[str] = UNARY
    TYPES: ClassVar[TypeRules] = FROM_RESULT


@derive(check=check_float)
class RsqrtOp(base.RsqrtOp):
    """Reciprocal of the square root."""

    FORMAT: ClassVar[str] = UNARY
    TYPES: ClassVar[TypeRules] = FROM_RESULT


@derive(check=check_float)
class SinOp(base.SinOp):
    """Sine."""

    FORMAT: ClassVar[str] = UNARY
    TYPES: ClassVar[TypeRules] = FROM_RESULT


@derive(check=check_float)
class SqrtOp(base.SqrtOp):
    """Square root."""

    FORMAT: ClassVar[str] = UNARY
    TYPES: ClassVar[TypeRules] = FROM_RESULT


@derive(check=check_float)
class TanhOp(base.TanhOp):
    """Hyperbolic tangent."""

    FORMAT: ClassVar[str] = UNARY
    TYPES: ClassVar[TypeRules] = FROM_RESULT


@derive(check=check_float)
class TanOp(base.TanOp):
    """Tangent."""

    FORMAT: ClassVar[str] = UNARY
    TYPES: ClassVar[TypeRules] = FROM_RESULT


@derive(check=check_float)
class Log10Op(base.Log10Op):
    """Logarithm to base 10."""

    FORMAT: ClassVar[str] = UNARY
    TYPES: ClassVar[TypeRules] = FROM_RESULT


@derive(check=check_float)
class Log1pOp(base.Log1pOp):
    """log(1 + x)."""

    FORMAT: ClassVar[str] = UNARY
    TYPES: ClassVar[TypeRules] = FROM_RESULT


@derive(check=check_float)
class ExpM1Op(base.ExpM1Op):
    """exp(x) - 1."""

    FORMAT: ClassVar[str] = UNARY
    TYPES: ClassVar[TypeRules] = FROM_RESULT


@derive(check=check_float)
class RoundOp(base.RoundOp):
    """Rounds to nearest, ties away from zero."""

    FORMAT: ClassVar[str] = UNARY
    TYPES: ClassVar[TypeRules] = FROM_RESULT


@derive(check=check_float)
class RoundEvenOp(base.RoundEvenOp):
    """Rounds to nearest, ties to even."""

    FORMAT: ClassVar[str] = UNARY
    TYPES: ClassVar[TypeRules] = FROM_RESULT


@derive(check=check_float)
class TruncOp(base.TruncOp):
    """Rounds towards zero."""

    FORMAT: ClassVar[str] = UNARY
    TYPES: ClassVar[TypeRules] = FROM_RESULT


@derive(check=check_integer)
class AbsIOp(base.AbsIOp):
    """Absolute value of a signed integer."""

    FORMAT: ClassVar[str] = "$operand attr-dict `:` type($result)"
    TYPES: ClassVar[TypeRules] = FROM_RESULT


@derive(check=check_float)
class FmaOp(base.FmaOp):
    """a * b + c, rounded once."""

    FORMAT: ClassVar[str] = "$a `,` $b `,` $c (`fastmath` `` $fastmath^)? attr-dict `:` type($result)"
    TYPES: ClassVar[TypeRules] = {"a": ("result", same), "b": ("result", same), "c": ("result", same)}


_OPS: tuple[type[IRDLOperation], ...] = (
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
)

_REPLACED = {op.name for op in _OPS}

Math = Dialect(
    "math", [*_OPS, *(op for op in base.Math.operations if op.name not in _REPLACED)], list(base.Math.attributes)
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
