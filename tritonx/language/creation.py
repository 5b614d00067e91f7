"""Making values: arange, full, zeros, casts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tritonx.language.builtin import INJECTED, builtin, tensor_method
from tritonx.language.constexpr import unwrap

if TYPE_CHECKING:
    from tritonx.frontend.semantics import Semantics
    from tritonx.language.tensor import tensor

__all__ = ["arange", "cast", "full", "zeros", "zeros_like"]


@builtin
def arange(start: object, end: object, _semantic: Semantics = INJECTED) -> tensor:
    """int32 block ``start .. end - 1``. Both are compile-time ints; the length is a power of two.

    >>> tl.arange(2, 6)
    [2, 3, 4, 5]
    """
    return _semantic.arange(start, end)


@builtin
def full(shape: Any, value: Any, dtype: Any, _semantic: Semantics = INJECTED) -> tensor:
    """A block of ``shape`` filled with a scalar; ``dtype`` may be None where ``value`` is a tensor.

    >>> tl.full((2, 2), 7, tl.int32)
    [[7, 7], [7, 7]]
    """
    return _semantic.full(shape, value, dtype)


@builtin
def zeros(shape: object, dtype: object, _semantic: Semantics = INJECTED) -> tensor:
    """A block of zeros.

    >>> tl.zeros((2, 2), tl.float32)
    [[0.0, 0.0], [0.0, 0.0]]
    """
    return _semantic.full(shape, 0, dtype)


@builtin
def zeros_like(input: Any, _semantic: Semantics = INJECTED) -> tensor:
    """Zeros with the shape and dtype of ``input``.

    >>> tl.zeros_like(tl.arange(0, 4))
    [0, 0, 0, 0]
    """
    return _semantic.full(input.shape, 0, input.dtype)


@builtin
def to_tensor(x: Any, _semantic: Semantics = INJECTED) -> tensor:
    """A Python number as a 0-d tensor of the type a literal has."""
    return _semantic.to_tensor(x)


@tensor_method
@builtin
def cast(
    input: Any, dtype: Any, fp_downcast_rounding: Any = None, bitcast: Any = False, _semantic: Semantics = INJECTED
) -> tensor:
    """``input`` converted to ``dtype``.

    ``bitcast``: keep the bits (the widths must be equal). ``fp_downcast_rounding``: ``"rtne"`` (default) or
    ``"rtz"``, for conversions to a narrower float only.

    >>> tl.cast(tl.load(floats + tl.arange(0, 4)), tl.int32)
    [0, 0, 1, 1]
    """
    return _semantic.cast_or_bitcast(input, unwrap(dtype), fp_downcast_rounding, bitcast)
