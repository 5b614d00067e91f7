"""Shapes of blocks: what is allowed, and what they have in the IR."""

from __future__ import annotations

from collections.abc import Sequence

TRITON_MAX_TENSOR_NUMEL = 1048576
"""The most elements a block may have."""


def validate_block_shape(shape: Sequence[object]) -> int:
    """The element count of a block of this shape, as blocks are in Triton and behind descriptors. Raises TypeError for
    an extent that is no int, ValueError for one that is no power of two, and for more elements than
    ``TRITON_MAX_TENSOR_NUMEL``; in Triton's words.

    >>> validate_block_shape([4, 32])
    128
    >>> validate_block_shape([4, 24])
    Traceback (most recent call last):
        ...
    ValueError: Shape element 1 must be a power of 2
    """
    numel = 1
    for i, extent in enumerate(shape):
        if not isinstance(extent, int):
            raise TypeError(f"Shape element {i} must have type `constexpr[int]`, got `constexpr[{type(extent)}]")
        if extent <= 0 or extent & (extent - 1):
            raise ValueError(f"Shape element {i} must be a power of 2")
        numel *= extent
    if numel > TRITON_MAX_TENSOR_NUMEL:
        raise ValueError(f"numel ({numel}) exceeds triton maximum tensor numel ({TRITON_MAX_TENSOR_NUMEL})")
    return numel


def storage_shape(shape: Sequence[object]) -> tuple[int, ...]:
    """The extents that a block of this shape has in the IR. Raises TypeError for an extent that is no int, ValueError
    for one below 1, and for more elements than ``TRITON_MAX_TENSOR_NUMEL``."""
    storage: list[int] = []
    numel = 1
    for i, extent in enumerate(shape):
        if not isinstance(extent, int):
            raise TypeError(f"Shape element {i} must have type `constexpr[int]`, got `constexpr[{type(extent)}]")
        if extent <= 0:
            raise ValueError(f"Shape element {i} must be positive")
        stored = 1 << (extent - 1).bit_length()
        storage.append(stored)
        numel *= stored
    if numel > TRITON_MAX_TENSOR_NUMEL:
        raise ValueError(f"numel ({numel}) exceeds triton maximum tensor numel ({TRITON_MAX_TENSOR_NUMEL})")
    return tuple(storage)


def is_power_of_two(x: int) -> bool:
    """Whether an integer is positive and has one bit.

    >>> [is_power_of_two(x) for x in (0, 1, 2, 3, 64)]
    [False, True, True, False, True]
    """
    return x > 0 and x & (x - 1) == 0
