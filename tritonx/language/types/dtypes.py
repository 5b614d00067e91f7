"""Types: element types, pointers, blocks.

``str`` of an element type is Triton's short name (``fp32``), ``repr`` the name one would write
(``triton.language.float32``: code generators print it into kernels).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from enum import Enum
from math import prod
from typing import TYPE_CHECKING, Any, ClassVar

from tritonx.language.types.block_shapes import storage_shape
from tritonx.language.values.base import base_type
from tritonx.language.values.constexpr import constexpr, unwrap
from tritonx.language.values.tensor import tensor

if TYPE_CHECKING:
    from xdsl.ir import SSAValue


class SIGNEDNESS(Enum):
    SIGNED = 0
    UNSIGNED = 1


class KIND(Enum):
    """Ordered by how strongly a Python constant of the kind forces a promotion."""

    BOOLEAN = 0
    INTEGRAL = 1
    FLOATING = 2


_FLOATS: dict[str, tuple[int, int, int, str]] = {
    # name: (bits, mantissa bits, exponent bias, spelled name)
    "fp8e4b15": (8, 3, 15, "float8e4b15"),
    "fp8e4nv": (8, 3, 7, "float8e4nv"),
    "fp8e4b8": (8, 3, 8, "float8e4b8"),
    "fp8e5": (8, 2, 15, "float8e5"),
    "fp8e5b16": (8, 2, 16, "float8e5b16"),
    "fp16": (16, 10, 15, "float16"),
    "bf16": (16, 7, 127, "bfloat16"),
    "fp32": (32, 23, 127, "float32"),
    "fp64": (64, 52, 1023, "float64"),
}

LARGEST_FP8 = {"fp8e4nv": 448.0, "fp8e5": 57344.0, "fp8e4b8": 240.0, "fp8e5b16": 57344.0}
"""The largest finite number of 8-bit floats, at which conversions to them end. Those to `fp8e4b15` do not."""


class UnknownElementType(AssertionError, RuntimeError):
    """No element type has this name. Triton asserts it."""


class dtype(base_type):
    """An element type, by its short name: ``int1``, ``uint32``, ``fp16``, ``bf16``, ``fp8e4nv``, ``void``, ...

    >>> tl.full((2,), 2.75, tl.float32).to(tl.dtype('int8'))
    [2, 2]
    """

    SINT_TYPES: ClassVar[list[str]] = ["int8", "int16", "int32", "int64"]
    UINT_TYPES: ClassVar[list[str]] = ["int1", "uint8", "uint16", "uint32", "uint64"]
    FP_TYPES: ClassVar[list[str]] = list(_FLOATS)
    STANDARD_FP_TYPES: ClassVar[list[str]] = ["fp16", "bf16", "fp32", "fp64"]
    OTHER_TYPES: ClassVar[list[str]] = ["void"]
    SIGNEDNESS = SIGNEDNESS
    KIND = KIND

    name: str
    primitive_bitwidth: int
    itemsize: int
    int_signedness: SIGNEDNESS
    int_bitwidth: int
    fp_mantissa_width: int
    exponent_bias: int
    element_ty: dtype
    """Of pointers and blocks."""
    storage: tuple[int, ...] = ()
    """The extents in the IR."""
    padded: bool = False
    """Whether a block of this type has more elements in the IR than in the language."""

    def __init__(self, name: Any):
        name = unwrap(name)
        if not isinstance(name, str):
            raise UnknownElementType(f"unknown element type {name!r}")
        self.name = name
        if name in dtype.SINT_TYPES or name in dtype.UINT_TYPES:
            self.int_signedness = SIGNEDNESS.SIGNED if name in dtype.SINT_TYPES else SIGNEDNESS.UNSIGNED
            self.int_bitwidth = int(name.split("int")[-1])
            self.primitive_bitwidth = self.int_bitwidth
        elif name in _FLOATS:
            self.primitive_bitwidth, self.fp_mantissa_width, self.exponent_bias, _ = _FLOATS[name]
        elif name == "void":
            self.primitive_bitwidth = 0
        else:
            raise UnknownElementType(f"unknown element type {name!r}")
        self.itemsize = self.primitive_bitwidth // 8
        self._hash = hash((name,))

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        other = unwrap(other)
        return isinstance(other, dtype) and self.name == other.name

    def __hash__(self) -> int:
        return self._hash

    def __str__(self) -> str:
        return self.name

    def __repr__(self) -> str:
        return f"triton.language.{self.codegen_name()}"

    def __reduce__(self) -> tuple[object, ...]:
        return (dtype, (self.name,))

    def codegen_name(self) -> str:
        """The name as an attribute of ``tl``."""
        return _FLOATS[self.name][3] if self.name in _FLOATS else self.name

    @property
    def cache_key_part(self) -> str:
        return self.name

    def mangle(self) -> str:
        if self.is_int():
            return f"{'i' if self.is_int_signed() else 'u'}{self.int_bitwidth}"
        return "V" if self.is_void() else str(self)

    @property
    def scalar(self) -> dtype:
        """The type of one element: itself."""
        return self

    @property
    def shape(self) -> tuple[int, ...]:
        return ()

    def with_element_ty(self, element_ty: dtype) -> dtype:
        """``element_ty``; for a block, a block of it of the same shape."""
        return element_ty

    def leaves(self) -> list[dtype]:
        return [] if self.is_void() else [self]

    def rebuild(self, handles: Iterator[SSAValue]) -> tensor:
        return tensor(next(handles), self)

    # Predicates. Pointer and block types override the ones that differ.

    def is_void(self) -> bool:
        return self.name == "void"

    @staticmethod
    def is_block() -> bool:
        return False

    @staticmethod
    def is_ptr() -> bool:
        return False

    @staticmethod
    def is_const() -> bool:
        return False

    @staticmethod
    def is_dtype(type_str: str) -> bool:
        """Whether ``type_str`` names an element type."""
        return type_str in (*dtype.SINT_TYPES, *dtype.UINT_TYPES, *dtype.FP_TYPES, *dtype.OTHER_TYPES)

    def is_floating(self) -> bool:
        return self.name in _FLOATS

    def is_standard_floating(self) -> bool:
        return self.name in dtype.STANDARD_FP_TYPES

    def is_int(self) -> bool:
        return self.name in dtype.SINT_TYPES or self.name in dtype.UINT_TYPES

    def is_int_signed(self) -> bool:
        return self.name in dtype.SINT_TYPES

    def is_int_unsigned(self) -> bool:
        return self.name in dtype.UINT_TYPES

    def is_bool(self) -> bool:
        return self.name == "int1"

    def is_fp8(self) -> bool:
        return self.name.startswith("fp8")

    def is_fp8e4nv(self) -> bool:
        return self.name == "fp8e4nv"

    def is_fp8e4b8(self) -> bool:
        return self.name == "fp8e4b8"

    def is_fp8e4b15(self) -> bool:
        return self.name == "fp8e4b15"

    def is_fp8e5(self) -> bool:
        return self.name == "fp8e5"

    def is_fp8e5b16(self) -> bool:
        return self.name == "fp8e5b16"

    def is_fp16(self) -> bool:
        return self.name == "fp16"

    def is_bf16(self) -> bool:
        return self.name == "bf16"

    def is_fp32(self) -> bool:
        return self.name == "fp32"

    def is_fp64(self) -> bool:
        return self.name == "fp64"

    def is_int1(self) -> bool:
        return self.name == "int1"

    def is_int8(self) -> bool:
        return self.name == "int8"

    def is_int16(self) -> bool:
        return self.name == "int16"

    def is_int32(self) -> bool:
        return self.name == "int32"

    def is_int64(self) -> bool:
        return self.name == "int64"

    def is_uint8(self) -> bool:
        return self.name == "uint8"

    def is_uint16(self) -> bool:
        return self.name == "uint16"

    def is_uint32(self) -> bool:
        return self.name == "uint32"

    def is_uint64(self) -> bool:
        return self.name == "uint64"

    def kind(self) -> KIND:
        if self.is_floating():
            return KIND.FLOATING
        if self.is_bool():
            return KIND.BOOLEAN
        if self.is_int():
            return KIND.INTEGRAL
        raise TypeError(f"{self} is neither an integer nor a floating-point type")

    def _check_integer(self) -> None:
        if not self.is_int():
            raise TypeError(f"{self} is no integer type, and has no least and greatest integer")

    def get_int_max_value(self) -> int:
        self._check_integer()
        bits = self.int_bitwidth
        return (1 << (bits - 1)) - 1 if self.is_int_signed() else (1 << bits) - 1

    def get_int_min_value(self) -> int:
        self._check_integer()
        return -(1 << (self.int_bitwidth - 1)) if self.is_int_signed() else 0


_SPACES = {"global": 1, "descriptor": 0, "constant": 4}
"""Words of Triton 3.9 for address spaces."""


def _address_space(space: int | str) -> int:
    if not isinstance(space, str):
        return int(space)
    if space not in _SPACES:
        raise ValueError(f"unknown address space {space!r}, there are {', '.join(_SPACES)}")
    return _SPACES[space]


class pointer_type(dtype):
    """A pointer to ``element_ty`` in an address space, by its number or by its word of 3.9 (1, ``"global"``: global
    memory). ``const`` forbids stores through it.

    >>> (ints + 2).dtype.element_ty == tl.int32
    1
    """

    def __init__(self, element_ty: dtype, address_space: int | str = 1, const: bool = False):
        element_ty = unwrap(element_ty)
        if not isinstance(element_ty, dtype):  # pyright: ignore[reportUnnecessaryIsInstance]  # users pass anything
            raise TypeError(f"element_ty has type `{type(element_ty).__name__}`; expected `dtype`.")
        self.element_ty = element_ty
        self.address_space = _address_space(unwrap(address_space))
        self.const = bool(const)
        self.name = f"const_pointer<{element_ty}>" if self.const else f"pointer<{element_ty}>"
        self.primitive_bitwidth, self.itemsize = 64, 8
        self._hash = hash((element_ty, self.address_space, self.const))

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        other = unwrap(other)
        return (
            isinstance(other, pointer_type)
            and self.element_ty == other.element_ty
            and self.address_space == other.address_space
            and self.const == other.const
        )

    def __hash__(self) -> int:
        return self._hash

    def __repr__(self) -> str:
        return self.name

    def __reduce__(self) -> tuple[object, ...]:
        return (pointer_type, (self.element_ty, self.address_space, self.const))

    @staticmethod
    def is_ptr() -> bool:
        return True

    def is_const(self) -> bool:  # pyright: ignore[reportIncompatibleMethodOverride]  # static for the other types
        return self.const

    def mangle(self) -> str:
        return f"P{self.element_ty.mangle()}"

    @property
    def cache_key_part(self) -> str:
        return self.name


class block_type(dtype):
    """A block of ``element_ty`` with a static shape, a tuple of positive ints: the block's *extents*. In the IR each
    axis has the next power of two, its *storage*; a block that is thus larger there is ``padded``.

    >>> tl.zeros((2, 4), tl.float32).type.shape[1]
    4
    """

    def __init__(self, element_ty: dtype, shape: Sequence[Any]):
        self.element_ty = element_ty
        self._shape = tuple([unwrap(s) for s in shape])
        self.storage = storage_shape(self._shape)
        self.padded = self.storage != self._shape
        self.numel = prod(self._shape)
        self.name = f"<{[str(s) for s in self._shape]}, {element_ty.name}>"
        self.primitive_bitwidth = element_ty.primitive_bitwidth
        self.itemsize = element_ty.itemsize
        self.nbytes = self.numel * self.primitive_bitwidth // 8
        self._hash = hash((element_ty, self._shape))

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        other = unwrap(other)
        return isinstance(other, block_type) and self._shape == other._shape and self.element_ty == other.element_ty

    def __hash__(self) -> int:
        return self._hash

    def __str__(self) -> str:
        return self.name

    def __repr__(self) -> str:
        return self.name

    def __reduce__(self) -> Any:
        return (block_type, (self.element_ty, self._shape))

    @property
    def shape(self) -> tuple[int, ...]:
        return self._shape

    def get_block_shapes(self) -> tuple[int, ...]:
        return self._shape

    @property
    def scalar(self) -> dtype:
        return self.element_ty

    def with_element_ty(self, element_ty: dtype) -> dtype:
        return block_type(element_ty, self._shape)

    @staticmethod
    def is_block() -> bool:
        return True

    def mangle(self) -> str:
        return f"{self.element_ty.mangle()}S{'_'.join(map(str, self._shape))}S"

    @property
    def cache_key_part(self) -> str:
        return self.name


class const:
    """Annotation of a pointer parameter that the kernel only reads.

    >>> @tritonx.jit
    ... def read(x: tl.const, out):
    ...     tl.store(out, tl.load(x))
    >>> read.params[0].is_const
    True
    """


void = dtype("void")
int1, int8, int16, int32, int64 = (dtype(f"int{bits}") for bits in (1, 8, 16, 32, 64))
uint8, uint16, uint32, uint64 = (dtype(f"uint{bits}") for bits in (8, 16, 32, 64))
float8e5, float8e5b16 = dtype("fp8e5"), dtype("fp8e5b16")
float8e4nv, float8e4b8, float8e4b15 = dtype("fp8e4nv"), dtype("fp8e4b8"), dtype("fp8e4b15")
float16, bfloat16, float32, float64 = dtype("fp16"), dtype("bf16"), dtype("fp32"), dtype("fp64")
pi32_t = pointer_type(int32)


def is_type(value: object) -> bool:
    """Whether ``value`` (or the value of a constexpr) is a type of the language."""
    return isinstance(value.value if isinstance(value, constexpr) else value, base_type)
