"""Tensor descriptors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tritonx.language.builtins.builtin import INJECTED, builtin

if TYPE_CHECKING:
    from tritonx.frontend.semantics import Semantics
    from tritonx.language.values.descriptors import tensor_descriptor
    from tritonx.language.values.tensor import tensor

__all__ = ["load_tensor_descriptor", "make_tensor_descriptor", "store_tensor_descriptor"]


@builtin
def make_tensor_descriptor(
    base: Any, shape: Any, strides: Any, block_shape: Any, padding_option: Any = "zero", _semantic: Semantics = INJECTED
) -> tensor_descriptor:
    """A descriptor of a tensor in global memory for blocks of ``block_shape``, compile-time ints; ``shape`` and
    ``strides`` (in elements) are integers, and all have one length. Rank 1 to 5, extents at least 1; the last stride
    is 1, the others and ``base``, a pointer, are multiples of 16 bytes; the block's last axis has at least 16 bytes.
    Loads give zeros (or NaN, by ``padding_option``) outside the tensor, stores are clipped. Raises ValueError for
    what can be seen to be otherwise.

    >>> desc = tl.make_tensor_descriptor(ints, (4, 4), (4, 1), (2, 4))
    >>> desc.load([2, 0])
    [[8, 9, 10, 11], [12, 13, 14, 15]]
    """
    return _semantic.make_tensor_descriptor(base, shape, strides, block_shape, padding_option)


@builtin
def load_tensor_descriptor(desc: Any, offsets: Any, _semantic: Semantics = INJECTED) -> tensor:
    """``desc.load(offsets)``: the block at these offsets, as many integers as there are axes; zeros, or NaN by the
    descriptor, outside the tensor. Raises AssertionError for another number of offsets.

    >>> desc = tl.make_tensor_descriptor(ints, (4, 4), (4, 1), (2, 4))
    >>> tl.load_tensor_descriptor(desc, [0, 0])
    [[0, 1, 2, 3], [4, 5, 6, 7]]
    """
    return _semantic.descriptor_load(desc, offsets, "", "")


@builtin
def store_tensor_descriptor(desc: Any, offsets: Any, value: Any, _semantic: Semantics = INJECTED) -> None:
    """``desc.store(offsets, value)``: write the block at these offsets, but for what is outside the tensor. Raises
    AssertionError for a value of another shape, and another number of offsets.

    >>> desc = tl.make_tensor_descriptor(ints, (4, 4), (4, 1), (2, 4))
    >>> tl.store_tensor_descriptor(desc, [0, 0], tl.full((2, 4), 7, tl.int32))
    >>> tl.load(ints + tl.arange(6, 10))
    [7, 7, 8, 9]
    """
    return _semantic.descriptor_store(desc, value, offsets)
