"""Loads and stores: through a pointer, a block of pointers, or a block pointer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from xdsl.dialects.builtin import BoolAttr
from xdsl.ir import Attribute

from tritonx import level
from tritonx.dialects.tile import CacheModifier, EvictionPolicy, LoadOp, StoreOp
from tritonx.frontend.semantics.base import enum_attribute
from tritonx.frontend.semantics.casts import CastSemantics
from tritonx.frontend.semantics.shape import ShapeSemantics
from tritonx.language.types.dtypes import block_type, dtype, int1, int8, int32, int64, pointer_type
from tritonx.language.values.constexpr import unwrap
from tritonx.language.values.descriptors import block_pointer
from tritonx.language.values.tensor import tensor
from tritonx.language.values.tuples import tuple as language_tuple

_LOAD_CACHE = {"": "NONE", ".ca": "CA", ".cg": "CG", ".cs": "CS", ".cv": "CV"}
_STORE_CACHE = {"": "NONE", ".wb": "WB", ".cg": "CG", ".cs": "CS", ".wt": "WT"}
_EVICTION = {"": "NORMAL", "evict_first": "EVICT_FIRST", "evict_last": "EVICT_LAST"}
_PADDING = ("", "zero", "nan")
_TRUE = BoolAttr.from_bool(True)

_NO_BLOCK_POINTER = (
    "{} argument is not supported for {} a tensor of pointers or {} a scalar. Because the compiler does not know "
    "the boundary; please use block pointers (defined by `make_block_ptr`) instead"
)


class MemorySemantics(CastSemantics, ShapeSemantics):
    def load(
        self,
        pointer: object,
        mask: object,
        other: object,
        boundary_check: Sequence[object],
        padding: object,
        cache_modifier: object,
        eviction_policy: object,
        volatile: object,
    ) -> tensor:
        """What ``pointer`` points to; lanes whose mask is false do not read, and give ``other`` (or anything without
        it).
        """
        padding = unwrap(padding) or ""
        if padding not in _PADDING:
            raise ValueError(f"Padding option {padding} not supported")
        properties = access_properties(cache_modifier, eviction_policy, _LOAD_CACHE)
        if unwrap(volatile):
            properties["isVolatile"] = _TRUE
        mask, other = self._optional(mask), self._fill(other, pointer)
        if isinstance(pointer, block_pointer):
            if mask is not None or other is not None:
                raise ValueError("`mask` and `other` arguments cannot be specified for loading block pointers")
            pointer, mask, other = self._window(pointer, boundary_check, padding)
        elif not (isinstance(pointer, tensor) and pointer.dtype.is_ptr()):
            raise ValueError(f"Unsupported ptr type {getattr(pointer, 'type', pointer)!r} in `tl.load`")
        else:
            if mask is None and other is not None:
                raise ValueError("`other` cannot be provided without `mask`")
            if padding or len(boundary_check) > 0:
                text = _NO_BLOCK_POINTER.format("`padding_option` or `boundary_check`", "loading", "loading")
                raise ValueError(text)
            if not pointer.type.is_block():
                _scalar_only(mask, "Mask")
                _scalar_only(other, "Other")
        return self._load(pointer, mask, other, properties)

    def _load(
        self, pointer: tensor, mask: tensor | None, other: tensor | None, properties: dict[str, Attribute]
    ) -> tensor:
        if pointer.type.is_block():
            if mask is not None:
                pointer, mask = self.broadcast(pointer, mask)
            if other is not None:
                read, other = self.broadcast(pointer, other)
                _same_shape("Expected pointers and mask to have the shape of `other`", read, pointer)
        _check_mask(mask)
        extents, mask = pointer.type.shape, self.masked(pointer.type.shape, mask)
        pointer, element, is_bool = self._memory_pointer(self.whole(pointer))
        operands = [pointer]
        if mask is not None:
            operands.append(mask)
        if other is not None:
            operands.append(self.cast(self.whole(other), element))
        (stored,) = self.create(LoadOp, operands, (pointer.type.with_element_ty(element),), properties)
        loaded = self.cropped(stored, extents)
        return self.cast(loaded, int1) if is_bool else loaded

    def store(
        self,
        pointer: object,
        value: object,
        mask: object,
        boundary_check: Sequence[object],
        cache_modifier: object,
        eviction_policy: object,
    ) -> None:
        """Write ``value``, cast to the pointee type and broadcast to the pointers' shape, where the mask is true."""
        properties = access_properties(cache_modifier, eviction_policy, _STORE_CACHE)
        value = self.to_tensor(value)
        mask = self._optional(mask)
        if isinstance(pointer, block_pointer):
            if mask is not None:
                raise ValueError("`mask` and `other` arguments cannot be specified for loading block pointers")
            shape = pointer.type.block_type.shape
            if value.type.is_block() and value.type.shape != shape:
                raise ValueError(f"block shape {[*shape]} and value shape {[*value.type.shape]} mismatch")
            pointer, mask, _ = self._window(pointer, boundary_check, "")
        elif not (isinstance(pointer, tensor) and pointer.dtype.is_ptr()):
            raise ValueError(f"Unsupported ptr type {getattr(pointer, 'type', pointer)!r} in `tl.store`")
        elif len(boundary_check) > 0:
            raise ValueError(_NO_BLOCK_POINTER.format("`boundary_check`", "storing", "storing"))
        if pointer.dtype.is_const():
            raise ValueError("Cannot store to a constant pointer")
        if pointer.type.is_block():
            written, value = self.broadcast(pointer, value)
            if mask is not None:
                written, mask = self.broadcast(written, mask)
                written, value = self.broadcast(written, value)
            _same_shape("Expected pointer argument to have shape", written, pointer)
        else:
            _scalar_only(value, "Value")
            _scalar_only(mask, "Mask")
        _check_mask(mask)
        mask = self.masked(pointer.type.shape, mask)
        pointer, element, is_bool = self._memory_pointer(self.whole(pointer))
        value = self.whole(value)
        if is_bool and level.active().stores_truth:
            value = self.cast(value, int1)
        operands = [pointer, self.cast(value, element)]
        if mask is not None:
            operands.append(mask)
        self.create(StoreOp, operands, (), properties)

    def _optional(self, value: object) -> tensor | None:
        value = unwrap(value)
        return None if value is None else self.to_tensor(value)

    def _fill(self, other: object, pointer: object) -> tensor | None:
        """``other`` as a tensor; a literal zero at once in the element type, so that no conversion is left of it."""
        other = unwrap(other)
        if isinstance(other, int | float) and other == 0 and isinstance(pointer, tensor):
            element = getattr(pointer.dtype, "element_ty", None)
            if element is not None and element.is_floating() and not element.is_fp8e4b15():
                return self.constant(float(other), element)
        return self._optional(other)

    def _memory_pointer(self, pointer: tensor) -> tuple[tensor, dtype, bool]:
        """The pointer that is dereferenced, its element type, and whether that stands for int1, which is a byte in
        memory.
        """
        type_ = pointer.dtype
        assert isinstance(type_, pointer_type)
        self.check_supported(type_.element_ty)
        if not type_.element_ty.is_bool():
            return pointer, type_.element_ty, False
        return self.cast(pointer, pointer_type(int8, type_.address_space, type_.const)), int8, True

    # Block pointers.

    def make_block_ptr(
        self, base: tensor, shape: Any, strides: Any, offsets: Any, block_shape: Any, order: Any
    ) -> block_pointer:
        """A window of ``block_shape`` at ``offsets`` in the tensor at ``base`` with ``shape`` and ``strides`` (in
        elements).
        """
        if not isinstance(getattr(base, "type", None), pointer_type):
            raise ValueError("Expected `base` to be a pointer type (but not a block pointer type or others)")
        block = [unwrap(s) for s in block_shape]
        if not all(isinstance(s, int) for s in block):
            raise ValueError("Expected a list of constant integers (`int32_t` range) in `block_shape`")
        axes = [unwrap(o) for o in order]
        if sorted(axes) != [*range(len(axes))]:
            raise ValueError("Expected a permutation of (0, 1, ..., len(order)-1) in order")
        if not all(len(block) == len(listed) for listed in (shape, strides, offsets, axes)):
            raise ValueError("Expected shape/strides/offsets/block_shape to have the same length")
        return block_pointer(
            base,
            self._scalars(shape, int64),
            self._scalars(strides, int64),
            self._scalars(offsets, int32),
            block,
            axes,
        )

    def advance(self, pointer: block_pointer, offsets: object) -> block_pointer:
        """The window ``offsets`` elements further along each axis."""
        moves = self._scalars(offsets, int32)
        if len(moves) != len(pointer.offsets_):
            raise ValueError(f"expected {len(pointer.offsets_)} offsets, got {len(moves)}")
        moved = [self.add(old, move, False) for old, move in zip(pointer.offsets_, moves, strict=True)]
        return block_pointer(
            pointer.base,
            pointer.shape_,
            pointer.strides_,
            language_tuple(moved),
            pointer.type.block_type.shape,
            pointer.order,
        )

    def _scalars(self, values: Any, type_: dtype) -> language_tuple:
        return language_tuple([self.integer_scalar(value, type_) for value in values])

    def _window(
        self, window: block_pointer, boundary_check: Sequence[Any], padding: str
    ) -> tuple[tensor, tensor | None, tensor | None]:
        """The pointers of a window's elements, the mask of the checked axes, and what its false lanes give."""
        block: block_type = window.type.block_type
        checked = _checked_axes(boundary_check, len(block.shape))
        if padding == "nan" and block.element_ty.is_int():
            raise ValueError("Padding option `nan` is not supported for integer block pointers")
        pointer, mask = window.base, None
        for axis, extent in enumerate(block.shape):
            positions = self.add(
                self.cast(window.offsets_[axis], int64), self.cast(self.arange(0, extent), int64), False
            )
            for other_axis in range(len(block.shape)):
                if other_axis != axis:
                    positions = self.expand_dims(positions, other_axis)
            pointer = self.add(pointer, self.mul(positions, window.strides_[axis], False))
            if axis in checked:
                inside = self.and_(self.greater_equal(positions, 0), self.less_than(positions, window.shape_[axis]))
                mask = inside if mask is None else self.and_(mask, inside)
        pointer = self.broadcast_to(pointer, block.shape)
        if mask is None or padding == "":
            return pointer, None if mask is None else self.broadcast_to(mask, block.shape), None
        fill = self.scalar_constant(float("nan") if padding == "nan" else 0, block.element_ty)
        return pointer, self.broadcast_to(mask, block.shape), self.splat(fill, block.shape)


