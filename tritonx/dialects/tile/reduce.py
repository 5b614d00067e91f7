"""Reduction of tiles along an axis by a region."""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar

from xdsl.dialects.builtin import IntegerAttr, StringAttr, i32
from xdsl.ir import Attribute, Region
from xdsl.irdl import IRDLOperation, opt_prop_def, prop_def, region_def, traits_def, var_operand_def, var_result_def
from xdsl.traits import IsTerminator
from xdsl.utils.exceptions import VerifyException

from tritonx.dialects.control_flow import REGION_END, ControlFlow, PerElement
from tritonx.dialects.effects import PURE, SCRATCH_EFFECTS, Effects, of_regions
from tritonx.dialects.layout_constraints import NO_TENSORS, LayoutConstraint, Reduced
from tritonx.dialects.tile.rules import check_axis, tensor_type
from tritonx.ir.define import define
from tritonx.ir.types import element_type, is_tensor, shape_of


def names(types: Iterable[Attribute]) -> str:
    """`(f32, i32)`, for messages."""
    return f"({', '.join(map(str, types))})"


def check_combine(region: Region, elements: list[Attribute], terminator: type[IRDLOperation]) -> None:
    """The region of a reduction or scan takes two sets of scalars and returns one."""
    block = region.blocks.first
    if block is None:
        raise VerifyException("the combine region is empty")
    taken = [argument.type for argument in block.args]
    if taken != elements + elements:
        raise VerifyException(f"the combine region must take {names(elements)} twice, it takes {names(taken)}")
    for inner in region.blocks:
        end = inner.last_op
        if isinstance(end, terminator):
            returned = [value.type for value in end.operands]
            if returned != elements:
                raise VerifyException(f"the combine region must return {names(elements)}, it returns {names(returned)}")


def check_sources(types: list[Attribute], axis: int) -> tuple[int, ...]:
    """The operands are tensors of one shape that have `axis`; returns that shape."""
    if not types:
        raise VerifyException("needs at least one operand")
    shapes = {shape_of(tensor_type(t)) for t in types}
    if len(shapes) != 1:
        raise VerifyException("all operands must have the same shape")
    shape = shapes.pop()
    check_axis(axis, len(shape))
    return shape


@define
class ReduceOp(IRDLOperation):
    """Combines the elements along `axis` with a region; n operands are reduced together, as in an argmax."""

    name = "tt.reduce"
    srcs = var_operand_def()
    axis = prop_def(IntegerAttr.constr(i32))
    reduction_ordering = opt_prop_def(StringAttr)
    result = var_result_def()
    combineOp = region_def()
    LAYOUTS: ClassVar[LayoutConstraint] = Reduced()
    EFFECTS: ClassVar[Effects] = of_regions(SCRATCH_EFFECTS)
    CONTROL_FLOW: ClassVar[ControlFlow] = PerElement()

    def verify_(self) -> None:
        types = [value.type for value in self.srcs]
        axis = self.axis.value.data
        shape = check_sources(types, axis)
        if len(self.result) != len(types):
            raise VerifyException(f"{len(types)} operands need as many results, got {len(self.result)}")
        reduced = shape[:axis] + shape[axis + 1 :]
        for source, result in zip(types, self.result, strict=True):
            if element_type(source) != element_type(result.type):
                raise VerifyException(f"the element type changes from {source} to {result.type}")
            if is_tensor(result.type) != bool(reduced) or shape_of(result.type) != reduced:
                raise VerifyException(f"reducing axis {axis} of {source} cannot give {result.type}")
        check_combine(self.combineOp, [element_type(t) for t in types], ReduceReturnOp)


@define
class ReduceReturnOp(IRDLOperation):
    """Ends the region of `reduce`."""

    name = "tt.reduce.return"
    result = var_operand_def()
    traits = traits_def(IsTerminator())
    LAYOUTS: ClassVar[LayoutConstraint] = NO_TENSORS
    EFFECTS: ClassVar[Effects] = PURE
    CONTROL_FLOW: ClassVar[ControlFlow] = REGION_END
    FORMAT: ClassVar[str] = "$result attr-dict `:` type($result)"
