"""Python's forms mean line by line what they mean to the compiler: containers, comprehensions, Python's own functions,
conditional expressions, `and` and `or`, records and aggregates, parameters of every kind."""

from __future__ import annotations

import math
import sys
from collections import namedtuple
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import tritonx.language as tl
from tritonx.interpreter.function import interpreted
from tritonx.runtime.jit import constexpr_function, jit

Pair = namedtuple("Pair", ["left", "right"])


@dataclass(frozen=True)
class Settings:
    steps: int
    name: str
    shape: tuple[int, ...]


@jit
def comprehensions(o, n, N: tl.constexpr):
    doubled = [a * 2 for a in range(4)]
    tl.store(o, doubled[3] + n)
    squares = tuple(a * a for a in (n, 2, 3) if N > 2)
    tl.store(o + 1, squares[0])
    tl.store(o + 2, len(squares))
    none = [a for a in (1, 2) if N > 100]
    tl.store(o + 3, len(none))
    blocks = [tl.arange(0, 4) + a for a in range(2, 6, 3)]
    tl.store(o + 4 + tl.arange(0, 4), blocks[0] * blocks[1])
    total = 0
    for block in blocks:
        total += tl.sum(block, 0)
    tl.store(o + 8, total)
    for i, (a, b) in enumerate(zip((1, 2), (n, 7))):  # noqa: B905
        tl.store(o + 9 + i, a * b)
    for a in reversed((1, n)):
        tl.store(o + 11, a)


@jit
def first_extent(x):
    return len(x)


@jit
def lengths(o, N: tl.constexpr):
    x = tl.zeros((N, 4), tl.float32)
    tl.store(o, len(x))
    tl.store(o + 1, first_extent(x))
    tl.store(o + 2, len(x.shape))
    tl.store(o + 3, len("text") + len(range(3)))
    if x.shape == (N, 4):
        tl.store(o + 4, 1)


@jit
def python_functions(o, n, N: tl.constexpr, S: tl.constexpr):
    tl.store(o, int(math.log2(N)) + n)
    tl.store(o + 1, max(n, 3, N))
    tl.store(o + 2, min((n, N)))
    tl.store(o + 3, abs(-N) + abs(n - 100))
    tl.store(o + 4, int(isinstance(n, tl.tensor)) + 2 * int(isinstance(N, tl.constexpr)))
    tl.store(o + 5, S.steps + len(S.name) + S.shape[1])
    tl.store(o + 6, int(hasattr(S, "steps")) + getattr(S, "steps"))  # noqa: B009
    name = str(N) + "x"
    tl.static_assert(name == "8x")
    tl.store(o + 7, tl.constexpr(3) + int(float(N)))


@jit
def choices(o, p, n, F: tl.constexpr):
    small = tl.load(p)
    tl.store(o, small + (1 if n > 3 else 2))  # int8 and a tensor of int32: int32
    tl.store(o + 1, small + (1 if F else 2))  # int8 and a number: int8
    wide = 100 if n > 3 else 27
    tl.store(o + 2, wide * 100_000_000)
    tl.store(o + 3, n if F is None else F)


@jit
def logic(o, n, F: tl.constexpr):
    if n and True:
        tl.store(o, 1)
    if n > 100 or F:
        tl.store(o + 1, 1)
    if n and False:
        tl.store(o + 2, 1)
    tl.store(o + 3, (n and True) + 0)  # what is true drops out: n itself
    x = tl.arange(0, 4)
    tl.store(o + 4 + x, ((x > 1) & (x < n)).to(tl.int32))
    if not (F and n > 1) or F is not None:
        tl.store(o + 8, 1)


@jit
def gathers(a, *rest, scale=2, offset: tl.constexpr = 0):
    total = a
    for r in rest:
        total += r * scale
    return total + len(rest) * 100 + offset


@jit
def parameters(o, n, *, last):
    tl.store(o, gathers(n))
    tl.store(o + 1, gathers(n, 1, n, scale=3))
    values = (1, 2, last)
    tl.store(o + 2, gathers(*values, offset=1000))


@jit
def records(o, p, n):
    q = Pair(p.right, n)
    tl.store(o, q.left * 10 + q[1])
    values = (p.left, *q)
    a, b = values[0], values[1:]
    tl.store(o + 1, a + b[0] + b[1])
    tl.store(o + 2, len(b) + len((1, 2) * 2) + len((1,) + (2, 3)))  # noqa: RUF005  # what is tested


@constexpr_function
def next_power(n):
    return 1 << (n - 1).bit_length()


@constexpr_function
def extents(n):
    return (n, 2 * n)


@jit
def compile_time_functions(o, N: tl.constexpr):
    tl.store(o, next_power(N + 1))
    a, b = extents(N)
    tl.store(o + 1, a * b)
    size: tl.constexpr = next_power(N - 1)
    tl.store(o + 2 + tl.arange(0, size), size)


