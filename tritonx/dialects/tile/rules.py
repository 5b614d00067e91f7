"""Type rules and checks that several op families of the tile dialect share.

A rule computes the type of one operand or result from another's; a check raises `VerifyException` with the reason.
Both never raise anything else, whatever the types are: the parser applies them to text that is not verified yet.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import cast

from xdsl.dialects.builtin import IntegerType, TensorType
from xdsl.ir import Attribute
from xdsl.utils.exceptions import VerifyException

from tritonx.ir.types import PointerType, bit_width, encoding_of, i1, is_tensor, pointer, shape_of, with_element
from tritonx.ir.types import element_type as element_of


def mask_of(type_: Attribute) -> Attribute:
    """i1 in the shape and layout of `type_`.

    >>> from xdsl.dialects.builtin import TensorType, f32
    >>> print(mask_of(TensorType(f32, [4])))
    tensor<4xi1>
    """
    return with_element(type_, i1)


def loaded_from(type_: Attribute) -> Attribute:
    """The type of the value behind a pointer, or behind each pointer of a tensor. Raises TypeError for other types.

    >>> from tritonx.backends.tile import tile
    >>> from xdsl.dialects.builtin import f32
    >>> print(loaded_from(tile.PointerType(f32)))
    f32
    """
    element = element_of(type_)
    if not isinstance(element, PointerType):
        raise VerifyException(f"expected a pointer or a tensor of pointers, got {type_}")
    return with_element(type_, element.pointee)


def element_rule(type_: Attribute) -> Attribute:
    """The element type of a tensor."""
    return tensor_type(type_).element_type


def pointer_to_element(type_: Attribute) -> Attribute:
    """A global-memory pointer to the element type of a descriptor or block pointer."""
    block = getattr(type_, "block_type", None) or (type_.pointee if isinstance(type_, PointerType) else None)
    if not isinstance(block, TensorType):
        raise VerifyException(f"expected a tensor descriptor or a pointer to a tensor, got {type_}")
    return pointer(signless(element_of(cast(Attribute, block))))


def signless(type_: Attribute) -> Attribute:
    """An integer type without its sign: descriptors say whether their integers are signed, nothing else does."""
    return IntegerType(bit_width(cast(Attribute, type_))) if isinstance(type_, IntegerType) else type_


def tensor_type(type_: Attribute, what: str = "operand") -> TensorType[Attribute]:
    """`type_` as a tensor type."""
    if not is_tensor(type_):
        raise VerifyException(f"{what} must be a tensor, got {type_}")
    return type_


def check_power_of_two(value: int, what: str) -> None:
    """Sizes that become register counts and thread counts have to be powers of two."""
    if value <= 0 or value & (value - 1):
        raise VerifyException(f"{what} must be a power of two, got {value}")


def check_global(type_: Attribute) -> None:
    """A pointer to global memory."""
    if isinstance(type_, PointerType) and type_.address_space != 1:
        raise VerifyException(f"a pointer to global memory is needed, got {type_}")


def check_same_shape(a: Attribute, b: Attribute, what: str) -> None:
    """Both tensors of one shape (or both scalars)."""
    if shape_of(a) != shape_of(b) or is_tensor(a) != is_tensor(b):
        raise VerifyException(f"{what} must have the same shape, got {a} and {b}")


def check_same_encoding(a: Attribute, b: Attribute, what: str) -> None:
    """Both tensors in one layout."""
    if encoding_of(a) != encoding_of(b):
        raise VerifyException(f"{what} must have the same layout, got {a} and {b}")


def check_elementwise(types: Iterable[Attribute], what: str = "operands and results") -> None:
    """All of one shape and layout."""
    types = list(types)
    for type_ in types[1:]:
        check_same_shape(types[0], type_, what)
        check_same_encoding(types[0], type_, what)


def check_axis(axis: int, rank: int) -> None:
    """An axis of a tensor of `rank` dimensions."""
    if not 0 <= axis < rank:
        raise VerifyException(f"axis {axis} is out of range: the tensor has {rank} dimensions")
