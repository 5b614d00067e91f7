"""Matrix products."""

from __future__ import annotations

from typing import ClassVar

from xdsl.dialects.builtin import BoolAttr, IntegerAttr, i32
from xdsl.ir import Attribute
from xdsl.irdl import (
    AttrSizedOperandSegments,
    IRDLOperation,
    operand_def,
    opt_operand_def,
    prop_def,
    result_def,
)
from xdsl.utils.exceptions import VerifyException

from tritonx.dialects.effects import PURE, Effects
from tritonx.dialects.layout_constraints import DotOperands, LayoutConstraint, SameLayout
from tritonx.dialects.tile.enums import InputPrecision, ScaleDotElemType
from tritonx.dialects.tile.rules import tensor_type
from tritonx.ir.declaration import TypeRules, enum_prop, same
from tritonx.ir.define import define
from tritonx.ir.types import (
    bf16,
    bit_width,
    element_type,
    encoding_of,
    f8E4M3FN,
    f8E5M2,
    f16,
    f32,
    i8,
    is_float,
    shape_of,
)

TRUE = BoolAttr.from_bool(True)


def check_dot_shapes(a: Attribute, b: Attribute, c: Attribute, k_of_a: int = 1, k_of_b: int = 1) -> None:
    """A is [batch,] M x K, B is [batch,] K x N, C is [batch,] M x N; `k_of_a`: elements of K in one element of A (2
    for fp4).
    """
    x, y, z = (shape_of(tensor_type(t, "dot operand")) for t in (a, b, c))
    if not len(x) == len(y) == len(z) or len(x) not in (2, 3):
        raise VerifyException(f"operands must have rank 2 or 3 alike, got {a}, {b} and {c}")
    if x[:-2] != y[:-2] or x[:-2] != z[:-2]:
        raise VerifyException(f"batch sizes differ: {a}, {b} and {c}")
    if x[-1] * k_of_a != y[-2] * k_of_b:
        raise VerifyException(
            f"the last dimension of the first operand and the last but one of the second differ: {a} and {b}"
        )
    if z[-2:] != (x[-2], y[-1]):
        raise VerifyException(f"the accumulator must be {x[-2]}x{y[-1]}, got {c}")


def check_accumulator(a: Attribute, b: Attribute, c: Attribute) -> None:
    """Products of integers are summed in i32, of i64 in i64, those of f64 in f64, of other floats in 16 or 32 bits."""
    if len({is_float(t) for t in (a, b, c)}) > 1:
        raise VerifyException(f"operands and accumulator must all be integers, or all floats: {a}, {b} and {c}")
    wide = 64 if bit_width(a) == 64 else 32
    if bit_width(c) not in ((16, 32) if is_float(a) and wide == 32 else (wide,)):
        raise VerifyException(f"products of {element_type(a)} are not summed in {element_type(c)}")


HELD_IN: dict[ScaleDotElemType, tuple[Attribute, ...]] = {
    ScaleDotElemType.E4M3: (f8E4M3FN, i8),
    ScaleDotElemType.E5M2: (f8E5M2, i8),
    ScaleDotElemType.BF16: (bf16,),
    ScaleDotElemType.FP16: (f16,),
}
"""What an operand of `tt.dot_scaled` of a format is a tile of; of all others, bytes."""
SCALES = (i8, f8E4M3FN, f8E5M2, f16, bf16, f32)


def check_holds(format_: ScaleDotElemType, type_: Attribute, which: str) -> None:
    """A tile of ``type_`` holds numbers of a format."""
    held = HELD_IN.get(format_, (i8,))
    if element_type(type_) not in held:
        what = "e2m1 pairs" if format_ is ScaleDotElemType.E2M1 else format_.name.lower()
        wanted = " or ".join(map(str, held))
        raise VerifyException(f"the {which} operand holds {what} and must be of {wanted}, got {type_}")


