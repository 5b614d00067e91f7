"""Operations that make, reshape, permute and combine tiles without computing anything."""

from __future__ import annotations

from typing import ClassVar

from xdsl.dialects.builtin import DenseArrayBase, IntegerAttr, UnitAttr, i32
from xdsl.irdl import IRDLOperation, operand_def, opt_operand_def, opt_prop_def, prop_def, result_def
from xdsl.utils.exceptions import VerifyException

from tritonx.dialects.effects import PURE, SCRATCH, Effects
from tritonx.dialects.layout_constraints import (
    ANY_LAYOUTS,
    FROM_SCALARS,
    Broadcast,
    ExpandDims,
    Joined,
    LayoutConstraint,
    LookedUp,
    Reordered,
    Reshaped,
    SameLayout,
    SplitApart,
    Transposed,
)
from tritonx.dialects.tile.elementwise import CAST
from tritonx.dialects.tile.rules import (
    check_axis,
    check_power_of_two,
    element_rule,
    mask_of,
    tensor_type,
)
from tritonx.ir.declaration import TypeRules, same
from tritonx.ir.define import define
from tritonx.ir.types import element_type, encoding_of, is_integer, is_tensor, shape_of


def _elements(shape: tuple[int, ...]) -> int:
    product = 1
    for size in shape:
        product *= size
    return product


def _check_same_elements(source: object, result: object) -> None:
    if source != result:
        raise VerifyException(f"the element type changes from {source} to {result}")


ANEW = "tt.anew"
"""On a `tt.make_range`: its numbers are computed in place, and equal ones computed before are not reused."""


@define
class MakeRangeOp(IRDLOperation):
    """`start`, `start + 1`, ..., `end - 1` as i32."""

    name = "tt.make_range"
    start = prop_def(IntegerAttr.constr(i32))
    end = prop_def(IntegerAttr.constr(i32))
    result = result_def()
    LAYOUTS: ClassVar[LayoutConstraint] = FROM_SCALARS
    EFFECTS: ClassVar[Effects] = PURE
    FORMAT: ClassVar[str] = "attr-dict `:` type($result)"

    def verify_(self) -> None:
        start, end = self.start.value.data, self.end.value.data
        if start >= end:
            raise VerifyException(f"an empty range: start {start} is not less than end {end}")
        shape = shape_of(self.result.type)
        if element_type(self.result.type) != i32 or len(shape) != 1:
            raise VerifyException(f"the result must be a one-dimensional tensor of i32, got {self.result.type}")
        if shape[0] != end - start:
            raise VerifyException(f"the range has {end - start} elements, the result {shape[0]}")


@define
class SplatOp(IRDLOperation):
    """A scalar in every element of a tile."""

    name = "tt.splat"
    src = operand_def()
    result = result_def()
    LAYOUTS: ClassVar[LayoutConstraint] = FROM_SCALARS
    EFFECTS: ClassVar[Effects] = PURE
    FORMAT: ClassVar[str] = CAST
    TYPES: ClassVar[TypeRules] = {"src": ("result", element_rule)}


@define
class UnsplatOp(IRDLOperation):
    """The only element of a one-element tile."""

    name = "tt.unsplat"
    src = operand_def()
    result = result_def()
    LAYOUTS: ClassVar[LayoutConstraint] = ANY_LAYOUTS
    EFFECTS: ClassVar[Effects] = PURE
    FORMAT: ClassVar[str] = "$src attr-dict `:` type($src)"
    TYPES: ClassVar[TypeRules] = {"result": ("src", element_rule)}

    def verify_(self) -> None:
        if not is_tensor(self.src.type) or _elements(shape_of(self.src.type)) != 1:
            raise VerifyException(f"expected a tensor of exactly one element, got {self.src.type}")


@define
class ExpandDimsOp(IRDLOperation):
    """Inserts a dimension of size 1 at `axis`."""

    name = "tt.expand_dims"
    src = operand_def()
    axis = prop_def(IntegerAttr.constr(i32))
    result = result_def()
    LAYOUTS: ClassVar[LayoutConstraint] = ExpandDims()
    EFFECTS: ClassVar[Effects] = PURE
    FORMAT: ClassVar[str] = CAST

    def verify_(self) -> None:
        source, result = tensor_type(self.src.type), tensor_type(self.result.type, "result")
        axis = self.axis.value.data
        check_axis(axis, len(shape_of(result)))
        shape = list(shape_of(source))
        shape.insert(axis, 1)
        if tuple(shape) != shape_of(result):
            raise VerifyException(
                f"inserting a dimension at {axis} gives {'x'.join(map(str, shape))}, the result is {result}"
            )
        _check_same_elements(source.element_type, result.element_type)


