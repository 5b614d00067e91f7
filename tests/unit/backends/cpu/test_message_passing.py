"""What a program releases and another one acquires: programs of one launch, launches of two threads, and the
interpreter, whose programs run one after another."""

from __future__ import annotations

import os
import threading
import time
from typing import Any

import numpy as np
import pytest

import tritonx
import tritonx.language as tl
from tritonx.interpreter import interpreted
from tritonx.interpreter.errors import EndlessPoll
from tritonx.interpreter.meanings import atomic

SEED = int(os.environ["TRITONX_SEED"])


@tritonx.jit
def produce(data, flag, ROUNDS: tl.constexpr, N: tl.constexpr):
    """Writes numbers of a round, and tells; then waits until they are taken."""
    i = tl.arange(0, N)
    for turn in range(ROUNDS):
        tl.store(data + i, i * 3 + turn)
        tl.atomic_store(flag, 2 * turn + 1)
        tl.atomic_poll(flag, 2 * turn + 2)


@tritonx.jit
def consume(data, flag, wrong, ROUNDS: tl.constexpr, N: tl.constexpr):
    i = tl.arange(0, N)
    count = 0
    for turn in range(ROUNDS):
        while tl.atomic_load(flag, sem="relaxed") != 2 * turn + 1:
            pass
        tl.atomic_load(flag)
        count += tl.sum((tl.load(data + i) != i * 3 + turn).to(tl.int32), axis=0)
        tl.atomic_store(flag, 2 * turn + 2)
    tl.store(wrong, count)


@tritonx.jit
def told(flag, seen, TIME: tl.constexpr):
    tl.store(seen, tl.atomic_poll(flag, 1, timeout_ns=TIME).to(tl.int32))


@tritonx.jit
def chain(data, flag, N: tl.constexpr):
    program, i = tl.program_id(0), tl.arange(0, N)
    if program > 0:
        tl.atomic_poll(flag + (program - 1), 1)
    tl.store(data + (program + 1) * N + i, tl.load(data + program * N + (N - 1 - i)) + 1)
    tl.atomic_store(flag + program, 1)


def both(run: list[Any]) -> None:
    """Two launches at once; neither may wait for the other's end."""
    threads = [threading.Thread(target=each, daemon=True) for each in run]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
        assert not thread.is_alive(), "a launch waits for ever"


def test_two_launches() -> None:
    data, flag, wrong = np.zeros(1000, np.int32), np.zeros(1, np.int32), np.full(1, -1, np.int32)
    options = {"ROUNDS": 2000, "N": 1000}
    both([lambda: produce[(1,)](data, flag, **options), lambda: consume[(1,)](data, flag, wrong, **options)])
    assert wrong[0] == 0 and flag[0] == 4000


@pytest.mark.parametrize("of", [lambda kernel: kernel, interpreted], ids=["compiled", "interpreted"])
def test_programs_of_a_launch(of: Any) -> None:
    rng = np.random.default_rng(SEED)
    programs, n = int(rng.integers(2, 40)), int(rng.choice([16, 100, 256]))
    data, flag = np.zeros((programs + 1, n), np.int32), np.zeros(programs, np.int32)
    data[0] = rng.integers(-1000, 1000, n)
    expected = [data[0]]
    for _ in range(programs):
        expected.append(expected[-1][::-1] + 1)
    of(chain)[(programs,)](data, flag, N=n)
    assert (data == np.stack(expected)).all() and (flag == 1).all()


@pytest.mark.parametrize("of", [lambda kernel: kernel, interpreted], ids=["compiled", "interpreted"])
def test_a_time_that_is_over(of: Any) -> None:
    """Not before it is over, and not for ever; at once where what is waited for is there."""
    flag, seen = np.zeros(1, np.int32), np.full(1, -1, np.int32)
    of(told)[(1,)](flag, seen, TIME=0)
    assert seen[0] == 0
    begin = time.perf_counter()
    of(told)[(1,)](flag, seen, TIME=30_000_000)
    assert seen[0] == 0 and time.perf_counter() - begin >= 0.03
    flag[0] = 1
    of(told)[(1,)](flag, seen, TIME=1 << 62)
    assert seen[0] == 1


def test_an_interpreted_poll_is_told_by_another_thread() -> None:
    flag, seen = np.zeros(1, np.int32), np.full(1, -1, np.int32)

    def tell() -> None:
        time.sleep(0.05)
        flag[0] = 1

    both([lambda: interpreted(told)[(1,)](flag, seen, TIME=None), tell])
    assert seen[0] == 1


def test_an_interpreted_poll_that_never_ends_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(atomic, "PATIENCE_NS", 1_000_000)
    with pytest.raises(EndlessPoll, match=r"has waited .* for the program") as caught:
        interpreted(told)[(1,)](np.zeros(1, np.int32), np.zeros(1, np.int32), TIME=None)
    assert "tl.atomic_poll(flag, 1" in str(caught.value)
