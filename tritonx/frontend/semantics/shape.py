"""Making and rearranging blocks: arange, reshape, permute, join, split, cat, gather."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

from xdsl.dialects.builtin import DenseArrayBase, UnitAttr
from xdsl.dialects.builtin import i32 as i32_attr

from tritonx.dialects import arith
from tritonx.dialects.tile import CatOp, GatherOp, JoinOp, ReshapeOp, SplitOp, TransOp, UnsplatOp
from tritonx.frontend.semantics.axes import wrap_axis
from tritonx.frontend.semantics.base import enum_attribute, invalid_axis, shape_of, unwrapped_list
from tritonx.frontend.semantics.padding import PaddingSemantics
from tritonx.language.types.block_shapes import storage_shape
from tritonx.language.types.dtypes import block_type, dtype, int8, int32, int64
from tritonx.language.values.constexpr import unwrap
from tritonx.language.values.tensor import tensor


class ShapeSemantics(PaddingSemantics):
    def arange(self, start: object, end: object) -> tensor:
        """int32 block ``start .. end - 1``; both known at compile time."""
        first, count = range_of(start, end)
        return self.counted_from(first, block_type(int32, (count,)))

    def counted_from(self, start: int, type_: dtype) -> tensor:
        """The block of ``type_``, of int32, whose elements count from ``start`` on."""
        stored = type_ if not type_.padded else block_type(int32, type_.storage)
        if start + stored.shape[0] < 2**31:
            return self.cropped(self.row_of(stored, start), type_.shape)
        counted = self.cropped(self.row_of(stored, 0), type_.shape)  # the op's end would be no int32
        return self.emit(arith.AddiOp, (counted, self.constant(start, type_)), type_)

    def reshape(self, value: tensor, shape: Any, can_reorder: Any = False) -> tensor:
        """The same elements in row-major order, or in any order with ``can_reorder``."""
        target = shape_of(shape)
        type_ = block_type(value.dtype, target)
        numel = value.type.numel if isinstance(value.type, block_type) else 1
        if type_.numel != numel:
            raise ValueError("reshape() cannot change total number of elements in tensor")
        if not value.type.is_block():
            return self.splat(value, target)
        if target == value.type.shape:
            return value
        if len(target) == 0:
            return self.unsplat(value)
        if value.type.padded or type_.padded:
            return self._reshape_padded(value, target)
        return self.emit(ReshapeOp, (value,), type_, {"allow_reorder": UnitAttr()} if unwrap(can_reorder) else None)

    def _reshape_padded(self, value: tensor, shape: tuple[int, ...]) -> tensor:
        """``reshape`` to or from a block with padding: one of storage, where that leaves each element where it has to
        be, else a look-up of each."""
        stored = self.whole(value)
        if same_order(value.type.shape, shape):
            return self.cropped(self.reshape(stored, storage_shape(shape)), shape)
        bits = self.as_bits(stored)
        found = self.gather(self.reshape(bits, (prod(bits.type.shape),)), self._sources(value.type.shape, shape), 0)
        return self.cropped(self.from_bits(self.reshape(found, storage_shape(shape)), value.dtype), shape)

    def _sources(self, source: Sequence[int], target: Sequence[int]) -> tensor:
        """For each position in the storage of a block of the shape ``target``, the position of the same element in the
        storage of a block of the shape ``source``: a 1-D block."""
        stored = storage_shape(target)
        place = self.row(0, prod(stored))
        element = self._digits(place, stored, target)
        # Of the padding come numbers that there are no elements of.
        element = self.emit(arith.MinSIOp, (element, self.constant(prod(target) - 1, place.type)), place.type)
        return self._digits(element, source, storage_shape(source))

    def _digits(self, number: tensor, radices: Sequence[int], extents: Sequence[int]) -> tensor:
        """A row-major number in a block of the shape ``radices`` as that of the same indices in one of ``extents``."""
        total, weight, rest = self.constant(0, number.type), 1, number
        for place, (radix, extent) in enumerate(zip(reversed(radices), reversed(extents), strict=True)):
            base = self.constant(radix, number.type)
            last = place == len(radices) - 1
            digit = rest if last else self.emit(arith.RemUIOp, (rest, base), number.type)
            weighted = self.emit(arith.MuliOp, (digit, self.constant(weight, number.type)), number.type)
            total = self.emit(arith.AddiOp, (total, weighted), number.type)
            rest = rest if last else self.emit(arith.DivUIOp, (rest, base), number.type)
            weight *= extent
        return total

    def unsplat(self, value: tensor) -> tensor:
        """The scalar in a block of one element."""
        if not isinstance(value.type, block_type):
            return value
        if value.type.numel != 1:
            raise ValueError(f"only a block of one element has a scalar value, not {value}")
        return self.emit(UnsplatOp, (value,), value.dtype)

    def trans(self, value: tensor, dims: Sequence[object] = ()) -> tensor:
        """Permute; without ``dims`` swap the last two axes."""
        if len(dims) == 0:
            rank = len(value.type.shape)
            if rank < 2:
                raise ValueError("tl.trans invoked with a 0- or 1-dimensional tensor")
            dims = [*range(rank - 2), rank - 1, rank - 2]
        return self.permute(value, dims)

    def permute(self, value: tensor, dims: Sequence[Any]) -> tensor:
        """Axis ``i`` of the result is axis ``dims[i]`` of ``value``."""
        order = [unwrap(d) for d in dims]
        shape = value.type.shape
        if len(order) != len(shape):
            raise ValueError("permute dims must have the same length as input shape")
        if sorted(order) != [*range(len(shape))]:
            raise ValueError(f"permute dims must be a permutation of 0, 1, ..., n-1, but were {dims}")
        type_ = block_type(value.dtype, [shape[d] for d in order])
        return self.emit(TransOp, (value,), type_, {"order": DenseArrayBase.from_list(i32_attr, order)})

    def expand_axes(self, value: tensor, axes: object) -> tensor:
        """``tl.expand_dims``: one axis or several, numbered in the result."""
        listed = unwrapped_list(axes)
        rank = len(value.type.shape) + len(listed)
        for axis in listed:
            if not -rank <= axis < rank:
                raise invalid_axis(axis, rank)
        wrapped = [a % rank for a in listed]
        if len(set(wrapped)) != len(wrapped):
            raise ValueError(f"expand_dims received duplicate axes, normalized axes = {wrapped}")
        for axis in sorted(wrapped):
            value = self.expand_dims(value, axis)
        return value

    def cat(self, lhs: tensor, rhs: tensor, can_reorder: bool, dim: int) -> tensor:
        """Two blocks of one shape one after the other along ``dim``: joined, with the new axis in front of it."""
        if can_reorder:
            return self._cat_in_any_order(lhs, rhs)
        shape = lhs.type.shape
        if shape != rhs.type.shape:
            raise AssertionError(f"cat takes two blocks of one shape, not those of {[*shape]} and {[*rhs.type.shape]}")
        axis, order = wrap_axis(dim, len(shape)), [*range(len(shape))]
        order.insert(axis, len(shape))
        joined = self.permute(self.join(lhs, rhs), order)
        return self.reshape(joined, (*shape[:axis], 2 * shape[axis], *shape[axis + 1 :]))

    def _cat_in_any_order(self, lhs: tensor, rhs: tensor) -> tensor:
        if len(lhs.type.shape) != 1 or lhs.type != rhs.type:
            raise ValueError(f"cat needs two 1-D blocks of one type, got {lhs} and {rhs}")
        if lhs.type.padded:
            return self.reshape(self.join(lhs, rhs), (2 * lhs.type.shape[0],))
        return self.emit(CatOp, (lhs, rhs), block_type(lhs.dtype, (lhs.type.shape[0] + rhs.type.shape[0],)))

    def join(self, a: Any, b: Any) -> tensor:
        """Two values stacked along a new last axis of extent 2."""
        a, b = self.broadcast(self.to_tensor(a), self.to_tensor(b))
        if a.dtype != b.dtype:
            raise TypeError(f"join needs two values of one type, got {a.dtype} and {b.dtype}")
        scalars = not a.type.is_block()
        if scalars:
            a, b = self.expand_dims(a, 0), self.expand_dims(b, 0)
        joined = self.emit(JoinOp, (a, b), block_type(a.dtype, (*a.type.shape, 2)))
        return self.reshape(joined, (2,)) if scalars else joined

    def split(self, value: tensor) -> tuple[tensor, tensor]:
        """The inverse of ``join``."""
        shape = value.type.shape
        if len(shape) == 0 or shape[-1] != 2:
            raise AssertionError(f"split needs a block whose last axis has the extent 2, got {value}")
        if len(shape) == 1:
            left, right = self.split(self.expand_dims(value, 0))
            return self.unsplat(left), self.unsplat(right)
        left, right = self.multi(SplitOp, [value], [block_type(value.dtype, shape[:-1])] * 2)
        return left, right

    def gather(self, source: tensor, index: tensor, axis: Any) -> tensor:
        """``result[i, j] = source[index[i, j], j]`` along axis 0, and so on; the shape is that of ``index``."""
        axis = unwrap(axis)
        if not index.dtype.is_int():
            raise AssertionError("index must be an integer tensor")
        rank = len(source.type.shape)
        if len(index.type.shape) != rank:
            raise AssertionError("source and index tensors must have the same rank")
        if not -rank <= axis < rank:
            raise AssertionError(f"gather axis {axis} must be < source rank ({rank})")
        axis %= rank
        for d in range(rank):
            if d != axis and index.type.shape[d] != source.type.shape[d]:
                raise AssertionError(f"index dim {axis} must match the corresponding source dim")
        source, found = self.whole(source), self.filled(index, 0)
        type_ = block_type(source.dtype, found.type.shape)
        made = self.emit(GatherOp, (source, found), type_, {"axis": enum_attribute(axis)})
        return self.cropped(made, index.type.shape)

    def as_bits(self, value: tensor) -> tensor:
        """The elements as integers, which any op moves: of pointers as well, and of single bits."""
        if value.dtype.is_bool():
            return self.cast(value, int8)
        if value.dtype.is_ptr():
            return self.cast(value, int64)
        return value if value.dtype.is_int() else self.bitcast(value, dtype(f"int{value.dtype.primitive_bitwidth}"))

    def from_bits(self, bits: tensor, type_: dtype) -> tensor:
        """What ``as_bits`` did, undone."""
        return self.cast(bits, type_) if type_.is_bool() else self.bitcast(bits, type_)


def range_of(start: object, end: object) -> tuple[int, int]:
    """The first number of ``arange``, and how many there are; ValueError for bounds that there can be no block of."""
    start, end = unwrap(start), unwrap(end)
    if not isinstance(start, int) or not isinstance(end, int):
        raise ValueError("arange's arguments must be of type tl.constexpr")
    if start >> 32 not in (0, -1) or end >> 32 not in (0, -1):
        raise ValueError("arange must fit in int32")
    if end <= start:
        raise ValueError("arange's end argument must be greater than the start argument")
    return start, end - start


def same_order(source: Sequence[int], target: Sequence[int]) -> bool:
    """Whether a reshape of storage takes each element of a block of the shape ``source`` to where it is in a block of
    the shape ``target``: whether both have the same strides there, axes being split where the other has two."""
    left, right = strided(source), strided(target)
    while left and right:
        (more, stride), (fewer, other) = left.pop(), right.pop()
        if stride != other:
            return False
        if more < fewer:
            more, fewer, left, right = fewer, more, right, left
        if more % fewer:
            return False
        if more != fewer:
            left.append((more // fewer, stride * fewer))
    return not left and not right


def strided(shape: Sequence[int]) -> list[tuple[int, int]]:
    """(extent, stride in storage) of each axis of more than one element."""
    stored = storage_shape(shape)
    return [(extent, prod(stored[axis + 1 :])) for axis, extent in enumerate(shape) if extent > 1]
