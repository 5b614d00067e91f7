"""Copies to shared memory past the registers."""

from __future__ import annotations

from xdsl.dialects.builtin import BoolAttr

from tritonx.dialects.amd import BufferLoadToLocalOp
from tritonx.dialects.gpu_layout import LocalLoadOp
from tritonx.dialects.gpu_layout.asynchronous import AsyncCopyGlobalToLocalOp
from tritonx.dialects.gpu_layout.types import ASYNC_TOKEN
from tritonx.experimental.gluon.layouts import DistributedLayout
from tritonx.experimental.gluon.semantics.amd.buffers import LOADED, BufferSemantics, cache_attribute
from tritonx.experimental.gluon.values import distributed_type, shared_memory_descriptor
from tritonx.frontend.semantics import ir_type
from tritonx.frontend.semantics.memory import access_properties
from tritonx.ir.declaration import SEGMENTS, sizes_of_segments
from tritonx.language.types.dtypes import int1
from tritonx.language.values.tensor import tensor

WAITED_FOR = "ttg.amdg.syncedViaAsyncWait"
"""The attribute of a load from shared memory of what has been waited for."""


class DirectCopySemantics(BufferSemantics):
    def copy_by_pointers(
        self, memory: shared_memory_descriptor, pointer: object, mask: object, other: object, cache: object
    ) -> None:
        """Copy what a block of pointers points to; ``other``, or zeros, where ``mask`` is false."""
        if not (isinstance(pointer, tensor) and pointer.dtype.is_ptr() and pointer.type.is_block()):
            raise ValueError(f"expected a block of pointers but got {pointer}")
        _check_shape(memory, pointer, "pointers")
        if other is not None and mask is None:
            raise ValueError("`other` cannot be provided without `mask`")
        shape, given = pointer.type.shape, list[tensor]()
        if mask is not None:
            pointer, inside = self.broadcast(pointer, self.cast(self.to_tensor(mask), int1))
            given.append(inside)
        if other is not None:
            pointer, instead = self.broadcast(pointer, self.cast(self.to_tensor(other), memory.dtype))
            given.append(instead)
        if pointer.type.shape != shape:
            raise ValueError(f"pointers have the shape {[*shape]}, but the mask or other {[*pointer.type.shape]}")
        operands = [pointer.handle, memory.handle, *(each.handle for each in given)]
        properties = {
            **access_properties(cache, None, LOADED),
            SEGMENTS: sizes_of_segments((1, 1, int(mask is not None), int(other is not None))),
        }
        self.builder.create(AsyncCopyGlobalToLocalOp, operands, [ASYNC_TOKEN], properties)

    def copy_by_offsets(
        self,
        memory: shared_memory_descriptor,
        ptr: object,
        offsets: object,
        mask: object,
        other: object,
        cache: object,
    ) -> None:
        """Copy what is ``offsets`` behind a scalar pointer."""
        base, places, inside, instead = self.buffer_operands(ptr, offsets, mask, other)
        _check_shape(memory, places, "offsets")
        given = [each for each in (inside, instead) if each is not None]
        operands = [memory.handle, *(each.handle for each in (base, places, *given))]
        properties = {
            "cache": cache_attribute(cache, LOADED),
            SEGMENTS: sizes_of_segments((1, 1, 1, int(inside is not None), int(instead is not None), 0)),
        }
        self.builder.create(BufferLoadToLocalOp, operands, [ASYNC_TOKEN], properties)

    def load_waited_for(self, memory: shared_memory_descriptor, layout: object) -> tensor:
        if not isinstance(layout, DistributedLayout):
            raise ValueError(f"expected 'layout' to be a DistributedLayout but got {layout}")
        type_ = distributed_type(memory.dtype, memory.shape, layout)
        marks = {WAITED_FOR: BoolAttr.from_bool(True)}
        made = self.builder.create(LocalLoadOp, [memory.handle], [ir_type(type_)], attributes=marks)
        return tensor(made.results[0], type_)


def _check_shape(memory: shared_memory_descriptor, places: tensor, what: str) -> None:
    if [*places.type.shape] != memory.shape:
        raise ValueError(f"a tile of {memory.shape} does not hold a copy by {what} of the shape {[*places.type.shape]}")
