"""Elementwise operations of the tile dialect that the arithmetic dialects lack: pointers, conversions, precise
division, assembly.
"""

from __future__ import annotations

from typing import ClassVar

from xdsl.dialects.builtin import BoolAttr, IntegerAttr, IntegerType, StringAttr, i32
from xdsl.ir import Attribute
from xdsl.irdl import (
    IRDLOperation,
    operand_def,
    prop_def,
    region_def,
    result_def,
    traits_def,
    var_operand_def,
    var_result_def,
)
from xdsl.traits import IsTerminator
from xdsl.utils.exceptions import VerifyException

from tritonx.dialects.arith import DivfOp
from tritonx.dialects.control_flow import REGION_END, ControlFlow, PerElement
from tritonx.dialects.effects import PURE, REGIONS, Effects, by_op, unless_pure
from tritonx.dialects.layout_constraints import ELEMENTWISE, NO_TENSORS, SAME_LAYOUT, LayoutConstraint
from tritonx.dialects.tile.enums import PropagateNan, RoundingMode
from tritonx.dialects.tile.rules import check_elementwise, check_power_of_two
from tritonx.ir.declaration import TypeRules, enum_prop, opt_enum_prop, same
from tritonx.ir.define import define
from tritonx.ir.spelling import Spellings, TextLevel, replace, spellings
from tritonx.ir.types import (
    PointerType,
    bit_width,
    element_type,
    encoding_of,
    f32,
    is_float,
    is_integer,
    is_tensor,
    shape_of,
)

CAST = "$src attr-dict `:` type($src) `->` type($result)"


def _check_cast(op: IRDLOperation, source: Attribute, result: Attribute) -> None:
    check_elementwise((source, result), f"operand and result of {op.name}")


def _divide(op: IRDLOperation, level: TextLevel) -> None:
    if level < TextLevel.V3_9:
        replace(op, DivfOp.create(operands=op.operands, result_types=[op.results[0].type]))


@define
class AddPtrOp(IRDLOperation):
    """A pointer `offset` elements further on; elementwise on tensors."""

    name = "tt.addptr"
    ptr = operand_def()
    offset = operand_def()
    result = result_def()
    LAYOUTS: ClassVar[LayoutConstraint] = ELEMENTWISE
    EFFECTS: ClassVar[Effects] = PURE
    FORMAT: ClassVar[str] = "$ptr `,` $offset attr-dict `:` type($result) `,` type($offset)"
    TYPES: ClassVar[TypeRules] = {"ptr": ("result", same)}

    def verify_(self) -> None:
        if not isinstance(element_type(self.ptr.type), PointerType):
            raise VerifyException(f"'ptr' must hold pointers, got {self.ptr.type}")
        if not is_integer(self.offset.type):
            raise VerifyException(f"'offset' must hold integers, got {self.offset.type}")
        check_elementwise((self.ptr.type, self.offset.type), "pointer and offset")


@define
class IntToPtrOp(IRDLOperation):
    """The pointer with a given 64-bit address."""

    name = "tt.int_to_ptr"
    src = operand_def()
    result = result_def()
    LAYOUTS: ClassVar[LayoutConstraint] = ELEMENTWISE
    EFFECTS: ClassVar[Effects] = PURE
    FORMAT: ClassVar[str] = CAST

    def verify_(self) -> None:
        _check_cast(self, self.src.type, self.result.type)
        if element_type(self.src.type) != IntegerType(64) or not isinstance(
            element_type(self.result.type), PointerType
        ):
            raise VerifyException(f"expected i64 -> pointer, got {self.src.type} -> {self.result.type}")


@define
class PtrToIntOp(IRDLOperation):
    """The 64-bit address of a pointer."""

    name = "tt.ptr_to_int"
    src = operand_def()
    result = result_def()
    LAYOUTS: ClassVar[LayoutConstraint] = ELEMENTWISE
    EFFECTS: ClassVar[Effects] = PURE
    FORMAT: ClassVar[str] = CAST

    def verify_(self) -> None:
        _check_cast(self, self.src.type, self.result.type)
        if element_type(self.result.type) != IntegerType(64) or not isinstance(
            element_type(self.src.type), PointerType
        ):
            raise VerifyException(f"expected pointer -> i64, got {self.src.type} -> {self.result.type}")


@define
class BitcastOp(IRDLOperation):
    """The same bits under another element type of the same width (pointers included)."""

    name = "tt.bitcast"
    src = operand_def()
    result = result_def()
    LAYOUTS: ClassVar[LayoutConstraint] = ELEMENTWISE
    EFFECTS: ClassVar[Effects] = PURE
    FORMAT: ClassVar[str] = CAST

    def verify_(self) -> None:
        _check_cast(self, self.src.type, self.result.type)
        source, result = element_type(self.src.type), element_type(self.result.type)
        if isinstance(source, PointerType) != isinstance(result, PointerType):
            raise VerifyException("cannot bitcast between a pointer and something else: use ptr_to_int or int_to_ptr")
        if isinstance(source, PointerType):
            return
        if not all(is_float(t) or is_integer(t) for t in (source, result)) or bit_width(source) != bit_width(result):
            raise VerifyException(f"cannot bitcast {source} to {result}: their widths differ")


