"""What `tritonx check` makes of files: which kernels it takes, what it prints, and what it does with functions of the
file that raise or do not fit."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tracemalloc
from pathlib import Path

import numpy as np
import pytest

import tritonx
from tritonx.interpreter.shadow import Programs
from tritonx.tools import check, command
from tritonx.tools.check import check_kernel
from tritonx.tools.checking.report import Report

ROOT = Path(__file__).parents[3]
HEAD = "import numpy as np, tritonx, tritonx.language as tl\n"


def checked(folder: Path, text: str) -> Report:
    """What is said of a file with this text."""
    file = folder / f"kernels_{len(list(folder.iterdir()))}.py"  # a file is imported once
    file.write_text(HEAD + text)
    return check.check(str(file), targets=[])


def kinds(report: Report) -> list[tuple[str, int]]:
    return [(finding.kind, finding.line - HEAD.count("\n")) for finding in report.findings]


SUM = """
@tritonx.jit
def sum(x, y, B: tl.constexpr):
    tl.store(y, tl.sum(tl.load(x + 1 + tl.arange(0, B))))

def tuning_inputs():
    yield (1,), (np.ones(16, np.float32), np.empty(1, np.float32)), {"B": 16}
"""
MEAN = """
@tritonx.jit
def mean(x, y, B: tl.constexpr):
    tl.store(y, tl.sum(tl.load(x + tl.arange(0, B))) / B)
"""
HELPER = """
@tritonx.jit
def twice(v):
    return v * 2

@tritonx.jit
def kernel(x, y, B: tl.constexpr):
    tl.store(y, tl.sum(twice(tl.load(x + tl.arange(0, B)))))
"""


def test_which_kernels_are_taken(tmp_path: Path) -> None:
    """Not those that another one calls; `tl.sum` is no call of a kernel `sum`."""
    alone, both, helped = (tmp_path / name for name in ("alone", "both", "helped"))
    for folder in (alone, both, helped):
        folder.mkdir()
    assert kinds(checked(alone, SUM)) == [("bounds", 4)]
    report = checked(both, SUM + MEAN)
    assert (kinds(report), [kernel.kernel for kernel in report.kernels]) == ([("bounds", 4)], ["sum", "mean"])
    report = checked(helped, SUM.partition("def tuning")[0] + HELPER + "def tuning" + SUM.partition("def tuning")[2])
    assert [kernel.kernel for kernel in report.kernels] == ["sum", "kernel"]


def test_a_kernel_without_launches_is_named(tmp_path: Path) -> None:
    report = checked(tmp_path, (SUM + MEAN).replace("tuning_inputs", "inputs_mean"))
    assert (report.status, report.kernels[0].kernel, report.kernels[0].launches) == (0, "sum", 0)
    assert "sum: not judged: launches: the file has no function inputs_sum() or tuning_inputs()" in str(report)
    assert "sum: clean" not in str(report)


def test_inputs_that_give_nothing(tmp_path: Path) -> None:
    with pytest.raises(command.Mistake, match=r"tuning_inputs\(\) gives no launches"):
        checked(tmp_path, SUM.replace("tuning_inputs():", "tuning_inputs(n=4):\n  if n > 100:"))


def test_inputs_that_raise_name_the_sizes(tmp_path: Path) -> None:
    with pytest.raises(command.Mistake, match=r"kernels_0.py:8: ZeroDivisionError: .* \[n=0\]"):
        checked(tmp_path, SUM.replace("tuning_inputs():\n", "tuning_inputs(n=4):\n    1 / n\n"))


def test_check_kernel_without_launches() -> None:
    with pytest.raises(command.Mistake, match="no launches"):
        check_kernel(tritonx.jit(test_check_kernel_without_launches), [])


OUTPUTS = """
@tritonx.jit
def kernel(x, a, b, n, B: tl.constexpr):
    at = tl.arange(0, B)
    v = tl.load(x + at, mask=at < n * 4)
    tl.store(a + at, v + 1, mask=at < n * 4)
    tl.store(b + at, v * 3, mask=at < n * 4)

def tuning_inputs(n=3):
    yield (1,), (np.ones((n, 4), np.float32), np.zeros((n, 4), np.float32), np.zeros((n, 4), np.float32), n), {"B": 16}