@define
class DotOp(IRDLOperation):
    """d = a · b + c for matrices, or for batches of them."""

    name = "tt.dot"
    a = operand_def()
    b = operand_def()
    c = operand_def()
    inputPrecision = enum_prop(InputPrecision, default=InputPrecision.IEEE)
    maxNumImpreciseAcc = prop_def(IntegerAttr.constr(i32), default_value=IntegerAttr(0, i32))
    d = result_def()
    LAYOUTS: ClassVar[LayoutConstraint] = DotOperands()
    EFFECTS: ClassVar[Effects] = PURE
    FORMAT: ClassVar[str] = (
        "$a `,` $b `,` $c (`,` `inputPrecision` `=` $inputPrecision^)? attr-dict"
        " `:` type($a) `*` type($b) `->` type($d)"
    )
    TYPES: ClassVar[TypeRules] = {"c": ("d", same)}

    def verify_(self) -> None:
        a, b = self.a.type, self.b.type
        check_dot_shapes(a, b, self.c.type)
        if getattr(element_type(a), "bitwidth", None) != getattr(element_type(b), "bitwidth", None):
            raise VerifyException(f"element types of one width are needed, got {a} and {b}")
        check_accumulator(a, b, self.c.type)
        if (encoding_of(a) is None) != (encoding_of(b) is None):
            raise VerifyException("either both operands or none carry a layout")


@define
class DotScaledOp(IRDLOperation):
    """d = (a · scale of a) · (b · scale of b) + c with one 8-bit scale for every 32 (or 16) elements along K.

    Elements narrower than 8 bits are packed in pairs into i8, along K, or along M (N) where `lhs_k_pack`
    (`rhs_k_pack`) is false.
    """

    name = "tt.dot_scaled"
    a = operand_def()
    b = operand_def()
    c = operand_def()
    a_scale = opt_operand_def()
    b_scale = opt_operand_def()
    a_elem_type = enum_prop(ScaleDotElemType)
    b_elem_type = enum_prop(ScaleDotElemType)
    fastMath = prop_def(BoolAttr)
    lhs_k_pack = prop_def(BoolAttr, default_value=TRUE)
    rhs_k_pack = prop_def(BoolAttr, default_value=TRUE)
    d = result_def()
    irdl_options = (AttrSizedOperandSegments(as_property=True),)
    LAYOUTS: ClassVar[LayoutConstraint] = SameLayout(besides=("a", "b", "a_scale", "b_scale"))
    EFFECTS: ClassVar[Effects] = PURE
    FORMAT: ClassVar[str] = (
        "$a (`scale` $a_scale^)? `,` $b (`scale` $b_scale^)? `,` $c"
        " `lhs` `=` $a_elem_type `rhs` `=` $b_elem_type attr-dict"
        " `:` type($a) (`,` type($a_scale)^)? `*` type($b) (`,` type($b_scale)^)? `->` type($d)"
    )
    TYPES: ClassVar[TypeRules] = {"c": ("d", same)}

    @staticmethod
    def segment_sizes(count: int) -> tuple[int, ...] | None:
        return {3: (1, 1, 1, 0, 0), 5: (1, 1, 1, 1, 1)}.get(count)

    @property
    def depth(self) -> int:
        """The elements along K."""
        pairs = self.a_elem_type.value.data == ScaleDotElemType.E2M1 and bool(self.lhs_k_pack.value.data)
        return shape_of(self.a.type)[-1] * (2 if pairs else 1)

    def verify_(self) -> None:
        sides = (
            (self.a, self.a_elem_type, self.lhs_k_pack, "first"),
            (self.b, self.b_elem_type, self.rhs_k_pack, "second"),
        )
        along_k: list[int] = []
        for value, kind, k_pack, which in sides:
            packed = kind.value.data == ScaleDotElemType.E2M1
            check_holds(ScaleDotElemType(kind.value.data), value.type, which)
            along_k.append(2 if packed and k_pack.value.data else 1)
        x, y, z = (shape_of(tensor_type(v.type, "dot operand")) for v in (self.a, self.b, self.d))
        if not len(x) == len(y) == len(z) or len(x) not in (2, 3):
            raise VerifyException(
                f"operands must have rank 2 or 3 alike, got {self.a.type}, {self.b.type} and {self.d.type}"
            )
        if x[-1] * along_k[0] != y[-2] * along_k[1]:
            raise VerifyException(f"the operands differ in K: {x[-1] * along_k[0]} and {y[-2] * along_k[1]} elements")
        for scale, which in ((self.a_scale, "first"), (self.b_scale, "second")):
            if scale is not None and len(shape_of(scale.type)) != len(x):
                raise VerifyException(f"the scale of the {which} operand must have its rank, got {scale.type}")
            if scale is not None and element_type(scale.type) not in SCALES:
                raise VerifyException(f"the scales of the {which} operand are i8 or floats, got {scale.type}")
        if element_type(self.d.type) not in (f16, bf16, f32):
            raise VerifyException(f"scaled products are not summed in {element_type(self.d.type)}")
