"""Reads of what `np.empty` left unwritten: found where they can be, and nowhere else."""

from __future__ import annotations

import contextvars
import os
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tritonx.language as tl
from tritonx.interpreter import fresh_memory
from tritonx.interpreter.errors import UninitialisedRead
from tritonx.interpreter.function import interpreted
from tritonx.runtime.jit import jit


@jit
def copies(x, o, n, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(o + i, tl.load(x + i, mask=i < n), mask=i < n)


@pytest.fixture
def watching() -> Callable[[Callable[[], None]], None]:
    """Runs a test in a context of its own, in which NumPy's arrays are watched."""

    def run(test: Callable[[], None]) -> None:
        def inside() -> None:
            fresh_memory.watch()
            test()

        contextvars.copy_context().run(inside)

    return run


def flags(array: Any) -> Any:
    """Which elements of a contiguous array are known not to have been written."""
    written = fresh_memory.written(array)
    return [] if written is None else np.flatnonzero(~written.reshape(-1, array.itemsize).all(axis=1)).tolist()


@pytest.mark.parametrize("dtype", [np.int8, np.float16, np.float32, np.float64, np.complex128])
@pytest.mark.parametrize("size", [1, 3, 7, 8, 100, 100_003])
def test_new_arrays(dtype: Any, size: int, watching: Any) -> None:
    def test() -> None:
        new = np.empty(size, dtype)
        tail = new.nbytes % 8
        known = new.nbytes - (tail if tail < 4 else 0)
        assert flags(new) == list(range(known // new.itemsize))
        new[...] = 1
        assert flags(new) == []
        for made in (np.zeros(size, dtype), np.ones(size, dtype), (np.arange(size) % 7).astype(dtype)):
            assert fresh_memory.written(made) is None

    watching(test)


def test_views_and_parts(watching: Any) -> None:
    def test() -> None:
        base = np.empty((64, 64), np.float64)
        base[::2] = 3
        assert flags(base[1]) == list(range(64)) and flags(base[2]) == []
        assert flags(base[1, 5:9]) == [0, 1, 2, 3]
        assert fresh_memory.written(base[::2, 3]) is not None  # what lies between its elements
        bits = np.empty(16, np.float32)
        bits[3] = 0  # element 2 shares its word
        assert flags(bits) == [0, 1, *range(4, 16)]
        assert flags(bits.copy()) == flags(bits)  # a copy of nothing is nothing

    watching(test)


def test_kernels(watching: Any) -> None:
    def test() -> None:
        kernel, x, middle, o = interpreted(copies), np.ones(32), np.empty(32), np.empty(32)
        with pytest.raises(UninitialisedRead, match="lane 0 reads element 0 of x, which was never written"):
            kernel[(1,)](middle, o, 32, N=32)
        kernel[(1,)](x, middle, 20, N=32)
        kernel[(1,)](middle, o, 20, N=32)
        assert o[:20].tolist() == [1.0] * 20
        with pytest.raises(UninitialisedRead, match="lane 20 reads element 20 of x"):
            kernel[(1,)](middle, o, 21, N=32)
        middle[20:] = 4
        kernel[(1,)](middle, o, 32, N=32)
        assert o[20:].tolist() == [4.0] * 12

    watching(test)


def test_what_is_not_known(watching: Any) -> None:
    before = np.empty(32)

    def test() -> None:
        others: list[Any] = []
        thread = threading.Thread(target=lambda: others.append(np.empty(32)))
        thread.start()
        thread.join()
        with fresh_memory.unwatched():
            others.append(np.empty(32))
        others += [np.frombuffer(bytearray(64)), np.empty(fresh_memory.LARGEST // 8 + 1), before]
        assert [fresh_memory.written(a) for a in others] == [None] * 5

    watching(test)


SCRIPT = """
import atexit, threading
import numpy as np, tritonx, tritonx.language as tl
from tritonx.interpreter.errors import UninitialisedRead

@tritonx.jit
def kernel(x, o, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(o + i, tl.load(x + i) + 1)

o = np.empty(8)
kernel[(1,)](np.ones(8), o, N=8)
assert (o == 2).all()
try:
    kernel[(1,)](np.empty(8), o, N=8)
except UninitialisedRead as error:
    assert "which was never written" in str(error)
else:
    raise SystemExit("not found")

class Late:
    def __del__(self):
        np.empty(1000).fill(1)  # while Python ends

late = Late()
late.itself = late
atexit.register(lambda: np.empty(10) + 1)
kept = [np.empty(n) for n in range(2000)]
"""


def test_a_program_that_interprets_and_ends(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    environment = {k: v for k, v in os.environ.items() if not k.startswith("TRITON")}
    ended = subprocess.run(
        [sys.executable, str(script)],
        env={**environment, "TRITONX_INTERPRET": "1"},
        timeout=100,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (ended.returncode, ended.stderr) == (0, "")
