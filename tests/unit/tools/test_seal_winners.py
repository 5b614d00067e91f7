"""A tuner's winners in a sealed package: launches take them, and measure nothing."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest

from tests.unit.tools.test_seal import run
from tests.unit.tools.test_seal_launches import TUNED, X, package, sealed
from tritonx.runtime import knobs
from tritonx.runtime.errors import NotSealed
from tritonx.tools import seal, tune
from tritonx.tools.command import Mistake

KEYED = TUNED.replace("key=[]", 'key=["n"]')
N = {"n": {"range": [16, 640], "multiple_of": 16}}
WINNER = {"key": {"n": 512}, "config": {"B": 32, "num_warps": 8}}
SMALL = {"B": 16, "num_warps": 2}


@pytest.fixture(autouse=True)
def _nothing_kept(tmp_path: Path):
    with knobs.compilation.scope(), knobs.cache.scope():
        knobs.cache.dir = str(tmp_path / "empty")
        yield


def launched(kernel: object, n: int, dtype: type = np.float32) -> str:
    """The configuration that a launch took, which stored ones."""
    x = np.zeros(1024, dtype)
    kernel[lambda args: (-(-n // args["B"]),)](x, n)  # pyright: ignore[reportIndexIssue, reportUnknownMemberType]  # an Autotuner
    assert x[:n].all() and not x[n:].any()
    return str(kernel.best_config)  # pyright: ignore[reportAttributeAccessIssue]  # as above


def test_a_winner_is_launched(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """It alone is compiled; a key without one is named."""
    kernels, said = sealed(package(tmp_path, KEYED, X | N, winners=[WINNER]), tmp_path / "sealed", capsys)
    assert said.startswith("k: 1 member; 1000 drawn launches have one\nk: launches without a winner, such as n = ")
    assert said.endswith(", are refused\n")
    assert launched(kernels.k, 512).startswith("B: 32, num_warps: 8")
    assert kernels.k.bench_time is None
    with pytest.raises(NotSealed, match=r"k has no winner in .* for n = 16, .*winners are for n = 512"):
        launched(kernels.k, 16)


def test_a_fallback(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = package(tmp_path, KEYED, X | N, winners=[WINNER], fallback=SMALL)
    kernels, said = sealed(path, tmp_path / "sealed", capsys)
    assert said.startswith("k: 2 members") and said.endswith(", are made with the fallback\n")
    assert launched(kernels.k, 512).startswith("B: 32")
    assert launched(kernels.k, 16).startswith("B: 16, num_warps: 2")


def test_winners_of_dtypes_and_targets(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    others = [{**WINNER, "target": "cuda:90", "config": SMALL}, {**WINNER, "dtypes": ["int32"]}]
    arguments = {"x": ["*fp32:16", "*i32:16"]} | N
    path = package(tmp_path, KEYED, arguments, winners=others)
    kernels, _ = sealed(path, tmp_path / "sealed", capsys)
    assert launched(kernels.k, 512, np.int32).startswith("B: 32")
    with pytest.raises(NotSealed, match="n = 512, arrays of float32, on cpu: winners are for n = 512, on cuda:90; n ="):
        launched(kernels.k, 512)


def test_another_list_of_configurations(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    sealed(package(tmp_path, KEYED, X | N, winners=[WINNER]), tmp_path / "sealed", capsys)
    (tmp_path / "other").mkdir()
    path = package(tmp_path / "other", KEYED.replace("(16, 32)", "(16, 64)"), X | N)
    from tritonx.runtime.tuning.case import module

    with pytest.raises(NotSealed, match="with configurations that its tuner no longer has: seal again"):
        launched(module(path).k, 512)


MISTAKES = [
    ({"winners": [{**WINNER, "key": {"m": 1}}]}, "winner 1: its key has m, and the tuner's key is n"),
    ({"winners": [{"key": {"n": 1}, "config": {"B": 32}}]}, "winner 1: B = 32 fits more than one of them: B: 32"),
    ({"winners": [{"key": {"n": 1}, "config": {"B": 7}}]}, "winner 1: B = 7 is none of the tuner's configurations"),
    ({"winners": [{**WINNER, "time": 3}]}, "winner 1: unknown time"),
    ({"winners": [5]}, "winner 1: expected a table, got 5"),
    ({"winners": []}, "winners: there are none, and no fallback"),
    ({"winners": 7}, "winners: expected tables or the path of a file, got 7"),
    ({"winners": "none.json"}, "winners "),
    ({"fallback": {"B": 7}}, "fallback: B = 7 is none of the tuner's configurations"),
]


@pytest.mark.parametrize(("fields", "said"), MISTAKES)
def test_mistakes(fields: dict[str, object], said: str, tmp_path: Path) -> None:
    with pytest.raises(Mistake, match=re.escape(said)):
        seal.members(package(tmp_path, KEYED, X | N, **fields))


def test_winners_without_a_tuner(tmp_path: Path) -> None:
    plain = KEYED[KEYED.index("@tritonx.jit") :]
    with pytest.raises(Mistake, match="k: it has winners, and no tuner around it"):
        seal.members(package(tmp_path, plain, X | N | {"B": [16]}, winners=[WINNER]))


INPUTS = """
import numpy as np

