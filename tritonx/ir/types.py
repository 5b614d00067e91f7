"""Types that every stage builds and takes apart: cached tensor types, element types, the pointer type."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache, lru_cache
from typing import TYPE_CHECKING, ClassVar, TypeGuard, TypeVar, cast

from xdsl.dialects.builtin import (
    BFloat16Type,
    Float8E4M3B11FNUZType,
    Float8E4M3FNType,
    Float8E4M3FNUZType,
    Float8E5M2FNUZType,
    Float8E5M2Type,
    Float16Type,
    Float32Type,
    Float64Type,
    IndexType,
    IntegerType,
    NoneAttr,
    Signedness,
    TensorType,
)
from xdsl.ir import Attribute, Data, SSAValue, TypeAttribute
from xdsl.irdl import irdl_attr_definition
from xdsl.utils.exceptions import VerifyException

from tritonx.ir.spelling import LevelError, Spellings, TextLevel, level_of

if TYPE_CHECKING:
    from xdsl.parser import AttrParser
    from xdsl.printer import Printer


@irdl_attr_definition
class PointerType(Data[tuple[Attribute, int]], TypeAttribute):
    """`!tt.ptr<f32>`, `!tt.ptr<f32, 3>`: an address of elements of one type; address space 1 (global memory) is not
    printed. Space 4 is global memory that the kernel only reads. Triton 3.9 has words for the spaces that it knows
    (`!tt.ptr<f32, "constant">`); before, constant memory is plain global memory.

    It belongs to the tile dialect and is declared here because the functions below are about it.
    """

    name = "tt.ptr"
    SPELLINGS: ClassVar[Spellings] = Spellings(
        {TextLevel.V3_6: "!tt.ptr<f32, 0>", TextLevel.V3_9: '!tt.ptr<f32, "descriptor">'},
    )

    def __init__(self, pointee: Attribute, address_space: int = 1) -> None:
        super().__init__((pointee, address_space))

    @property
    def pointee(self) -> Attribute:
        return self.data[0]

    @property
    def address_space(self) -> int:
        return self.data[1]

    def verify(self) -> None:
        if not isinstance(self.data[0], TypeAttribute):
            raise VerifyException(f"a pointer needs a type to point to, got {self.data[0]}")
        if self.data[1] < 0:
            raise VerifyException(f"address space {self.data[1]} is negative")

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> tuple[Attribute, int]:
        with parser.in_angle_brackets():
            pointee = parser.parse_type()
            space = _address_space(parser) if parser.parse_optional_punctuation(",") else GLOBAL
        return pointee, space

    def print_parameter(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            printer.print_attribute(self.pointee)
            if (text := _space_text(self.address_space, level_of(printer))) is not None:
                printer.print_string(f", {text}")


GLOBAL, CONSTANT = 1, 4
"""Address spaces of pointers to global memory; the second one is only read."""

SPACES = {"global": GLOBAL, "descriptor": 0, "constant": CONSTANT}
"""Words for address spaces, since 3.9."""


def _address_space(parser: AttrParser) -> int:
    word = parser.parse_optional_str_literal()
    if word is None:
        return parser.parse_integer(allow_boolean=False)
    if word not in SPACES:
        parser.raise_error(f"unknown address space '{word}', there are {', '.join(SPACES)}")
    return SPACES[word]


def _space_text(space: int, level: TextLevel | None) -> str | None:
    """What a level writes for an address space, None for nothing; raises `LevelError` where it has no word."""
    if space == GLOBAL or (space == CONSTANT and level is not None and level < TextLevel.V3_9):
        return None
    word = next((word for word, number in SPACES.items() if number == space), None)
    if level is not None and level >= TextLevel.V3_9 and word is None:
        raise LevelError(f"Triton {level} has no pointers to address space {space}")
    return f'"{word}"' if word is not None and (space == CONSTANT or (level or 0) >= TextLevel.V3_9) else str(space)


i1 = IntegerType(1)
i4 = IntegerType(4)
i8 = IntegerType(8)
i16 = IntegerType(16)
i32 = IntegerType(32)
i64 = IntegerType(64)
f16 = Float16Type()
bf16 = BFloat16Type()
f32 = Float32Type()
f64 = Float64Type()
f8E5M2 = Float8E5M2Type()
f8E4M3FN = Float8E4M3FNType()
f8E5M2FNUZ = Float8E5M2FNUZType()
f8E4M3FNUZ = Float8E4M3FNUZType()
f8E4M3B11FNUZ = Float8E4M3B11FNUZType()
index = IndexType()

FLOAT8_TYPES = (f8E5M2, f8E4M3FN, f8E5M2FNUZ, f8E4M3FNUZ, f8E4M3B11FNUZ)

FLOAT_BITS: dict[Attribute, int] = {
    f64: 64,
    f32: 32,
    f16: 16,
    bf16: 16,
    **dict.fromkeys(FLOAT8_TYPES, 8),
}
"""Every floating-point element type, with its width in bits."""

NO_ENCODING = NoneAttr()


@cache  # no bound: the builder tells types apart by identity (`Builder._merged`), and others keep some that are made
def _tensor(element: Attribute, shape: tuple[int, ...], encoding: Attribute) -> TensorType[Attribute]:
    return TensorType(element, shape, encoding)


def tensor(element: Attribute, shape: Sequence[int], encoding: Attribute | None = None) -> TensorType[Attribute]:
    """`tensor<shape x element, encoding>`; equal arguments give the same object."""
    return _tensor(element, tuple(shape), NO_ENCODING if encoding is None else encoding)


@cache
def pointer(element: Attribute, space: int = 1) -> PointerType:
    """`!tt.ptr<element, space>`; equal arguments give the same object. Space 1 is global memory."""
    return PointerType(element, space)


def is_tensor(type_: Attribute) -> TypeGuard[TensorType[Attribute]]:
    # `isinstance` asks the class's metaclass, in ten times as long; and nothing derives from it.
    """Whether the type is a tensor's.

    >>> from xdsl.dialects.builtin import TensorType, f32
    >>> is_tensor(TensorType(f32, [4])), is_tensor(f32)
    (True, False)
    """
    return type(type_) is TensorType


def element_type(type_: Attribute) -> Attribute:
    r"""The element type of a tensor; any other type itself.

    >>> from tritonx.backends.tile import parse_module
    >>> module = parse_module("module {\n  %0 = arith.constant dense<1.0> : tensor<4xf32>\n}")
    >>> print(element_type(module.body.block.first_op.result.type))
    f32
    """
    return type_.element_type if is_tensor(type_) else type_


@lru_cache(maxsize=4096)
def _shape(type_: TensorType[Attribute]) -> tuple[int, ...]:
    return type_.get_shape()


def shape_of(type_: Attribute) -> tuple[int, ...]:
    r"""The shape of a tensor; `()` for any other type.

    >>> from tritonx.backends.tile import parse_module
    >>> module = parse_module("module {\n  %0 = arith.constant dense<1.0> : tensor<4x8xf32>\n}")
    >>> shape_of(module.body.block.first_op.result.type)
    (4, 8)
    """
    return tuple(d.data for d in type_.shape.data) if is_tensor(type_) else ()


def encoding_of(type_: Attribute) -> Attribute | None:
    """The layout that a tensor type carries; None where it carries none (and for scalars)."""
    if is_tensor(type_) and not isinstance(type_.encoding, NoneAttr):
        return type_.encoding
    return None


class Undetermined:
    """What the class of an encoding derives from that stands for a layout until passes determine it (`gluon`)."""


def is_undetermined(type_: Attribute) -> bool:
    """Whether a tensor's layout is still to be determined."""
    return isinstance(getattr(type_, "encoding", None), Undetermined)


