"""From the encoding attribute of a type to the frozen value that ``tritonx.layouts`` works on."""

from __future__ import annotations

from xdsl.ir import Attribute

from tritonx.dialects.gpu_layout import MemDescType, encoding_value
from tritonx.ir import types
from tritonx.layouts.encodings import Encoding


def type_encoding(type_: Attribute) -> Encoding:
    """The encoding of a tensor or memory-descriptor type; ``ValueError`` where a type of the layout dialect has
    none.
    """
    value = encoding_value(type_.encoding if isinstance(type_, MemDescType) else types.encoding_of(type_))
    if value is None:
        raise ValueError(f"{type_} has no layout")
    return value
