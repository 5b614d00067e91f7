"""`benchmarks/same_text.py`: the same package gives the same text wherever it is, and a changed one is found."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[3] / "benchmarks"))

from same_text import compiled, extracted  # pyright: ignore[reportMissingImports]
from structural.job import Job  # pyright: ignore[reportMissingImports]

ROOT = Path(__file__).parents[3]
KERNELS = """
import triton
import triton.language as tl

@triton.jit
def copied(x, y):
    at = tl.arange(0, 128)
    tl.store(y + at, tl.load(x + at))

@triton.jit
def refused(x, y):
    tl.store(y, tl.load(x) ^ 1.5)
"""
TARGETS = ("cuda:90", "hip:gfx942")


@pytest.fixture
def jobs(tmp_path: Path) -> list[Job]:
    file = tmp_path / "kernels_of_two.py"
    file.write_text(KERNELS)
    of = [Job(name, str(file), name, {"x": "*fp32", "y": "*fp32"}) for name in ("copied", "refused")]
    return [job.on(target) for target in TARGETS for job in of]


def test_what_differs_is_found(jobs: list[Job], tmp_path: Path) -> None:
    other = tmp_path / "other"
    shutil.copytree(ROOT / "tritonx", other / "tritonx", ignore=shutil.ignore_patterns("__pycache__"))
    same = {(job.name, job.target): old == new for job, old, new in compiled(jobs, other, ROOT, tmp_path)}
    assert same == {(name, target): True for name in ("copied", "refused") for target in TARGETS}

    emission = other / "tritonx" / "conversion" / "gpu_to_llvm" / "module.py"
    text = emission.read_text()
    assert "target datalayout = " in text
    emission.write_text(text.replace("target datalayout = ", "target  datalayout = "))
    for job, old, new in compiled(jobs, other, ROOT, tmp_path):
        if job.name == "copied":
            assert old["text"] != new["text"]
            assert old["metadata"] == new["metadata"]
        else:
            assert old == new
            assert "error" in old


def test_a_revision_that_git_does_not_know_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match="git has no package at no-such-revision"):
        extracted("no-such-revision", tmp_path)
