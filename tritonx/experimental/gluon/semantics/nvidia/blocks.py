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
from tritonx.dialects.tile.enums import DescriptorReduceKind
from tritonx.experimental.gluon.language.nvidia.hopper.tma import tensor_descriptor, tensor_descriptor_type
from tritonx.experimental.gluon.semantics.nvidia.barriers import BarrierSemantics, number
from tritonx.experimental.gluon.semantics.nvidia.types import block_descriptor
from tritonx.experimental.gluon.values import shared_memory_descriptor
from tritonx.frontend.semantics.base import enum_attribute
from tritonx.frontend.semantics.descriptor import described_block
from tritonx.language.types.dtypes import int32, int64
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
        block, padded = described_block(base, shape, strides, block_shape, padding)
        extents, steps = [self.extent(s) for s in shape], [self.integer_scalar(s, int64) for s in strides]
        types = language_tuple(extents).type, language_tuple(steps).type
        type_ = tensor_descriptor_type(block, *types, layout)
        handle = self.described(base, extents, steps, padded, block_descriptor(type_))
        return tensor_descriptor(handle, extents, steps, block, type_.layout)


def _row_numbers(rows: object) -> SSAValue:
    """ValueError for what is no block of numbers."""
    if not isinstance(rows, tensor) or len(rows.type.shape) != 1 or rows.dtype != int32:
        raise ValueError(f"expected 'x_offsets' to be a one-dimensional block of int32 but got {rows}")
    return rows.handle