@define
class BroadcastOp(IRDLOperation):
    """Repeats the dimensions of size 1.

    Operand and result have one layout; since 3.9 they may have two by which no data moves between threads."""

    name = "tt.broadcast"
    src = operand_def()
    result = result_def()
    LAYOUTS: ClassVar[LayoutConstraint] = Broadcast()
    EFFECTS: ClassVar[Effects] = PURE
    FORMAT: ClassVar[str] = CAST

    def verify_(self) -> None:
        source, result = tensor_type(self.src.type), tensor_type(self.result.type, "result")
        _check_same_elements(source.element_type, result.element_type)
        a, b = shape_of(source), shape_of(result)
        if len(a) != len(b):
            raise VerifyException(f"the rank changes from {len(a)} to {len(b)}")
        for axis, (old, new) in enumerate(zip(a, b, strict=True)):
            if old not in (1, new):
                raise VerifyException(f"dimension {axis} has size {old}, which does not broadcast to {new}")


@define
class ReshapeOp(IRDLOperation):
    """The same elements in row-major order under another shape; in any order with `allow_reorder`."""

    name = "tt.reshape"
    src = operand_def()
    allow_reorder = opt_prop_def(UnitAttr)
    efficient_layout = opt_prop_def(UnitAttr)
    result = result_def()
    LAYOUTS: ClassVar[LayoutConstraint] = Reshaped()
    EFFECTS: ClassVar[Effects] = PURE
    FORMAT: ClassVar[str] = (
        "$src (`allow_reorder` $allow_reorder^)? (`efficient_layout` $efficient_layout^)? attr-dict"
        " `:` type($src) `->` type($result)"
    )

    def verify_(self) -> None:
        source, result = tensor_type(self.src.type), tensor_type(self.result.type, "result")
        _check_same_elements(source.element_type, result.element_type)
        if _elements(shape_of(source)) != _elements(shape_of(result)):
            raise VerifyException(f"the number of elements changes from {source} to {result}")


@define
class TransOp(IRDLOperation):
    """Permutes dimensions: dimension i of the result is dimension `order[i]` of the operand."""

    name = "tt.trans"
    src = operand_def()
    order = prop_def(DenseArrayBase.constr(i32))
    result = result_def()
    LAYOUTS: ClassVar[LayoutConstraint] = Transposed()
    EFFECTS: ClassVar[Effects] = PURE
    FORMAT: ClassVar[str] = CAST

    def verify_(self) -> None:
        source, result = tensor_type(self.src.type), tensor_type(self.result.type, "result")
        _check_same_elements(source.element_type, result.element_type)
        order = [int(axis) for axis in self.order.get_values()]
        shape = shape_of(source)
        if sorted(order) != list(range(len(shape))):
            raise VerifyException(f"'order' {order} is no permutation of {len(shape)} dimensions")
        permuted = tuple(shape[axis] for axis in order)
        if permuted != shape_of(result):
            raise VerifyException(f"the permuted shape is {'x'.join(map(str, permuted))}, the result is {result}")


@define
class CatOp(IRDLOperation):
    """Both operands behind each other, in an order that is not specified."""

    name = "tt.cat"
    lhs = operand_def()
    rhs = operand_def()
    result = result_def()
    LAYOUTS: ClassVar[LayoutConstraint] = Reordered()
    EFFECTS: ClassVar[Effects] = PURE
    FORMAT: ClassVar[str] = "$lhs `,` $rhs attr-dict `:` type($lhs) `->` type($result)"
    TYPES: ClassVar[TypeRules] = {"rhs": ("lhs", same)}

    def verify_(self) -> None:
        source, result = tensor_type(self.lhs.type), tensor_type(self.result.type, "result")
        _check_same_elements(source.element_type, result.element_type)
        a, b = shape_of(source), shape_of(result)
        if len(a) != len(b) or a[1:] != b[1:] or b[0] != 2 * a[0]:
            raise VerifyException(f"the result must have twice the leading size of {source}, got {result}")


