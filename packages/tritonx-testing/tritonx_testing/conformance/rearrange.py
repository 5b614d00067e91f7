"""A case's kernel changed so that each of its arrays lies otherwise in memory: the same program, on strided, reversed,
transposed and pitched arrays, as one of several programs that each have a part of larger arrays, under masks in layouts
of their own.

It is a pass over ``tt``, so no case is written twice. Where an array has one stride, every step along it (an offset
that is added to a pointer, a stride of a block pointer) is multiplied by that. An array of rows has no such number: its
pointers become the indices of elements, whole numbers that are carried through loops and selections as the pointers
were, and where memory is accessed, the pointer is made of the array's base and of where the element of that index lies.
At the kernel's entry every pointer moves to its program's part."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast

from xdsl.context import Context
from xdsl.dialects.builtin import IntegerAttr, ModuleOp
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.passes import ModulePass

from tritonx.dialects import arith, tile
from tritonx.ir.builder import Builder
from tritonx.ir.edit import replace, set_type
from tritonx.ir.types import (
    bit_width,
    element_type,
    i32,
    i64,
    is_tensor,
    shape_of,
    tensor,
    type_of,
    with_element,
)
from tritonx_testing.conformance.pointer_groups import CARRY, Group, entry_of, pointer_groups
from tritonx_testing.conformance.strides import Strides

FACTS = ("tt.contiguity", "tt.divisibility", "tt.constancy")
"""What kernels state about values. Of pointers it need not hold any more."""

LARGEST = 4096
"""Elements of the largest mask that is moved to a layout of its own: it takes a byte each of a block's memory."""


@dataclass(frozen=True)
class Rearrange(ModulePass):
    """For each parameter of the kernel, in order, ``strides``: how its array lies, alike for arrays whose pointers
    meet; ``pitches``: the elements between the parts of neighbouring programs along ``axis``, none where there is one
    program. ``masks``: masks go through memory, into a layout that nothing else has.
    """

    name = "rearrange"

    strides: tuple[Strides, ...] = ()
    pitches: tuple[int, ...] = ()
    axis: int = 2
    masks: bool = False

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for group in pointer_groups(op) if self.strides else []:
            _forget(group)
            strides = self.strides[group.parameters[0]]
            if strides.linear:
                _scale(group, strides)
            else:
                _Indices(group, strides).rewrite()
        if self.masks:
            for inner in list(op.walk()):
                if isinstance(inner, tile.LoadOp | tile.StoreOp | tile.AtomicRMWOp | tile.HistogramOp):
                    _move_mask(inner)
        if self.pitches:
            self._share(entry_of(op))

    def _share(self, function: tile.FuncOp) -> None:
        """Move every pointer by the program's number times its pitch."""
        block = function.body.blocks[0]
        builder = _at_start(block)
        axis = {"axis": IntegerAttr(self.axis, i32)}
        program = builder.create(tile.GetProgramIdOp, result_types=[i32], properties=axis).results[0]
        number = builder.create(arith.ExtSIOp, [program], [i64]).results[0]
        for argument, pitch in zip(block.args, self.pitches, strict=True):
            if not pitch:
                continue
            offset = builder.emit(arith.MuliOp, [number, builder.constant(pitch, i64)], [i64])
            users = list(argument.uses)
            moved = builder.create(tile.AddPtrOp, [argument, offset], [argument.type]).results[0]
            for use in users:
                use.operation.operands[use.index] = moved


def _at_start(block: Block) -> Builder:
    first = block.first_op
    assert first is not None
    return Builder.before(first)


def _forget(group: Group) -> None:
    """Drop what the kernel states about pointers whose array may now begin anywhere."""
    for value in group.values:
        if isinstance(value.owner, Operation):
            for fact in FACTS:
                value.owner.attributes.pop(fact, None)


def _at_least_32_bits(builder: Builder, offset: SSAValue) -> SSAValue:
    type_ = type_of(offset)
    if bit_width(type_) >= 32:
        return offset
    return builder.emit(arith.ExtSIOp, [offset], [with_element(type_, i32)])


def _stride_places(op: Any) -> range:
    """Which operands of an op that makes a block pointer or a descriptor are strides."""
    return range(1 + len(op.shape), 1 + len(op.shape) + len(op.strides))


def _scale(group: Group, strides: Strides) -> None:
    """Multiply every step by the array's one stride."""
    if strides.column == 1:
        return
    added = [value.owner for value in group.values if isinstance(value.owner, tile.AddPtrOp)]
    for op, places in [*((op, (1,)) for op in added), *((op, _stride_places(op)) for op in group.views)]:
        builder = Builder.before(op)
        for place in places:
            offset = _at_least_32_bits(builder, op.operands[place])
            stride = builder.constant(strides.column, type_of(offset))
            op.operands[place] = builder.emit(arith.MuliOp, [offset, stride], [type_of(offset)])


