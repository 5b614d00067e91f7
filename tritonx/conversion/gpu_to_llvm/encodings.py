"""From the encoding attribute of a type to the frozen value that ``tritonx.layouts`` works on."""

from __future__ import annotations

from typing import Any

from tritonx.layouts.encodings import Encoding


def encoding_of(type_: Any) -> Encoding:
    """The encoding of a tensor or memory-descriptor type; ``ValueError`` where a type of the layout dialect has
    none.
    """
    value = getattr(type_.encoding, "data", None)
    if value is None:
        raise ValueError(f"{type_} has no layout")
    return value
