"""Compiling takes work in proportion to a kernel's length, on every backend.

The work is counted in calls of Python's functions, not in seconds.
"""

from __future__ import annotations

import itertools
import os
import random
import sys
from collections.abc import Callable
from typing import Any

import pytest

import tritonx
from tests.unit.scaling.shared_kernels import KERNELS
from tritonx.compiler import ASTSource

TARGETS = ("cpu", "cuda:90", "cuda:80", "hip:gfx942", "hip:gfx1100")
DRAWN = ("cpu", "cuda:90")
"""Of which every kernel has been seen to pass; the others are for TRITONX_SCALING=all."""
SIGNATURE = {"x_ptr": "*fp32", "y_ptr": "*fp32", "o_ptr": "*fp32", "n": "i32", "B": "constexpr", "K": "constexpr"}

LINES = 12
TIMES = 4

MOST = 1.2 * TIMES
"""Calls for ``TIMES * LINES`` lines by those for ``LINES``. What does not depend on the lines makes it less than
``TIMES``; the square of them, in any part of the compiler that counts, makes it more."""

WHOLE = os.environ.get("TRITONX_SCALING") == "all"


def calls_of(run: Callable[[], object], limit: float = float("inf")) -> int:
    """The calls of Python's functions in ``run``, which fails where they are more than ``limit``."""
    count = 0

    def counted(frame: Any, event: str, argument: Any) -> None:
        nonlocal count
        count += event == "call"
        if count > limit:
            sys.setprofile(None)
            raise AssertionError(f"more than {limit:.0f} calls")

    sys.setprofile(counted)
    try:
        run()
    finally:
        sys.setprofile(None)
    return count


def compiled(name: str, target: str, lines: int) -> None:
    constants = {"B": 256, "K": lines}
    tritonx.compile(ASTSource(KERNELS[name], SIGNATURE, constexprs=constants), target=target)


@pytest.fixture
def without_cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    monkeypatch.setenv("TRITON_ALWAYS_COMPILE", "1")
    monkeypatch.setenv("TRITON_CACHE_DIR", str(tmp_path))


def drawn() -> list[tuple[str, str]]:
    """Some kernels for one target of `DRAWN` each, drawn anew; all for all with TRITONX_SCALING=all."""
    pairs: list[tuple[str, str]] = [*itertools.product(KERNELS, TARGETS)]
    if WHOLE:
        return pairs
    draw = random.Random(os.environ.get("TRITONX_SEED"))
    return [(name, draw.choice(DRAWN)) for name in draw.sample(sorted(KERNELS), 7)]


@pytest.mark.usefixtures("without_cache")
def test_calls_grow_with_the_lines() -> None:
    """One test, since what is drawn must be the same in every worker of pytest-xdist."""
    found: list[str] = []
    for name, target in drawn():
        compiled(name, target, 3)  # what is made once a process
        few = calls_of(lambda name=name, target=target: compiled(name, target, LINES), 1e7)
        many = calls_of(lambda name=name, target=target: compiled(name, target, TIMES * LINES), MOST * few + 1)
        if many > MOST * few:
            found.append(f"{name} for {target}: {few} calls, {many} for {TIMES} times the lines")
    assert not found


@pytest.mark.usefixtures("without_cache")
@pytest.mark.parametrize("name", ["in_place", "diamonds"])
def test_a_thousand_lines_on_the_cpu(name: str) -> None:
    compiled(name, "cpu", 3)
    hundred = calls_of(lambda: compiled(name, "cpu", 100))
    assert calls_of(lambda: compiled(name, "cpu", 1000), 13 * hundred) < 12 * hundred
