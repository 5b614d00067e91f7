"""Pairs of values that Python, or a text, takes for equal and that mean different things to a kernel, and what runs a
kernel that tells them apart. A program of its own too: ``python equal_values.py 0|1 NUMBER...`` launches one of each.
"""

from __future__ import annotations

import enum
import math
import struct
import sys
import zlib
from collections import namedtuple
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from functools import partial
from types import ModuleType
from typing import Any

import numpy as np

import tritonx
import tritonx.language as tl
from tritonx.interpreter import interpreted


class Colour(enum.IntEnum):
    RED = 1


class Size(enum.IntEnum):
    RED = 1


class Word(str):
    __slots__ = ()


class Name(enum.StrEnum):
    A = "a"


@dataclass(frozen=True)
class Scale:
    by: object
    unseen: object = field(default=0, compare=False)


@dataclass(frozen=True)
class Shift:
    by: object

    def __eq__(self, other: object) -> bool:
        return getattr(other, "by", None) == self.by

    def __hash__(self) -> int:
        return 0


class Angle(Shift):
    pass


class Chameleon:
    """Equal to all of its class."""

    def __init__(self, by: object) -> None:
        self.by = by

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Chameleon)

    def __hash__(self) -> int:
        return 0


Pair = namedtuple("Pair", "first second")
Other = namedtuple("Pair", "left right")


def adder(amount: object) -> Any:
    def add(x: Any) -> Any:
        return x + amount

    return add


def loaded(value: object) -> ModuleType:
    module = ModuleType("loaded_twice")
    module.VALUE = value
    return module


def nan(bits: int) -> float:
    return struct.unpack("<d", struct.pack("<Q", 0x7FF8 << 48 | bits))[0]


PAIRS: tuple[tuple[object, object], ...] = (
    *((2, 2.0), (1, True), (0, False), (0.0, -0.0), (0, -0.0), (0, 0.0), (1, 1 + 0j), (2**70, float(2**70))),
    *((nan(0), nan(1)), (nan(1), -nan(1)), (math.inf, 10**400), (1, Colour.RED), (Colour.RED, Size.RED)),
    *(("a", Word("a")), ("a", Name.A), ("fp32", tl.float32), ("1", 1), ("None", None), ("True", True)),
    *(((2,), (2.0,)), ((1,), (True,)), ((0.0,), (-0.0,)), ((1, (True,)), (True, (1,))), ((), None)),
    *(((np.int32(2),), (2,)), ((np.float32(2),), (np.float64(2),)), ((np.bool_(True),), (True,))),
    *(((np.float32(0.0),), (np.float32(-0.0),)), ((np.int8(1),), (np.uint8(1),)), (0.1, float(np.float32(0.1)))),
    *((Pair(1, 2), (1, 2)), (Pair(1, 2), Pair(1.0, 2)), (Pair(1, 2), Other(1, 2)), ((Pair(1, 2),), (Other(1, 2),))),
    *((Scale(1), Scale(1.0)), (Scale(1), Scale(True)), (Scale(0.0), Scale(-0.0)), (Scale(1), Scale(1, unseen=2))),
    *((Scale((1,)), Scale((True,))), (Shift(1), Angle(1)), (Shift(1), Scale(1)), (Chameleon(1), Chameleon(2))),
    *((Decimal("1"), Decimal("1.0")), (Fraction(2), 2), (range(0, 3, 2), range(0, 4, 2)), (b"a", "a")),
    *((frozenset({1}), frozenset({True})), (adder(1), adder(1.0)), (adder(1), adder(2)), (max, min)),
    *((partial(max, 2), partial(max, 2.0)), (partial(max, 2), partial(min, 2)), (tl.exp, tl.log), (math.sin, math.cos)),
    *((loaded(1), loaded(2)), (tl.constexpr(1), 1.0), (tl.pointer_type(tl.int8), tl.pointer_type(tl.int16))),
)


@tritonx.constexpr_function
def number(value: Any) -> Any:
    """A number that says what a value is: its class and content, by other means than a key's."""

    def content(value: Any) -> str:
        kind = type(value).__name__
        if isinstance(value, enum.Enum):
            text = f"{type(value).__qualname__} {value.name}"
        elif isinstance(value, float):
            text = struct.pack("<d", value).hex()
        elif isinstance(value, np.generic):
            text = value.tobytes().hex()
        elif isinstance(value, tuple):
            text = str([getattr(value, "_fields", None), *map(content, value)])
        elif isinstance(value, frozenset):
            text = str(sorted(map(content, value)))
        elif hasattr(value, "by"):
            text = f"{content(value.by)} {content(getattr(value, 'unseen', 0))}"
        elif isinstance(value, ModuleType):
            text = str(value.VALUE)
        elif isinstance(value, partial) or (kind == "function" and value.__name__ == "add"):
            text = repr(value(1))
        else:
            text = value.__name__ if callable(value) and hasattr(value, "__name__") else repr(value)
        return f"{kind} {text}"

    return zlib.crc32(content(value).encode()) >> 1


def kernel() -> Any:
    """A kernel that writes the number of a compile-time argument; each has its own memory of what it compiled."""

    @tritonx.jit
    def tell(out_ptr, VALUE: tl.constexpr):
        tl.store(out_ptr, number(VALUE))

    return tell


def told(tell: Any, value: object) -> int:
    out = np.zeros(1, np.int32)
    tell[(1,)](out, value)
    return int(out[0])


def wanted(value: object) -> int:
    return number(value.value if isinstance(value, tl.constexpr) else value)


def wrong(which: int, order: tuple[int, ...], interpret: bool = False) -> list[str]:
    """What a kernel says wrongly of the values of a pair, launched in that order."""
    tell = interpreted(kernel()) if interpret else kernel()
    values = [PAIRS[which][i] for i in order]
    return [f"{value!r} of pair {which} in the order {order}" for value in values if told(tell, value) != wanted(value)]


if __name__ == "__main__":
    print([fault for which in sys.argv[2:] for fault in wrong(int(which), (int(sys.argv[1]),))])