@define
class FpToFpOp(IRDLOperation):
    """Conversion between floating-point types where fp8 is involved or where the rounding is not the default one."""

    name = "tt.fp_to_fp"
    src = operand_def()
    rounding = opt_enum_prop(RoundingMode)
    result = result_def()
    LAYOUTS: ClassVar[LayoutConstraint] = ELEMENTWISE
    EFFECTS: ClassVar[Effects] = PURE
    FORMAT: ClassVar[str] = "$src attr-dict (`,` `rounding` `=` $rounding^)? `:` type($src) `->` type($result)"

    def verify_(self) -> None:
        _check_cast(self, self.src.type, self.result.type)
        source, result = element_type(self.src.type), element_type(self.result.type)
        if not is_float(source) or not is_float(result):
            raise VerifyException(f"expected floating-point types, got {source} -> {result}")
        if bit_width(source) > bit_width(result) and self.rounding is None:
            raise VerifyException(f"narrowing {source} to {result} needs a rounding mode")


@define
class ClampFOp(IRDLOperation):
    """min(max(x, min), max); `propagateNan` says whether a NaN stays one."""

    name = "tt.clampf"
    x = operand_def()
    min = operand_def()
    max = operand_def()
    propagateNan = enum_prop(PropagateNan)
    result = result_def()
    LAYOUTS: ClassVar[LayoutConstraint] = ELEMENTWISE
    EFFECTS: ClassVar[Effects] = PURE
    FORMAT: ClassVar[str] = "$x `,` $min `,` $max `,` `propagateNan` `=` $propagateNan attr-dict `:` type($result)"
    TYPES: ClassVar[TypeRules] = {"x": ("result", same), "min": ("result", same), "max": ("result", same)}

    def verify_(self) -> None:
        if not is_float(self.result.type):
            raise VerifyException(f"expected a floating-point type, got {self.result.type}")


@define
class PreciseSqrtOp(IRDLOperation):
    """Square root rounded as IEEE 754 says."""

    name = "tt.precise_sqrt"
    x = operand_def()
    result = result_def()
    LAYOUTS: ClassVar[LayoutConstraint] = ELEMENTWISE
    EFFECTS: ClassVar[Effects] = PURE
    FORMAT: ClassVar[str] = "$x attr-dict `:` type($x)"
    TYPES: ClassVar[TypeRules] = {"result": ("x", same)}

    def verify_(self) -> None:
        if not is_float(self.x.type):
            raise VerifyException(f"expected a floating-point type, got {self.x.type}")


@define
class PreciseDivFOp(IRDLOperation):
    """Quotient rounded as IEEE 754 says."""

    name = "tt.precise_divf"
    x = operand_def()
    y = operand_def()
    result = result_def()
    LAYOUTS: ClassVar[LayoutConstraint] = ELEMENTWISE
    EFFECTS: ClassVar[Effects] = PURE
    FORMAT: ClassVar[str] = "$x `,` $y attr-dict `:` type($x)"
    TYPES: ClassVar[TypeRules] = {"y": ("x", same), "result": ("x", same)}

    def verify_(self) -> None:
        if not is_float(self.x.type):
            raise VerifyException(f"expected a floating-point type, got {self.x.type}")


@define
class ApproxDivFOp(IRDLOperation):
    """Quotient of f32 as the target's fastest instruction gives it.

    The error is the target's: 2 units in the last place on NVIDIA GPUs, where the divisor is between 2^-126 and 2^126
    (PTX ISA, "div.approx.f32"), 2.5 on AMD GPUs (LLVM, `llvm.amdgcn.fdiv.fast`). A target that has no such
    instruction rounds as IEEE 754 says, and so does the interpreter. Versions before 3.9 divide."""

    name = "tt.approx_divf"
    x = operand_def()
    y = operand_def()
    result = result_def()
    LAYOUTS: ClassVar[LayoutConstraint] = ELEMENTWISE
    EFFECTS: ClassVar[Effects] = PURE
    FORMAT: ClassVar[str] = "$x `,` $y attr-dict `:` type($x)"
    TYPES: ClassVar[TypeRules] = {"y": ("x", same), "result": ("x", same)}
    SPELLINGS: ClassVar[Spellings] = spellings(
        {TextLevel.V3_6: "%r = arith.divf %f, %f : f32", TextLevel.V3_9: "%r = tt.approx_divf %f, %f : f32"},
        write=_divide,
    )

    def verify_(self) -> None:
        if element_type(self.x.type) != f32:
            raise VerifyException(f"expected f32, got {self.x.type}")


