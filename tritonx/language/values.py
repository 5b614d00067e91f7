"""Values of the kernel language: ``tensor`` and the composite values, each of a file of its own."""

from __future__ import annotations

from tritonx.language.base import base_type, base_value
from tritonx.language.constexpr import constexpr, constexpr_type, unwrap, unwrap_deep
from tritonx.language.descriptors import (
    block_pointer,
    block_pointer_type,
    tensor_descriptor,
    tensor_descriptor_base,
    tensor_descriptor_base_type,
    tensor_descriptor_type,
)
from tritonx.language.tensor import BoundMember, tensor
from tritonx.language.tuples import slice, slice_type, tuple, tuple_type

__all__ = [
    "BoundMember",
    "base_type",
    "base_value",
    "block_pointer",
    "block_pointer_type",
    "constexpr",
    "constexpr_type",
    "slice",
    "slice_type",
    "tensor",
    "tensor_descriptor",
    "tensor_descriptor_base",
    "tensor_descriptor_base_type",
    "tensor_descriptor_type",
    "tuple",
    "tuple_type",
    "unwrap",
    "unwrap_deep",
]
