"""`tritonx check --predict`: the resource that holds a launch, and its time, on chips that are not there."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tritonx
import tritonx.language as tl
from tritonx.backends.registry import parse_target
from tritonx.runtime.tuning.case import NoCase
from tritonx.tools import check
from tritonx.tools.checking.launches import Launch, innermost
from tritonx.tools.checking.predictions import Predictor
from tritonx.tools.checking.runs import Runs

FILE = """import numpy as np, tritonx, tritonx.language as tl

@tritonx.jit
def copy(x, y, n, B: tl.constexpr):
    at = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(y + at, tl.load(x + at, mask=at < n), mask=at < n)

def tuning_inputs():
    yield (2,), (np.ones(100, np.float32), np.empty(100, np.float32), 100), {"B": 64}
"""


@tritonx.jit
def add(x, y, z, n, B: tl.constexpr):
    at = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(z + at, tl.load(x + at, mask=at < n) + tl.load(y + at, mask=at < n), mask=at < n)


@tritonx.jit
def product(a, b, c, N, K, M: tl.constexpr):
    i, j = tl.program_id(0) * M + tl.arange(0, M), tl.program_id(1) * M + tl.arange(0, M)
    total = tl.zeros((M, M), tl.float32)
    for start in range(0, K, 32):
        k = start + tl.arange(0, 32)
        left, right = tl.load(a + i[:, None] * K + k[None, :]), tl.load(b + k[:, None] * N + j[None, :])
        total = tl.dot(left, right, total, input_precision="ieee")
    tl.store(c + i[:, None] * N + j[None, :], total)


@tritonx.jit
def rows(x, y, lengths, B: tl.constexpr):
    total = tl.zeros((B,), tl.float32)
    for i in range(tl.load(lengths + tl.program_id(0))):
        total += tl.load(x + i * B + tl.arange(0, B))
    tl.store(y + tl.program_id(0) * B + tl.arange(0, B), total)


def predictions(target: str, kernel: Any, grid: tuple[int, ...], *args: object, **options: object) -> list[Any]:
    runs = Runs(innermost(kernel, Launch(grid, args, options)), 10.0)
    found, why = Predictor([parse_target(target)[1]], 10.0).of(runs, "")
    assert not why
    return found


def floats(*shape: int) -> np.ndarray:
    return np.zeros(shape, np.float32)


@pytest.mark.parametrize(("target", "peak"), [("cuda:90", 4.8e12), ("hip:gfx942", 5.3e12)])
def test_memory_units_and_launch_are_told_apart(target: str, peak: float) -> None:
    (tiny,) = predictions(target, add, (1,), floats(100), floats(100), floats(100), 100, B=128)
    assert tiny.bound == "the launch" and tiny.seconds == tiny.parts["the launch"] > tiny.device_seconds
    n = 2**24
    (large,) = predictions(target, add, (n // 1024,), floats(n), floats(n), floats(n), n, B=1024)
    assert large.bound == "memory" and large.seconds == pytest.approx(12 * n / peak)
    n = 2048
    grid = (n // 64, n // 64)
    (units,) = predictions(target, product, grid, floats(n, n), floats(n, n), floats(n, n), n, n, M=64)
    assert units.bound in ("the matrix unit", "the threads") and units.parts["memory"] < units.seconds / 4


def test_the_iterations_of_a_loop_and_the_tail_count() -> None:
    n = 1024
    one, two = (
        predictions("cuda:90", product, (16, 16), floats(n, k), floats(k, n), floats(n, n), n, k, M=64)[0]
        for k in (n, 2 * n)
    )
    assert 1.9 < two.parts["the threads"] / one.parts["the threads"] < 2.1
    full, more = (
        predictions(
            "cuda:90", product, (count, 1), floats(64 * count, n), floats(n, n), floats(64 * count, n), n, n, M=64
        )[0]
        for count in (132, 133)
    )
    assert more.parts["the threads"] == pytest.approx(2 * full.parts["the threads"])


def test_lengths_that_are_loaded_are_those_of_some_programs_and_memory_is_kept() -> None:
    lengths, y = np.array([2, 4, 6], np.int32), np.full((3, 64), 7, np.float32)
    runs = Runs(innermost(rows, Launch((3,), (np.ones((8, 64), np.float32), y, lengths), {"B": 64})), 10.0)
    assert list(Predictor([], 10.0).trips(runs).values()) == [4.0]
    assert (y == 7).all()


def test_json_and_text_have_the_predictions(tmp_path: Path) -> None:
    file = tmp_path / "predicted_kernels.py"
    file.write_text(FILE)
    report = check.check(str(file), targets=[], predict=[parse_target("cuda:90")[1]])
    found = json.loads(report.json())
    assert found["schema"] == 1 and found["status"] == 0
    (one,) = found["kernels"][0]["predictions"]
    assert set(one) == {
        *("target", "chip", "launch", "programs", "bound", "seconds", "device_seconds", "waves", "parts")
    }
    assert (one["target"], one["chip"], one["programs"], one["bound"]) == ("cuda:90", "H200", 2, "the launch")
    assert "copy: cuda:90 (H200): held by the launch, about 5.3 µs" in str(report)


def test_a_target_without_a_known_chip_is_named(tmp_path: Path) -> None:
    file = tmp_path / "unpredicted_kernels.py"
    file.write_text(FILE)
    (kernel,) = check.check(str(file), targets=[], predict=[parse_target("cuda:120")[1]]).kernels
    assert kernel.skipped == {"prediction": "cuda:120: the figures of no chip are known"} and not kernel.predictions


LARGE = """import numpy as np, tritonx, tritonx.language as tl

