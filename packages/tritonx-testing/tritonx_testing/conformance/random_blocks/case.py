"""A random kernel on blocks as a case: its text, its arguments, and what NumPy leaves in memory."""

from __future__ import annotations

import hashlib
import linecache
import math
from collections.abc import Callable
from dataclasses import dataclass
from random import Random
from typing import cast

import numpy as np

from tritonx.runtime.jit import JITFunction
from tritonx_testing.conformance.case import Array, Case, Output, Trial
from tritonx_testing.conformance.random_blocks.arithmetic import straight
from tritonx_testing.conformance.random_blocks.control import block
from tritonx_testing.conformance.random_blocks.numpy_language import NumpyLanguage, Pointer
from tritonx_testing.conformance.random_blocks.statements import FUNCTIONS, loaded, places
from tritonx_testing.conformance.random_blocks.writer import COUNT, INTEGERS, Buffer, Value, Writer

HEADER = """\
import tritonx.language as tl
from tritonx.runtime.jit import jit


"""
BEFORE = 7
"""What outputs hold before the launch."""


@dataclass(frozen=True)
class BlocksProgram:
    """`source` defines `kernel(*buffers, n, m)` and its functions; `programs` of them run."""

    source: str
    programs: int
    buffers: tuple[Buffer, ...]
    scalars: tuple[int, ...]

    def kernel(self) -> JITFunction:
        """The kernel, its source known to `inspect` and to tracebacks."""
        name = f"<random blocks {hashlib.sha256(self.source.encode()).hexdigest()[:12]}>"
        linecache.cache[name] = (len(self.source), None, self.source.splitlines(True), name)
        namespace: dict[str, object] = {"__name__": "tritonx_random_blocks"}
        exec(compile(self.source, name, "exec"), namespace)
        return cast(JITFunction, namespace["kernel"])

    def run_in_numpy(self, arrays: list[Array]) -> None:
        """Its text as Python, one program after another."""
        text = compile(self.source.removeprefix(HEADER), "<random blocks in NumPy>", "exec")
        for pid in range(self.programs):
            namespace: dict[str, object] = {"tl": NumpyLanguage(pid), "jit": _itself}
            exec(text, namespace)
            kernel = cast("Callable[..., None]", namespace["kernel"])
            with np.errstate(all="ignore"):
                kernel(*map(Pointer, arrays), *map(np.int32, self.scalars))

    def trial(self, rng: np.random.Generator) -> Trial:
        arrays = [_contents(buffer, rng) for buffer in self.buffers]
        after = [array.copy() for array in arrays]
        self.run_in_numpy(after)
        given = [
            before if buffer.kind == "input" else Output.of(left, initial=before)
            for buffer, before, left in zip(self.buffers, arrays, after, strict=True)
        ]
        return Trial((*given, *self.scalars), {}, (self.programs,))


def _itself(function: object) -> object:
    return function


def _contents(buffer: Buffer, rng: np.random.Generator) -> Array:
    """Integers of all sizes, small ones and those at the limits; floats that are small quarters."""
    dtype = getattr(NumpyLanguage, buffer.dtype)
    if buffer.kind != "input":
        return np.full(buffer.count, 0 if buffer.kind == "counter" else BEFORE, dtype)
    if buffer.dtype not in INTEGERS:
        return (rng.integers(-64, 65, buffer.count) / 4).astype(dtype)
    limits = np.iinfo(dtype)
    wide = rng.integers(limits.min, limits.max, buffer.count, dtype, endpoint=True)
    small = rng.integers(0, 9, buffer.count).astype(dtype)
    edges = rng.choice(np.array((limits.min, limits.min + 1, limits.max - 1, limits.max), dtype), buffer.count)
    draw = rng.random(buffer.count)
    return np.select((draw < 0.1, draw < 0.5), (edges, wide), small)


def blocks_program(random: Random, *, length: int = 8, depth: int = 2, double: bool = True) -> BlocksProgram:
    """A random kernel of about `length` statements, nested up to `depth` deep; with floats of 64 bits if `double`."""
    w = Writer(random, double, programs=random.randint(1, 3))
    w.line("pid = tl.program_id(0)")
    w.values += [Value("pid", "int32", ()), Value("n", "int32", ()), Value("m", "int32", ())]
    for _ in range(random.randint(1, 3)):
        dtype = random.choice((*INTEGERS, *w.floats(), "int32", "float32"))
        w.buffers.append(Buffer(w.fresh("x"), dtype, COUNT, "input"))
    for _ in range(2):
        loaded(w)
    block(w, length, depth)
    if random.random() < 0.15:
        w.line(f"if {w.condition()}:")
        w.line("    return")
    _stored(w)
    return _whole(w)


def arithmetic_program(random: Random, *, length: int = 40, across: bool = True) -> BlocksProgram:
    """One of ``arithmetic``: a single program of about ``length`` statements, of each element alone if not
    ``across``."""
    w = Writer(random)
    straight(w, length, across=across)
    return _whole(w)


def _whole(w: Writer) -> BlocksProgram:
    names = ", ".join([*(b.name for b in w.buffers), "n", "m"])
    text = "\n\n".join([FUNCTIONS, *w.helpers, "\n".join(["@jit", f"def kernel({names}):", *w.lines, ""])])
    scalars = w.random.randint(2, 900), w.random.randint(2, 40)
    return BlocksProgram(HEADER + text, w.programs, tuple(w.buffers), scalars)


def _stored(w: Writer) -> None:
    """The last variables go to memory, their axes in any order."""
    for value in w.values[-10:]:
        rank, count = len(value.shape), math.prod(value.shape)
        dtype = "int8" if value.dtype == "int1" else value.dtype
        buffer = Buffer(w.fresh("o"), dtype, count * w.programs, "output")
        w.buffers.append(buffer)
        strides, step = [0] * rank, 1
        for axis in w.random.sample(range(rank), rank):
            strides[axis] = step
            step *= value.shape[axis]
        mask = f", mask={w.condition(value.shape)}" if value.shape and w.random.random() < 0.2 else ""
        text = f"tl.cast({value.name}, tl.int8)" if value.dtype == "int1" else value.name
        w.line(f"tl.store({buffer.name} + pid * {count} + {places(w, value.shape, strides)}, {text}{mask})")


ARITHMETIC = "random_arithmetic/"
"""What the names of straight programs of arithmetic begin with."""


def random_case(name: str) -> Case:
    """The case that a name is for, the same kernel for the same name."""
    random = Random(name)
    if name.startswith(ARITHMETIC):
        made = arithmetic_program(random, length=random.choice((12, 24, 48, 96)))
    else:
        made = blocks_program(random, length=random.choice((4, 8, 8, 12)))
    compiled = {"num_warps": random.choice((1, 2, 4, 8)), "enable_fp_fusion": False}
    return Case(name, made.kernel(), made.trial, compiled)
