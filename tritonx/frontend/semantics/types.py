"""The IR type of a language type."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

from xdsl.dialects.builtin import IntegerType, Signedness
from xdsl.ir import Attribute

from tritonx.dialects.tile import TensorDescType
from tritonx.ir import types as ir
from tritonx.language.types.dtypes import block_type, dtype, pointer_type
from tritonx.language.values.base import base_type
from tritonx.language.values.descriptors import tensor_descriptor_base_type

_ELEMENTS: dict[str, Attribute] = {
    "int1": ir.i1,
    "int8": ir.i8,
    "int16": ir.i16,
    "int32": ir.i32,
    "int64": ir.i64,
    "uint8": ir.i8,
    "uint16": ir.i16,
    "uint32": ir.i32,
    "uint64": ir.i64,
    "fp8e5": ir.f8E5M2,
    "fp8e5b16": ir.f8E5M2FNUZ,
    "fp8e4nv": ir.f8E4M3FN,
    "fp8e4b8": ir.f8E4M3FNUZ,
    "fp8e4b15": ir.i8,
    "fp16": ir.f16,
    "bf16": ir.bf16,
    "fp32": ir.f32,
    "fp64": ir.f64,
}
"""fp8e4b15 has no type of its own in the IR: its bits travel as i8, as in Triton."""


OTHER_TYPES: dict[type[base_type], Callable[[Any], Attribute]] = {}
"""Types of languages that are built on this one → what they are in the IR."""


@cache  # no bound, as those of `ir.types`: types of descriptors are made here
def ir_type(type_: base_type) -> Attribute:
    """The type that a handle of a value of this type has. ``TypeError`` for a type without exactly one handle."""
    if (other := OTHER_TYPES.get(type(type_))) is not None:
        return other(type_)
    if isinstance(type_, block_type):
        return ir.tensor(ir_type(type_.element_ty), type_.storage)
    if isinstance(type_, pointer_type):
        return ir.pointer(memory_type(type_.element_ty), type_.address_space)
    if isinstance(type_, dtype) and type_.name in _ELEMENTS:
        return _ELEMENTS[type_.name]
    if isinstance(type_, tensor_descriptor_base_type):
        return descriptor_type(type_.block_type)
    raise TypeError(f"{type_} is not the type of one value of the IR")


def memory_type(element: dtype) -> Attribute:
    """The IR type of an element in memory behind a pointer: that of the value, also for int1 (loads and stores go
    through i8).
    """
    return ir_type(element)


def descriptor_type(block: block_type) -> Attribute:
    """The IR type of a descriptor's handle. It says whether its integers have a sign: by that a block is combined with
    memory."""
    element = ir_type(block.element_ty)
    if block.element_ty.is_int() and not block.element_ty.is_bool():
        sign = Signedness.SIGNED if block.element_ty.is_int_signed() else Signedness.UNSIGNED
        element = IntegerType(block.element_ty.int_bitwidth, sign)
    return TensorDescType(ir.tensor(element, block.storage))


def ir_types(type_: Any) -> list[Attribute]:
    """The IR types of all handles of a value of this type, in order."""
    return [ir_type(leaf) for leaf in type_.leaves()]
