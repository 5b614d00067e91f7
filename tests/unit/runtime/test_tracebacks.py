"""What a user sees of a mistake in a kernel: its own lines and what to write instead, not the compiler's frames."""

from __future__ import annotations

import os
import traceback
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tritonx
import tritonx.language as tl
from tritonx.ir.failure import PassFailure, failure_of

N = 16


@tritonx.jit
def bits_of_floats(x, o, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(o + i, tl.load(x + i) & 3)


@tritonx.jit
def condition_without_parentheses(x, o, N: tl.constexpr):
    i = tl.arange(0, N)
    v = tl.load(x + i)
    tl.store(o + i, (v > 1) & v)


@tritonx.jit
def sum_of_list(x, o, N: tl.constexpr):
    i = tl.arange(0, N)
    v = tl.load(x + i)
    tl.store(o + i, sum([v, v]))  # pyright: ignore


@tritonx.jit
def axis_of_vector(x, o, N: tl.constexpr):
    tl.store(o, tl.sum(tl.load(x + tl.arange(0, N)), axis=1))


@tritonx.jit
def list_append(x, o, N: tl.constexpr):
    i = tl.arange(0, N)
    values = []
    for _ in tl.static_range(2):
        values.append(tl.load(x + i))
    tl.store(o + i, values[0])


@tritonx.jit
def through_pointer(x, o, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(o + i, tl.load(x + i))


@tritonx.jit
def misspelt(v):
    return v.aply()


@tritonx.jit
def in_a_function(x, o, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(o + i, misspelt(tl.load(x + i)))


CASES = [
    (bits_of_floats, "(x > 0) & (y > 0)"),
    (condition_without_parentheses, "in parentheses"),
    (sum_of_list, "tl.sum(x, axis=0)"),
    (axis_of_vector, "one axis, axis=0"),
    (list_append, "values = values + (x,)"),
    (through_pointer, "if x_ptr is not None:"),
    (in_a_function, None),
]


def arguments_of(kernel: Any) -> tuple[Any, Any, int]:
    x = np.ones(N, np.float32)
    return None if kernel is through_pointer else x, np.empty(N, np.float32), N


def raised(launch: Any) -> tritonx.CompilationError:
    with pytest.raises(tritonx.CompilationError) as caught:
        launch()
    return caught.value


def frames_of(error: BaseException) -> list[str]:
    """The functions of tritonx in the traceback, without those of the launch's generated code."""
    package = str(Path(tritonx.__file__).parent) + os.sep
    return [f.name for f in traceback.extract_tb(error.__traceback__) if f.filename.startswith(package)]


@pytest.mark.parametrize(("kernel", "hint"), CASES, ids=lambda c: getattr(c, "__name__", None))
def test_mistakes_say_what_to_write(kernel: Any, hint: str | None) -> None:
    error = raised(lambda: kernel[(1,)](*arguments_of(kernel)))
    text = str(error)
    assert hint is None or hint in text.split("hint: ")[1]
    shown = "".join(traceback.format_exception(error))
    assert f"{__file__}:" in shown and f"in {kernel.__name__}" in shown
    assert frames_of(error) == ["_compile"], shown
    assert error.__cause__ is None or frames_of(error.__cause__) == []


def test_functions_of_the_library_are_one_line() -> None:
    """The source of `tl.sum` says nothing about the kernel's mistake."""
    error = raised(lambda: axis_of_vector[(1,)](*arguments_of(axis_of_vector)))
    of_library = str(error.__cause__).splitlines()
    assert of_library[0].startswith("at ") and "core.reduce" in of_library[1] and set(of_library[2]) <= set(" ^~")


def test_warmup_and_tuning_end_at_the_launch() -> None:
    grid = (1,)
    error = raised(lambda: bits_of_floats.warmup(*arguments_of(bits_of_floats), grid=grid))
    assert frames_of(error) == ["warmup", "run", "warmed_up"]
    configs = [tritonx.Config({}, num_warps=w) for w in (1, 2)]
    tuned = tritonx.autotune(configs, key=[])(bits_of_floats)
    error = raised(lambda: tuned[grid](*arguments_of(bits_of_floats)))
    assert len(frames_of(error)) <= 3 and frames_of(error)[-1] == "_found", frames_of(error)


def test_frames_are_kept_for_who_asks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRITON_FRONT_END_DEBUGGING", "1")
    with pytest.raises(Exception) as caught:
        bits_of_floats[(1,)](*arguments_of(bits_of_floats))
    assert len(frames_of(caught.value)) > 3


def test_internal_error_names_the_line_of_the_pass() -> None:
    def pass_body() -> None:
        values: list[int] = []
        values.index(3)  # raised here

    try:
        pass_body()
    except ValueError as error:
        failure = failure_of(error, "made-up", "")
    line = next(n for n, text in enumerate(open(__file__), 1) if "# raised here" in text and "values.index" in text)
    assert failure.internal and f"raised at {__file__}:{line} in pass_body: values.index(3)" in str(failure)
    rebuild, state = failure.__reduce__()[:2]  # pyright: ignore
    again = rebuild(*state)  # pyright: ignore
    assert isinstance(again, PassFailure) and str(again) == str(failure)


def test_internal_error_inside_a_library_names_our_line() -> None:
    def pass_body() -> None:
        np.reshape(np.zeros(3), (2, 2))  # raised in NumPy

    try:
        pass_body()
    except ValueError as error:
        assert "in pass_body: np.reshape" in str(failure_of(error, "made-up", ""))