@tl.core._aggregate
class Range:
    low: tl.tensor
    high: tl.tensor
    step: tl.constexpr

    @jit
    def __init__(self, low, high, step):
        self.low = low
        self.high = high
        self.step = step

    @jit
    def width(self):
        return (self.high - self.low) // self.step

    @jit
    def __add__(self, other):
        return Range(self.low + other.low, self.high + other.high, self.step)

    @jit
    def __neg__(self):
        return Range(-self.high, -self.low, self.step)

    @jit
    def __lt__(self, other):
        return self.high < other.low

    @jit
    def __getitem__(self, index):
        return self.low + index * self.step


@jit
def widened(r, by):
    return Range(r.low, r.high + by, r.step)


@jit
def aggregates(o, n):
    r = Range(n, n + 30, 3)
    tl.store(o, r.width())
    r = widened(r, 9)
    tl.store(o + 1, r.width() + r.step)
    both = r + Range(n, n, 1)
    tl.store(o + 2, both.high)
    tl.store(o + 4, (-both).high + both[2])
    if r < Range(100, 101, 1):
        tl.store(o + 5, 1)
    for _ in range(3):
        r = widened(r, 1)
    tl.store(o + 3, r.high)


@jit
def counters(o, n, big):
    for i in range(n, 0, -2):
        tl.store(o + i, i)
    steps = range(3)
    for i in steps:
        tl.store(o + 20 + i, i)
    for i in tl.range(big, big + 2):
        tl.store(o + 24, (i - big) * 3)
    for i in tl.static_range(2, 0, -1):
        tl.store(o + 25 + i, i)
    if tl.arange(0, 1) == 0:
        tl.store(o + 28, 1)


CASES: dict[str, tuple[Any, tuple[Any, ...], dict[str, Any]]] = {
    "comprehensions": (comprehensions, (5,), {"N": 8}),
    "lengths": (lengths, (), {"N": 8}),
    "python_functions": (python_functions, (5,), {"N": 8, "S": Settings(3, "abc", (4, 5))}),
    "choices": (choices, (np.array([127], np.int8), 5), {"F": None}),
    "choices of the other sides": (choices, (np.array([127], np.int8), 2), {"F": 1}),
    "logic": (logic, (2,), {"F": None}),
    "logic with a flag": (logic, (2,), {"F": 1}),
    "parameters": (parameters, (5,), {"last": 9}),
    "records": (records, (Pair(3, 4), 5), {}),
    "compile_time_functions": (compile_time_functions, (), {"N": 8}),
    "aggregates": (aggregates, (5,), {}),
    "counters": (counters, (7, 2**40), {}),
}


@pytest.mark.parametrize("name", CASES)
@pytest.mark.filterwarnings("ignore:If conditional called with multidimensional Tensor")
def test_lines_and_compiled_code_agree(name: str, run: Any) -> None:
    """By lines and as IR (`run` compares), and as compiled for the CPU."""
    kernel, args, constants = CASES[name]
    by_lines, compiled = np.full(32, -1, np.int64), np.full(32, -1, np.int64)
    run(kernel, (1,), by_lines, *args, **constants)
    kernel[(1,)](compiled, *args, **constants)
    np.testing.assert_array_equal(by_lines, compiled)
    assert (by_lines != -1).any()


@jit
def prints_while_compiled(o, N: tl.constexpr):
    tl.static_print("N is", N)
    tl.store(o + tl.program_id(0), N)


def test_static_print_prints_once_a_specialisation(capsys: Any) -> None:
    kernel, o = interpreted(prints_while_compiled), np.zeros(4, np.int32)
    kernel[(4,)](o, N=3)
    kernel[(4,)](o, N=3)
    kernel[(1,)](o, N=5)
    assert capsys.readouterr().out.splitlines() == ["N is 3", "N is 5"]


@jit
def watched(x, n):
    import pdb

    v = tl.load(x)
    print(f"v is {v}", v, n)
    if n > 5:
        pdb.set_trace()
        breakpoint()


def test_what_only_looks_is_not_refused(capsys: Any, monkeypatch: Any) -> None:
    stops: list[str] = []

    def stop() -> None:
        frame = sys._getframe(1)
        stops.append(f"{frame.f_code.co_name}:{frame.f_lineno - watched.def_line_number}")

    monkeypatch.setattr("pdb.set_trace", stop)
    monkeypatch.setattr("sys.breakpointhook", stop)
    interpreted(watched)[(1,)](np.array([2.5], np.float32), 7)
    assert capsys.readouterr().out == "v is 2.5 2.5 7\n"
    assert stops == ["watched:6", "watched:7"]
