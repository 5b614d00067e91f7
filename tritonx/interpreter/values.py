"""How the values of the IR are held: which NumPy dtype stands for which element type, and what a tensor descriptor is.

A tile is an ndarray of its logical shape, a scalar a NumPy scalar. Integers are signless: an `iN` is held in the
signed dtype of N bits whatever the kernel means by it, the op says how to read it (`unsigned` gives the other view).
An i1 is a `bool`, a pointer an int64 address.
"""

# Operands are arrays of any dtype: to pyright, what NumPy makes of them is partially unknown.
# pyright: reportUnknownArgumentType=false, reportUnknownLambdaType=false
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TypeAlias

import ml_dtypes
import numpy as np
from xdsl.dialects.builtin import IndexType, IntegerType
from xdsl.ir import Attribute

from tritonx.interpreter.errors import UnsupportedInInterpreter
from tritonx.ir import types

Array: TypeAlias = np.ndarray
"""A tile, or a scalar where both are meant: a NumPy scalar has an array's attributes, methods and operators."""

Value: TypeAlias = object
"""Whatever a value of the IR is held as, of any kind: an `Array`, a `BlockPointer`, a `Descriptor`; in
the machine for `ttg` also what its own modules define (a view, a tile that a product is going to make)."""

_INTEGERS: dict[int, np.dtype] = {
    1: np.dtype(np.bool_),
    8: np.dtype(np.int8),
    16: np.dtype(np.int16),
    32: np.dtype(np.int32),
    64: np.dtype(np.int64),
}

_FLOATS: dict[Attribute, np.dtype] = {
    types.f16: np.dtype(np.float16),
    types.bf16: np.dtype(ml_dtypes.bfloat16),
    types.f32: np.dtype(np.float32),
    types.f64: np.dtype(np.float64),
    types.f8E5M2: np.dtype(ml_dtypes.float8_e5m2),
    types.f8E4M3FN: np.dtype(ml_dtypes.float8_e4m3fn),
    types.f8E5M2FNUZ: np.dtype(ml_dtypes.float8_e5m2fnuz),
    types.f8E4M3FNUZ: np.dtype(ml_dtypes.float8_e4m3fnuz),
    types.f8E4M3B11FNUZ: np.dtype(ml_dtypes.float8_e4m3b11fnuz),
}


@lru_cache(maxsize=1024)
def dtype_of(type_: Attribute) -> np.dtype:
    """The dtype that holds elements of `type_` (a scalar, pointer, index or tensor type).

    >>> from xdsl.dialects.builtin import TensorType, bf16, f32
    >>> dtype_of(TensorType(f32, [4])), dtype_of(bf16)
    (dtype('float32'), dtype(bfloat16))
    """
    element = types.element_type(type_)
    if isinstance(element, types.PointerType | IndexType):
        return np.dtype(np.int64)
    if isinstance(element, IntegerType):
        held = _INTEGERS.get(element.width.data)
    else:
        held = _FLOATS.get(element)
    if held is None:
        raise UnsupportedInInterpreter(f"the interpreter holds no values of type {element}")
    return held


@lru_cache(maxsize=1024)
def storage_of(pointee: Attribute) -> np.dtype:
    """The dtype of an element in memory: an i1 takes a byte, everything else is as in registers."""
    held = dtype_of(pointee)
    return np.dtype(np.uint8) if held == np.bool_ else held


def is_float(dtype: np.dtype) -> bool:
    """Whether elements of this dtype are floating point, ml_dtypes' formats included."""
    return dtype.kind == "f" or dtype in _FLOAT_SET


_FLOAT_SET = frozenset(_FLOATS.values())

UNSIGNED: dict[np.dtype, np.dtype] = {
    np.dtype(np.bool_): np.dtype(np.bool_),
    np.dtype(np.int8): np.dtype(np.uint8),
    np.dtype(np.int16): np.dtype(np.uint16),
    np.dtype(np.int32): np.dtype(np.uint32),
    np.dtype(np.int64): np.dtype(np.uint64),
}


def unsigned(value: Array) -> Array:
    """A signless integer (array or scalar) read as unsigned; an i1 stays a bool."""
    return value.view(UNSIGNED[value.dtype])


SIGNED: dict[np.dtype, np.dtype] = {u: s for s, u in UNSIGNED.items()}


def signless(value: Array) -> Array:
    """An unsigned integer as it is held."""
    return value.view(SIGNED[value.dtype])


Poison: TypeAlias = bool | float
"""What undefined elements are: False for 0; True for NaN, or the bytes 0xA5 of an integer; an infinity for the largest
or the smallest value."""


def undefined(dtype: np.dtype, poison: Poison) -> Array:
    """What stands for an undefined element."""
    if not poison:
        return dtype.type(0)
    if not isinstance(poison, bool):
        return dtype.type(_extreme(dtype, poison > 0))
    if is_float(dtype):
        return dtype.type(float("nan"))
    return (
        np.frombuffer(b"\xa5" * dtype.itemsize, np.uint8)
        .view(dtype if dtype.kind != "b" else np.uint8)[0]
        .astype(dtype)
    )


def _extreme(dtype: np.dtype, largest: bool) -> float | bool:
    """The largest or the smallest value: infinite where the format has infinities."""
    if dtype == np.bool_:
        return largest
    if not is_float(dtype):
        info = np.iinfo(dtype)
        return int(info.max if largest else info.min)
    infinity = float("inf") if largest else -float("inf")
    if dtype.itemsize > 1 or np.isinf(dtype.type(infinity)):
        return infinity
    finite = ml_dtypes.finfo(dtype)
    return float(finite.max if largest else finite.min)


@dataclass(frozen=True)
class BlockPointer:
    """A block of a strided tensor: where it begins (`offsets`, in elements, may be negative) in extents `shape`."""

    base: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    offsets: tuple[int, ...]


@dataclass(frozen=True)
class Descriptor:
    """A tensor descriptor: a window of `block` elements moves over a tensor of `shape` with `strides` (in elements)
    at `base`. What is read through one that `rounds` is rounded to tf32."""

    base: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    block: tuple[int, ...]
    element: Attribute
    pad_with_nan: bool = False
    rounds: bool = False


def reads_as(descriptor: object) -> tuple[bool, bool]:
    """Of a `TensorDescriptor`, of whatever package: whether it is padded with NaN, and whether it rounds."""
    return str(getattr(descriptor, "padding", "zero")) == "nan", bool(getattr(descriptor, "round_f32_to_tf32", False))