def access_properties(cache_modifier: object, eviction_policy: object, caches: dict[str, str]) -> dict[str, Attribute]:
    """The ``cache`` and ``evict`` properties for the words a user writes; ``ValueError`` for an unknown one."""
    cache, eviction = unwrap(cache_modifier) or "", unwrap(eviction_policy) or ""
    if cache not in caches:
        raise ValueError(f"Cache modifier {cache} not supported")
    if eviction not in _EVICTION:
        raise ValueError(f"Eviction policy {eviction} not supported")
    return {
        "cache": enum_attribute(CacheModifier[caches[cache]]),
        "evict": enum_attribute(EvictionPolicy[_EVICTION[eviction]]),
    }


def _same_shape(expected: str, common: tensor, pointer: tensor) -> None:
    """``ValueError`` where the pointers would have to be broadcast: one address would stand for several elements."""
    if common.type.shape != pointer.type.shape:
        error = ValueError(f"{expected} {[*common.type.shape]} but got {[*pointer.type.shape]}")
        error.add_note("pointers are not broadcast: reduce the block first (tl.sum), or give each element a pointer")
        raise error


def _scalar_only(value: tensor | None, what: str) -> None:
    if value is not None and value.type.is_block():
        raise ValueError(f"{what} argument cannot be block type if pointer argument is not a block")


def _check_mask(mask: tensor | None) -> None:
    if mask is not None and not mask.dtype.is_bool():
        raise ValueError("Mask must have boolean scalar type")


def _checked_axes(boundary_check: Any, rank: int) -> set[int]:
    boundary_check = unwrap(boundary_check)
    axes = [unwrap(a) for a in (boundary_check if hasattr(boundary_check, "__iter__") else [boundary_check])]
    for axis in axes:
        if not isinstance(axis, int) or not 0 <= axis < rank:
            raise ValueError(f"boundary_check names axis {axis} of a block of rank {rank}")
    if len(set(axes)) != len(axes):
        raise ValueError("Duplicate dimension in `boundary_check`")
    return set(axes)
