"""Types as a kernel's signature spells them."""

from __future__ import annotations

from typing import Any

from tritonx.language.types.dtypes import pointer_type
from tritonx.language.types.type_names import element_type_named
from tritonx.language.values.constexpr import constexpr_type
from tritonx.language.values.descriptors import tensor_descriptor_type
from tritonx.language.values.tuples import tuple_type


def str_to_ty(name: str, c: Any = None) -> Any:
    """The type that a signature string names: ``*fp32``, ``*ki8`` (const), ``i32``, ``u1``, ``tensordesc<fp16[128,
    64]>``, ``constexpr`` (with its value in ``c``), or a tuple of such strings.

    >>> tl.str_to_ty("*fp32"), tl.str_to_ty("u8")
    (pointer<fp32>, triton.language.uint8)
    """
    if isinstance(name, tuple):
        fields = getattr(type(name), "_fields", None)
        values: Any = [None] * len(name) if c is None else c
        return tuple_type([str_to_ty(n, v) for n, v in zip(name, values, strict=True)], fields)
    if name == "constexpr":
        return constexpr_type(c)
    if name.startswith("*"):
        const_pointer = name.startswith("*k")
        return pointer_type(str_to_ty(name[2:] if const_pointer else name[1:]), const=const_pointer)
    if name.startswith("tensordesc"):
        return tensor_descriptor_type.parse(name)
    return element_type_named(name)
