"""Loads, stores and pointers. A pointer is the int64 address of its element."""

# Operands are arrays of any dtype: to pyright, what NumPy makes of them is partially unknown.
# pyright: reportUnknownArgumentType=false, reportUnknownLambdaType=false
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from xdsl.ir import Attribute

from tritonx.dialects import tile
from tritonx.dialects.tile.enums import PaddingOption
from tritonx.interpreter.execution import Binder, Function, Table
from tritonx.interpreter.memory import Lanes
from tritonx.interpreter.values import Array, BlockPointer, dtype_of, storage_of, undefined
from tritonx.ir.dispatch import case
from tritonx.ir.types import PointerType, element_type, is_tensor, shape_of, type_of

_BOOL = np.dtype(np.bool_)


def element_size(pointer: Attribute) -> int:
    """Bytes between neighbouring elements of a pointer type (or a tensor of pointers)."""
    kind = element_type(pointer)
    assert isinstance(kind, PointerType)
    return storage_of(kind.pointee).itemsize


def read(
    bind: Binder, pointers: Array, dtype: np.dtype, mask: Array | None = None, other: Array | None = None
) -> Array:
    """The elements behind `pointers`, as values of `dtype`; `other` (or an undefined value) where `mask` is false."""
    addresses = np.asarray(pointers)
    shape = addresses.shape
    storage = np.dtype(np.uint8) if dtype == _BOOL else dtype
    active = None if mask is None else np.broadcast_to(mask, shape).reshape(-1)
    flat = addresses.reshape(-1)
    if active is None or active.all():
        result = bind.execution.memory.load(flat, storage, Lanes(shape))
        return (result != 0 if dtype == _BOOL else result).reshape(shape)[()]
    elsewhere = undefined(dtype, bind.execution.poison) if other is None else other
    result = np.array(np.broadcast_to(elsewhere, shape)).reshape(-1)
    loaded = bind.execution.memory.load(flat[active], storage, Lanes(shape, active))
    result[active] = loaded != 0 if dtype == _BOOL else loaded
    return result.reshape(shape)[()]


def write(bind: Binder, pointers: Array, values: Array, mask: Array | None = None) -> None:
    """Put `values` behind `pointers` where `mask` is true, in lane order."""
    addresses = np.asarray(pointers)
    shape = addresses.shape
    flat, stored = addresses.reshape(-1), np.broadcast_to(values, shape).reshape(-1)
    if stored.dtype == _BOOL:
        stored = stored.astype(np.uint8)
    if mask is None:
        bind.execution.memory.store(flat, stored, Lanes(shape))
        return
    active = np.broadcast_to(mask, shape).reshape(-1)
    bind.execution.memory.store(flat[active], stored[active], Lanes(shape, active))


def block_addresses(
    base: int, extents: Sequence[int], strides: Sequence[int], offsets: Sequence[int], block: Sequence[int], size: int
) -> tuple[Array, list[Array]]:
    """Addresses of a block's elements, and for each axis whether the index lies in the tensor (broadcastable to the
    block)."""
    addresses = np.full((), base, dtype=np.int64)
    inside: list[Array] = []
    for axis, count in enumerate(block):
        index = np.arange(count, dtype=np.int64) + offsets[axis]
        index = index.reshape([count if i == axis else 1 for i in range(len(block))])
        addresses = addresses + index * (strides[axis] * size)
        inside.append((index >= 0) & (index < extents[axis]))
    return np.broadcast_to(addresses, tuple(block)), inside


def _all_of(conditions: Sequence[Array]) -> Array:
    result = conditions[0]
    for condition in conditions[1:]:
        result = result & condition
    return result


def _pointed_block(pointer: Attribute) -> tuple[int, ...] | None:
    """The shape of the block that a block pointer's type names; None for any other pointer."""
    if isinstance(pointer, PointerType) and is_tensor(pointer.pointee):
        return shape_of(pointer.pointee)
    return None


def _pointers(bind: Binder, addresses: Array) -> Array:
    """Pointers that were loaded: what they point into becomes memory of the launch."""
    bind.execution.live.admit(addresses)
    return addresses


def _load(op: tile.LoadOp, bind: Binder) -> Function:
    dtype = dtype_of(type_of(op.results[0]))
    block = _pointed_block(type_of(op.operands[0]))
    if block is None and isinstance(element_type(type_of(op.results[0])), PointerType):
        return lambda ptr, mask=None, other=None: _pointers(bind, read(bind, ptr, dtype, mask, other))
    if block is None:
        return lambda ptr, mask=None, other=None: read(bind, ptr, dtype, mask, other)
    size = storage_of(element_type(type_of(op.results[0]))).itemsize
    axes: tuple[int, ...] = tuple(op.boundaryCheck.get_values())
    padding = None
    if op.padding is not None:
        nan = op.padding.value.data == PaddingOption.PAD_NAN
        padding = dtype.type(float("nan")) if nan else dtype.type(0)

    def load(ptr: BlockPointer) -> Array:
        addresses, inside = block_addresses(ptr.base, ptr.shape, ptr.strides, ptr.offsets, block, size)
        mask = _all_of([inside[a] for a in axes]) if axes else None
        return read(bind, addresses, dtype, mask, padding)

    return load


def _store(op: tile.StoreOp, bind: Binder) -> Function:
    block = _pointed_block(type_of(op.operands[0]))
    if block is None:
        return lambda ptr, value, mask=None: write(bind, ptr, value, mask)
    size = storage_of(element_type(type_of(op.operands[1]))).itemsize
    axes: tuple[int, ...] = tuple(op.boundaryCheck.get_values())

    def store(ptr: BlockPointer, value: Array) -> None:
        addresses, inside = block_addresses(ptr.base, ptr.shape, ptr.strides, ptr.offsets, block, size)
        write(bind, addresses, value, _all_of([inside[a] for a in axes]) if axes else None)

    return store


def _make_tensor_pointer(op: tile.MakeTensorPtrOp, bind: Binder) -> Function:
    rank = len(op.order.get_values())

    def make(base: Array, *numbers: Array) -> BlockPointer:
        values = [int(n) for n in numbers]
        return BlockPointer(int(base), tuple(values[:rank]), tuple(values[rank : 2 * rank]), tuple(values[2 * rank :]))

    return make


def _advance(op: tile.AdvanceOp, bind: Binder) -> Function:
    def advance(ptr: BlockPointer, *offsets: Array) -> BlockPointer:
        moved = tuple(int(np.int32(old) + by) for old, by in zip(ptr.offsets, offsets, strict=True))
        return BlockPointer(ptr.base, ptr.shape, ptr.strides, moved)

    return advance


def _add_pointer(op: tile.AddPtrOp, bind: Binder) -> Function:
    size = np.int64(element_size(type_of(op.operands[0])))
    if dtype_of(type_of(op.operands[1])) == _BOOL:
        return lambda ptr, offset: ptr - offset.astype(np.int64) * size  # a set i1 is -1
    return lambda ptr, offset: ptr + offset.astype(np.int64) * size


TABLE: Table = {
    **case(tile.LoadOp, _load),
    **case(tile.StoreOp, _store),
    **case(tile.AddPtrOp, _add_pointer),
    **case(tile.MakeTensorPtrOp, _make_tensor_pointer),
    **case(tile.AdvanceOp, _advance),
}