@define
class JoinOp(IRDLOperation):
    """Pairs the elements of two tiles along a new minor dimension of size 2."""

    name = "tt.join"
    lhs = operand_def()
    rhs = operand_def()
    result = result_def()
    LAYOUTS: ClassVar[LayoutConstraint] = Joined()
    EFFECTS: ClassVar[Effects] = PURE
    FORMAT: ClassVar[str] = "$lhs `,` $rhs attr-dict `:` type($lhs) `->` type($result)"
    TYPES: ClassVar[TypeRules] = {"rhs": ("lhs", same)}

    def verify_(self) -> None:
        source, result = tensor_type(self.lhs.type), tensor_type(self.result.type, "result")
        _check_same_elements(source.element_type, result.element_type)
        if shape_of(result) != (*shape_of(source), 2):
            raise VerifyException(f"joining {source} gives one more dimension of size 2, got {result}")


@define
class SplitOp(IRDLOperation):
    """Takes the pairs of the minor dimension (of size 2) apart."""

    name = "tt.split"
    src = operand_def()
    outLHS = result_def()
    outRHS = result_def()
    LAYOUTS: ClassVar[LayoutConstraint] = SplitApart()
    EFFECTS: ClassVar[Effects] = PURE
    FORMAT: ClassVar[str] = "$src attr-dict `:` type($src) `->` type($outLHS)"
    TYPES: ClassVar[TypeRules] = {"outRHS": ("outLHS", same)}

    def verify_(self) -> None:
        source, result = tensor_type(self.src.type), tensor_type(self.outLHS.type, "result")
        _check_same_elements(source.element_type, result.element_type)
        if shape_of(source) != (*shape_of(result), 2):
            raise VerifyException(
                f"the last dimension of the operand must be the one to split, of size 2: {source} -> {result}"
            )


@define
class GatherOp(IRDLOperation):
    """`result[i, j] = src[indices[i, j], j]` for axis 0, and likewise for others."""

    name = "tt.gather"
    src = operand_def()
    indices = operand_def()
    axis = prop_def(IntegerAttr.constr(i32))
    efficient_layout = opt_prop_def(UnitAttr)
    result = result_def()
    LAYOUTS: ClassVar[LayoutConstraint] = LookedUp(besides=("src",))
    EFFECTS: ClassVar[Effects] = SCRATCH
    FORMAT: ClassVar[str] = "$src `[` $indices `]` attr-dict `:` functional-type(operands, results)"

    def verify_(self) -> None:
        source, indices, result = (tensor_type(t) for t in (self.src.type, self.indices.type, self.result.type))
        _check_same_elements(source.element_type, result.element_type)
        if not is_integer(indices):
            raise VerifyException(f"'indices' must hold integers, got {indices}")
        if shape_of(indices) != shape_of(result) or encoding_of(indices) != encoding_of(result):
            raise VerifyException(f"indices and result must agree in shape and layout, got {indices} and {result}")
        a, b = shape_of(source), shape_of(indices)
        if len(a) != len(b):
            raise VerifyException(f"operand and indices must have the same rank, got {source} and {indices}")
        axis = self.axis.value.data
        check_axis(axis, len(a))
        for i, (x, y) in enumerate(zip(a, b, strict=True)):
            if i != axis and x != y:
                raise VerifyException(
                    f"operand and indices differ in dimension {i}, which is not the gathered one: {x} and {y}"
                )


@define
class HistogramOp(IRDLOperation):
    """How often each of 0, 1, ..., n - 1 occurs in the operand, where the mask is true.

    The operand's integers are read as unsigned; those of n and more are counted nowhere."""

    name = "tt.histogram"
    src = operand_def()
    mask = opt_operand_def()
    result = result_def()
    LAYOUTS: ClassVar[LayoutConstraint] = SameLayout(besides=("result",))
    EFFECTS: ClassVar[Effects] = SCRATCH
    FORMAT: ClassVar[str] = "$src (`,` $mask^)? attr-dict `:` type($src) `->` type($result)"
    TYPES: ClassVar[TypeRules] = {"mask": ("src", mask_of)}

    def verify_(self) -> None:
        for type_, what in ((self.src.type, "operand"), (self.result.type, "result")):
            if not is_integer(type_) or len(shape_of(type_)) != 1:
                raise VerifyException(f"{what} must be a one-dimensional tensor of integers, got {type_}")
        check_power_of_two(shape_of(self.result.type)[0], "the number of bins")
