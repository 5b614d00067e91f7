"""The part of MLIR's `llvm` dialect that occurs in tile IR: assumptions and loop annotations."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from xdsl.dialects.builtin import DenseArrayBase, i1, i32
from xdsl.ir import Data, Dialect
from xdsl.irdl import IRDLOperation, irdl_attr_definition, operand_def, prop_def

from tritonx.dialects.effects import HINT, Effects
from tritonx.dialects.layout_constraints import NO_TENSORS, LayoutConstraint
from tritonx.ir.define import define

if TYPE_CHECKING:
    from xdsl.parser import AttrParser
    from xdsl.printer import Printer


@define
class AssumeOp(IRDLOperation):
    """Promises that a condition holds. It counts as a write, so that nothing removes it."""

    name = "llvm.intr.assume"
    cond = operand_def(i1)
    op_bundle_sizes = prop_def(DenseArrayBase.constr(i32), default_value=DenseArrayBase.from_list(i32, []))
    LAYOUTS: ClassVar[LayoutConstraint] = NO_TENSORS
    EFFECTS: ClassVar[Effects] = HINT
    FORMAT: ClassVar[str] = "$cond attr-dict `:` type($cond)"


@irdl_attr_definition
class LoopAnnotationAttr(Data[bool]):
    """`#llvm.loop_annotation<licm = <disable = true>>`: whether loop-invariant code must stay in the loop.

    The other things that MLIR's attribute can say do not occur in tile IR.
    """

    name = "llvm.loop_annotation"

    @property
    def licm_disabled(self) -> bool:
        return self.data

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> bool:
        with parser.in_angle_brackets():
            parser.parse_keyword("licm")
            parser.parse_punctuation("=")
            with parser.in_angle_brackets():
                parser.parse_keyword("disable")
                parser.parse_punctuation("=")
                return parser.parse_boolean()

    def print_parameter(self, printer: Printer) -> None:
        printer.print_string(f"<licm = <disable = {'true' if self.data else 'false'}>>")


LICM_DISABLED = LoopAnnotationAttr(True)

Llvm = Dialect("llvm", [AssumeOp], [LoopAnnotationAttr])

__all__ = ["LICM_DISABLED", "AssumeOp", "Llvm", "LoopAnnotationAttr"]
