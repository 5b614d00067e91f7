"""Rearranging blocks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from tritonx.language.builtins.builtin import INJECTED, builtin, tensor_method
from tritonx.language.values.constexpr import unwrap
from tritonx.language.values.tuples import tuple as language_tuple

if TYPE_CHECKING:
    from tritonx.frontend.semantics import Semantics
    from tritonx.language.values.tensor import tensor

__all__ = [
    "broadcast",
    "broadcast_to",
    "cat",
    "expand_dims",
    "gather",
    "join",
    "permute",
    "reshape",
    "split",
    "trans",
    "view",
]


def _listed(values: tuple[Any, ...]) -> tuple[Any, ...]:
    """``f(x, (4, 8))`` and ``f(x, 4, 8)`` alike."""
    if len(values) == 1:
        only: Any = unwrap(values[0])
        if hasattr(only, "__iter__"):
            return (*only,)
    return values


@builtin
def broadcast(input: object, other: object, _semantic: Semantics = INJECTED) -> tuple[tensor, tensor]:
    """Both blocks, or a block and a scalar, at their common shape, as a tuple; the dtypes stay. Raises ValueError for
    extents that differ where neither is 1.

    >>> a, b = tl.broadcast(tl.arange(0, 2)[:, None], tl.arange(0, 2)[None, :])
    >>> a * 10 + b
    [[0, 1], [10, 11]]
    """
    left, right = _semantic.broadcast(_semantic.to_tensor(input), _semantic.to_tensor(other))
    return cast("tuple[tensor, tensor]", language_tuple([left, right]))


@tensor_method
@builtin
def broadcast_to(input: object, *shape: object, _semantic: Semantics = INJECTED) -> tensor:
    """Extents of 1 grown to ``shape``, of the same rank; a scalar is spread over it. The dtype stays. Raises ValueError
    for another rank, and for an extent that is neither 1 nor the one asked for.

    >>> tl.broadcast_to(tl.arange(0, 2)[:, None], (2, 3))
    [[0, 0, 0], [1, 1, 1]]
    """
    return _semantic.broadcast_to(_semantic.to_tensor(input), _listed(shape))


@tensor_method
@builtin
def expand_dims(input: object, axis: object, _semantic: Semantics = INJECTED) -> tensor:
    """Axes of extent 1 inserted at ``axis`` (an int or several, numbered in the result); the dtype stays. Raises
    ValueError for an axis that the result has not, or that is named twice.

    >>> tl.expand_dims(tl.arange(0, 2), 1)
    [[0], [1]]
    """
    return _semantic.expand_axes(_semantic.to_tensor(input), axis)


@tensor_method
@builtin
def reshape(input: Any, *shape: Any, can_reorder: Any = False, _semantic: Semantics = INJECTED) -> tensor:
    """The same elements in row-major order; in any order with ``can_reorder``. ``shape`` are positive compile-time
    ints; the dtype stays. Raises ValueError for another number of elements.

    >>> tl.reshape(tl.arange(0, 4), (2, 2))
    [[0, 1], [2, 3]]
    """
    return _semantic.reshape(input, _listed(shape), can_reorder)


@tensor_method
@builtin
def view(input: Any, *shape: Any, _semantic: Semantics = INJECTED) -> tensor:
    """``reshape`` that may reorder elements.

    >>> tl.view(tl.full((4,), 1, tl.int32), (2, 2))
    [[1, 1], [1, 1]]
    """
    return _semantic.reshape(input, _listed(shape), True)


@tensor_method
@builtin
def trans(input: Any, *dims: Any, _semantic: Semantics = INJECTED) -> tensor:
    """Axes permuted by ``dims``; without them the last two swapped. The dtype stays. Raises ValueError where ``dims``
    is no permutation of the axes, and for less than two axes.

    >>> tl.trans(tl.reshape(tl.arange(0, 4), (2, 2)))
    [[0, 2], [1, 3]]
    """
    return _semantic.trans(input, _listed(dims))


@tensor_method
@builtin
def permute(input: Any, *dims: Any, _semantic: Semantics = INJECTED) -> tensor:
    """Axis ``i`` of the result is axis ``dims[i]`` of the input; the dtype stays. Raises ValueError where ``dims`` is
    no permutation of the axes.

    >>> tl.permute(tl.reshape(tl.arange(0, 4), (1, 2, 2)), (2, 1, 0))
    [[[0], [2]], [[1], [3]]]
    """
    return _semantic.permute(input, _listed(dims))


@builtin
def cat(input: Any, other: Any, can_reorder: Any = False, dim: Any = 0, _semantic: Semantics = INJECTED) -> tensor:
    """Two blocks of one dtype and shape one after the other along ``dim``; with ``can_reorder``, which 1-D blocks
    alone take, in any order. Raises AssertionError for other shapes, and ValueError for an axis that there is not.

    >>> tl.cat(tl.arange(0, 2), tl.arange(2, 4))
    [0, 1, 2, 3]
    """
    return _semantic.cat(input, other, unwrap(can_reorder), unwrap(dim))


@builtin
def join(a: Any, b: Any, _semantic: Semantics = INJECTED) -> tensor:
    """Two values of shapes that broadcast stacked along a new last axis of extent 2, in their common dtype. Raises
    ValueError for shapes that do not broadcast.

    >>> tl.join(tl.arange(0, 2), tl.arange(2, 4))
    [[0, 2], [1, 3]]
    """
    return _semantic.join(a, b)


@tensor_method
@builtin
def split(a: Any, _semantic: Semantics = INJECTED) -> tuple[tensor, tensor]:
    """The two halves along a last axis of extent 2, as a tuple; the dtype stays. Raises AssertionError for another
    extent.

    >>> even, odd = tl.split(tl.reshape(tl.arange(0, 4), (2, 2)))
    >>> odd
    [1, 3]
    """
    return cast("tuple[tensor, tensor]", language_tuple(_semantic.split(a)))


@tensor_method
@builtin
def gather(src: Any, index: Any, axis: Any, _semantic: Semantics = INJECTED) -> tensor:
    """Elements of ``src`` picked along ``axis`` by ``index``, a block of integers of the same rank and, but for
    ``axis``, shape; the result has the shape of ``index`` and the dtype of ``src``. Indices outside are undefined
    behaviour. Raises AssertionError for blocks that do not fit.

    >>> tl.gather(tl.arange(0, 4) * 10, 3 - tl.arange(0, 4), 0)
    [30, 20, 10, 0]
    """
    return _semantic.gather(src, index, axis)


@builtin
def _filled(input: tensor, fill: object, _semantic: Semantics = INJECTED) -> tensor:
    """A block of powers of two: ``input``, behind it along the last axis ``fill``, and along the others anything."""
    return _semantic.filled(input, unwrap(fill), (len(input.type.shape) - 1,))


@builtin
def _cropped(input: tensor, shape: object, _semantic: Semantics = INJECTED) -> tensor:
    """The first elements of a block of powers of two: ``shape`` of it, more than half of them along each axis."""
    return _semantic.cropped(input, [unwrap(extent) for extent in unwrap(shape)])


@tensor_method
@builtin
def item(input: Any, _semantic: Semantics = INJECTED) -> tensor:
    """The scalar in a block of one element, of whatever rank. Raises ValueError for a block of more.

    >>> @tritonx.jit
    ... def kernel(x):
    ...     tl.store(x, tl.core.item(tl.full((1, 1), 5, tl.float32)))
    >>> x = np.zeros(1, np.float32)
    >>> compiled = kernel[(1,)](x)
    >>> x.tolist()
    [5.0]
    """
    return _semantic.unsplat(input)
