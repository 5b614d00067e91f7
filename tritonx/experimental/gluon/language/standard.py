"""Functions of Gluon that are written in the language."""

from __future__ import annotations

from typing import Any

from tritonx.experimental.gluon.language.core import full
from tritonx.language.standard import jit


@jit
def zeros(shape: Any, dtype: Any, layout: Any = None) -> Any:
    """A block of zeros in ``layout``, or one that the compiler finds."""
    return full(shape, 0, dtype, layout)


@jit
def full_like(input: Any, value: Any, shape: Any = None, dtype: Any = None, layout: Any = None) -> Any:
    """A block filled with ``value``, of the shape, dtype and layout of ``input`` where they are not given."""
    return full(
        input.shape if shape is None else shape,
        value,
        input.dtype if dtype is None else dtype,
        input.type.layout if layout is None else layout,
    )


@jit
def zeros_like(input: Any, shape: Any = None, dtype: Any = None, layout: Any = None) -> Any:
    """A block of zeros, of the shape, dtype and layout of ``input`` where they are not given."""
    return full_like(input, 0, shape, dtype, layout)
