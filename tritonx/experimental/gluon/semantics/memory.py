"""Shared memory: tiles that are allocated, loaded, stored and looked at in other ways; changes of layout."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

from xdsl.dialects.builtin import DenseArrayBase
from xdsl.dialects.builtin import i32 as i32_attr

from tritonx.dialects.gpu_layout import (
    ConvertLayoutOp,
    LocalAllocOp,
    LocalDeallocOp,
    LocalLoadOp,
    LocalStoreOp,
    MemDescIndexOp,
    MemDescReinterpretOp,
    MemDescReshapeOp,
    MemDescSubsliceOp,
    MemDescTransOp,
)
from tritonx.dialects.gpu_layout.lookup import LocalGatherOp, LocalScatterOp
from tritonx.experimental.gluon.layouts import DistributedLayout, SharedLayout, layout_of
from tritonx.experimental.gluon.semantics.base import OPEN, LayoutSemantics
from tritonx.experimental.gluon.semantics.types import memory_tile
from tritonx.experimental.gluon.values import (
    distributed_type,
    layout_of_block,
    shared_memory_descriptor,
    shared_memory_descriptor_type,
)
from tritonx.frontend.semantics import ir_type
from tritonx.frontend.semantics.base import enum_attribute
from tritonx.language.types.dtypes import dtype, int32
from tritonx.language.values.tensor import tensor
from tritonx.layouts import equivalent
from tritonx.layouts.memory_views import permuted_memory, reshaped_memory


class SharedMemorySemantics(LayoutSemantics):
    def convert_layout(self, value: tensor, layout: object, assert_trivial: bool = False) -> tensor:
        """``value`` in another layout. Raises TypeError with ``assert_trivial`` where data would move."""
        source = layout_of_block(value)
        if not isinstance(layout, DistributedLayout):
            raise ValueError(f"expected 'layout' to be a DistributedLayout but got {layout}")
        type_ = distributed_type(value.dtype, value.type.shape, layout)
        if assert_trivial and not _alike(source, layout, value.type.shape):
            raise TypeError(f"layout conversion from {source} to {layout} is not trivial.")
        if source == layout:
            return value
        return self.emit(ConvertLayoutOp, [value], type_)

    # Tiles.

    def allocate_shared(
        self, element_ty: Any, shape: Sequence[Any], layout: Any, value: tensor | None
    ) -> shared_memory_descriptor:
        """Memory for a tile, which holds ``value`` if there is one."""
        if not isinstance(element_ty, dtype):
            raise ValueError(f"expected 'element_ty' to be a dtype but got {element_ty}")
        if not all(isinstance(extent, int) for extent in shape):
            raise ValueError(f"all elements of 'shape' must be integers but got {shape}")
        if not isinstance(layout, SharedLayout):
            raise ValueError(f"expected 'layout' to be a SharedLayout but got {layout}")
        type_ = shared_memory_descriptor_type(element_ty, shape, layout, shape)
        if value is not None:
            _check_tile(type_, value)
        given = [] if value is None else [value.handle]
        made = self.builder.create(LocalAllocOp, given, [memory_tile(type_)])
        return shared_memory_descriptor(made.results[0], element_ty, shape, layout, shape)

    def shared_load(self, memory: shared_memory_descriptor, layout: Any) -> tensor:
        if not isinstance(layout, DistributedLayout):
            raise ValueError(f"expected 'layout' to be a DistributedLayout but got {layout}")
        type_ = distributed_type(memory.dtype, memory.shape, layout)
        return tensor(self.builder.create(LocalLoadOp, [memory.handle], [ir_type(type_)]).results[0], type_)

    def shared_store(self, memory: shared_memory_descriptor, value: Any) -> None:
        if not isinstance(value, tensor):
            raise ValueError(f"expected 'value' to be a tensor, but got a {type(value)}")
        _check_tile(memory.type, value)
        self.builder.create(LocalStoreOp, [value.handle, memory.handle])

    def shared_gather(self, memory: shared_memory_descriptor, indices: Any, axis: Any) -> tensor:
        axis = _checked_axis(memory, indices, axis)
        type_ = distributed_type(memory.dtype, indices.type.shape, layout_of_block(indices))
        properties = {"axis": enum_attribute(axis)}
        handles = [memory.handle, indices.handle]
        return tensor(self.builder.create(LocalGatherOp, handles, [ir_type(type_)], properties).results[0], type_)

    def shared_scatter(self, memory: shared_memory_descriptor, values: Any, indices: Any, axis: Any) -> None:
        axis = _checked_axis(memory, indices, axis)
        if not isinstance(values, tensor) or values.dtype != memory.dtype:
            raise ValueError(f"values must be a tensor of {memory.dtype}, got {values}")
        values, indices = self.broadcast(values, indices)
        handles = [memory.handle, values.handle, indices.handle]
        self.builder.create(LocalScatterOp, handles, (), {"axis": enum_attribute(axis)})

    def shared_release(self, memory: shared_memory_descriptor) -> None:
        """The end of what is needed of the memory."""
        self.builder.create(LocalDeallocOp, [memory.handle])

    # Views.

    def memory_slice(
        self, memory: shared_memory_descriptor, start: Any, length: Any, dim: Any
    ) -> shared_memory_descriptor:
        for name, value in (("start", start), ("length", length), ("dim", dim)):
            if not isinstance(value, int):
                raise ValueError(f"expected '{name}' to be an int but got {value}")
        offsets, shape = [0] * memory.rank, list(memory.shape)
        offsets[dim], shape[dim] = start, length
        properties = {"offsets": DenseArrayBase.from_list(i32_attr, offsets)}
        type_ = shared_memory_descriptor_type(memory.dtype, shape, memory.layout, memory.type.alloc_shape)
        made = self.builder.create(MemDescSubsliceOp, [memory.handle], [memory_tile(type_)], properties)
        return shared_memory_descriptor(made.results[0], memory.dtype, shape, memory.layout, memory.type.alloc_shape)

    def memory_index(self, memory: shared_memory_descriptor, index: object) -> shared_memory_descriptor:
        number = self.to_tensor(index)
        if number.type != int32:
            raise ValueError(f"expected 'index' to be int32 but got {number.type}")
        shape = memory.shape[1:]
        return self._view(MemDescIndexOp, memory, shape, memory.layout, shape, operands=[number.handle])

    def memory_permuted(self, memory: shared_memory_descriptor, order: Sequence[Any]) -> shared_memory_descriptor:
        if not all(isinstance(axis, int) for axis in order):
            raise ValueError(f"all elements of 'order' must be integers but got {order}")
        if sorted(order) != [*range(memory.rank)]:
            raise ValueError(f"'order' {[*order]} is no permutation of the {memory.rank} dimensions")
        whole = memory.type.alloc_shape
        outer, inner = whole[: len(whole) - memory.rank], whole[len(whole) - memory.rank :]
        layout = layout_of(permuted_memory(memory.layout.encoding(), order, tuple(memory.shape)))
        assert isinstance(layout, SharedLayout)
        properties = {"order": DenseArrayBase.from_list(i32_attr, list(order))}
        axes: list[int] = [*order]
        shape, whole = [memory.shape[axis] for axis in axes], [*outer, *(inner[axis] for axis in axes)]
        return self._view(MemDescTransOp, memory, shape, layout, whole, properties)

    def memory_reshaped(self, memory: shared_memory_descriptor, shape: Sequence[Any]) -> shared_memory_descriptor:
        if not all(isinstance(extent, int) for extent in shape):
            raise ValueError(f"all elements of 'shape' must be integers but got {shape}")
        if prod(shape) != memory.numel:
            raise ValueError(f"memdesc_reshape total elements mismatch: {memory.shape} -> {[*shape]}")
        whole = memory.type.alloc_shape
        layout = layout_of(reshaped_memory(memory.layout.encoding(), tuple(memory.shape), tuple(shape)))
        assert isinstance(layout, SharedLayout)
        return self._view(MemDescReshapeOp, memory, shape, layout, [*whole[: len(whole) - memory.rank], *shape])

    def memory_reinterpreted(
        self, memory: shared_memory_descriptor, element_ty: Any, shape: Sequence[Any], layout: Any
    ) -> shared_memory_descriptor:
        if not isinstance(element_ty, dtype):
            raise ValueError(f"expected 'dtype' to be a dtype but got {element_ty}")
        if not isinstance(layout, SharedLayout):
            raise ValueError(f"expected 'layout' to be a SharedLayout but got {layout}")
        return self._view(MemDescReinterpretOp, memory, shape, layout, shape, element_ty=element_ty)

    def _view(
        self,
        op: Any,
        memory: shared_memory_descriptor,
        shape: Sequence[int],
        layout: SharedLayout,
        alloc_shape: Sequence[int],
        properties: Any = None,
        operands: Sequence[Any] = (),
        element_ty: dtype | None = None,
    ) -> shared_memory_descriptor:
        element = memory.dtype if element_ty is None else element_ty
        type_ = shared_memory_descriptor_type(element, shape, layout, alloc_shape)
        made = self.builder.create(op, [memory.handle, *operands], [memory_tile(type_)], properties)
        return shared_memory_descriptor(made.results[0], element, shape, layout, alloc_shape)


def _alike(a: DistributedLayout, b: DistributedLayout, shape: tuple[int, ...]) -> bool:
    """Whether two layouts place every element alike; of one that is open that is not known."""
    return a == b or (
        not isinstance(a, OPEN) and not isinstance(b, OPEN) and equivalent(a.encoding(), b.encoding(), shape)
    )


def _check_tile(memory: shared_memory_descriptor_type, value: tensor) -> None:
    """ValueError for a block that the tile does not hold."""
    if list(value.type.shape) != memory.shape:
        raise ValueError(f"source shape {[*value.type.shape]} and destination shape {memory.shape} must match")
    if value.dtype != memory.element_ty:
        raise ValueError(f"source dtype {value.dtype} and destination dtype {memory.element_ty} must match")


def _checked_axis(memory: shared_memory_descriptor, indices: Any, axis: Any) -> int:
    if not isinstance(indices, tensor):
        raise ValueError(f"expected 'indices' to be a tensor, but got a {type(indices)}")
    if not isinstance(axis, int):
        raise ValueError(f"expected 'axis' to be an int, but got a {type(axis)}")
    if len(indices.type.shape) != memory.rank:
        raise ValueError(f"indices rank must match memdesc rank: got {len(indices.type.shape)} and {memory.rank}")
    if not 0 <= axis < memory.rank:
        raise ValueError(f"axis {axis} is out of bounds for memdesc rank {memory.rank}")
    if not indices.dtype.is_int():
        raise ValueError(f"indices must have integer dtype, got {indices.dtype}")
    return axis
