"""Tensor descriptors: made from a pointer, loaded from and stored through by block coordinates."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from xdsl.ir import Attribute, SSAValue

from tritonx.dialects.tile import (
    DescriptorGatherOp,
    DescriptorLoadOp,
    DescriptorReduceKind,
    DescriptorReduceOp,
    DescriptorScatterOp,
    DescriptorStoreOp,
    MakeTensorDescOp,
    PaddingOption,
)
from tritonx.frontend.semantics.base import enum_attribute
from tritonx.frontend.semantics.casts import CastSemantics
from tritonx.frontend.semantics.memory import access_properties
from tritonx.frontend.semantics.types import descriptor_type, ir_type
from tritonx.ir.declaration import SEGMENTS, sizes_of_segments
from tritonx.language.types.block_shapes import validate_block_shape
from tritonx.language.types.dtypes import block_type, dtype, int32, int64, pointer_type, uint32
from tritonx.language.values.constexpr import unwrap
from tritonx.language.values.descriptors import tensor_descriptor, tensor_descriptor_base
from tritonx.language.values.tensor import tensor

_LOAD_CACHE = {"": "NONE", ".ca": "CA", ".cg": "CG", ".cs": "CS", ".cv": "CV"}
_PADDING = {"zero": PaddingOption.PAD_ZERO, "nan": PaddingOption.PAD_NAN}


class DescriptorSemantics(CastSemantics):
    def make_tensor_descriptor(
        self, base: tensor, shape: Sequence[Any], strides: Sequence[Any], block_shape: Sequence[Any], padding: Any
    ) -> tensor_descriptor:
        """A descriptor of the tensor at ``base`` (extents int32, strides int64 in elements) for blocks of
        ``block_shape``.

        Rank 1 to 5, last stride 1, at least 16 bytes in the last axis of the block.
        """
        block, padded = described_block(base, shape, strides, block_shape, padding)
        extents, steps = [self.extent(s) for s in shape], [self.integer_scalar(s, int64) for s in strides]
        handle = self.described(base, extents, steps, padded, descriptor_type(block))
        return tensor_descriptor(handle, extents, steps, block)

    def described(
        self, base: tensor, shape: Sequence[tensor], strides: Sequence[tensor], padding: PaddingOption, type_: Attribute
    ) -> SSAValue:
        """The descriptor that a kernel makes."""
        operands = [base.handle, *(s.handle for s in shape), *(s.handle for s in strides)]
        properties = {
            "padding": enum_attribute(padding),
            SEGMENTS: sizes_of_segments((1, len(shape), len(strides))),
        }
        return self.builder.create(MakeTensorDescOp, operands, (type_,), properties).results[0]

    def extent(self, value: object) -> tensor:
        """An extent as int32; one of the running kernel may be wider, as in Triton, and is less than 2^31."""
        if isinstance(value, tensor) and not value.type.is_block() and value.dtype.is_int():
            value = self.cast(value, int32)
        return self.integer_scalar(value, int32)

    def _offsets(self, descriptor: tensor_descriptor_base, offsets: Sequence[object]) -> list[SSAValue]:
        """Block coordinates as int32 handles. ``AssertionError`` for anything but one an axis."""
        self._check_descriptor(descriptor)
        rank = len(descriptor.block_shape)
        if len(offsets) != rank:
            raise AssertionError(f"expected {rank} offsets, but got {len(offsets)}")
        return [self.integer_scalar(o, int32).handle for o in offsets]

    def _check_descriptor(self, descriptor: object) -> None:
        if not isinstance(descriptor, tensor_descriptor_base):
            raise AssertionError(f"expected a tensor descriptor, got {descriptor}")

    def descriptor_load(
        self, descriptor: tensor_descriptor_base, offsets: Sequence[Any], cache_modifier: Any, eviction_policy: Any
    ) -> tensor:
        """The block at ``offsets``; elements outside the tensor give the descriptor's padding."""
        indices = self._offsets(descriptor, offsets)
        type_ = descriptor.block_type
        op = self.builder.create(
            DescriptorLoadOp,
            [descriptor.handle, *indices],
            (ir_type(type_),),
            access_properties(cache_modifier, eviction_policy, _LOAD_CACHE),
        )
        return tensor(op.results[0], type_)

    def descriptor_store(self, descriptor: tensor_descriptor_base, value: tensor, offsets: Sequence[Any]) -> None:
        """Store a block of the descriptor's shape (cast to its element type) at ``offsets``, clipped to the tensor."""
        indices = self._offsets(descriptor, offsets)
        value = self._block_value(descriptor, value)
        self.builder.create(DescriptorStoreOp, [descriptor.handle, value.handle, *indices])

    def _block_value(self, descriptor: tensor_descriptor_base, value: tensor) -> tensor:
        value = self.to_tensor(value)
        if value.type.shape != descriptor.block_type.shape:
            raise AssertionError(f"expected a block of shape {descriptor.block_type.shape}, got {value}")
        return self.cast(value, descriptor.dtype)

    def descriptor_reduce(
        self, kind: str, descriptor: tensor_descriptor_base, value: tensor, offsets: Sequence[Any]
    ) -> None:
        """Combine a block with memory at ``offsets``, atomically for each element; nothing is returned."""
        indices = self._offsets(descriptor, offsets)
        _check_reduce_type(kind, descriptor.dtype)
        value = self._block_value(descriptor, value)
        properties = {"kind": enum_attribute(DescriptorReduceKind[kind.upper()])}
        self.builder.create(DescriptorReduceOp, [descriptor.handle, value.handle, *indices], (), properties)

    def descriptor_gather(self, descriptor: tensor_descriptor_base, x_offsets: tensor, y_offset: object) -> tensor:
        """The rows ``x_offsets`` from column ``y_offset`` on, as wide as the descriptor's block, whose height must
        be 1.
        """
        rows, column = self._gather_operands(descriptor, x_offsets, y_offset)
        columns = descriptor.block_type.shape[1]
        type_ = block_type(descriptor.dtype, (x_offsets.type.storage[0], columns))
        op = self.builder.create(DescriptorGatherOp, [descriptor.handle, rows, column], (ir_type(type_),))
        return self.cropped(tensor(op.results[0], type_), (x_offsets.type.shape[0], columns))

    def descriptor_scatter(
        self, descriptor: tensor_descriptor_base, value: tensor, x_offsets: tensor, y_offset: Any
    ) -> None:
        """Store the rows of ``value`` to the rows ``x_offsets`` from column ``y_offset`` on."""
        rows, column = self._gather_operands(descriptor, x_offsets, y_offset)
        expected = (x_offsets.type.shape[0], descriptor.block_type.shape[1])
        value = self.to_tensor(value)
        if value.type.shape != expected:
            raise ValueError(f"expected a block of shape {[*expected]}, got {value}")
        value = self.cast(self.whole(value), descriptor.dtype)
        self.builder.create(DescriptorScatterOp, [descriptor.handle, rows, column, value.handle])

    def _gather_operands(
        self, descriptor: tensor_descriptor_base, x_offsets: tensor, y_offset: object
    ) -> tuple[SSAValue, SSAValue]:
        self._check_descriptor(descriptor)
        shape = descriptor.block_type.shape
        if len(shape) != 2:
            raise AssertionError(f"descriptor must be 2D, but got {[*map(str, shape)]}")
        if shape[0] != 1:
            raise AssertionError(f"descriptor block must have 1 row, but got {[*map(str, shape)]}")
        if not x_offsets.dtype.is_int() or x_offsets.dtype.int_bitwidth > 32:
            raise ValueError(f"x offsets must be integers of at most 32 bits, but got {x_offsets.dtype}")
        if len(x_offsets.type.shape) != 1:
            raise AssertionError(f"x offsets must be 1D, but got {x_offsets.shape}")
        if x_offsets.type.shape[0] < 8:
            raise AssertionError(f"descriptor gather must have at least 8 rows, but got {x_offsets.shape}")
        least = 32 // descriptor.dtype.primitive_bitwidth * 8
        if shape[1] < least:
            raise AssertionError(
                f"descriptor gather of {descriptor.dtype} must have at least {least} columns, but got {shape[1]}"
            )
        # Rows that no tensor has: nothing is read or written for the padding.
        return self.filled(self.cast(x_offsets, int32), -1).handle, self.integer_scalar(y_offset, int32).handle