def with_element(type_: Attribute, element: Attribute) -> Attribute:
    """The same type with another element type: shape and encoding stay, a scalar becomes `element`."""
    return _tensor(element, shape_of(type_), type_.encoding) if is_tensor(type_) else element


def with_encoding(type_: TensorType[Attribute], encoding: Attribute | None) -> TensorType[Attribute]:
    """The same tensor type with another encoding, or with none."""
    return tensor(type_.element_type, shape_of(type_), encoding)


def bit_width(type_: Attribute) -> int:
    """Width in bits of an element (of a tensor's element); a pointer has 64. Raises `TypeError` for anything else."""
    element = element_type(type_)
    if isinstance(element, IntegerType):
        return cast("IntegerType", element).width.data
    if isinstance(element, PointerType):
        return 64
    width = FLOAT_BITS.get(element)
    if width is None:
        raise TypeError(f"{element} has no width in bits")
    return width


def is_float(type_: Attribute) -> bool:
    """Whether the type, or a tensor's element type, is a floating-point type."""
    return element_type(type_) in FLOAT_BITS


def is_integer(type_: Attribute) -> bool:
    """Whether the type, or a tensor's element type, is an integer (i1 included)."""
    return isinstance(element_type(type_), IntegerType)


def is_unsigned(type_: Attribute) -> bool:
    """Whether the type, or a tensor's element type, says that it is an integer without a sign bit."""
    element = element_type(type_)
    return isinstance(element, IntegerType) and cast("IntegerType", element).signedness.data is Signedness.UNSIGNED


def is_pointer(type_: Attribute) -> bool:
    """Whether the type is a pointer or a tensor of pointers.

    >>> from tritonx.backends.tile import tile
    >>> from xdsl.dialects.builtin import TensorType, f32
    >>> is_pointer(tile.PointerType(f32)), is_pointer(TensorType(tile.PointerType(f32), [4])), is_pointer(f32)
    (True, True, False)
    """
    return isinstance(element_type(type_), PointerType)


def pointee_of(type_: Attribute) -> Attribute:
    """What a load through `type_` (pointer or tensor of pointers) gives: pointee, or a tensor of it in the same layout.

    Raises `TypeError` when `type_` holds no pointers.

    >>> from tritonx.backends.tile import tile
    >>> from xdsl.dialects.builtin import TensorType, f32
    >>> print(pointee_of(TensorType(tile.PointerType(f32), [4])))
    tensor<4xf32>
    """
    element = element_type(type_)
    if not isinstance(element, PointerType):
        raise TypeError(f"{type_} is neither a pointer nor a tensor of pointers")
    return with_element(type_, element.pointee)


TypeT = TypeVar("TypeT", bound=Attribute)


def type_as(value: SSAValue, kind: type[TypeT]) -> TypeT:
    """The type of a value, which the declaration of its op says is of this class."""
    found = type_of(value)
    assert isinstance(found, kind), f"expected a value of a {kind.__name__}, got {found}"
    return found


def type_of(value: SSAValue) -> Attribute:
    """`value.type` without its property: this is read more often than anything else."""
    return value._type  # pyright: ignore[reportPrivateUsage]  # xDSL's private fields are touched in tritonx/ir
