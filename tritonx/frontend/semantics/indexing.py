"""Indexing a block: ``x[i, 2:4, None, ...]``.

An integer, known at compile time or not, picks one element of an axis and drops it; a slice keeps those it names, in
their order; ``None`` inserts an axis, ``...`` stands for the axes that are not named. Bits are picked, so that NaNs and
zeros stay as they are: those of all other elements are cleared, and all are brought together by ``or``, which takes no
memory. A slice that a reshape does not make such a choice goes through ``tt.gather``.
"""

from __future__ import annotations

import builtins
from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Integral
from types import EllipsisType
from typing import Any, cast

from tritonx.frontend.semantics.casts import CastSemantics
from tritonx.frontend.semantics.debug import DebugSemantics
from tritonx.frontend.semantics.reduce import ReduceSemantics
from tritonx.language import standard
from tritonx.language.types.block_shapes import storage_shape
from tritonx.language.types.dtypes import int32
from tritonx.language.values.constexpr import unwrap
from tritonx.language.values.tensor import tensor
from tritonx.language.values.tuples import slice as language_slice

Item = None | EllipsisType | builtins.slice | int | tensor
"""What is allowed between the commas, without constexprs: a tensor is a scalar."""


class IndexingSemantics(ReduceSemantics, CastSemantics, DebugSemantics):
    def index(self, value: tensor, index: object) -> tensor:
        """``value[index]``, see the module's docstring."""
        items = [_item(value, item) for item in _items(index)]
        if not value.type.is_block() and None in items:  # as in Triton 3.6: a scalar has no axis for a colon
            items = [item for item in items if not _is_full(item)]
        if all(item is None or _is_full(item) for item in items):
            return self._with_axes(value, items)
        selected = _completed(items, value.type.shape)
        return self._with_axes(self._selected(value, [item for item in selected if item is not None]), selected)

    def _with_axes(self, value: tensor, items: Sequence[Item]) -> tensor:
        """``value`` with an axis for each None among the items that leave an axis."""
        for axis, item in enumerate(item for item in items if item is None or isinstance(item, slice)):
            if item is None:
                value = self.expand_dims(value, axis)
        return value

    def _selected(self, value: tensor, items: list[Item]) -> tensor:
        """One item for each axis; single elements first, since they leave the least. Storage is indexed: what is picked
        of it lies in front of the padding."""
        bits, extents = self.as_bits(self.whole(value)), [*value.type.shape]
        for axis, item in reversed([*enumerate(items)]):
            if not isinstance(item, slice):
                bits = self._picked(bits, axis, self._in_range(cast("int | tensor", item), extents.pop(axis)))
        for axis, item in enumerate(item for item in items if isinstance(item, slice)):
            stretch = _Stretch.of(item, extents[axis])
            bits, extents[axis] = self._sliced(bits, axis, stretch), stretch.count
        return self.from_bits(self.cropped(bits, extents), value.dtype)

    # One element of an axis.

    def _in_range(self, index: int | tensor, extent: int) -> int | tensor:
        """The index counted from the front. One out of range is refused, at run time where the kernel is compiled with
        ``debug``, and by the interpreter."""
        if isinstance(index, int):
            if not -extent <= index < extent:
                raise IndexError(f"index {index} is out of range for an axis of {extent} elements")
            return index % extent
        inside = self.less_than(index, extent)
        if index.dtype.is_int_signed():
            inside = self.and_(inside, self.greater_equal(index, -extent))
        self.device_assert(inside, f"an index is out of range for an axis of {extent} elements", None)
        if not index.dtype.is_int_signed():
            return index
        index = index if index.dtype.int_bitwidth >= 32 else self.cast(index, int32)
        return self.where(self.less_than(index, 0), self.add(index, extent, False), index)

    def _picked(self, bits: tensor, axis: int, index: int | tensor) -> tensor:
        """One element of the axis, which is dropped."""
        shape = bits.type.shape
        if shape[axis] == 1:
            return self.reshape(bits, (*shape[:axis], *shape[axis + 1 :]))
        numbers = self._spread(self.arange(0, shape[axis]), axis, shape)
        others = self.constant(0, bits.dtype)
        return self.reduce(self.where(self.equal(numbers, index), bits, others), axis, standard._or_combine)  # pyright: ignore[reportPrivateUsage]  # which interpreters know

    def _spread(self, row: tensor, axis: int, shape: Sequence[int]) -> tensor:
        """A 1-D block along an axis of a block of ``shape``, which has the row's extent there."""
        row = self.along(row, axis, len(shape))
        return self.broadcast_to(row, (*shape[:axis], row.type.shape[axis], *shape[axis + 1 :]))

    # Several.

    def _sliced(self, bits: tensor, axis: int, stretch: _Stretch) -> tensor:
        """Storage of the elements that the stretch names."""
        shape, (count,) = bits.type.shape, storage_shape((stretch.count,))
        if stretch.start == 0 and count == shape[axis] and stretch.step == 1:
            return bits
        if stretch.step == 1 and stretch.start % count == 0:
            runs = (*shape[:axis], shape[axis] // count, count, *shape[axis + 1 :])
            return self._picked(self.reshape(bits, runs), axis, stretch.start // count)
        if 0 <= stretch.start < stretch.step and stretch.step * count == shape[axis]:
            groups = (*shape[:axis], count, stretch.step, *shape[axis + 1 :])
            return self._picked(self.reshape(bits, groups), axis + 1, stretch.start)
        numbers = self.add(self.mul(self.arange(0, stretch.count), stretch.step, False), stretch.start, False)
        return self.whole(self.gather(bits, self._spread(numbers, axis, shape), axis))


@dataclass(frozen=True)
class _Stretch:
    """``count`` elements of an axis from ``start`` on, ``step`` apart."""

    start: int
    count: int
    step: int

    @staticmethod
    def of(item: builtins.slice, extent: int) -> _Stretch:
        for part in (item.start, item.stop, item.step):
            if not (part is None or isinstance(part, int)):
                raise _with_note(
                    TypeError(f"a slice of a block is from and to what is known at compile time, not {part}"),
                    "load from another offset, or use tl.gather",
                )
        start, stop, step = item.indices(extent)
        count = len(range(start, stop, step))
        if count == 0:
            raise _with_note(
                ValueError(f"the slice {_text(item)} of an axis of {extent} elements has {count}"),
                "a block has an element at least",
            )
        return _Stretch(start, count, step)


# The text between the brackets.


def _items(index: Any) -> list[Any]:
    """One index or several, in the language's or Python's values, as a list."""
    plain = unwrap(index)
    if isinstance(plain, tensor | builtins.slice | language_slice) or not hasattr(plain, "__len__"):
        return [plain]
    return [unwrap(item) for item in plain]


def _item(value: tensor, item: object) -> Item:
    """One item without constexprs; what no axis is indexed with is refused."""
    if item is None or isinstance(item, EllipsisType):
        return item
    if isinstance(item, builtins.slice | language_slice):
        parts = cast(language_slice, item)  # Python's have the same three
        return slice(unwrap(parts.start), unwrap(parts.stop), unwrap(parts.step))
    if isinstance(item, tensor):
        if item.type.is_block() or not item.dtype.is_int() or item.dtype.is_bool():
            raise _with_note(
                TypeError(f"{value} is indexed with integers and slices, not with {item}"),
                "pick elements by a block of indices with tl.gather, by a mask with tl.where",
            )
        return item
    if isinstance(item, bool) or not isinstance(item, Integral):
        raise _with_note(
            TypeError(f"unsupported tensor index: {item}"), "an index is an integer, a slice, None or ... for each axis"
        )
    return int(item)


def _is_full(item: Item) -> bool:
    return isinstance(item, slice) and all(part is None for part in (item.start, item.stop, item.step))


def _completed(items: list[Item], shape: Sequence[int]) -> list[Item]:
    """The items with ``:`` for the axes that ``...``, or the end, leaves out."""
    open_ends = [place for place, item in enumerate(items) if item is Ellipsis]
    if len(open_ends) > 1:
        raise IndexError("an index can only have a single ellipsis ('...')")
    named = sum(item is not None and item is not Ellipsis for item in items)
    if named > len(shape):
        raise IndexError(f"unsupported tensor index: the block has {len(shape)} axes, and {named} were indexed")
    place = open_ends[0] if open_ends else len(items)
    return [*items[:place], *[slice(None)] * (len(shape) - named), *items[place + 1 :]]


def _text(item: builtins.slice) -> str:
    parts = ["" if part is None else str(part) for part in (item.start, item.stop, item.step)]
    return ":".join(parts if parts[2] else parts[:2])


def _with_note(error: Exception, note: str) -> Exception:
    error.add_note(note)
    return error
