"""Making values: arange, full, zeros, casts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tritonx.language.builtins.builtin import INJECTED, builtin, tensor_method
from tritonx.language.values.constexpr import unwrap

if TYPE_CHECKING:
    from tritonx.frontend.semantics import Semantics
    from tritonx.language.values.tensor import tensor

__all__ = ["arange", "cast", "full", "zeros", "zeros_like"]


@builtin
def arange(start: object, end: object, _semantic: Semantics = INJECTED) -> tensor:
    """The int32 block ``start .. end - 1``. Both are compile-time ints. Raises ValueError where ``end`` is not above
    ``start``, where one of them is beyond int32 and where they are known at run time only.

    >>> tl.arange(2, 6)
    [2, 3, 4, 5]
    """
    return _semantic.arange(start, end)


@builtin
def full(shape: Any, value: Any, dtype: Any, _semantic: Semantics = INJECTED) -> tensor:
    """A block of ``shape``, compile-time ints, filled with a scalar ``value``; ``dtype`` may be None where ``value`` is
    a tensor. Raises ValueError for extents that are not positive, for more than 1048576 elements and where there is
    no dtype.

    >>> tl.full((2, 2), 7, tl.int32)
    [[7, 7], [7, 7]]
    """
    return _semantic.full(shape, value, dtype)


@builtin
def zeros(shape: object, dtype: object, _semantic: Semantics = INJECTED) -> tensor:
    """A block of zeros of ``shape``, compile-time ints, and ``dtype``; see ``full``.

    >>> tl.zeros((2, 2), tl.float32)
    [[0.0, 0.0], [0.0, 0.0]]
    """
    return _semantic.full(shape, 0, dtype)


@builtin
def zeros_like(input: Any, _semantic: Semantics = INJECTED) -> tensor:
    """Zeros with the shape and dtype of ``input``, a block or scalar.

    >>> tl.zeros_like(tl.arange(0, 4))
    [0, 0, 0, 0]
    """
    return _semantic.full(input.shape, 0, input.dtype)


@builtin
def to_tensor(x: Any, _semantic: Semantics = INJECTED) -> tensor:
    """A Python number as a 0-d tensor of the type a literal has: int32, int64 or uint64 for an integer by its size,
    fp32 or fp64 for a float, int1 for a truth value. A tensor stays what it is. Raises TypeError for anything else.

    >>> tl.to_tensor(2.5) * 2
    5.0
    """
    return _semantic.to_tensor(x)


@tensor_method
@builtin
def cast(
    input: Any, dtype: Any, fp_downcast_rounding: Any = None, bitcast: Any = False, _semantic: Semantics = INJECTED
) -> tensor:
    """``input``, a block or scalar, converted to ``dtype``. ``bitcast``: keep the bits. ``fp_downcast_rounding``:
    ``"rtne"`` (default) or ``"rtz"``, for conversions to a narrower float only. Raises ValueError for a bitcast
    between widths that differ, for other words and where there is nothing to round.

    >>> tl.cast(tl.load(floats + tl.arange(0, 4)), tl.int32)
    [0, 0, 1, 1]
    """
    return _semantic.cast_or_bitcast(input, unwrap(dtype), fp_downcast_rounding, bitcast)
