"""Writes random kernels on blocks of any extents; what the statements are is in `statements.py` and `control.py`.

The writer knows the dtype and the extents of every variable. Each is made by a conversion to its dtype, so that both
meanings of the text agree on it whatever an op promotes to.
"""

from __future__ import annotations

import math
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from random import Random

Shape = tuple[int, ...]

SIGNED = ("int8", "int16", "int32", "int64")
UNSIGNED = ("uint8", "uint16", "uint32", "uint64")
INTEGERS = SIGNED + UNSIGNED
SHORT_FLOATS = ("float16", "bfloat16")
FLOATS = (*SHORT_FLOATS, "float32", "float64")
EXACT_IN_SHORT_FLOATS = ("int1", "int8", "uint8")

EXTENTS = (1, 2, 3, 4, 5, 6, 7, 8, 12, 16, 20, 24, 32, 48, 96)
LARGEST = 512
"""Elements of a block with its padding."""

COUNT = 4096
"""Elements of each input."""


def storage(shape: Shape) -> int:
    """Elements of a block in the IR, where each axis has a power of two."""
    return math.prod(1 << (extent - 1).bit_length() for extent in shape)


@dataclass(frozen=True)
class Value:
    """A variable of the kernel."""

    name: str
    dtype: str
    shape: Shape


@dataclass(frozen=True)
class Buffer:
    """An array argument: `input`, `output` or `counter`."""

    name: str
    dtype: str
    count: int
    kind: str


