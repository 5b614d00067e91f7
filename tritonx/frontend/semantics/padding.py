"""Blocks whose extents are not powers of two, as those that the IR has.

The language knows a block's *extents*, the IR its *storage* (``tritonx.frontend.semantics.storage``). An op to which
the padding between the two matters is given storage, that is, a block of the language with storage's extents: with
whatever lies there (``whole``), or something that the op needs (``filled``, ``copied``), or beside a mask (``inside``).
What comes out is a block of storage's extents again, of which ``cropped`` keeps those that mean something. Each is the
value itself, and no op, for a block that has no padding.
"""

from __future__ import annotations

from collections.abc import Sequence

from tritonx.dialects import arith
from tritonx.dialects.tile import MakeRangeOp
from tritonx.frontend.semantics.base import LESS_THAN, SemanticsBase, enum_attribute
from tritonx.language.types.block_shapes import storage_shape
from tritonx.language.types.dtypes import block_type, dtype, int1, int32
from tritonx.language.values.tensor import tensor


class PaddingSemantics(SemanticsBase):
    def whole(self, value: tensor) -> tensor:
        """A block's storage, whatever lies in the padding."""
        return tensor(value.handle, block_type(value.dtype, value.type.storage)) if value.type.padded else value

    def cropped(self, value: tensor, shape: Sequence[int]) -> tensor:
        """The block of ``shape`` whose storage is ``value``."""
        extents = tuple(shape)
        if not value.type.is_block() or value.type.shape == extents:
            return value
        if storage_shape(extents) != value.type.shape:
            raise AssertionError(f"{value} is not the storage of a block of {extents}")
        return tensor(value.handle, block_type(value.dtype, extents))

    def inside(self, shape: Sequence[int], axes: Sequence[int] | None = None) -> tensor | None:
        """int1 of storage's shape: which elements are of the block, and not in the padding of ``axes`` (of all, for
        None). None where these have no padding."""
        storage, mask = storage_shape(shape), None
        for axis, (extent, stored) in enumerate(zip(shape, storage, strict=True)):
            if extent == stored or (axes is not None and axis not in axes):
                continue
            row = self.along(self.row(0, stored), axis, len(storage))
            limit = self.constant(extent, row.type)
            here = self.emit(arith.CmpiOp, (row, limit), row.type.with_element_ty(int1), {"predicate": LESS_THAN})
            here = self.broadcast_to(here, storage)
            mask = here if mask is None else self.emit(arith.AndIOp, (mask, here), mask.type)
        return mask

    def row(self, start: int, end: int) -> tensor:
        """int32 ``start .. end - 1``, a power of two of them."""
        return self.row_of(block_type(int32, (end - start,)), start)

    def row_of(self, type_: dtype, start: int) -> tensor:
        """The block of a type without padding that counts from ``start`` on."""
        properties = {"start": enum_attribute(start), "end": enum_attribute(start + type_.shape[0])}
        return self.emit(MakeRangeOp, (), type_, properties)

    def along(self, row: tensor, axis: int, rank: int) -> tensor:
        """A 1-D block as ``axis`` of one of this rank, all other axes of which have the extent 1."""
        for other in range(rank):
            row = row if other == axis else self.expand_dims(row, other)
        return row

    def masked(self, shape: Sequence[int], mask: tensor | None) -> tensor | None:
        """The mask of an access to a block of ``shape``: the user's, and the padding's."""
        inside = self.inside(shape)
        if mask is None or inside is None:
            return inside if mask is None else mask
        mask = self.whole(self.broadcast_to(mask, shape))
        return self.emit(arith.AndIOp, (inside, mask), mask.type)

    def filled(self, value: tensor, fill: float, axes: Sequence[int] | None = None) -> tensor:
        """Storage with a number in the padding of ``axes`` (of all, for None); other padding is what it was."""
        inside = self.inside(value.type.shape, axes)
        if inside is None:
            return self.whole(value)
        return self._chosen(inside, value, self.scalar_constant(fill, value.dtype))

    def copied(self, value: tensor) -> tensor:
        """Storage with the block's first element in all of the padding."""
        inside = self.inside(value.type.shape)
        if inside is None:
            return value
        return self._chosen(inside, value, self.index(value, (0,) * len(value.type.shape)))

    def _chosen(self, inside: tensor, value: tensor, other: tensor) -> tensor:
        """Storage of ``value`` where ``inside`` is true, otherwise a scalar."""
        stored = self.whole(value)
        return self.emit(arith.SelectOp, (inside, stored, self.splat(other, stored.type.shape)), stored.type)
