"""Reductions and scans with a combine function, histograms."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tritonx.language.builtins.builtin import INJECTED, builtin, tensor_method
from tritonx.language.values.constexpr import unwrap
from tritonx.language.values.tuples import tuple as language_tuple

if TYPE_CHECKING:
    from tritonx.frontend.semantics import Semantics
    from tritonx.language.types.static_types import Values
    from tritonx.language.values.tensor import tensor

__all__ = ["associative_scan", "histogram", "reduce"]


@tensor_method
@builtin
def reduce(
    input: Values, axis: object, combine_fn: object, keep_dims: object = False, _semantic: Semantics = INJECTED
) -> Values:
    """Reduce a block, or a tuple of blocks of one shape together, along ``axis`` with a jit function. ``axis`` is one
    axis, several in a tuple, or None for all; it is left out of the shape, or 1 where ``keep_dims``.
    ``combine_fn(*lefts, *rights)`` gets scalars and returns as many, of the same dtypes, as there are inputs; it is
    associative and commutative. Raises ValueError for an axis that there is not, AssertionError for blocks of
    different shapes.

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
    """Reduce ``input`` together with its int32 indices along ``axis``: (value, index), of the shape without ``axis``
    (one long with ``keep_dims``). ``combine_fn(value, index, value, index)`` is a function under ``@jit``.

    >>> @tritonx.jit
    ... def lower(a, i, b, j):
    ...     return tl.minimum(a, b), tl.where(a <= b, i, j)
    >>> @tritonx.jit
    ... def kernel(x, out):
    ...     value, index = tl.core._reduce_with_indices(tl.load(x + tl.arange(0, 4)), 0, lower)
    ...     tl.store(out, index)
    >>> out = np.zeros(1, np.int32)
    >>> compiled = kernel[(1,)](np.array([3.0, 1.0, 4.0, 1.5], np.float32), out)
    >>> out.tolist()
    [1]
    """
    return _semantic.reduce_with_indices(input, axis, unwrap(combine_fn), keep_dims)


@tensor_method
@builtin
def associative_scan(
    input: Values, axis: object, combine_fn: object, reverse: object = False, _semantic: Semantics = INJECTED
) -> Values:
    """The inclusive scan of a block, or of a tuple of blocks of one shape together, along ``axis``, from the end where
    ``reverse``; shapes and dtypes stay. ``combine_fn`` is as for ``reduce``, and need not be commutative. Along
    several axes, in a tuple, elements follow each other in row-major order of these axes. Raises ValueError for an
    axis that there is not.

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
    """int32 counts of the values 0 .. ``num_bins`` - 1 (a compile-time int) in a 1-D block of integers, where ``mask``,
    of its shape, holds. Values outside are undefined behaviour. Raises AssertionError for other blocks, ValueError
    for ``num_bins`` below 1.

    >>> tl.histogram(tl.arange(0, 8) % 3, 4)
    [3, 3, 2, 0]
    """
    return _semantic.histogram(input, num_bins, mask)
