"""Frozen dataclasses as arguments: compiled, line by line, and by the compiled kernel itself."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, ClassVar, NamedTuple

import numpy as np
import pytest

import tritonx
import tritonx.language as tl
from tritonx.interpreter.function import interpreted
from tritonx.runtime.errors import ReadOnlyArgument, UnsupportedArgument


@dataclass(frozen=True)
class View:
    start: Any
    size: int
    step: int = 1


@dataclass(frozen=True)
class Task:
    source: View
    target: View
    scale: float
    BLOCK: tl.constexpr
    relu: tl.constexpr = field(default=False)  # pyright: ignore[reportAssignmentType]  # a constexpr is what Python has
    kinds: ClassVar[int] = 3


@dataclass
class Loose:
    size: int


@dataclass(frozen=True)
class Hidden:
    _size: int


@tritonx.jit
def copy(task, rounds):
    i = tl.program_id(0) * task.BLOCK + tl.arange(0, task.BLOCK)
    x = tl.load(task.source.start + i * task.source.step, mask=i < task.source.size, other=0.0)
    for _ in range(rounds):
        x = x * task.scale
    if task.relu:
        x = tl.maximum(x, 0.0)
    store(task.target, i, x)


@tritonx.jit
def store(view, i, x):
    tl.store(view.start + i * view.step, x, mask=i < view.size)


def task_of(x: Any, out: Any, **others: Any) -> Task:
    return Task(View(x, len(x) // 2, 2), View(out, len(out)), 0.5, **{"BLOCK": 32, **others})


WAYS: list[Callable[[Any], Any]] = [lambda kernel: kernel, interpreted]


@pytest.mark.parametrize("way", WAYS, ids=["compiled", "lines"])
def test_fields_are_arguments(way: Callable[[Any], Any]) -> None:
    x, out = np.arange(-100, 100, dtype=np.float32), np.full(100, np.nan, np.float32)
    kernel = way(copy)
    for relu, block in ((False, 32), (True, 64), (False, tl.constexpr(32))):
        kernel[(4,)](task_of(x, out, BLOCK=block, relu=relu), 2)
        expected = x[::2] * np.float32(0.25)
        np.testing.assert_array_equal(out, np.maximum(expected, 0) if relu else expected)


def test_a_field_that_is_constexpr_compiles_anew() -> None:
    x, out = np.zeros(64, np.float32), np.zeros(32, np.float32)
    compiled = [copy.warmup(task_of(x, out, BLOCK=b), 2, grid=(1,)) for b in (16, 32, 16)]
    assert compiled[0] is compiled[2] is not compiled[1]
    assert "tensor<16x" in compiled[0].asm["ttir"] and "tensor<32x" in compiled[1].asm["ttir"]


def test_in_a_tuple_and_as_the_only_thing_in_it() -> None:
    x, out = np.arange(32, dtype=np.float32), np.zeros(32, np.float32)
    copies[(1,)]((View(x, 32), View(out, 30)))
    np.testing.assert_array_equal(out[:30], x[:30])
    assert not out[30:].any()


@tritonx.jit
def copies(views):
    i = tl.arange(0, 32)
    store(views[1], i, tl.load(views[0].start + i))


def test_a_compiled_kernel_takes_it_too() -> None:
    x, out = np.arange(64, dtype=np.float32), np.zeros(32, np.float32)
    task = task_of(x, out)
    copy.warmup(task, 2, grid=(1,))[(1, 1, 1)](task, 2)
    np.testing.assert_array_equal(out, x[::2] * np.float32(0.25))


def test_an_array_in_it_that_may_not_be_written_to() -> None:
    x, out = np.arange(64, dtype=np.float32), np.zeros(32, np.float32)
    out.flags.writeable = False
    with pytest.raises(ReadOnlyArgument, match=r"task\.target\.start"):
        copy[(1,)](task_of(x, out), 2)


@pytest.mark.parametrize(
    ("argument", "words"),
    [
        (Loose(3), "dataclass that is not frozen"),
        (Hidden(3), "cannot name the field _size"),
        (View(object(), 3), r"'task\.start'"),
        (Task(View(None, 1), View(None, 1), 1.0, BLOCK=[3]), "'BLOCK' must be hashable"),  # type: ignore[arg-type]  # a mistake
    ],
)
@pytest.mark.parametrize("way", WAYS, ids=["compiled", "lines"])
def test_refused(way: Callable[[Any], Any], argument: object, words: str) -> None:
    with pytest.raises(UnsupportedArgument, match=words):
        way(copy)[(1,)](argument, 2)


@dataclass(frozen=True)
class Ordered:
    first: int
    second: int


@dataclass(frozen=True)
class Swapped:
    second: int
    first: int


@tritonx.jit
def difference(pair, out_ptr):
    tl.store(out_ptr, pair.first - pair.second)


class OfTuples(NamedTuple):
    first: int
    second: int


class SwappedTuples(NamedTuple):
    second: int
    first: int


@pytest.mark.parametrize("way", WAYS, ids=["compiled", "lines"])
def test_names_of_fields_tell_kernels_apart(way: Callable[[Any], Any]) -> None:
    """Of named tuples too, which are equal whatever their fields are called."""
    out, kernel = np.zeros(1, np.int32), way(difference)
    for pair in (Ordered(30, 7), Swapped(7, 30), OfTuples(30, 7), SwappedTuples(7, 30), Ordered(30, 7)):
        out[0] = 0
        kernel[(1,)](pair, out)
        assert out[0] == 23, pair
