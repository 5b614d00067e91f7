"""Copies of blocks of arrays by the copy engine (TMA), and the descriptors that it finds them by."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from xdsl.dialects.builtin import UnitAttr
from xdsl.ir import SSAValue

from tritonx.dialects.nvidia.copy import (
    AsyncTMACopyGlobalToLocalOp,
    AsyncTMACopyLocalToGlobalOp,
    AsyncTMAGatherOp,
    AsyncTMAReduceOp,
    AsyncTMAScatterOp,
    TMAStoreWaitOp,
)
from tritonx.dialects.tile import MakeTensorDescOp
from tritonx.dialects.tile.enums import DescriptorReduceKind, PaddingOption
from tritonx.experimental.gluon.language.nvidia.hopper.tma import tensor_descriptor, tensor_descriptor_type
from tritonx.experimental.gluon.semantics.nvidia.barriers import BarrierSemantics, number
from tritonx.experimental.gluon.semantics.nvidia.types import block_descriptor
from tritonx.experimental.gluon.values import shared_memory_descriptor
from tritonx.frontend.semantics.base import enum_attribute
from tritonx.ir.declaration import SEGMENTS, sizes_of_segments
from tritonx.language.types.dtypes import block_type, int32, int64, pointer_type
from tritonx.language.values.constexpr import unwrap
from tritonx.language.values.tensor import tensor
from tritonx.language.values.tuples import tuple as language_tuple


class BlockCopySemantics(BarrierSemantics):
    def _coordinates(self, desc: Any, coord: Any) -> list[Any]:
        given = [self.integer_scalar(each, int32).handle for each in coord]
        if len(given) != len(desc.block_shape):
            raise ValueError(f"a block of {[*desc.block_shape]} needs {len(desc.block_shape)} coordinates")
        return given

    def block_load(
        self,
        desc: Any,
        coord: Any,
        barrier: shared_memory_descriptor,
        memory: shared_memory_descriptor,
        pred: Any,
        multicast: Any,
        policy: Any,
    ) -> None:
        """Copy the block at ``coord`` to shared memory; its bytes arrive at ``barrier``."""
        if multicast:
            raise ValueError("multicast copies are not supported: each block of a cluster copies its own")
        operands = [desc.handle, *self._coordinates(desc, coord)]
        operands += [barrier.handle, memory.handle, self.predicate(pred).handle]
        with self.cached(policy, None, None):
            self.builder.create(AsyncTMACopyGlobalToLocalOp, operands)
            self.mark_policy()

    def block_store(self, desc: Any, coord: Any, memory: shared_memory_descriptor, policy: Any) -> None:
        operands = [desc.handle, *self._coordinates(desc, coord), memory.handle]
        with self.cached(policy, None, None):
            self.builder.create(AsyncTMACopyLocalToGlobalOp, operands)
            self.mark_policy()

    def block_reduce(self, kind: str, desc: Any, coord: Any, memory: shared_memory_descriptor) -> None:
        """Combine the block at ``coord`` with shared memory; ``kind`` is a name of `DescriptorReduceKind`."""
        operands = [desc.handle, *self._coordinates(desc, coord), memory.handle]
        self.builder.create(AsyncTMAReduceOp, operands, (), {"kind": enum_attribute(DescriptorReduceKind[kind])})

    def rows_load(
        self,
        desc: tensor_descriptor,
        rows: object,
        column: object,
        barrier: shared_memory_descriptor,
        memory: shared_memory_descriptor,
        pred: object,
        multicast: object,
        policy: object,
    ) -> None:
        """Copy rows by their numbers to shared memory; their bytes arrive at ``barrier``."""
        if multicast:
            raise ValueError("multicast copies are not supported: each block of a cluster copies its own")
        operands = [desc.handle, _row_numbers(rows), self.integer_scalar(column, int32).handle]
        operands += [barrier.handle, memory.handle, self.predicate(pred).handle]
        with self.cached(policy, None, None):
            self.builder.create(AsyncTMAGatherOp, operands)
            self.mark_policy()

    def rows_store(
        self, desc: tensor_descriptor, rows: object, column: object, memory: shared_memory_descriptor, policy: object
    ) -> None:
        """Copy shared memory to rows by their numbers."""
        operands = [desc.handle, _row_numbers(rows), self.integer_scalar(column, int32).handle, memory.handle]
        with self.cached(policy, None, None):
            self.builder.create(AsyncTMAScatterOp, operands)
            self.mark_policy()

    def wait_for_stores(self, pendings: Any, read_only: bool) -> None:
        """Wait until at most ``pendings`` stores are under way, or only read no longer."""
        properties: dict[str, Any] = {"pendings": number(pendings, "pendings")}
        if read_only:
            properties["read_only"] = UnitAttr()
        self.builder.create(TMAStoreWaitOp, (), (), properties)

    def make_block_descriptor(
        self,
        base: Any,
        shape: Sequence[Any],
        strides: Sequence[Any],
        block_shape: Sequence[Any],
        layout: Any,
        padding: Any,
    ) -> Any:
        """A descriptor of an array that the kernel makes. Raises ValueError for what the copy engine cannot copy."""
        rank = len(shape)
        if not 1 <= rank <= 5:
            raise ValueError(f"Expected 1 <= ndim <= 5 but got {rank} dimensions")
        if len(strides) != rank:
            raise ValueError(f"Expected {rank} strides but got {len(strides)}")
        if len(block_shape) != rank:
            raise ValueError(f"Expected block_shape to have {rank} dimensions but got {len(block_shape)}")
        if not isinstance(getattr(base, "type", None), pointer_type):
            raise ValueError(f"expected a pointer but got {base}")
        element = base.type.element_ty
        block = [unwrap(extent) for extent in block_shape]
        size = element.primitive_bitwidth // 8
        if block[-1] * size < 16:
            raise ValueError(
                "Descriptor block shape must have at least 16 bytes in the last dimension, but got "
                f"{block[-1]} * {size} = {block[-1] * size} bytes"
            )
        if unwrap(strides[-1]) != 1:
            raise ValueError(f"Tensor descriptor last dim must be 1 but got {unwrap(strides[-1])}")
        pads = {"zero": PaddingOption.PAD_ZERO, "nan": PaddingOption.PAD_NAN}
        if padding not in pads:
            raise ValueError(f"Padding option {padding} not supported")
        if padding == "nan" and element.is_int():
            raise ValueError("Padding option `nan` is not supported for integer blocks")
        extents = language_tuple([self.integer_scalar(each, int32) for each in shape])
        steps = language_tuple([self.integer_scalar(each, int64) for each in strides])
        type_ = tensor_descriptor_type(block_type(element, block), extents.type, steps.type, layout)
        operands = [base.handle, *extents.handles(), *steps.handles()]
        properties = {
            "padding": enum_attribute(pads[padding]),
            SEGMENTS: sizes_of_segments((1, rank, rank)),
        }
        made = self.builder.create(MakeTensorDescOp, operands, [block_descriptor(type_)], properties)
        return tensor_descriptor(made.results[0], extents, steps, type_.block_type, type_.layout)


def _row_numbers(rows: object) -> SSAValue:
    """ValueError for what is no block of numbers."""
    if not isinstance(rows, tensor) or len(rows.type.shape) != 1 or rows.dtype != int32:
        raise ValueError(f"expected 'x_offsets' to be a one-dimensional block of int32 but got {rows}")
    return rows.handle
