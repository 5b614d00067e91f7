"""How much of a thread's registers a tile takes."""

from __future__ import annotations

from xdsl.ir import Attribute

from tritonx.dialects.gpu_layout.type_encodings import distributed_encoding
from tritonx.ir.types import bit_width, element_type, is_tensor, shape_of
from tritonx.layouts import linear_layout
from tritonx.layouts.dims import REGISTER


def thread_elements(type_: Attribute) -> int:
    """How many different elements of a tile a thread holds; 1 for a scalar."""
    if not is_tensor(type_):
        return 1
    layout = linear_layout(distributed_encoding(type_), shape_of(type_))
    return 1 << (layout.in_bits(REGISTER) - layout.free_masks().get(REGISTER, 0).bit_count())


def thread_words(type_: Attribute) -> int:
    """Registers of 32 bits in which a thread holds its elements of a tile, copies included; 1 for a scalar."""
    if not is_tensor(type_):
        return 1
    layout = linear_layout(distributed_encoding(type_), shape_of(type_))
    return -(-(bit_width(element_type(type_)) << layout.in_bits(REGISTER)) // 32)