_REDUCE_TYPES: dict[str, tuple[str, ...]] = {
    "add": ("uint32", "int32", "uint64", "fp16", "bf16", "fp32"),
    "min": ("uint32", "int32", "uint64", "int64", "fp16", "bf16"),
    "max": ("uint32", "int32", "uint64", "int64", "fp16", "bf16"),
    "and": (uint32.name, int32.name, "uint64", "int64"),
    "or": (uint32.name, int32.name, "uint64", "int64"),
    "xor": (uint32.name, int32.name, "uint64", "int64"),
}


def _check_reduce_type(kind: str, element: dtype) -> None:
    if element.name not in _REDUCE_TYPES[kind]:
        raise AssertionError(f"Unsupported dtype {element} for descriptor {kind}")


def described_block(
    base: object, shape: Sequence[Any], strides: Sequence[Any], block_shape: Sequence[Any], padding: Any
) -> tuple[block_type, PaddingOption]:
    """The block of a descriptor that a kernel makes, and what lies outside. ValueError for what none can be made of."""
    rank = len(shape)
    if not 1 <= rank <= 5:
        raise ValueError(f"Expected 1 <= ndim <= 5 but got {rank} dimensions")
    if len(strides) != rank:
        raise ValueError(f"Expected {rank} strides but got {len(strides)}")
    if len(block_shape) != rank:
        raise ValueError(f"Expected block_shape to have {rank} dimensions but got {len(block_shape)}")
    if not isinstance(base, tensor) or not isinstance(base.type, pointer_type):
        raise ValueError(f"Expected `base` to be a scalar pointer, got {getattr(base, 'type', base)}")
    element = base.type.element_ty
    extents = [unwrap(s) for s in block_shape]
    if extents[-1] * element.itemsize < 16:
        raise ValueError(
            f"Descriptor block shape must have at least 16 bytes in the last dimension, but got "
            f"{extents[-1]} * {element.itemsize} = {extents[-1] * element.itemsize} bytes"
        )
    last = unwrap(strides[-1])
    if last != 1:
        raise ValueError(f"Tensor descriptor last dim must be 1 but got {last}")
    padding = unwrap(padding) or "zero"
    if padding not in _PADDING:
        raise ValueError(f"Padding option {padding} not supported")
    if padding == "nan" and element.is_int():
        raise ValueError("Padding option `nan` is not supported for integer blocks")
    validate_block_shape(extents)
    return block_type(element, extents), _PADDING[padding]
