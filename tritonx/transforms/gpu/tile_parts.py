"""Parts of a tile along a dim, each computed from parts of what the tile is computed from."""

from __future__ import annotations

from xdsl.dialects.builtin import DenseArrayBase, IntegerAttr
from xdsl.ir import Block, Operation, SSAValue

from tritonx.analysis.axis_rules import is_repeatable
from tritonx.dialects import arith, tile
from tritonx.ir.builder import Builder
from tritonx.ir.effects import may_write
from tritonx.ir.fold.constants import constant_of
from tritonx.ir.types import element_type, i32, is_float, is_tensor, shape_of, tensor, type_of


class TileParts:
    """Makes parts in front of ``place``, in the order in which they are asked for: ``count`` of each tile.

    Indices are computed anew for each part, so are values of the same block without other uses, loads among them if
    nothing is written up to ``place``: these and their addresses take registers for a part at a time. What is left is
    taken apart."""

    def __init__(self, place: Operation, count: int) -> None:
        self.place, self.count = place, count
        self.builder = Builder.before(place)
        self._apart: dict[tuple[SSAValue, int], list[SSAValue]] = {}

    def part(self, value: SSAValue, dim: int, number: int) -> SSAValue:
        """The part of this ``number`` of a tile whose size along ``dim`` ``count`` divides."""
        return self._part(value, dim, number, alone=True)

    def _part(self, value: SSAValue, dim: int, number: int, *, alone: bool) -> SSAValue:
        """``alone``: what it is wanted for has no other use."""
        made, shape = value.owner, list(shape_of(type_of(value)))
        dim %= len(shape)
        shape[dim] //= self.count
        part = tensor(element_type(type_of(value)), shape)
        if isinstance(made, Block) or len(made.results) != 1:
            return self._taken_apart(value, dim)[number]
        alone = alone and value.has_one_use() and made.parent is self.place.parent
        emit = self.builder.emit
        match made:
            case arith.ConstantOp() if (constant := constant_of(value)) is not None:
                return self.builder.constant(constant, part)
            case tile.SplatOp():
                return emit(tile.SplatOp, (made.src,), (part,))
            case tile.MakeRangeOp():
                first = made.start.value.data + number * shape[dim]
                bounds = {"start": IntegerAttr(first, 32), "end": IntegerAttr(first + shape[dim], 32)}
                return emit(tile.MakeRangeOp, (), (part,), bounds)
            case tile.BroadcastOp():
                wide = shape_of(type_of(made.src))[dim] > 1
                source = self._part(made.src, dim, number, alone=alone) if wide else made.src
                return emit(tile.BroadcastOp, (source,), (part,))
            case tile.ExpandDimsOp():
                inner = dim - (dim > made.axis.value.data)
                source = self._part(made.src, inner, number, alone=alone)
                return emit(tile.ExpandDimsOp, (source,), (part,), dict(made.properties))
            case tile.LoadOp() if alone and self._may_sink(made):
                operands = [self._part(operand, dim, number, alone=alone) for operand in made.operands]
                return self.builder.create(tile.LoadOp, operands, (part,), dict(made.properties)).results[0]
            case _ if is_repeatable(made) and not made.regions and (alone or not is_float(element_type(part))):
                operands = [
                    self._part(operand, dim, number, alone=alone) if is_tensor(operand.type) else operand
                    for operand in made.operands
                ]
                return emit(type(made), operands, (part,), dict(made.properties))
            case _:
                return self._taken_apart(value, dim)[number]

    def _may_sink(self, load: tile.LoadOp) -> bool:
        if not is_tensor(type_of(load.ptr)) or load.isVolatile.value.data:
            return False
        between = load.next_op
        while between is not None and between is not self.place:
            if may_write(between):
                return False
            between = between.next_op
        return between is self.place

    def _taken_apart(self, value: SSAValue, dim: int) -> list[SSAValue]:
        if (value, dim) not in self._apart:
            self._apart[value, dim] = self._halves(value, dim, self.count)
        return self._apart[value, dim]

    def _halves(self, value: SSAValue, dim: int, count: int) -> list[SSAValue]:
        """``value`` in ``count`` parts, in order."""
        if count == 1:
            return [value]
        element, shape = element_type(type_of(value)), list(shape_of(type_of(value)))
        half = [*shape[:dim], shape[dim] // 2, *shape[dim + 1 :]]
        apart = tensor(element, (*half[:dim], 2, *half[dim:]))
        order = [d for d in range(len(shape) + 1) if d != dim] + [dim]
        value = self.builder.emit(tile.ReshapeOp, (value,), (apart,))
        value = self.builder.emit(
            tile.TransOp, (value,), (tensor(element, (*half, 2)),), {"order": DenseArrayBase.from_list(i32, order)}
        )
        made = self.builder.create(tile.SplitOp, (value,), (tensor(element, half),) * 2)
        return [part for each in made.results for part in self._halves(each, dim, count // 2)]
