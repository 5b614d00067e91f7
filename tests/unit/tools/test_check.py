"""`tritonx check` finds what is wrong in kernels that are wrong, and nothing in those that are right.

All 112 wrong kernels and the 829 of the conformance suite with ``TRITONX_CHECK_ALL=1``; a share of them otherwise.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tritonx
import tritonx.language as tl
from tests.unit.tools.checking import (
    right_kernels,
    wrong_accesses,
    wrong_beside_references,
    wrong_orders,
    wrong_results,
)
from tests.unit.tools.checking.wrong_kernels import CASES, Wrong
from tritonx.backends.registry import parse_target
from tritonx.interpreter import fresh_memory
from tritonx.tools import check
from tritonx.tools.check import Launch, check_kernel
from tritonx.tools.checking.launches import drawn
from tritonx.tools.checking.report import KINDS, SCHEMA
from tritonx_testing.conformance import Case, cases
from tritonx_testing.conformance.device import host_arguments

PAGE = Path(__file__).parents[3] / "docs" / "check.md"
ALL = bool(os.environ.get("TRITONX_CHECK_ALL"))
SEED = int(os.environ["TRITONX_SEED"])
FILES = (wrong_accesses, wrong_beside_references, wrong_orders, wrong_results)

WRONG = CASES if ALL else CASES[SEED % 5 :: 5]
SLOW = ("extents_moved", "dot_cuts", "tiles", "wide", "dot", "sorting", "several_axes")
"""Families with large tiles, which are judged with all."""
QUICK = [case for case in cases() if case.name.split("/")[0] not in SLOW]
RIGHT = cases() if ALL else QUICK[SEED % 40 :: 40]
"""Each is judged for the same arguments whatever the seed is, which says which ones are taken."""


@pytest.mark.parametrize("case", WRONG, ids=lambda case: case.kernel.__name__)
def test_what_is_wrong_is_found(case: Wrong) -> None:
    with fresh_memory.watched():
        launches = case.launches(0)
    report = check_kernel(
        case.kernel, launches, case.reference, targets=[], seconds=1 if case.kind == "endless" else 60
    )
    found = [(finding.kind, finding.line) for finding in report.findings]
    assert (case.kind, case.line) in found, report


def test_the_corpus() -> None:
    assert len(CASES) >= 60 and {case.kind for case in CASES} >= set(KINDS) - {"backend", "fault", "reference"}
    assert {case.kernel.module for case in CASES} == {file.__name__ for file in FILES}


@pytest.mark.parametrize("case", RIGHT, ids=lambda case: case.name)
def test_nothing_is_found_in_what_is_right(case: Case) -> None:
    trial = case.trial(5)
    launch = Launch(trial.grid, tuple(host_arguments(trial)), dict(trial.constants))
    report = check_kernel(case.kernel, [launch], targets=[], seconds=60)
    assert report.findings == []


@pytest.mark.parametrize("case", right_kernels.CASES, ids=lambda case: case[0].__name__)
def test_nothing_is_found_in_what_looks_wrong(case: tuple[Any, Any, Any]) -> None:
    kernel, make, reference = case
    with fresh_memory.watched():
        launches = list(drawn(make, 0))
    assert check_kernel(kernel, launches, reference, targets=[], seconds=60).findings == []


def examples() -> list[str]:
    return re.findall(r"^```(?:python|text|console|json)\n(.*?)^```", PAGE.read_text(), re.M | re.S)


def test_the_page(tmp_path: Path) -> None:
    """The kernel, what the command prints, and the kernel mended."""
    wrong, printed, mended = examples()[:3]
    (tmp_path / "kernel.py").write_text(wrong)
    command, _, said = printed.partition("\n")
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(PAGE.parents[1]), *sys.path])}
    done = subprocess.run(
        [sys.executable, "-m", *command.removeprefix("$ ").split()],
        cwd=tmp_path, capture_output=True, text=True, timeout=100, env=environment,
    )  # fmt: skip
    told = re.sub(r"0x[0-9a-f]+", "0x...", done.stdout.replace(f"{tmp_path}/", ""))
    assert (done.returncode, told) == (1, said), done.stderr
    (tmp_path / "mended.py").write_text(wrong.replace(wrong.splitlines()[7], mended.rstrip("\n")))
    assert check.check(str(tmp_path / "mended.py")).status == 0


def test_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "kernel.py").write_text(examples()[0])
    assert check.main([str(tmp_path / "kernel.py"), "--json", "--targets", "cuda:90"]) == 1
    said = json.loads(capsys.readouterr().out)
    (kernel,) = said["kernels"]
    assert (said["schema"], said["status"], kernel["kernel"], kernel["targets"]) == (SCHEMA, 1, "softmax", ["cuda:90"])
    assert set(kernel) == {"kernel", "launches", "targets", "findings", "error", "skipped", "predictions"}
    assert set(kernel["findings"][0]) == {"kind", "message", "file", "line", "column", "launch"}
    documented = set(re.findall(r"`(\w+)`", PAGE.read_text()))
    assert documented >= {*said, *kernel, *kernel["findings"][0]}


def test_each_kind_is_documented() -> None:
    assert set(KINDS) <= set(re.findall(r"^\| `([\w-]+)` \|", PAGE.read_text(), re.M))


@tritonx.jit
def scaled(x, y, n, B: tl.constexpr, EVEN: tl.constexpr):
    at = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(y + at, tl.load(x + at, mask=None if EVEN else at < n) * 2, mask=None if EVEN else at < n)


def test_tuners_and_heuristics() -> None:
    whole = tritonx.heuristics({"EVEN": lambda args: args["n"] % args["B"] == 0})(scaled)
    tuned = tritonx.autotune([tritonx.Config({"B": 16})], key=["n"])(whole)
    wrong = tritonx.heuristics({"EVEN": lambda args: True})(scaled)
    for n in (32, 35):
        x, y = np.ones(n, np.float32), np.zeros(n, np.float32)
        launch = Launch(lambda meta: (tritonx.cdiv(meta["n"], meta["B"]),), (x, y, n))
        assert check_kernel(tuned, [launch], targets=[]).findings == []
        found = check_kernel(wrong, [Launch((tritonx.cdiv(n, 16),), (x, y, n), {"B": 16})], targets=[]).findings
        assert [finding.kind for finding in found] == ([] if n == 32 else ["bounds"])


def test_a_kernel_that_one_target_refuses() -> None:
    x = np.zeros(16, np.float16)
    launch = Launch((1,), (x,), {})
    targets = [parse_target(name)[1] for name in ("cuda:90", "hip:gfx942")]
    report = check_kernel(to_float8, [launch], targets=targets)
    (finding,) = report.findings
    assert finding.kind == "compile" and "cuda:90" in finding.message
    assert finding.line == to_float8.def_line_number + 2


@tritonx.jit
def to_float8(x):
    at = tl.arange(0, 16)
    tl.store(x + at, tl.load(x + at).to(tl.float8e4b8).to(tl.float16))
