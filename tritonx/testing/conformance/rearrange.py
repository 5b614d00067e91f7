"""A case's kernel changed so that its arrays lie otherwise in memory: the same program, on strided, reversed and offset
arrays, as one of several programs that each have a part of larger arrays, under masks in layouts of their own.

It is a pass over ``tt``, so no case is written twice. Every step along an array (an offset that is added to a pointer,
a stride of a block pointer) is multiplied by the arrays' stride; at the kernel's entry every pointer moves to its
program's part."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import IntegerAttr, ModuleOp
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.passes import ModulePass

from tritonx.dialects import arith, tile
from tritonx.ir.builder import Builder
from tritonx.ir.types import bit_width, element_type, i32, i64, is_tensor, shape_of, tensor, with_element

FACTS = ("tt.contiguity", "tt.divisibility", "tt.constancy")
"""What kernels state about values. Of pointers it need not hold any more."""

LARGEST = 4096
"""Elements of the largest mask that is moved to a layout of its own: it takes a byte each of a block's memory."""


@dataclass(frozen=True)
class Rearrange(ModulePass):
    """``stride``: elements between neighbours of every array. ``pitches``: for each parameter of the kernel, in order,
    the elements between the parts of neighbouring programs along ``axis``; none where there is one program. ``masks``:
    masks go through memory, into a layout that nothing else has.
    """

    name = "rearrange"

    stride: int = 1
    pitches: tuple[int, ...] = ()
    axis: int = 2
    masks: bool = False

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for inner in list(op.walk()):
            if isinstance(inner, tile.AddPtrOp):
                self._scale(inner, [1])
            elif isinstance(inner, tile.MakeTensorPtrOp):
                first = 1 + len(inner.shape)
                self._scale(inner, range(first, first + len(inner.strides)))
            elif self.masks and isinstance(inner, tile.LoadOp | tile.StoreOp | tile.AtomicRMWOp | tile.HistogramOp):
                _move_mask(inner)
            if self.stride != 1 and any(_is_pointer(result.type) for result in inner.results):
                for fact in FACTS:
                    inner.attributes.pop(fact, None)
        if self.pitches:
            self._share(next(f for f in op.ops if isinstance(f, tile.FuncOp) and _is_entry(f)))

    def _scale(self, op: Operation, places: Sequence[int]) -> None:
        """Multiply the operands at these places by the stride, in 32 bits at least."""
        if self.stride == 1:
            return
        builder = Builder.before(op)
        for place in places:
            offset = op.operands[place]
            if bit_width(element_type(offset.type)) < 32:
                offset = builder.emit(arith.ExtSIOp, [offset], [with_element(offset.type, i32)])
            stride = builder.constant(self.stride, offset.type)
            op.operands[place] = builder.emit(arith.MuliOp, [offset, stride], [offset.type])

    def _share(self, function: tile.FuncOp) -> None:
        """Move every pointer by the program's number times its pitch."""
        block = function.body.block
        first = block.first_op
        assert first is not None
        builder = Builder.before(first)
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


def uses_axis(module: ModuleOp, axis: int) -> bool:
    """Whether the kernel asks about this axis of the grid."""
    return any(
        isinstance(op, tile.GetProgramIdOp | tile.GetNumProgramsOp) and op.axis.value.data == axis
        for op in module.walk()
    )


REFUSED = (
    tile.PtrToIntOp, tile.IntToPtrOp, tile.MakeTensorDescOp, tile.ElementwiseInlineAsmOp,
)  # fmt: skip
"""Ops that make something of addresses that the pass does not follow."""


def refused(module: ModuleOp) -> str | None:
    """Why the kernel cannot be rearranged; None where it can."""
    for op in module.walk():
        if isinstance(op, REFUSED):
            return f"{op.name} looks at addresses"
        if isinstance(op, tile.BitcastOp) and _is_pointer(op.results[0].type):
            return "pointers change their type"
    return None


def _is_pointer(type_: Attribute) -> bool:
    return isinstance(element_type(type_), tile.PointerType)


def _is_entry(function: tile.FuncOp) -> bool:
    visibility = function.sym_visibility
    return visibility is None or visibility.data == "public"
