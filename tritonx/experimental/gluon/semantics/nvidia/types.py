"""The types of the IR that descriptors of blocks have."""

from __future__ import annotations

from typing import Any

from xdsl.dialects.builtin import IntegerType, Signedness
from xdsl.ir import Attribute

from tritonx.dialects.tile import TensorDescType
from tritonx.experimental.gluon.language.nvidia.hopper.tma import (
    _descriptor_handle,  # pyright: ignore[reportPrivateUsage]  # the handle alone
    tensor_descriptor_type,
)
from tritonx.experimental.gluon.semantics.types import encoding_attribute
from tritonx.frontend.semantics.types import OTHER_TYPES, ir_type
from tritonx.ir import types as ir


def block_descriptor(type_: Any) -> Attribute:
    """`!tt.tensordesc<tensor<...>>` of a block that lies in shared memory by the type's layout. Integers say whether
    they have a sign."""
    block = type_.block_type
    element = ir_type(block.element_ty)
    if block.element_ty.is_int() and not block.element_ty.is_bool():
        sign = Signedness.SIGNED if block.element_ty.is_int_signed() else Signedness.UNSIGNED
        element = IntegerType(block.element_ty.int_bitwidth, sign)
    return TensorDescType(ir.tensor(element, block.shape, encoding_attribute(type_.layout)))


OTHER_TYPES[_descriptor_handle] = block_descriptor
OTHER_TYPES[tensor_descriptor_type] = block_descriptor