@define
class MulhiUIOp(IRDLOperation):
    """The upper half of the unsigned product of two integers."""

    name = "tt.mulhiui"
    x = operand_def()
    y = operand_def()
    result = result_def()
    LAYOUTS: ClassVar[LayoutConstraint] = ELEMENTWISE
    EFFECTS: ClassVar[Effects] = PURE
    FORMAT: ClassVar[str] = "$x `,` $y attr-dict `:` type($x)"
    TYPES: ClassVar[TypeRules] = {"y": ("x", same), "result": ("x", same)}

    def verify_(self) -> None:
        if not is_integer(self.x.type):
            raise VerifyException(f"expected an integer type, got {self.x.type}")


@define
class ElementwiseInlineAsmOp(IRDLOperation):
    """Runs target assembly on packs of `packed_element` elements of its operands."""

    name = "tt.elementwise_inline_asm"
    asm_string = prop_def(StringAttr)
    constraints = prop_def(StringAttr)
    pure = prop_def(BoolAttr)
    packed_element = prop_def(IntegerAttr.constr(i32))
    args = var_operand_def()
    result = var_result_def()
    LAYOUTS: ClassVar[LayoutConstraint] = SAME_LAYOUT
    EFFECTS: ClassVar[Effects] = by_op(unless_pure)
    FORMAT: ClassVar[str] = "$asm_string attr-dict ($args^ `:` type($args))? `->` type($result)"

    def verify_(self) -> None:
        if not self.result:
            raise VerifyException("inline assembly needs at least one result")
        if is_tensor(self.result[0].type) and not any(is_tensor(value.type) for value in self.args):
            raise VerifyException("a result that is a tensor needs an operand that is one")
        check_elementwise([value.type for value in (*self.args, *self.result)])
        check_power_of_two(self.packed_element.value.data, "'packed_element'")


@define
class ExternElementwiseOp(IRDLOperation):
    """Calls a function of a device library on every element."""

    name = "tt.extern_elementwise"
    srcs = var_operand_def()
    libname = prop_def(StringAttr)
    libpath = prop_def(StringAttr)
    symbol = prop_def(StringAttr)
    pure = prop_def(BoolAttr)
    result = result_def()
    LAYOUTS: ClassVar[LayoutConstraint] = ELEMENTWISE
    EFFECTS: ClassVar[Effects] = by_op(unless_pure)
    FORMAT: ClassVar[str] = "operands attr-dict `:` functional-type(operands, $result)"

    def verify_(self) -> None:
        tensors = [value.type for value in (*self.srcs, self.result) if is_tensor(value.type)]
        for type_ in tensors[1:]:
            if shape_of(type_) != shape_of(tensors[0]) or encoding_of(type_) != encoding_of(tensors[0]):
                raise VerifyException(f"tensors must agree in shape and layout, got {tensors[0]} and {type_}")


@define
class MapElementwiseOp(IRDLOperation):
    """Runs a scalar region on every element (on `pack` elements at a time): arguments and results are grouped by
    operand.
    """

    name = "tt.map_elementwise"
    srcs = var_operand_def()
    pack = prop_def(IntegerAttr.constr(i32))
    result = var_result_def()
    scalarOp = region_def()
    LAYOUTS: ClassVar[LayoutConstraint] = SAME_LAYOUT
    EFFECTS: ClassVar[Effects] = REGIONS
    CONTROL_FLOW: ClassVar[ControlFlow] = PerElement()

    def verify_(self) -> None:
        if not self.srcs or not self.result:
            raise VerifyException("needs at least one operand and one result")
        check_elementwise([value.type for value in (*self.srcs, *self.result)])
        pack = self.pack.value.data
        check_power_of_two(pack, "'pack'")
        block = self.scalarOp.blocks.first
        if block is None:
            raise VerifyException("the region is empty")
        expected = [element_type(value.type) for value in self.srcs for _ in range(pack)]
        if [argument.type for argument in block.args] != expected:
            raise VerifyException(
                f"the region must take ({', '.join(map(str, expected))}): {pack} scalar(s) for each operand"
            )
        for inner in self.scalarOp.blocks:
            end = inner.last_op
            if isinstance(end, MapElementwiseReturnOp):
                returned = [value.type for value in end.result]
                wanted = [element_type(value.type) for value in self.result for _ in range(pack)]
                if returned != wanted:
                    raise VerifyException(f"the region must return ({', '.join(map(str, wanted))})")


@define
class MapElementwiseReturnOp(IRDLOperation):
    """Ends the region of `map_elementwise`."""

    name = "tt.map_elementwise.return"
    result = var_operand_def()
    traits = traits_def(IsTerminator())
    LAYOUTS: ClassVar[LayoutConstraint] = NO_TENSORS
    EFFECTS: ClassVar[Effects] = PURE
    CONTROL_FLOW: ClassVar[ControlFlow] = REGION_END
    FORMAT: ClassVar[str] = "attr-dict ($result^ `:` type($result))?"