@dataclass
class Writer:
    """The text of one kernel as far as it is written, and the variables that are known where the next line goes."""

    random: Random
    double: bool = True
    """Whether there are numbers of 64 bits that are floats."""
    lines: list[str] = field(default_factory=list[str])
    helpers: list[str] = field(default_factory=list[str])
    values: list[Value] = field(default_factory=list[Value])
    buffers: list[Buffer] = field(default_factory=list[Buffer])
    indent: int = 1
    names: int = 0
    programs: int = 1
    loops: int = 0
    """Loops around, that may be left."""
    within: str = "kernel"
    """What is being written: the kernel, or a function (of which blocks are parameters)."""

    # --- text

    def line(self, text: str) -> None:
        self.lines.append("    " * self.indent + text)

    def fresh(self, prefix: str = "v") -> str:
        self.names += 1
        return f"{prefix}{self.names}"

    @contextmanager
    def inside(self) -> Generator[None]:
        """One level in; what is made there is not known behind it."""
        known = list(self.values)
        self.indent += 1
        yield
        self.indent -= 1
        self.values = known

    def define(self, text: str, dtype: str, shape: Shape) -> Value:
        """A new variable with the value of `text`, cast to `dtype`."""
        value = Value(self.fresh(), dtype, shape)
        self.line(f"{value.name} = {self.cast(text, dtype)}")
        self.values.append(value)
        return value

    @staticmethod
    def cast(text: str, dtype: str) -> str:
        return f"({text}) != 0" if dtype == "int1" else f"tl.cast({text}, tl.{dtype})"

    # --- what to draw

    def shape(self, most: int = LARGEST, rank: int | None = None) -> Shape:
        rank = self.random.choice((1, 1, 2, 2, 2, 3, 3, 4)) if rank is None else rank
        while True:
            shape = tuple(self.random.choice(EXTENTS) for _ in range(rank))
            if storage(shape) <= most:
                return shape

    def floats(self) -> tuple[str, ...]:
        return FLOATS if self.double else FLOATS[:-1]

    def dtype(self) -> str:
        return self.random.choice((*INTEGERS, "int32", "int32", *self.floats(), "float32", "int1"))

    def any_block(self, kinds: Sequence[str] = (), rank: int | None = None) -> Value:
        """Some block, of late more often, converted where no block is of these dtypes; of this rank."""
        known = [v for v in self.values if v.shape and (rank is None or len(v.shape) == rank)]
        if not known:
            known = [self.counted(self.shape(rank=rank))]
        fitting = [v for v in known if not kinds or v.dtype in kinds]
        if fitting and self.random.random() < 0.85:
            return self.random.choice(fitting[-8:])
        value = self.random.choice(known[-8:])
        if not kinds or value.dtype in kinds:
            return value
        dtype = self.random.choice(list(kinds))
        return self.define(self.converted(value, dtype), dtype, value.shape)

    def counted(self, shape: Shape, dtype: str = "int32") -> Value:
        """A block that is made of ranges, or a number."""
        if not shape:
            return self.define(self.narrowed(self.scalar(), dtype), dtype, shape)
        parts = [
            self.spread(f"tl.arange(0, {n})", axis, len(shape)) + f" * {self.random.randint(1, 5)}"
            for axis, n in enumerate(shape)
        ]
        return self.define(self.narrowed(" + ".join(parts), dtype), dtype, shape)

    @staticmethod
    def spread(text: str, axis: int, rank: int) -> str:
        """A range as this axis of a block."""
        if rank == 1:
            return text
        return text + "[" + ", ".join(":" if a == axis else "None" for a in range(rank)) + "]"

    @staticmethod
    def narrowed(text: str, dtype: str) -> str:
        """An int32 expression, so that it is a number of the dtype."""
        return text if dtype in ("int1", "int32", "int64") else f"({text}) & 127"

    def scalar(self) -> str:
        """An int32 that is known when the kernel runs."""
        return self.random.choice([v.name for v in self.values if v.shape == () and v.dtype == "int32"])

    def below(self, count: int) -> str:
        """A scalar from 0 to count - 1."""
        return f"(({self.scalar()} & 1023) % {count})"

    def converted(self, value: Value, dtype: str) -> str:
        """The value as an expression of the dtype, rounded at most once; of floats those in range."""
        text, source = value.name, value.dtype
        if dtype == "int1" or source == dtype:
            return text if source == dtype else f"{text} != 0"
        if dtype in INTEGERS and source in FLOATS:
            low = 0.0 if dtype in UNSIGNED else -100.0
            return f"tl.minimum(tl.maximum(tl.cast({text}, tl.float32), {low}), 100.0)"
        if dtype in SHORT_FLOATS and source not in EXACT_IN_SHORT_FLOATS:
            if source in INTEGERS:
                return f"{text} & 127"
            return f"tl.cast({text}, tl.float32)"
        return text

    def fitted(self, shape: Shape, dtype: str) -> str:
        """An expression of the dtype that broadcasts to the shape."""
        return self.fitting(shape, dtype).name

    def fitting(self, shape: Shape, dtype: str) -> Value:
        known = [v for v in self.values if _broadcasts(v.shape, shape)]
        draw = self.random.random()
        if known and draw < 0.7:
            value = self.random.choice(known[-6:])
            return self.define(self.converted(value, dtype), dtype, value.shape)
        same = [v for v in self.values if v.shape and math.prod(v.shape) == math.prod(shape)]
        if same and shape and draw < 0.85:
            value = self.random.choice(same[-6:])
            return self.define(f"tl.reshape({self.converted(value, dtype)}, {shape})", dtype, shape)
        return self.counted(shape, dtype)

    def exactly(self, shape: Shape, dtype: str) -> Value:
        """A variable of this dtype and these extents."""
        known = [v for v in self.values if v.shape == shape and v.dtype == dtype]
        if known and self.random.random() < 0.7:
            return self.random.choice(known[-6:])
        value = self.fitting(shape, dtype)
        if not value.shape:
            return self.define(f"tl.full({shape}, {value.name}, tl.{dtype})" if shape else value.name, dtype, shape)
        new = "".join("None, " for _ in shape[len(value.shape) :])
        return self.define(f"tl.broadcast_to({value.name}[{new}...], {shape})", dtype, shape)

    def condition(self, shape: Shape = ()) -> str:
        """Of scalars, or a block that broadcasts to the shape."""
        operator = self.random.choice(("<", "<=", "==", "!=", ">", ">="))
        if not shape:
            left = f"({self.scalar()} & {self.random.choice((1, 3, 7))})"
            test = f"{left} {operator} {self.random.randint(0, 3)}"
            return self.random.choice((test, test, f"not ({test})", f"{test} and {self.scalar()} > 2"))
        if self.random.random() < 0.4:
            return self.edge(shape)
        dtype = self.random.choice((*INTEGERS, *self.floats()))
        return f"({self.fitted(shape, dtype)} {operator} {self.fitted(shape, dtype)})"

    def edge(self, shape: Shape) -> str:
        """The numbers along an axis compared with one that is known at run time, or two such tests."""
        axis = self.random.randrange(len(shape))
        numbers = self.spread(f"tl.arange(0, {shape[axis]})", axis, len(shape))
        sides = [numbers, f"({self.below(shape[axis] + 2)} - {self.random.randint(0, 1)})"]
        if self.random.random() < 0.3:
            sides.reverse()
        test = f"({sides[0]} {self.random.choice(('<', '<', '<=', '>', '>=', '=='))} {sides[1]})"
        if self.random.random() < 0.3:
            return f"({test} {self.random.choice('&&|')} {self.edge(shape)})"
        return test


def _broadcasts(shape: Shape, target: Shape) -> bool:
    """Whether a block of `shape` next to one of `target` is one of `target`."""
    if len(shape) > len(target):
        return False
    return all(a in (1, b) for a, b in zip(shape[::-1], target[::-1], strict=False)) and (bool(target) or not shape)
