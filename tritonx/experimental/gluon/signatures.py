"""Types of a kernel's parameters, as signatures spell them."""

from __future__ import annotations

import ast
import re

from tritonx.experimental.gluon.language.nvidia.hopper.tma import tensor_descriptor_type
from tritonx.experimental.gluon.layouts import NVMMASharedLayout
from tritonx.language.types.signatures import str_to_ty
from tritonx.language.values.base import base_type
from tritonx.language.values.descriptors import tensor_descriptor_type as descriptor_of_blocks

_DESCRIPTOR = re.compile(r"(tensordesc<[^\[>]*\[[^\]]*\]),\s*(NVMMASharedLayout\(.*\))>")


def named_type(text: str) -> base_type:
    """As `tl.str_to_ty`, and ``tensordesc<fp16[128, 64],NVMMASharedLayout(...)>``. Raises ValueError for a descriptor
    without a layout, and for one of another.

    >>> text = "tensordesc<fp16[64, 64],NVMMASharedLayout(swizzle_byte_width=128, element_bitwidth=16)>"
    >>> named_type(text).nbytes_per_cta
    8192
    """
    if not text.startswith("tensordesc"):
        return str_to_ty(text)
    match = _DESCRIPTOR.fullmatch(text)
    if match is None:
        raise ValueError(f"a descriptor of Gluon is one of blocks with an NVMMASharedLayout, not {text}")
    plain = descriptor_of_blocks.parse(f"{match[1]}>")
    call = ast.parse(match[2], mode="eval").body
    assert isinstance(call, ast.Call)
    fields = {each.arg: ast.literal_eval(each.value) for each in call.keywords if each.arg is not None}
    layout = NVMMASharedLayout(*map(ast.literal_eval, call.args), **fields)
    return tensor_descriptor_type(plain.block_type, plain.shape_type, plain.strides_type, layout)
