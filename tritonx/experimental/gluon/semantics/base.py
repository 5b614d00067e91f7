"""Blocks with layouts: what layout an op's result has, given those of its operands.

`tritonx.frontend.semantics` makes all its ops by `emit` and `create`, with types that say nothing of layouts. Here both
add them, as the op's declaration (`LAYOUTS`) says that they hang together. A block whose layout is left open
(`AutoLayout`) takes that of the others.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from xdsl.ir import Attribute, Operation, Region

from tritonx.dialects import layout_constraints as constraints
from tritonx.dialects.gluon import SetAutoLayoutOp
from tritonx.dialects.tile import SplatOp
from tritonx.experimental.gluon.layouts import (
    AutoLayout,
    CoalescedLayout,
    DistributedLayout,
    SliceLayout,
    layout_of,
)
from tritonx.experimental.gluon.values import distributed_type, layout_of_block
from tritonx.frontend.semantics import Semantics, ir_type
from tritonx.frontend.semantics.base import shape_of
from tritonx.frontend.semantics.shape import range_of
from tritonx.language.types.dtypes import dtype, int32
from tritonx.language.values.constexpr import unwrap
from tritonx.language.values.tensor import tensor
from tritonx.layouts import infer, named
from tritonx.layouts.encodings import DistributedEncoding

Ints = tuple[int, ...]
Properties = Mapping[str, Attribute] | None

AUTO = AutoLayout()
OPEN = (AutoLayout, CoalescedLayout)
"""Layouts that a pass finds."""


class LayoutSemantics(Semantics):
    """`warps` are those that run what is being generated: the kernel's, or a partition's."""

    def __init__(self, builder: Any, options: Any, target: Any) -> None:
        super().__init__(builder, options, target)
        self.warps: int = options.num_warps

    # Ops.

    def emit(
        self, op: type[Operation], operands: Sequence[tensor], type_: dtype, properties: Properties = None
    ) -> tensor:
        operands = self._in_one_layout(op, operands)
        return super().emit(op, operands, self.with_layout(op, operands, type_, properties), properties)

    def create(
        self,
        op: type[Operation],
        operands: Sequence[tensor],
        types: Sequence[dtype] = (),
        properties: Properties = None,
        regions: Sequence[Region] = (),
    ) -> list[tensor]:
        operands = self._in_one_layout(op, operands)
        types = [self.with_layout(op, operands, type_, properties) for type_ in types]
        return super().create(op, operands, types, properties, regions)

    def multi(self, op: type[Operation], operands: Sequence[tensor], types: Sequence[dtype]) -> list[tensor]:
        operands = self._in_one_layout(op, operands)
        return super().multi(op, operands, [self.with_layout(op, operands, type_, None) for type_ in types])

    def constant(self, value: Any, type_: dtype) -> tensor:
        return super().constant(value, _complete(type_, AUTO))

    def _in_one_layout(self, op: type[Operation], operands: Sequence[tensor]) -> Sequence[tensor]:
        """The operands with open layouts replaced by that of the others. Raises ValueError where two differ."""
        alike = self._alike(op, operands)
        changed = list(operands)
        for i, value in zip(alike, self._unified(op.name, [operands[i] for i in alike]), strict=True):
            changed[i] = value
        return changed

    def _unified(self, name: str, blocks: Sequence[tensor]) -> list[tensor]:
        """Blocks of one layout: open ones take that of the others. Raises ValueError where two differ."""
        layouts = [layout_of_block(value) for value in blocks]
        known = [layout for layout in layouts if not isinstance(layout, AutoLayout)]
        for layout in known[1:]:
            if layout != known[0]:
                raise ValueError(f"Layout mismatch in {name}: {known[0]} vs {layout}")
        if not known:
            return [*blocks]
        return [
            self.set_auto_layout(value, known[0]) if isinstance(layout, AutoLayout) else value
            for value, layout in zip(blocks, layouts, strict=True)
        ]

    def _alike(self, op: type[Operation], operands: Sequence[tensor]) -> list[int]:
        """The numbers of the operands that are blocks and must have one layout."""
        rule = constraints.layouts_of(op)
        free: set[int] = set()
        if isinstance(rule, constraints.SameLayout):
            names = operand_names(op)
            free = {names.index(name) for name in rule.besides if name in names}
        elif not isinstance(
            rule, constraints.Reduced | constraints.Joined | constraints.Reordered | constraints.SplitApart
        ):
            return []
        return [i for i, value in enumerate(operands) if value.type.is_block() and i not in free]

    def with_layout(
        self, op: type[Operation], operands: Sequence[tensor], type_: dtype, properties: Properties
    ) -> dtype:
        """The type of a result with the layout that follows from the operands."""
        if not type_.is_block():
            return type_
        given = getattr(type_, "layout", None)
        if not any(value.type.is_block() for value in operands):
            return _complete(type_, AUTO)
        rule = constraints.layouts_of(op)
        if isinstance(rule, constraints.DotOperands):
            return _complete(type_, layout_of_block(operands[2]))
        if isinstance(rule, constraints.SameLayout) and "result" not in rule.besides:
            alike = self._alike(op, operands)
            return _complete(type_, layout_of_block(operands[alike[0]]) if alike else AUTO)
        found = _FOLLOWS.get(type(rule))
        if found is None:
            if given is None:
                raise TypeError(f"the layout of what {op.name} gives has to be named")
            return type_
        return _complete(type_, found(layout_of_block(operands[0]), operands[0].type.shape, type_, properties or {}))

    # Shapes.

    def laid_out(self, type_: dtype, shape: Any, layout: object) -> distributed_type:
        """The type of a block; without a layout an open one."""
        layout = unwrap(layout)
        return distributed_type(type_, shape_of(shape), AUTO if layout is None else layout)

    def arange_in(self, start: object, end: object, layout: object) -> tensor:
        """`arange` in a layout."""
        first, count = range_of(start, end)
        return self.counted_from(first, self.laid_out(int32, (count,), layout))

    def full_in(self, shape: Any, value: Any, type_: Any, layout: object) -> tensor:
        """`full` in a layout."""
        scalar = self.full((), value, type_)
        if not shape_of(shape):
            return scalar
        return self.emit(SplatOp, [scalar], self.laid_out(scalar.dtype, shape, layout))

    def broadcast(self, x: tensor, y: tensor) -> tuple[tensor, tensor]:
        """Both at their common shape; a block has no axes added, since its layout would have none."""
        if not x.type.is_block() or not y.type.is_block():
            if x.type.is_block():
                return x, self._spread_as(y, x)
            return (self._spread_as(x, y), y) if y.type.is_block() else (x, y)
        if len(x.type.shape) != len(y.type.shape):
            raise ValueError(f"Cannot broadcast, rank mismatch: {[*x.type.shape]}, {[*y.type.shape]}")
        return super().broadcast(*self._unified("broadcast", [x, y]))

    def _spread_as(self, scalar: tensor, block: tensor) -> tensor:
        return self.emit(SplatOp, [scalar], block.type.with_element_ty(scalar.dtype))

    def reshape(self, value: tensor, shape: Any, can_reorder: Any = False) -> tensor:
        """In row-major order: layouts say where each element is."""
        return super().reshape(value, shape, False)

    def split(self, value: tensor) -> tuple[tensor, tensor]:
        if len(value.type.shape) < 2:
            raise AssertionError(f"split needs a block whose last axis has the extent 2, got {value}")
        return super().split(value)

    def join(self, a: Any, b: Any) -> tensor:
        if not any(isinstance(value, tensor) and value.type.is_block() for value in (a, b)):
            raise ValueError("Cannot join scalars in gluon")
        return super().join(a, b)

    def set_auto_layout(self, value: tensor, layout: object) -> tensor:
        """A block whose layout is open in ``layout``."""
        if not isinstance(layout, DistributedLayout):
            raise ValueError(f"set_auto_layout must set to a distributed layout but got {layout}")
        if not isinstance(layout_of_block(value), AutoLayout):
            raise ValueError(f"set_auto_layout input must have auto layout but got {layout_of_block(value)}")
        type_ = distributed_type(value.dtype, value.type.shape, layout)
        handle = self.builder.emit(SetAutoLayoutOp, [value.handle], (ir_type(type_),))
        return tensor(handle, type_)


def operand_names(op: type[Operation]) -> list[str]:
    """What the declaration of a class of ops calls the operands."""
    declared: Any = op
    return [name for name, _ in declared.get_irdl_definition().operands]


def _complete(type_: dtype, layout: DistributedLayout) -> dtype:
    """``type_`` with a layout, if it is a block without one or whose layout is another."""
    if not type_.is_block() or getattr(type_, "layout", None) == layout:
        return type_
    if isinstance(type_, distributed_type) and isinstance(layout, AutoLayout):
        return type_
    return distributed_type(type_.scalar, type_.shape, layout)


def _unless_open(
    follows: Callable[[DistributedEncoding, Ints, dtype, Mapping[str, Any]], DistributedEncoding | None],
) -> Callable[[DistributedLayout, Ints, dtype, Mapping[str, Any]], DistributedLayout]:
    """A rule on encodings as one on layouts; what is open stays open."""

    def rule(layout: DistributedLayout, shape: Ints, type_: dtype, properties: Mapping[str, Any]) -> DistributedLayout:
        if isinstance(layout, OPEN):
            return layout
        found = follows(layout.encoding(), shape, type_, properties)
        if found is None:
            raise ValueError(f"a block of the shape {[*shape]} in {layout} cannot be split: threads hold halves of it")
        return layout_of(found)

    return rule


def _axis(properties: Mapping[str, Any]) -> int:
    return int(properties["axis"].value.data)


def _expanded(layout: DistributedLayout, shape: Ints, type_: dtype, properties: Mapping[str, Any]) -> DistributedLayout:
    if isinstance(layout, OPEN):
        return layout
    axis = _axis(properties)
    if not isinstance(layout, SliceLayout):
        raise ValueError(f"expected expand_dims input to have a SliceLayout, but got: {layout}")
    if layout.dim != axis:
        raise ValueError(f"expected expand_dims input layout to be sliced in axis {axis} but got {layout.dim}")
    return layout.parent


def _same(layout: DistributedLayout, shape: Ints, type_: dtype, properties: Mapping[str, Any]) -> DistributedLayout:
    return layout


def _reduced(layout: DistributedLayout, shape: Ints, type_: dtype, properties: Mapping[str, Any]) -> DistributedLayout:
    return layout if isinstance(layout, OPEN) else SliceLayout(_axis(properties), layout)


_FOLLOWS: Mapping[type[Any], Callable[[DistributedLayout, Ints, dtype, Mapping[str, Any]], DistributedLayout]] = {
    constraints.ExpandDims: _expanded,
    constraints.Broadcast: _same,
    constraints.Reduced: _reduced,
    constraints.Transposed: _unless_open(
        lambda encoding, shape, type_, properties: infer.transposed(
            encoding, [int(axis) for axis in properties["order"].get_values()], shape
        )
    ),
    constraints.Reshaped: _unless_open(
        lambda encoding, shape, type_, properties: named.reshaped(encoding, shape, type_.shape)
    ),
    constraints.Joined: _unless_open(lambda encoding, shape, type_, properties: named.joined(encoding, shape)),
    constraints.SplitApart: _unless_open(lambda encoding, shape, type_, properties: named.split_from(encoding, shape)),
    constraints.PairsUnpacked: _unless_open(
        lambda encoding, shape, type_, properties: infer.unpacked(encoding, _axis(properties), shape)
    ),
}
"""What an op declares → the layout of its result, from its first operand's, that one's shape, the result's type and the
op's properties."""
