"""Tensor memory: tiles that are allocated, loaded, stored and looked at in other ways."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import IntegerAttr
from xdsl.dialects.builtin import i32 as i32_attr

from tritonx.dialects.gpu_layout import MemDescIndexOp, MemDescReinterpretOp
from tritonx.dialects.nvidia import TMEMAllocOp, TMEMCopyOp, TMEMLoadOp, TMEMStoreOp, TMEMSubsliceOp
from tritonx.experimental.gluon.language.nvidia.blackwell.tensor_memory import (
    tensor_memory_descriptor,
    tensor_memory_descriptor_type,
)
from tritonx.experimental.gluon.layouts import DistributedLayout, DistributedLinearLayout
from tritonx.experimental.gluon.semantics.nvidia.barriers import BarrierSemantics
from tritonx.experimental.gluon.semantics.nvidia.tensor_memory_tiles import registers_in, tensor_memory_tile
from tritonx.experimental.gluon.values import distributed_type, shared_memory_descriptor
from tritonx.frontend.semantics.types import OTHER_TYPES, ir_type
from tritonx.language.types.dtypes import dtype, int32
from tritonx.language.values.tensor import tensor

OTHER_TYPES[tensor_memory_descriptor_type] = tensor_memory_tile


class TensorMemorySemantics(BarrierSemantics):
    def allocate_tensor_memory(
        self, element_ty: object, shape: Sequence[int], layout: object, value: object
    ) -> tensor_memory_descriptor:
        """Memory for a tile, or for several, which holds ``value`` if there is one."""
        if not isinstance(element_ty, dtype):
            raise ValueError(f"expected 'element_ty' to be a dtype but got {element_ty}")
        if len(shape) not in (2, 3):
            raise ValueError(f"tensor memory holds tiles of two dimensions, or several of them, got {[*shape]}")
        type_ = tensor_memory_descriptor_type(element_ty, shape, layout, shape)
        given = () if value is None else (_checked(type_, value).handle,)
        made = self.builder.create(TMEMAllocOp, given, [tensor_memory_tile(type_)])
        return tensor_memory_descriptor(made.results[0], element_ty, shape, layout, shape)

    def memory_registers(
        self, type_: tensor_memory_descriptor_type, warps: object, variant: object
    ) -> DistributedLinearLayout:
        """The layout in registers by which ``warps`` warps load and store a tile, those that are here for None."""
        return registers_in(type_, self.warps if warps is None else warps, variant)

    def tensor_memory_load(self, memory: tensor_memory_descriptor, layout: object) -> tensor:
        if layout is None:
            layout = self.memory_registers(memory.type, None, "32x32b")
        if not isinstance(layout, DistributedLayout):
            raise ValueError(f"expected 'layout' to be a DistributedLayout but got {layout}")
        type_ = distributed_type(memory.dtype, memory.shape, layout)
        return tensor(self.builder.create(TMEMLoadOp, [memory.handle], [ir_type(type_)]).results[0], type_)

    def tensor_memory_store(self, memory: tensor_memory_descriptor, value: object, pred: object) -> None:
        stored = _checked(memory.type, value)
        self.builder.create(TMEMStoreOp, [memory.handle, stored.handle, self.predicate(pred).handle])

    # Views.

    def tensor_memory_slice(
        self, memory: tensor_memory_descriptor, start: object, length: object, dim: object
    ) -> tensor_memory_descriptor:
        if not isinstance(start, int) or not isinstance(length, int) or not isinstance(dim, int):
            raise ValueError(f"start, length and dim must be constant ints, got {start}, {length} and {dim}")
        if not 0 <= dim < memory.rank:
            raise ValueError(f"invalid slice dimension {dim}")
        if memory.rank != 2 or dim != 1:
            raise ValueError("a slice of tensor memory is one of the columns (dim=1) of a tile of two dimensions")
        if start < 0 or length < 1 or start + length > memory.shape[1]:
            raise ValueError(f"columns {start} to {start + length} are outside of {memory.shape}")
        shape, properties = [memory.shape[0], length], {"N": IntegerAttr(start, i32_attr)}
        type_ = tensor_memory_descriptor_type(memory.dtype, shape, memory.layout, memory.type.alloc_shape)
        made = self.builder.create(TMEMSubsliceOp, [memory.handle], [tensor_memory_tile(type_)], properties)
        return tensor_memory_descriptor(made.results[0], memory.dtype, shape, memory.layout, type_.alloc_shape)

    def tensor_memory_index(self, memory: tensor_memory_descriptor, index: object) -> tensor_memory_descriptor:
        if memory.rank != 3:
            raise ValueError(f"index takes one of several tiles of tensor memory, got {memory.shape}")
        number, shape = self.integer_scalar(index, int32), memory.shape[1:]
        type_ = tensor_memory_descriptor_type(memory.dtype, shape, memory.layout, shape)
        made = self.builder.create(MemDescIndexOp, [memory.handle, number.handle], [tensor_memory_tile(type_)])
        return tensor_memory_descriptor(made.results[0], memory.dtype, shape, memory.layout, shape)

    def tensor_memory_reinterpreted(
        self, memory: tensor_memory_descriptor, element_ty: object, shape: Sequence[int], layout: object
    ) -> tensor_memory_descriptor:
        if not isinstance(element_ty, dtype):
            raise ValueError(f"expected 'dtype' to be a dtype but got {element_ty}")
        type_ = tensor_memory_descriptor_type(element_ty, shape, layout, shape)
        made = self.builder.create(MemDescReinterpretOp, [memory.handle], [tensor_memory_tile(type_)])
        return tensor_memory_descriptor(made.results[0], element_ty, shape, layout, shape)

    def copy_to_tensor_memory(self, source: object, target: object) -> None:
        if not isinstance(source, shared_memory_descriptor) or not isinstance(target, tensor_memory_descriptor):
            raise TypeError(f"a copy is from shared memory to tensor memory, got {source} and {target}")
        self.builder.create(TMEMCopyOp, [source.handle, target.handle])


def _checked(type_: tensor_memory_descriptor_type, value: object) -> tensor:
    """ValueError for a block that the tile does not hold."""
    if not isinstance(value, tensor):
        raise ValueError(f"expected 'value' to be a tensor, but got a {type(value)}")
    if [*value.type.shape] != type_.shape:
        raise ValueError(f"source shape {[*value.type.shape]} does not match destination shape {type_.shape}")
    if value.dtype != type_.element_ty:
        raise ValueError(f"source dtype {value.dtype} does not match destination dtype {type_.element_ty}")
    return value
