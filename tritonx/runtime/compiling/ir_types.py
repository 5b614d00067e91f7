"""Types of the tile dialect as the names that signatures use, and as the text format has them."""

from __future__ import annotations

from typing import cast

from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, IntegerType

from tritonx.ir.types import PointerType

_FLOAT_NAMES = {
    "f16": "fp16",
    "bf16": "bf16",
    "f32": "fp32",
    "f64": "fp64",
    "f8E4M3FN": "fp8e4nv",
    "f8E5M2": "fp8e5",
    "f8E4M3FNUZ": "fp8e4b8",
    "f8E5M2FNUZ": "fp8e5b16",
    "f8E4M3B11FNUZ": "fp8e4b15",
}


def signature_type(type: object) -> str:
    """``!tt.ptr<f32>`` → ``*fp32``, ``i32`` → ``i32``, ``i1`` → ``u1``."""
    if isinstance(type, PointerType):
        return "*" + signature_type(type.pointee)
    if isinstance(type, IntegerType):
        width = cast("IntegerType", type).width.data
        return "u1" if width == 1 else f"i{width}"
    text = str(type)
    return _FLOAT_NAMES.get(text, text)


def text_type(type: object) -> str:
    """``!tt.ptr<f32>`` → ``*f32``; any other type as the text writes it."""
    return f"*{type.pointee}" if isinstance(type, PointerType) else str(type)


def is_descriptor(attributes: ArrayAttr[DictionaryAttr] | None, position: int) -> bool:
    """Whether a function's parameter is marked as a descriptor of the TMA unit, by ``attributes`` of them all."""
    return attributes is not None and "tt.nv_tma_desc" in attributes.data[position].data
