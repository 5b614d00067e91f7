"""Reductions and scans with a combine function, histograms."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tritonx.language.builtin import INJECTED, builtin, tensor_method
from tritonx.language.constexpr import unwrap
from tritonx.language.tuples import tuple as language_tuple

if TYPE_CHECKING:
    from tritonx.frontend.semantics import Semantics
    from tritonx.language.static_types import Values
    from tritonx.language.tensor import tensor

__all__ = ["associative_scan", "histogram", "reduce"]


@tensor_method
@builtin
def reduce(
    input: Values, axis: object, combine_fn: object, keep_dims: object = False, _semantic: Semantics = INJECTED
) -> Values:
    """Reduce a block, or a tuple of blocks together, along ``axis`` with a jit function.

    ``axis`` is one axis, several in a tuple, or None for all. ``combine_fn(*lefts, *rights)`` gets scalars and returns
    as many as there are inputs; it is associative and commutative.

    >>> @tritonx.jit
    ... def longest(a, b):
    ...     return tl.maximum(a, b)
    >>> tl.reduce(tl.arange(0, 8), 0, longest)
    7
    """
    return _semantic.reduce(input, axis, unwrap(combine_fn), keep_dims)


@builtin
def _reduce_with_indices(
    input: Any, axis: Any, combine_fn: Any, keep_dims: Any = False, _semantic: Semantics = INJECTED
) -> language_tuple:
    """Reduce ``input`` together with its int32 indices along ``axis``: (value, index)."""
    return _semantic.reduce_with_indices(input, axis, unwrap(combine_fn), keep_dims)


@tensor_method
@builtin
def associative_scan(
    input: Values, axis: object, combine_fn: object, reverse: object = False, _semantic: Semantics = INJECTED
) -> Values:
    """Inclusive scan of a block, or of a tuple of blocks together, along ``axis``; see ``reduce``.

    Along several axes, in a tuple, elements follow each other in row-major order of these axes.

    >>> @tritonx.jit
    ... def longest(a, b):
    ...     return tl.maximum(a, b)
    >>> tl.associative_scan(tl.arange(0, 8) * 3 % 8, 0, longest)
    [0, 3, 6, 6, 6, 7, 7, 7]
    """
    return _semantic.associative_scan(input, axis, unwrap(combine_fn), reverse)


@tensor_method
@builtin
def histogram(input: Any, num_bins: Any, mask: Any = None, _semantic: Semantics = INJECTED) -> tensor:
    """int32 counts of the values 0 .. ``num_bins`` - 1 in a 1-D integer block.

    >>> tl.histogram(tl.arange(0, 8) % 3, 4)
    [3, 3, 2, 0]
    """
    return _semantic.histogram(input, num_bins, mask)
