"""The encodings that types of `ttg` have, as the plain values of `tritonx.layouts.encodings`."""

from __future__ import annotations

from xdsl.ir import Attribute

from tritonx.dialects.gpu_layout.encodings import EncodingAttr
from tritonx.dialects.gpu_layout.types import MemDescType
from tritonx.ir.types import encoding_of
from tritonx.layouts import encodings as E
from tritonx.layouts.lookup import is_distributed, is_shared


def encoding_value(attribute: Attribute | None) -> E.Encoding | None:
    """The encoding that an attribute holds; None for no attribute and for attributes that are no encoding."""
    return attribute.data if isinstance(attribute, EncodingAttr) else None


def distributed_encoding(type_: Attribute) -> E.DistributedEncoding:
    """The encoding of a tensor of `ttg`. Raises `ValueError` where it has none, as in `tt`."""
    found = encoding_value(encoding_of(type_))
    if not is_distributed(found):
        raise ValueError(f"{type_} has no layout: run assign-layouts first")
    return found


def shared_encoding(type_: MemDescType) -> E.SharedEncoding:
    """The encoding of a buffer in shared memory. Raises `ValueError` where it has none."""
    found = encoding_value(type_.encoding)
    if not is_shared(found):
        raise ValueError(f"{type_} has no layout in shared memory")
    return found