class _Indices:
    """Pointers into one array that become indices of its elements."""

    def __init__(self, group: Group, strides: Strides) -> None:
        self.strides = strides
        self.pointers = [value for value in group.values if _is_address(type_of(value))]
        self.base = next(v for v in self.pointers if isinstance(v.owner, Block) and _is_parameter(v.owner))
        offsets = [v.owner.operands[1] for v in self.pointers if isinstance(v.owner, tile.AddPtrOp)]
        self.integer = i64 if any(bit_width(type_of(offset)) > 32 for offset in offsets) else i32
        self.views = group.views

    def rewrite(self) -> None:
        uses = [(use.operation, use.index, type_of(value)) for value in self.pointers for use in value.uses]
        for value in self.pointers:
            if value is not self.base:
                set_type(value, with_element(type_of(value), self.integer))
        start = _at_start(cast(Block, self.base.owner)).constant(0, self.integer)
        for use in list(self.base.uses):
            use.operation.operands[use.index] = start
        for op in self.views:
            builder = Builder.before(op)
            for place in _stride_places(op):
                op.operands[place] = self._lies_at(builder, op.operands[place])
        for op, place, type_ in uses:
            if isinstance(op, tile.AddPtrOp):
                self._add(op)
            elif isinstance(op, tile.BitcastOp):
                replace(op, [op.src])
            elif op in self.views or not isinstance(op, CARRY):
                op.operands[place] = self._pointer(Builder.before(op), op.operands[place], type_)

    def _add(self, op: tile.AddPtrOp) -> None:
        builder = Builder.before(op)
        offset, type_ = _at_least_32_bits(builder, op.offset), type_of(op.result)
        if bit_width(type_of(offset)) < bit_width(type_):
            offset = builder.emit(arith.ExtSIOp, [offset], [type_])
        replace(op, [builder.create(arith.AddiOp, [op.ptr, offset], [type_]).results[0]])

    def _lies_at(self, builder: Builder, index: SSAValue) -> SSAValue:
        """How many elements behind the first one the elements of these indices lie."""
        type_ = type_of(index)
        columns, row, column = (
            builder.constant(number, type_) for number in (self.strides.columns, self.strides.row, self.strides.column)
        )
        rows = builder.emit(arith.DivSIOp, [index, columns], [type_])
        along = builder.emit(arith.RemSIOp, [index, columns], [type_])
        first = builder.emit(arith.MuliOp, [rows, row], [type_])
        return builder.emit(arith.AddiOp, [first, builder.emit(arith.MuliOp, [along, column], [type_])], [type_])

    def _pointer(self, builder: Builder, index: SSAValue, type_: Attribute) -> SSAValue:
        """The pointers of ``type_`` to the elements of these indices."""
        own = with_element(type_, type_of(self.base))
        base = builder.emit(tile.SplatOp, [self.base], [own]) if is_tensor(own) else self.base
        made = builder.emit(tile.AddPtrOp, [base, self._lies_at(builder, index)], [own])
        return made if own == type_ else builder.emit(tile.BitcastOp, [made], [type_])


def _is_address(type_: Attribute) -> bool:
    """Whether values of the type are addresses of elements, or tiles of such, and no block pointers."""
    element = element_type(type_)
    return isinstance(element, tile.PointerType) and not is_tensor(element.pointee)


def _is_parameter(block: Block) -> bool:
    return isinstance(block.parent_op(), tile.FuncOp) and block.parent is not None and block.parent.blocks[0] is block


def _move_mask(op: Operation) -> None:
    """The same mask, gathered element by element from memory."""
    mask: SSAValue | None = getattr(op, "mask", None)
    if mask is None or not is_tensor(mask.type):
        return
    shape = shape_of(mask.type)
    count = 1
    for extent in shape:
        count *= extent
    if count > LARGEST:
        return
    builder = Builder.before(op)
    bounds = {"start": IntegerAttr(0, i32), "end": IntegerAttr(shape[0], i32)}
    index = builder.emit(tile.MakeRangeOp, [], [tensor(i32, (shape[0],))], bounds)
    for axis in range(1, len(shape)):
        wider = tensor(i32, (*shape_of(index.type), 1))
        index = builder.emit(tile.ExpandDimsOp, [index], [wider], {"axis": IntegerAttr(axis, i32)})
    if shape_of(index.type) != shape:
        index = builder.emit(tile.BroadcastOp, [index], [tensor(i32, shape)])
    moved = builder.create(tile.GatherOp, [mask, index], [mask.type], {"axis": IntegerAttr(0, i32)}).results[0]
    op.operands[list(op.operands).index(mask)] = moved


def free_axis(module: ModuleOp, grid: Sequence[int]) -> int | None:
    """The last axis of the grid that has one program and that the kernel does not ask about; None without one."""
    asked = {op.axis.value.data for op in module.walk() if isinstance(op, tile.GetProgramIdOp | tile.GetNumProgramsOp)}
    extents = [*grid, 1, 1, 1][:3]
    return next((axis for axis in (2, 1, 0) if extents[axis] == 1 and axis not in asked), None)
