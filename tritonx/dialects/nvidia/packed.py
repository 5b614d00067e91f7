"""Arithmetic on pairs and quadruples of elements in one register (`ttng.packed_arith`, Triton 3.9).

Operations of a single type are elementwise ones under another name, and every chip has them. Those of several types and
of 8-bit floats are instructions of chips for which no code is generated here; of these the ones with e2m1 and ue8m0
operands are not in the dialect."""

from __future__ import annotations

from enum import IntEnum
from typing import ClassVar

from xdsl.irdl import IRDLOperation, result_def, var_operand_def
from xdsl.utils.exceptions import VerifyException

from tritonx.dialects.effects import PURE, Effects
from tritonx.dialects.layout_constraints import ELEMENTWISE, LayoutConstraint
from tritonx.dialects.tile.rules import check_same_shape, tensor_type
from tritonx.ir.declaration import enum_prop
from tritonx.ir.define import define
from tritonx.ir.spelling import Spellings, TextLevel
from tritonx.ir.types import element_type


class PackedArithKind(IntEnum):
    """What is computed; `FMA` rounds once. Of a number and a NaN `MIN` and `MAX` give the number."""

    ADD = 0
    SUB = 1
    MUL = 2
    FMA = 3
    MIN = 4
    MAX = 5


WORDS = {"f32": "f32x2", "f16": "f16x2", "bf16": "bf16x2", "f8E5M2": "e5m2x4", "f8E4M3FN": "e4m3x4"}
"""The element types, as PTX writes them."""

_HALVES = ("f16", "bf16")
_BYTES = ("f8E5M2", "f8E4M3FN")


def is_uniform(kind: PackedArithKind, result: str, operands: tuple[str, ...]) -> bool:
    """Whether the operation is one of a single type, two elements a register."""
    of_halves = kind in (PackedArithKind.MIN, PackedArithKind.MAX)
    return result in (_HALVES if of_halves else ("f32", *_HALVES)) and set(operands) == {result}


def _exists(kind: PackedArithKind, result: str, operands: tuple[str, ...]) -> bool:
    """Whether there is an operation of these element types."""
    if is_uniform(kind, result, operands):
        return True
    first, *between, last = operands
    is_sum = kind in (PackedArithKind.ADD, PackedArithKind.SUB)
    if result in _BYTES:
        whole = all(each in _BYTES for each in operands)
        return whole and (kind is PackedArithKind.MUL or ((is_sum or kind is PackedArithKind.FMA) and last == result))
    if result == "f32":
        widens = first in _HALVES and {*between, last} == {"f32"}
        return widens and (is_sum or kind is PackedArithKind.FMA)
    if is_sum or kind is PackedArithKind.MUL:
        mixed = kind is PackedArithKind.MUL and first == result and last in _HALVES
        return mixed or (first, last) == ("f32", "f32")
    return False


@define
class PackedArithOp(IRDLOperation):
    """Arithmetic element by element, two elements (of 8-bit floats four) an instruction."""

    name = "ttng.packed_arith"
    op_kind = enum_prop(PackedArithKind)
    inputs = var_operand_def()
    result = result_def()
    EFFECTS: ClassVar[Effects] = PURE
    LAYOUTS: ClassVar[LayoutConstraint] = ELEMENTWISE
    FORMAT: ClassVar[str] = "$op_kind $inputs attr-dict `:` functional-type(operands, $result)"
    SPELLINGS: ClassVar[Spellings] = Spellings(
        {
            TextLevel.V3_6: None,
            TextLevel.V3_9: "%r = ttng.packed_arith add %data, %data"
            " : (tensor<128xf32, #blocked>, tensor<128xf32, #blocked>) -> tensor<128xf32, #blocked>",
        }
    )

    @property
    def kind(self) -> PackedArithKind:
        """What is computed."""
        return PackedArithKind(self.op_kind.value.data)

    @property
    def elements(self) -> tuple[str, ...]:
        """The names of the operands' element types."""
        return tuple(element_type(value.type).name for value in self.inputs)

    @property
    def is_uniform(self) -> bool:
        """Whether all tensors have one element type."""
        return is_uniform(self.kind, element_type(self.result.type).name, self.elements)

    def verify_(self) -> None:
        kind, result = self.kind.name.lower(), element_type(tensor_type(self.result.type, "result")).name
        expected = 3 if self.kind is PackedArithKind.FMA else 2
        if len(self.inputs) != expected:
            raise VerifyException(f"{kind} takes {expected} operands, got {len(self.inputs)}")
        for value in self.inputs:
            check_same_shape(tensor_type(value.type), self.result.type, "operands and result")
        for name in (result, *self.elements):
            if name not in WORDS:
                raise VerifyException(f"no packed arithmetic of {name}, only of {', '.join(WORDS)}")
        if not _exists(self.kind, result, self.elements):
            words = ", ".join(WORDS[each] for each in self.elements)
            raise VerifyException(f"there is no {kind} that gives {WORDS[result]} of {words}")
