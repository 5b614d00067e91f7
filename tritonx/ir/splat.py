"""`dense<value> : tensor<...>`, one value for all elements, without a buffer of them.

xDSL's `DenseIntOrFPElementsAttr` stores every element: a `dense<0.0> : tensor<256x256xf32>` is 262 kB. Kernels are
full of such constants, so the parser makes a `SplatAttr` of them and the builder does too.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any, TypeAlias, cast

from xdsl.dialects.builtin import (
    AnyFloat,
    DenseIntOrFPElementsAttr,
    FloatAttr,
    IndexType,
    IntegerAttr,
    IntegerType,
    TensorType,
)
from xdsl.ir import Attribute, BuiltinAttribute, Data
from xdsl.irdl import irdl_attr_definition
from xdsl.utils.exceptions import VerifyException

from tritonx.ir.types import bit_width, is_float

if TYPE_CHECKING:
    from xdsl.parser import AttrParser
    from xdsl.printer import Printer


Number: TypeAlias = "IntegerAttr[Any] | FloatAttr[Any]"
"""A number as an attribute, of any type that a tensor's elements may have."""


@irdl_attr_definition
class SplatAttr(Data[tuple[Attribute, TensorType[Attribute]]], BuiltinAttribute):
    """One number (an `IntegerAttr` or `FloatAttr` of the element type) for every element of a tensor type.

    >>> from xdsl.dialects.builtin import FloatAttr, TensorType, f32
    >>> print(SplatAttr(FloatAttr(1.0, f32), TensorType(f32, [4])).type)
    tensor<4xf32>
    """

    name = "tritonx.splat"

    def __init__(self, element: Number, type_: TensorType[Attribute]) -> None:
        super().__init__((element, type_))

    @property
    def element(self) -> Number:
        return cast("Number", self.data[0])

    @property
    def type(self) -> TensorType[Attribute]:
        return self.data[1]

    @property
    def value(self) -> int | float:
        """The number as a Python number; i1 gives 0 or 1 (or -1, as stored)."""
        return self.element.value.data

    def get_type(self) -> TensorType[Attribute]:
        return self.data[1]

    def verify(self) -> None:
        if self.element.type != self.type.element_type:
            raise VerifyException(f"a splat of {self.element.type} cannot fill {self.type}")

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> tuple[Attribute, TensorType[Attribute]]:
        parser.raise_error("a splat is written as dense<value> : type")

    def print_parameter(self, printer: Printer) -> None:
        self.print_builtin(printer)

    def print_builtin(self, printer: Printer) -> None:
        printer.print_string("dense<")
        element = self.element
        if isinstance(element, FloatAttr):
            printer.print_float(element.value.data, cast(AnyFloat, element.type))
        else:
            printer.print_int(element.value.data, element.type)
        printer.print_string("> : ")
        printer.print_attribute(self.type)


@lru_cache(maxsize=4096)
def _splat(value: int | float, kind: type, type_: TensorType[Attribute]) -> SplatAttr:
    return SplatAttr(number(value, type_.element_type), type_)


def splat(value: int | float, type_: TensorType[Attribute]) -> SplatAttr:
    """The splat of a Python number; equal arguments give equal splats, and mostly the same object."""
    if value != value or value == 0:  # NaN is equal to nothing, and -0.0 to 0.0: neither may be a key
        return SplatAttr(number(value, type_.element_type), type_)
    return _splat(value, type(value), type_)


def number(value: int | float, type_: Attribute) -> Number:
    """A scalar attribute of an integer, index or floating-point type.

    An integer may be given as the signed or as the unsigned value; it is stored as xDSL does, signed for signless
    types wider than one bit. Raises `TypeError` for other types.
    """
    if isinstance(type_, IntegerType):
        width = bit_width(cast(Attribute, type_))
        bits = int(value) & ((1 << width) - 1)
        if width > 1 and bits >> (width - 1):
            bits -= 1 << width
        return IntegerAttr(bits, cast(IntegerType, type_))
    if isinstance(type_, IndexType):
        return IntegerAttr(int(value), type_)
    if is_float(type_):
        return FloatAttr(float(value), cast(AnyFloat, type_))
    raise TypeError(f"{type_} is not a type of numbers")


def retyped(value: Attribute, type_: TensorType[Attribute]) -> Attribute:
    """The value of a constant with another type of as many elements of the same kind."""
    if isinstance(value, SplatAttr):
        return SplatAttr(value.element, type_)
    if isinstance(value, DenseIntOrFPElementsAttr):
        return DenseIntOrFPElementsAttr(type_, value.data)  # pyright: ignore[reportArgumentType] -- same element type
    return value
