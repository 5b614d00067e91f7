"""Matrix products that read shared memory."""

from __future__ import annotations

from typing import ClassVar

from xdsl.dialects.builtin import IntegerAttr, TensorType, i32
from xdsl.ir import Attribute
from xdsl.irdl import IRDLOperation, operand_def, opt_prop_def, prop_def, result_def
from xdsl.utils.exceptions import VerifyException

from tritonx.dialects.effects import EffectList, Effects, by_op, reads_memory
from tritonx.dialects.gpu_layout.encodings import DotOperandEncodingAttr, EncodingAttr
from tritonx.dialects.gpu_layout.type_encodings import encoding_value
from tritonx.dialects.gpu_layout.types import MemDescType
from tritonx.dialects.layout_constraints import DotOperands, LayoutConstraint
from tritonx.dialects.tile.dot import check_accumulator, check_dot_shapes
from tritonx.dialects.tile.enums import InputPrecision
from tritonx.ir.declaration import TypeRules, enum_prop, same
from tritonx.ir.define import define
from tritonx.ir.spelling import NO_VERSION, Spellings
from tritonx.ir.types import encoding_of, is_tensor, tensor, type_of
from tritonx.layouts.encodings import DotOperandEncoding, Encoding


def _reads(op: LocalDotOp) -> EffectList:
    return tuple(reads_memory(name) for name in ("a", "b") if isinstance(type_of(getattr(op, name)), MemDescType))


@define
class LocalDotOp(IRDLOperation):
    """d = a · b + c as `tt.dot` computes it, where a, b or both lie in shared memory: each thread reads its part of
    them, in the layouts `aLayout` and `bLayout`, when it multiplies. How much of K it has in registers at a time is for
    who emits it.
    """

    name = "ttg.local_dot"
    a = operand_def()
    b = operand_def()
    c = operand_def()
    aLayout = opt_prop_def(DotOperandEncodingAttr)
    bLayout = opt_prop_def(DotOperandEncodingAttr)
    inputPrecision = enum_prop(InputPrecision, default=InputPrecision.IEEE)
    maxNumImpreciseAcc = prop_def(IntegerAttr.constr(i32), default_value=IntegerAttr(0, i32))
    d = result_def()
    LAYOUTS: ClassVar[LayoutConstraint] = DotOperands()
    EFFECTS: ClassVar[Effects] = by_op(_reads)
    SPELLINGS: ClassVar[Spellings] = NO_VERSION
    FORMAT: ClassVar[str] = (
        "$a `,` $b `,` $c (`,` `inputPrecision` `=` $inputPrecision^)? attr-dict"
        " `:` type($a) `*` type($b) `->` type($d)"
    )
    TYPES: ClassVar[TypeRules] = {"c": ("d", same)}

    def verify_(self) -> None:
        a, b = self.operand_types
        check_dot_shapes(a, b, self.c.type)
        check_accumulator(a, b, self.c.type)
        if is_tensor(type_of(self.a)) and is_tensor(type_of(self.b)):
            raise VerifyException("one operand at least lies in shared memory; 'tt.dot' has both in registers")

    @property
    def operand_types(self) -> tuple[TensorType[Attribute], TensorType[Attribute]]:
        """The types of the tiles that are multiplied: of an operand in memory what reading it gives."""
        return self._type(0, type_of(self.a), self.aLayout), self._type(1, type_of(self.b), self.bLayout)

    def _type(self, number: int, type_: Attribute, layout: EncodingAttr | None) -> TensorType[Attribute]:
        if is_tensor(type_):
            if layout is not None:
                raise VerifyException(f"operand {number} has a layout by its type, and is given another")
            return type_
        if not isinstance(type_, MemDescType) or layout is None:
            raise VerifyException(f"operand {number} must be a tensor, or memory and the layout to read it in")
        encoding = encoding_value(layout)
        assert isinstance(encoding, DotOperandEncoding)
        if encoding.op_idx != number or encoding.parent != _unit(type_of(self.d)):
            raise VerifyException(f"operand {number} must be read in the layout of operand {number} of {self.d.type}")
        return tensor(type_.element_type, type_.shape, layout)


def _unit(type_: Attribute) -> Encoding | None:
    return encoding_value(encoding_of(type_))
