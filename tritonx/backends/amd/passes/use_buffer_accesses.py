"""Loads and stores through buffer descriptors instead of 64-bit pointers.

A buffer instruction adds a 32-bit offset to a base in scalar registers and drops what lies beyond the buffer's end:
addresses take half the registers, and a mask becomes an offset out of range instead of a branch."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import DenseArrayBase, ModuleOp
from xdsl.ir import BlockArgument, Operation, SSAValue
from xdsl.passes import ModulePass

from tritonx.dialects import arith, gpu_layout, tile
from tritonx.dialects.amd import BufferLoadOp, BufferLoadToLocalOp, BufferStoreOp
from tritonx.dialects.control_flow import carried_argument, carried_result
from tritonx.ir.builder import Builder
from tritonx.ir.contract import Contract
from tritonx.ir.edit import replace
from tritonx.ir.properties import stated_number
from tritonx.ir.types import element_type, i32, i64, is_tensor, type_of, with_element


@dataclass(frozen=True)
class Part:
    """A tile of integer offsets, and the changes of shape that its sum with a pointer has gone through, in order."""

    offset: SSAValue
    changes: tuple[Operation, ...] = ()


@dataclass(frozen=True)
class Split:
    """A tile of pointers as a scalar ``base`` and offsets, in elements, whose sum is added to it."""

    base: SSAValue
    parts: tuple[Part, ...]


@dataclass(frozen=True)
class UseBufferAccesses(ModulePass):
    """Replaces accesses by pointers into small buffers by buffer instructions.

    Replaces `tt.load` and `tt.store` of tiles by `amdg.buffer_load` and `amdg.buffer_store`, and
    `ttg.async_copy_global_to_local` by `amdg.buffer_load_to_local`, where the pointers are an argument marked
    `tt.pointer_range = 32` (or a scalar offset from one), plus offsets. Their sum is taken not to wrap, as addresses
    in a buffer of less than 2 GiB do not; of 64 bits the lower 32 are taken, which is all that a place in such a
    buffer has. Volatile accesses stay."""

    name = "use-buffer-accesses"
    contract = Contract(
        ("tt", "ttg"),
        on=("tt.load", "tt.store", "ttg.async_copy_global_to_local"),
        creates=("amdg.buffer_load", "amdg.buffer_store", "amdg.buffer_load_to_local", "tt", "arith"),
        reads=("tt.pointer_range",),
        after=("order-copies", "carry-scalar-pointers"),
    )

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for inner in list(op.walk()):
            if isinstance(inner, tile.LoadOp):
                _load(inner)
            elif isinstance(inner, tile.StoreOp):
                _store(inner)
            elif isinstance(inner, gpu_layout.AsyncCopyGlobalToLocalOp):
                _copy(inner)


def _load(op: tile.LoadOp) -> None:
    if op.isVolatile.value.data or (found := _buffer(op, op.ptr)) is None:
        return
    builder, base, offset = found
    operands = (base, offset, None, op.mask, op.other if op.mask is not None else None)
    made = BufferLoadOp.create(
        operands=[x for x in operands if x is not None],
        result_types=[op.result.type],
        properties={
            "operandSegmentSizes": DenseArrayBase.from_list(i32, [int(x is not None) for x in operands]),
            "cache": op.cache,
        },
        location=op.location,
    )
    builder.insert(made)
    replace(op, (made.results[0],))


def _store(op: tile.StoreOp) -> None:
    if (found := _buffer(op, op.ptr)) is None:
        return
    builder, base, offset = found
    operands = (op.value, base, offset, None, op.mask)
    made = BufferStoreOp.create(
        operands=[x for x in operands if x is not None],
        result_types=[],
        properties={
            "operandSegmentSizes": DenseArrayBase.from_list(i32, [int(x is not None) for x in operands]),
            "cache": op.cache,
        },
        location=op.location,
    )
    builder.insert(made)
    replace(op, ())


def _copy(op: gpu_layout.AsyncCopyGlobalToLocalOp) -> None:
    if op.isVolatile.value.data or (found := _buffer(op, op.src)) is None:
        return
    builder, base, offset = found
    operands = (op.result, base, offset, op.mask, op.other if op.mask is not None else None, None)
    made = BufferLoadToLocalOp.create(
        operands=[x for x in operands if x is not None],
        result_types=[op.token.type],
        properties={
            "operandSegmentSizes": DenseArrayBase.from_list(i32, [int(x is not None) for x in operands]),
            "cache": op.cache,
            "contiguity": op.contiguity,
        },
        location=op.location,
    )
    builder.insert(made)
    replace(op, made.results)


def _buffer(op: Operation, pointers: SSAValue) -> tuple[Builder, SSAValue, SSAValue] | None:
    """A builder in front of ``op``, the base and the offset of its pointers; None where they are not of that kind."""
    if not is_tensor(type_of(pointers)):
        return None
    found = split(pointers)
    if found is None or not found.parts or not is_small_buffer(found.base):
        return None
    builder = Builder.before(op)
    total, *others = offsets_of(builder, found)
    for value in others:
        total = builder.emit(arith.AddiOp, (total, value), (type_of(value),))
    return builder, found.base, total


def offsets_of(builder: Builder, found: Split) -> list[SSAValue]:
    """The i32 offsets whose sum is that of ``found``, all of the shape of its tile."""
    made: list[SSAValue] = []
    for part in found.parts:
        value = _narrowed(builder, part.offset)
        for change in part.changes:
            type_ = with_element(type_of(change.results[0]), i32)
            value = builder.emit(change.__class__, (value,), (type_,), change.properties)
        made.append(value)
    return made


def split(pointers: SSAValue) -> Split | None:
    """A tile of pointers taken apart; None where it is computed in another way than by adding offsets to one scalar."""
    parts: list[Part] = []
    changes: tuple[Operation, ...] = ()
    while True:
        op = pointers.owner
        match op:
            case tile.SplatOp():
                return Split(op.src, tuple(reversed(parts)))
            case tile.AddPtrOp():
                parts.append(Part(op.offset, changes))
                pointers = op.ptr
            case tile.BroadcastOp() | tile.ExpandDimsOp() | gpu_layout.ConvertLayoutOp():
                changes = op, *changes
                pointers = op.src
            case _:
                return None


def _narrowed(builder: Builder, offset: SSAValue) -> SSAValue:
    """The i32 tile that ``offset`` is, or was extended from, or its lower half."""
    owner, width = offset.owner, element_type(type_of(offset))
    if width == i32:
        return offset
    if isinstance(owner, arith.ExtSIOp) and element_type(type_of(owner.operands[0])) == i32:
        return owner.operands[0]
    narrow = with_element(type_of(offset), i32)
    return builder.emit(arith.TruncIOp if width == i64 else arith.ExtSIOp, (offset,), (narrow,))


def _without_offsets(pointer: SSAValue) -> SSAValue:
    while isinstance(pointer.owner, tile.AddPtrOp):
        pointer = pointer.owner.operands[0]
    return pointer


def is_small_buffer(pointer: SSAValue) -> bool:
    """Whether a scalar pointer lies in arguments that 32-bit offsets can address, however often loops have gone on."""
    found, seen, left = set[SSAValue](), set[SSAValue](), [pointer]
    while left:
        if (value := _without_offsets(left.pop())) in seen:
            continue
        seen.add(value)
        carried = carried_argument(value) if isinstance(value, BlockArgument) else carried_result(value)
        if carried is not None:
            left += (carried.initial.value, carried.yielded.value)
        else:
            found.add(value)
    return all(map(_is_marked, found))


def _is_marked(pointer: SSAValue) -> bool:
    """Whether it is an argument of the function that is said to need offsets of 32 bits only."""
    if not isinstance(pointer, BlockArgument):
        return False
    function = pointer.block.parent_op()
    if not isinstance(function, tile.FuncOp) or pointer.owner is not function.body.blocks.first:
        return False
    if function.arg_attrs is None:
        return False
    return stated_number(function.arg_attrs.data[pointer.index].data, "tt.pointer_range") == 32
