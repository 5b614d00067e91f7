"""The math functions: each is one op, on the dtypes it has."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tritonx.dialects import math
from tritonx.dialects.tile import MulhiUIOp, PreciseDivFOp, PreciseSqrtOp
from tritonx.frontend.semantics.casts import CastSemantics
from tritonx.language.types.dtypes import int8
from tritonx.language.values.tensor import tensor

_FLOATS = ("fp32", "fp64")

_UNARY: dict[str, tuple[Any, Sequence[str]]] = {
    "exp": (math.ExpOp, _FLOATS),
    "exp2": (math.Exp2Op, _FLOATS),
    "log": (math.LogOp, _FLOATS),
    "log2": (math.Log2Op, _FLOATS),
    "sin": (math.SinOp, _FLOATS),
    "cos": (math.CosOp, _FLOATS),
    "sqrt": (math.SqrtOp, _FLOATS),
    "sqrt_rn": (PreciseSqrtOp, ("fp32",)),
    "rsqrt": (math.RsqrtOp, _FLOATS),
    "erf": (math.ErfOp, _FLOATS),
    "floor": (math.FloorOp, _FLOATS),
    "ceil": (math.CeilOp, _FLOATS),
}


class ElementwiseSemantics(CastSemantics):
    def unary(self, name: str, x: object) -> tensor:
        """``tl.exp`` and its like, by name; ``ValueError`` for another dtype than the function has."""
        op, allowed = _UNARY[name]
        value = self.to_tensor(x)
        check_dtype(value, allowed)
        return self.emit(op, (value,), value.type)

    def abs(self, x: object) -> tensor:
        """|x|: integers wrap at the smallest one."""
        value = self.to_tensor(x)
        type_ = value.dtype
        if type_.is_fp8e4b15():  # no float to the IR
            return self.bitcast(self.and_(self.bitcast(value, int8), 0x7F), type_)
        if type_.is_floating():
            return self.emit(math.AbsFOp, (value,), value.type)
        if type_.is_int_signed():
            return self.emit(math.AbsIOp, (value,), value.type)
        if type_.is_int_unsigned():
            return value
        raise AssertionError(f"Unexpected dtype {type_}")

    def fma(self, x: object, y: object, z: object) -> tensor:
        """``x * y + z``: with one rounding for floats, modulo the width for integers."""
        x, y, z = self.ternary_operands(x, y, z)
        if x.dtype.is_int():
            return self.add(self.mul(x, y, False), z, False)
        return self.emit(math.FmaOp, (x, y, z), x.type)

    def div_rn(self, x: object, y: object) -> tensor:
        """The correctly rounded fp32 quotient."""
        check_dtype(self.to_tensor(x), ("fp32",))
        check_dtype(self.to_tensor(y), ("fp32",))
        x, y = self.binary_operands(self.weak(x), self.weak(y))
        return self.emit(PreciseDivFOp, (x, y), x.type)

    def umulhi(self, x: object, y: object) -> tensor:
        """The high half of the product of two 32- or 64-bit integers, taken as unsigned."""
        allowed = ("int32", "int64", "uint32", "uint64")
        check_dtype(self.to_tensor(x), allowed)
        check_dtype(self.to_tensor(y), allowed)
        x, y = self.binary_operands(self.weak(x), self.weak(y))
        return self.emit(MulhiUIOp, (x, y), x.type)


def check_dtype(value: tensor, allowed: Sequence[str]) -> None:
    """``ValueError`` unless the element type's name is one of ``allowed``."""
    if value.dtype.name not in allowed:
        raise ValueError(f"Expected dtype {[*allowed]} but got {value.dtype.name}")
