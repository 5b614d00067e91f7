"""A launch runs what its names stand for now: functions are compiled again, values that changed are refused."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import tritonx
import tritonx.language as tl

MODULE = """
import tritonx
import tritonx.language as tl

@tritonx.jit
def step(x):
    return x + {amount}

@tritonx.jit
def twice(x):
    return step(step(x))
"""


def launched(kernel: Any, *args: object) -> float:
    out = np.zeros(1, np.float32)
    kernel[(1,)](out, *args)
    return float(out[0])


def written(directory: Path, amount: int) -> None:
    (directory / "steps_of_a_test.py").write_text(MODULE.format(amount=amount) + "#" * amount)
    importlib.invalidate_caches()


@pytest.fixture
def steps(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    written(tmp_path, 1)
    monkeypatch.syspath_prepend(str(tmp_path))
    sys.modules.pop("steps_of_a_test", None)
    yield importlib.import_module("steps_of_a_test")
    sys.modules.pop("steps_of_a_test", None)


def test_a_module_that_is_loaded_again(steps: Any, tmp_path: Path) -> None:
    @tritonx.jit
    def kernel(out_ptr):
        tl.store(out_ptr, steps.twice(1.0))

    assert launched(kernel) == 3.0
    written(tmp_path, 10)
    importlib.reload(steps)
    assert launched(kernel) == 21.0


def test_a_function_below_a_function(steps: Any) -> None:
    """As where a cell of a notebook runs again."""

    @tritonx.jit
    def kernel(out_ptr, N: tl.constexpr):
        tl.store(out_ptr, steps.twice(1.0) + N)

    assert (launched(kernel, 0), launched(kernel, 1)) == (3.0, 4.0)
    before = kernel.cache_key

    @tritonx.jit
    def step(x):
        return x + 100

    steps.step = step
    assert (launched(kernel, 2), launched(kernel, 1), launched(kernel, 0)) == (203.0, 202.0, 201.0)
    assert kernel.cache_key != before


def test_a_builtin_of_a_closure() -> None:
    act = tl.exp

    @tritonx.jit
    def kernel(out_ptr):
        tl.store(out_ptr, act(tl.full((), 0.5, tl.float32)))

    assert launched(kernel) == pytest.approx(np.exp(0.5))
    act = tl.log
    assert launched(kernel) == pytest.approx(np.log(0.5))


def test_a_function_that_is_an_argument(steps: Any) -> None:
    @tritonx.jit
    def kernel(out_ptr, F: tl.constexpr):
        tl.store(out_ptr, F(1.0))

    assert launched(kernel, steps.twice) == 3.0

    @tritonx.jit
    def step(x):
        return x * 5

    steps.step = step
    assert launched(kernel, steps.twice) == 25.0


def test_a_value_of_a_closure_that_changed() -> None:
    scale = tl.constexpr(2)

    @tritonx.jit
    def kernel(out_ptr):
        tl.store(out_ptr, scale)

    assert launched(kernel) == 2.0
    scale = tl.constexpr(2)
    assert launched(kernel) == 2.0
    scale = tl.constexpr(2.0)
    with pytest.raises(RuntimeError, match="Global variable scale has changed"):
        launched(kernel)


class Settings:
    by = 1


def test_an_object_that_changed() -> None:
    held = Settings()
    settings = tl.constexpr(held)

    @tritonx.jit
    def kernel(out_ptr):
        tl.store(out_ptr, settings.by)

    assert launched(kernel) == 1.0
    held.by = 2
    with pytest.raises(RuntimeError, match="Global variable settings has changed"):
        launched(kernel)


def test_a_name_that_is_gone(steps: Any) -> None:
    @tritonx.jit
    def kernel(out_ptr):
        tl.store(out_ptr, steps.twice(1.0))

    assert launched(kernel) == 3.0
    del steps.step
    with pytest.raises(tritonx.CompilationError, match="step"):
        launched(kernel)


def test_a_module_that_gives_what_is_not_in_its_scope() -> None:
    """By a property, as by ``__getattr__``; and a name that it does not have, where no code is made of it."""

    @tritonx.jit
    def doubled(x):
        return x * 2

    class Lazy(ModuleType):
        doubled = property(lambda self: doubled)
        offset = property(lambda self: tl.constexpr(5))

    lazy, other, compiles = Lazy("lazy_of_a_test"), ModuleType("other_of_a_test"), list[object]()

    @tritonx.jit
    def kernel(out_ptr, NEWER: tl.constexpr):
        value = lazy.doubled(1.0) + lazy.offset
        if NEWER:
            value = other.missing(value)
        tl.store(out_ptr, value)

    with tritonx.knobs.runtime.scope():
        tritonx.knobs.runtime.jit_cache_hook = lambda **said: compiles.append(said)
        assert [launched(kernel, False) for _ in range(3)] == [7.0, 7.0, 7.0]
    assert len(compiles) == 1


READS_A_GLOBAL = """
import tritonx
import tritonx.language as tl

AMOUNT = tl.constexpr(1)

@tritonx.jit
def step(x):
    return x + AMOUNT

@tritonx.jit
def other(x):
    return x * 100 + AMOUNT

@tritonx.jit
def kernel(out_ptr):
    tl.store(out_ptr, step(1.0))
"""


def test_a_function_that_reads_a_global(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "reads_a_global_of_a_test.py").write_text(READS_A_GLOBAL)
    monkeypatch.syspath_prepend(str(tmp_path))
    module: Any = importlib.import_module("reads_a_global_of_a_test")
    assert launched(module.kernel) == 2.0
    module.step = module.other
    assert launched(module.kernel) == 101.0