def reference(x, a, b, n, B):
"""


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("return x + 1", "gives 1 array, and the kernel writes 2 (a, b)"),
        ("return x + 1, x * 3, x", "gives 3 arrays, and the kernel writes 2 (a, b)"),
        ("return x + 1, (x * 3).T", "shape (4, 3) for b, which has the shape (3, 4)"),
        ("return x + 1, x[1:]", "shape (2, 4) for b, which has the shape (3, 4)"),
        ("return {'out': x}", "gives 'out', which is no array of the kernel: x, a, b"),
        ("return x + 1, 'text'", "gives a str for b"),
        ("return x + 1, x + 1j", "gives an array of complex128 for b"),
        ("return x + 1, unknown", "raises NameError: name 'unknown' is not defined"),
    ],
)
def test_a_reference_that_does_not_fit(tmp_path: Path, body: str, said: str) -> None:
    (found,) = checked(tmp_path, f"{OUTPUTS}    {body}\n").findings
    line = 14 if "unknown" in body else 13
    assert (found.kind, found.line, found.launch, said in found.message) == ("reference", line, "n=3", True), found


@pytest.mark.parametrize(
    "body",
    [
        "return x + 1, x * 3",
        "return [x + 1, (x * 3).ravel()]",
        "return {'b': x * 3}",
        "a[:], b[:] = x + 1, x * 3",
    ],
)
def test_a_reference_that_fits(tmp_path: Path, body: str) -> None:
    assert checked(tmp_path, f"{OUTPUTS}    {body}\n").findings == []
    wrong = checked(tmp_path, f"{OUTPUTS}    x += 1\n    {body}\n").findings
    assert {finding.kind for finding in wrong} == {"wrong"}


def test_a_reference_that_raises_ends_nothing(tmp_path: Path) -> None:
    """It does so for one size; the other launches are judged, and the other kernels."""
    text = SUM.replace("tuning_inputs", "inputs_sum") + OUTPUTS + "    x.max()\n    return x + 1, x * 2\n"
    report = checked(tmp_path, text)
    assert [(f.kind, f.launch) for f in report.findings] == [
        ("bounds", "launch 0"), ("wrong", "n=3"), ("reference", "n=0")
    ]  # fmt: skip


def test_an_array_that_is_not_known(tmp_path: Path) -> None:
    """It is named, and the reference is not blamed."""
    text = """
@tritonx.jit
def kernel(x, y):
    at = tl.arange(0, 16)
    tl.store(y + at, tl.load(x + at))

def tuning_inputs():
    x, y = (tritonx.reinterpret(np.zeros(16, np.uint8), tl.float8e5) for _ in range(2))
    yield (1,), (x, y)

def reference(x, y):
    return x
"""
    report = checked(tmp_path, text)
    assert report.findings == [] and report.kernels[0].skipped["arrays"].startswith("x, y: ")


@pytest.mark.parametrize("name", ["float32", "bfloat16", "float8_e5m2"])
def test_tensors_of_pytorch(tmp_path: Path, name: str) -> None:
    pytest.importorskip("torch")
    text = f"""
import torch
@tritonx.jit
def kernel(xs, y, n, B: tl.constexpr):
    at = tl.arange(0, B)
    tl.store(y + at, tl.load(xs[0] + at, mask=at < n), mask=at < n)

def tuning_inputs(n=30):
    x = torch.ones(n).to(torch.{name})
    yield (1,), ((x,), torch.zeros_like(x), n), {{"B": 64}}

def reference(xs, y, n, B):
    return xs[0]
"""
    assert checked(tmp_path, text).findings == []
    (found, *_) = checked(tmp_path, text.replace("return xs[0]", "return xs[0] * 2")).findings
    assert (found.kind, found.launch) == ("wrong", "n=30")


CONFIGURED = """
@tritonx.autotune([tritonx.Config({"B": 16}), tritonx.Config({"B": 16}, num_warps=8), tritonx.Config({"B": 64})], ["n"])
@tritonx.jit
def kernel(x, y, n, B: tl.constexpr):
    at = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(y + at, tl.load(x + at, mask=at < n) + (B == 64), mask=at < n)

def tuning_inputs():
    yield lambda m: (tritonx.cdiv(100, m["B"]),), (np.ones(100, np.float32), np.empty(100, np.float32), 100)

def reference(x, y, n, B):
    return x
"""


def test_each_configuration_is_judged(tmp_path: Path) -> None:
    report = checked(tmp_path, CONFIGURED)
    assert [(f.kind, f.launch) for f in report.findings] == [("wrong", "launch 0, B=64")]
    assert report.kernels[0].launches == 2
    assert checked(tmp_path, CONFIGURED.replace(" + (B == 64)", "")).findings == []


@pytest.mark.parametrize(
    ("array", "said"),
    [("np.ones(16, np.complex64)", "complex64"), ("np.ones(16, object)", "object"), ("2**70", "does not fit 64 bits")],
)
def test_an_argument_that_no_kernel_takes(tmp_path: Path, array: str, said: str) -> None:
    (found,) = checked(tmp_path, SUM.replace("np.ones(16, np.float32)", array)).findings
    assert found.kind == "launch" and said in found.message


PRINTS = """
print("imported")
@tritonx.jit
def kernel(x):
    tl.device_print("x", tl.load(x))
    tl.static_print("compiled")
    tl.store(x, 1)

def tuning_inputs():
    yield (1,), (np.zeros(4, np.float32),)
"""


def test_json_is_all_of_the_output(tmp_path: Path) -> None:
    """What the file, the compiler, the interpreter and compiled code print is not in it. Sealing changes nothing."""
    (tmp_path / "kernels.py").write_text(HEAD + PRINTS)
    settings = {"TRITONX_SEALED": "1", "TRITONX_CACHE_DIR": str(tmp_path), "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, "-m", "tritonx", "check", "--json", "--targets", "", str(tmp_path / "kernels.py")],
        cwd=tmp_path, capture_output=True, text=True, timeout=100, env={**os.environ, **settings},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["kernels"][0]["findings"] == []
    assert all(word in done.stderr for word in ("imported", "compiled", "x: 0.000000"))


def test_memory_of_many_atomic_addresses() -> None:
    """2048 programs of 64 addresses each: a copy of what a program has seen for each address would take 268 MB."""
    programs = Programs(2048)
    tracemalloc.start()
    for number in range(2048):
        programs.begin(number + 1)
        programs.acquire(np.arange(64) + 64 * number)
        programs.release(np.arange(64) + 64 * number)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert most < 50e6
