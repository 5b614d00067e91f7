"""Descriptors that a launch makes for a kernel."""

from __future__ import annotations

from typing import ClassVar

from xdsl.dialects.builtin import i32, i64
from xdsl.irdl import AttrSizedOperandSegments, IRDLOperation, operand_def, result_def, var_operand_def
from xdsl.utils.exceptions import VerifyException

from tritonx.dialects.effects import PURE, Effects
from tritonx.dialects.layout_constraints import NO_TENSORS, LayoutConstraint
from tritonx.dialects.tile.descriptor import MakeTensorDescOp
from tritonx.dialects.tile.enums import PaddingOption
from tritonx.dialects.tile.rules import pointer_to_element
from tritonx.dialects.tile.types import TensorDescType
from tritonx.ir.declaration import TypeRules, enum_prop
from tritonx.ir.define import define
from tritonx.ir.spelling import NO_VERSION, Spellings


@define
class TensormapAtLaunchOp(IRDLOperation):
    """The descriptor that `tt.make_tensor_descriptor` makes of the same operands, which must be computed of the
    kernel's arguments alone: the launch computes them too, and passes the tensor map."""

    name = "ttng.tensormap_at_launch"
    base = operand_def()
    shape = var_operand_def(i32)
    strides = var_operand_def(i64)
    padding = enum_prop(PaddingOption, default=PaddingOption.PAD_ZERO)
    result = result_def(TensorDescType)
    irdl_options = (AttrSizedOperandSegments(as_property=True),)
    LAYOUTS: ClassVar[LayoutConstraint] = NO_TENSORS
    EFFECTS: ClassVar[Effects] = PURE
    SPELLINGS: ClassVar[Spellings] = NO_VERSION
    FORMAT: ClassVar[str] = MakeTensorDescOp.FORMAT
    TYPES: ClassVar[TypeRules] = {"base": ("result", pointer_to_element)}
    segment_sizes = staticmethod(MakeTensorDescOp.segment_sizes)

    def verify_(self) -> None:
        descriptor = self.result.type
        assert isinstance(descriptor, TensorDescType)
        rank = len(descriptor.shape)
        if not 1 <= rank <= 5:
            raise VerifyException(f"a tensor map has one to five dimensions, got {rank}")
        if len(self.shape) != rank or len(self.strides) != rank:
            raise VerifyException(
                f"{descriptor} needs {rank} extents and strides, got {len(self.shape)} and {len(self.strides)}"
            )
