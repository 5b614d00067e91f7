"""Tensor descriptors: blocks of a strided tensor, clipped at its edges."""

# Operands are arrays of any dtype: to pyright, what NumPy makes of them is partially unknown.
# pyright: reportUnknownArgumentType=false, reportUnknownLambdaType=false
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

import numpy as np
from xdsl.dialects.builtin import IntegerType, Signedness

from tritonx.dialects import tile
from tritonx.dialects.tile.enums import DescriptorReduceKind, PaddingOption
from tritonx.interpreter.arithmetic import maximum_number, minimum_number
from tritonx.interpreter.execution import Binder, Function, Table
from tritonx.interpreter.meanings.atomic import Combine, maximum_unsigned, minimum_unsigned, read_modify_write
from tritonx.interpreter.meanings.memory import block_addresses, read, write
from tritonx.interpreter.memory import Lanes
from tritonx.interpreter.rounding import round_to_tf32
from tritonx.interpreter.values import Array, Descriptor, dtype_of, is_float, storage_of, unsigned
from tritonx.ir.dispatch import case
from tritonx.ir.types import shape_of, type_of


def _make(op: tile.MakeTensorDescOp, bind: Binder) -> Function:
    return descriptors_of(cast(tile.TensorDescType, type_of(op.results[0])), op.padding.value.data)


def descriptors_of(kind: tile.TensorDescType, padding: int) -> Function:
    """A descriptor of that type from its base, extents and strides."""
    rank, nan = len(kind.shape), padding == PaddingOption.PAD_NAN

    def make(base: Array, *numbers: Array) -> Descriptor:
        values = tuple(int(n) for n in numbers)
        return Descriptor(int(base), values[:rank], values[rank:], kind.shape, kind.element_type, nan)

    return make


def _block(desc: Descriptor, indices: Sequence[Array]) -> tuple[Array, Array]:
    """Addresses of the block's elements, and which of them are inside the tensor."""
    size = storage_of(desc.element).itemsize
    offsets = [int(i) for i in indices]
    addresses, inside = block_addresses(desc.base, desc.shape, desc.strides, offsets, desc.block, size)
    mask = np.broadcast_to(np.logical_and.reduce(np.broadcast_arrays(*inside)), desc.block)
    return addresses, mask


def _rows(desc: Descriptor, x_offsets: Array, y_offset: Array) -> tuple[Array, Array]:
    """The same for one row of the descriptor for each of `x_offsets`, from column `y_offset` on."""
    size = storage_of(desc.element).itemsize
    x = x_offsets.astype(np.int64)[:, None]
    y = np.arange(desc.block[1], dtype=np.int64)[None, :] + int(y_offset)
    addresses = np.int64(desc.base) + (x * desc.strides[0] + y * desc.strides[1]) * size
    return addresses, (x >= 0) & (x < desc.shape[0]) & (y >= 0) & (y < desc.shape[1])


def _padding(desc: Descriptor) -> Array:
    dtype = dtype_of(desc.element)
    return dtype.type(float("nan")) if desc.pad_with_nan and is_float(dtype) else dtype.type(0)


def _read(bind: Binder, desc: Descriptor, addresses: Array, mask: Array) -> Array:
    """What lies at `addresses`, with the padding where `mask` is false."""
    values = read(bind, addresses, dtype_of(desc.element), mask, _padding(desc))
    return round_to_tf32(values) if desc.rounds else values


def block_of(bind: Binder, desc: Descriptor, indices: Sequence[Array]) -> Array:
    """The block at `indices`, with the padding outside the tensor."""
    return _read(bind, desc, *_block(desc, indices))


def put_block(bind: Binder, desc: Descriptor, indices: Sequence[Array], src: Array) -> None:
    """Write the block at `indices`, as far as it lies in the tensor."""
    addresses, mask = _block(desc, indices)
    write(bind, addresses, src.reshape(desc.block), mask)


def combine_block(bind: Binder, desc: Descriptor, indices: Sequence[Array], src: Array, combine: Combine) -> None:
    """Combine the block at `indices` with a tile."""
    addresses, mask = _block(desc, indices)
    active = mask.reshape(-1)
    flat, values = addresses.reshape(-1)[active], src.reshape(-1)[active]
    read_modify_write(bind.execution.memory, flat, values, combine, Lanes(desc.block, active))


def rows_of(bind: Binder, desc: Descriptor, x_offsets: Array, y_offset: Array) -> Array:
    """One row of the tensor for each of `x_offsets`, from column `y_offset` on."""
    return _read(bind, desc, *_rows(desc, x_offsets, y_offset))


def put_rows(bind: Binder, desc: Descriptor, x_offsets: Array, y_offset: Array, src: Array) -> None:
    """Write rows, as far as they lie in the tensor."""
    addresses, mask = _rows(desc, x_offsets, y_offset)
    write(bind, addresses, src, mask)


def _load(op: tile.DescriptorLoadOp, bind: Binder) -> Function:
    shape = shape_of(type_of(op.results[0]))
    return lambda desc, *indices: block_of(bind, desc, indices).reshape(shape)


def _store(op: tile.DescriptorStoreOp, bind: Binder) -> Function:
    return lambda desc, src, *indices: put_block(bind, desc, indices, src)


def _increment(old: Array, limit: Array) -> Array:
    return np.where(unsigned(old) >= unsigned(limit), old.dtype.type(0), old + old.dtype.type(1))


def _decrement(old: Array, limit: Array) -> Array:
    wraps = (old == 0) | (unsigned(old) > unsigned(limit))
    return np.where(wraps, limit, old - old.dtype.type(1))


def combination(kind: int, desc: tile.TensorDescType) -> Combine:
    """How a reduction into a descriptor of this type combines."""
    element = desc.element_type
    is_unsigned = isinstance(element, IntegerType) and element.signedness.data == Signedness.UNSIGNED
    if kind == DescriptorReduceKind.MAX:
        return (
            maximum_unsigned if is_unsigned else maximum_number if not isinstance(element, IntegerType) else np.maximum
        )
    if kind == DescriptorReduceKind.MIN:
        return (
            minimum_unsigned if is_unsigned else minimum_number if not isinstance(element, IntegerType) else np.minimum
        )
    return _KINDS[kind]


_KINDS: dict[int, Combine] = {
    DescriptorReduceKind.ADD: np.add,
    DescriptorReduceKind.INC: _increment,
    DescriptorReduceKind.DEC: _decrement,
    DescriptorReduceKind.AND: np.bitwise_and,
    DescriptorReduceKind.OR: np.bitwise_or,
    DescriptorReduceKind.XOR: np.bitwise_xor,
}


def _reduce(op: tile.DescriptorReduceOp, bind: Binder) -> Function:
    combine = combination(op.kind.value.data, cast(tile.TensorDescType, type_of(op.desc)))
    return lambda desc, src, *indices: combine_block(bind, desc, indices, src, combine)


def _gather(op: tile.DescriptorGatherOp, bind: Binder) -> Function:
    return lambda desc, x_offsets, y_offset: rows_of(bind, desc, x_offsets, y_offset)


def _scatter(op: tile.DescriptorScatterOp, bind: Binder) -> Function:
    return lambda desc, x_offsets, y_offset, src: put_rows(bind, desc, x_offsets, y_offset, src)


TABLE: Table = {
    **case(tile.MakeTensorDescOp, _make),
    **case(tile.DescriptorLoadOp, _load),
    **case(tile.DescriptorStoreOp, _store),
    **case(tile.DescriptorReduceOp, _reduce),
    **case(tile.DescriptorGatherOp, _gather),
    **case(tile.DescriptorScatterOp, _scatter),
}