def tuning_inputs():
    yield lambda args: (-(-512 // args["B"]),), (np.zeros(512, np.float32), 512), {}
"""
PROGRAM = """
import sys
import numpy as np
from kernels import k

x = np.zeros(512, np.float32)
k[lambda args: (-(-512 // args["B"]),)](x, 512)
print(x.all(), k.best_config.kwargs["B"], {"xdsl", "llvmlite"} & set(sys.modules))
"""


def test_what_tritonx_tune_wrote(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Found once, then taken from the disk, then measured again if asked; another process launches it."""
    path = package(tmp_path, KEYED + INPUTS, X | N, winners="found.json")
    line = [path, "--winners", str(tmp_path / "found.json"), "--workers", "0"]
    said: list[str] = []
    for more in ([], [], ["--fresh"]):
        assert tune.main([*line, *more]) == 0
        said.append(capsys.readouterr().out.splitlines()[0])
    assert ["measured by an earlier search" in each for each in said] == [False, True, False], said
    (found,) = json.loads((tmp_path / "found.json").read_text())
    assert found["key"] == {"n": 512} and found["dtypes"] == ["float32"] and found["target"] == "cpu"
    seal.seal(path, str(tmp_path / "sealed"), workers=0)
    (tmp_path / "program.py").write_text(PROGRAM)
    done = run(tmp_path, "program.py", TRITONX_SEALED="sealed")
    assert done.stdout == f"True {found['config']['B']} set()\n", done.stderr
    for text, what in (("{", "winners "), ("{}", "it is no list"), ("[]", "it has none of k")):
        (tmp_path / "found.json").write_text(text)
        with pytest.raises(Mistake, match=what):
            seal.members(path)


FIRST = """
import os, sys
import numpy as np
from kernels import k

x, before, opened, on = np.zeros(1024, np.float32), set(sys.modules), [], []

def audit(event, given):
    if on and event == "open":
        opened.append(os.path.basename(str(given[0])))

sys.addaudithook(audit)
on.append(True)
k[lambda args: (-(-512 // args["B"]),)](x, 512)
on.clear()
print(x[:512].all(), x[512:].any(), k.best_config, opened, sorted(set(sys.modules) - before))
"""


@pytest.mark.parametrize("target", [{}, {"target": "cpu"}])
def test_a_first_launch_of_a_tuned_kernel_reads_its_code_alone(target: dict[str, str], tmp_path: Path) -> None:
    """The winners were read when the kernel was declared, and the backends were asked for devices where one is for a
    target."""
    path = package(tmp_path, KEYED, X | {"n": [512]}, winners=[{**WINNER, **target}])
    assert seal.main([path, "-o", str(tmp_path / "sealed"), "--workers", "0", "--draws", "0"]) == 0
    (tmp_path / "program.py").write_text(FIRST)
    done = run(tmp_path, "program.py", TRITONX_SEALED="sealed", TRITONX_BACKEND="cpu")
    chosen = "B: 32, num_warps: 8, num_ctas: 1, num_stages: 3, maxnreg: None, ir_override: None"
    assert done.stdout == f"True False {chosen} ['k.obj'] []\n", done.stderr