@tritonx.autotune([tritonx.Config({"B": 512}), tritonx.Config({"B": 1024})], key=["n"])
@tritonx.jit
def copy(x, y, n, B: tl.constexpr):
    at = tl.program_id(0).to(tl.int64) * B + tl.arange(0, B)
    tl.store(y + at, tl.load(x + at, mask=at < n), mask=at < n)

def predicted_inputs(n=2**33):
    yield lambda meta: (tritonx.cdiv(n, meta["B"]),), (np.empty(n, np.int8), np.empty(n, np.int8), n), {}
"""


def test_large_launches_are_predicted_and_not_executed(tmp_path: Path) -> None:
    """Two arrays of 8 GiB: of either only pages that three programs touch are taken, and no finding is made of reads of
    what was never written."""
    file = tmp_path / "large_kernels.py"
    file.write_text(LARGE)
    (kernel,) = check.check(str(file), targets=[], predict=[parse_target("cuda:90")[1]]).kernels
    assert not kernel.findings and not kernel.launches and not kernel.skipped
    assert [each.launch for each in kernel.predictions] == [f"n={2**33}, B=512", f"n={2**33}, B=1024"]
    for each in kernel.predictions:
        assert each.bound == "memory" and each.seconds == pytest.approx(2 * 2**33 / 4.8e12)
    with pytest.raises(NoCase, match="no kernel with a function tuning_inputs"):
        check.check(str(file), targets=[])


def test_a_launch_that_cannot_be_predicted_is_named(tmp_path: Path) -> None:
    file = tmp_path / "misfits.py"
    file.write_text(
        FILE
        + """
def predicted_inputs(n=2**20):
    yield (1,), (np.empty(n, np.float32),), {"B": 64}
"""
    )
    (kernel,) = check.check(str(file), targets=[], predict=[parse_target("cuda:90")[1]]).kernels
    assert kernel.launches == 1 and len(kernel.predictions) == 1
    assert kernel.skipped == {"prediction": "missing a required argument: 'y' [n=1048576]"}


def test_as_many_sizes_are_drawn_as_asked_for(tmp_path: Path) -> None:
    file = tmp_path / "drawn_sizes.py"
    file.write_text(FILE.replace("tuning_inputs():", "tuning_inputs(n=90):"))
    assert [check.check(str(file), targets=[], draws=n).kernels[0].launches for n in (1, 2, 3)] == [1, 2, 3]
