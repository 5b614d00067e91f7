"""Loads and stores, block pointers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tritonx.language.builtins.builtin import INJECTED, builtin, must_use_result, tensor_method

if TYPE_CHECKING:
    from tritonx.frontend.semantics import Semantics
    from tritonx.language.values.descriptors import block_pointer
    from tritonx.language.values.tensor import tensor

__all__ = ["advance", "load", "make_block_ptr", "store"]


@builtin
def load(
    pointer: Any,
    mask: Any = None,
    other: Any = None,
    boundary_check: Any = (),
    padding_option: Any = "",
    cache_modifier: Any = "",
    eviction_policy: Any = "",
    volatile: Any = False,
    _semantic: Semantics = INJECTED,
) -> tensor:
    """What ``pointer`` (a pointer, a block of pointers, or a block pointer) points to, in its shape. Lanes whose
    ``mask``, of int1 and a shape that broadcasts to it, is false do not touch memory and give ``other``, or an
    undefined value without it. For block pointers, ``boundary_check`` lists the axes to guard and ``padding_option``
    ("", "zero", "nan") says what lies outside.

    ``cache_modifier`` is "", ".ca", ".cg", ".cs" or ".cv", ``eviction_policy`` "", "evict_first" or "evict_last". A
    ``volatile`` load is neither dropped nor merged. Raises ValueError for what is no pointer, for other words, for
    ``other`` without ``mask``, and for a block as a mask of one pointer.

    >>> at = tl.arange(0, 8)
    >>> tl.load(ints + at, mask=at < 5, other=-1)
    [0, 1, 2, 3, 4, -1, -1, -1]
    """
    return _semantic.load(
        pointer, mask, other, boundary_check, padding_option, cache_modifier, eviction_policy, volatile
    )


@tensor_method
@builtin
def store(
    pointer: Any,
    value: Any,
    mask: Any = None,
    boundary_check: Any = (),
    cache_modifier: Any = "",
    eviction_policy: Any = "",
    _semantic: Semantics = INJECTED,
) -> None:
    """Write ``value`` (converted to the element type, broadcast to the pointers' shape) where ``mask``, of int1 and a
    shape that broadcasts to it, is true. ``pointer`` and ``boundary_check`` as for ``load``; ``cache_modifier`` is
    "", ".wb", ".cg", ".cs" or ".wt". Raises ValueError for what is no pointer or one to constants, for other words
    and for a value that does not broadcast.

    >>> at = tl.arange(0, 4)
    >>> tl.store(ints + at, at * 10, mask=at < 2)
    >>> tl.load(ints + at)
    [0, 10, 2, 3]
    """
    return _semantic.store(pointer, value, mask, boundary_check, cache_modifier, eviction_policy)


@builtin
def make_block_ptr(
    base: Any, shape: Any, strides: Any, offsets: Any, block_shape: Any, order: Any, _semantic: Semantics = INJECTED
) -> block_pointer:
    """A pointer to the block of ``block_shape`` at ``offsets`` of a strided tensor at the pointer ``base``. ``shape``
    and ``strides`` (in elements) are integers, ``block_shape`` and ``order``, a hint, compile-time ints; all have
    one length. Raises ValueError for lengths that differ, an ``order`` that is no permutation and a ``base`` that is
    no pointer.

    >>> block = tl.make_block_ptr(ints, (4, 4), (4, 1), (0, 2), (2, 2), (1, 0))
    >>> tl.load(block)
    [[2, 3], [6, 7]]
    """
    return _semantic.make_block_ptr(base, shape, strides, offsets, block_shape, order)


@tensor_method
@must_use_result(
    "Note that tl.advance does not have any side effects. To move the block pointer, you need to assign the result of "
    "tl.advance to a variable."
)
@builtin
def advance(base: Any, offsets: Any, _semantic: Semantics = INJECTED) -> block_pointer:
    """The block pointer moved by ``offsets``, as many integers as it has axes, in elements along each. Raises
    ValueError for another number of them.

    >>> block = tl.make_block_ptr(ints, (4, 4), (4, 1), (0, 2), (2, 2), (1, 0))
    >>> tl.load(tl.advance(block, (2, 0)))
    [[10, 11], [14, 15]]
    """
    return _semantic.advance(base, offsets)
