"""Layouts that are not determined yet: Triton's `gluon` dialect.

A tensor of a Gluon kernel has a layout or one of two encodings that stand for one: `#gluon.auto_encoding`, for the
layout that `gluon.set_auto_layout` asks for, and `#gluon.coalesced_encoding`, for the one in which global memory is
accessed best. Passes determine both: `gluon-infer-coalesced-encodings`, then `gluon-resolve-auto-encodings`.
"""

from __future__ import annotations

from typing import ClassVar

from xdsl.ir import Attribute, Dialect, ParametrizedAttribute
from xdsl.irdl import IRDLOperation, irdl_attr_definition, operand_def, result_def
from xdsl.utils.exceptions import VerifyException

from tritonx.dialects.effects import PURE, Effects
from tritonx.dialects.layout_constraints import ANY_LAYOUTS, LayoutConstraint
from tritonx.dialects.tile.elementwise import CAST
from tritonx.dialects.tile.rules import tensor_type
from tritonx.ir.define import define
from tritonx.ir.types import Undetermined, encoding_of, is_undetermined, shape_of


@irdl_attr_definition
class AutoEncodingAttr(ParametrizedAttribute, Undetermined):
    """`#gluon.auto_encoding`: the layout that follows from the ops around and from `gluon.set_auto_layout`."""

    name = "gluon.auto_encoding"


@irdl_attr_definition
class CoalescedEncodingAttr(ParametrizedAttribute, Undetermined):
    """`#gluon.coalesced_encoding`: the layout in which neighbouring threads access neighbouring elements."""

    name = "gluon.coalesced_encoding"


AUTO = AutoEncodingAttr()
COALESCED = CoalescedEncodingAttr()


@define
class SetAutoLayoutOp(IRDLOperation):
    """The same tile: it asks that its operand, whose layout is automatic, has the result's. No data moves."""

    name = "gluon.set_auto_layout"
    src = operand_def()
    result = result_def()
    LAYOUTS: ClassVar[LayoutConstraint] = ANY_LAYOUTS
    EFFECTS: ClassVar[Effects] = PURE
    FORMAT: ClassVar[str] = CAST

    def verify_(self) -> None:
        a, b = tensor_type(self.src.type), tensor_type(self.result.type, "result")
        if shape_of(a) != shape_of(b) or a.element_type != b.element_type:
            raise VerifyException(f"only the layout may change, got {a} -> {b}")
        if encoding_of(a) != AUTO:
            raise VerifyException(f"the operand's layout must be automatic, got {a}")
        if encoding_of(b) is None or encoding_of(b) == AUTO:
            raise VerifyException(f"the result needs a layout that is not automatic, got {b}")


def undetermined(type_: Attribute) -> Attribute | None:
    """The encoding of a tensor type that only stands for a layout; None where there is none or another one."""
    return encoding_of(type_) if is_undetermined(type_) else None


Gluon = Dialect("gluon", [SetAutoLayoutOp], [AutoEncodingAttr, CoalescedEncodingAttr])

__all__ = [
    "AUTO",
    "COALESCED",
    "AutoEncodingAttr",
    "CoalescedEncodingAttr",
    "Gluon",
    "SetAutoLayoutOp",
    "undetermined",
]
