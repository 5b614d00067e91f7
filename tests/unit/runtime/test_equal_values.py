"""Two values that can differ in meaning never share code: not in memory, not on disk, not in the tuner's keys."""

from __future__ import annotations

import os
import random
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tritonx
import tritonx.language as tl
from tests.unit.runtime import equal_values
from tests.unit.runtime.equal_values import PAIRS, told, wanted, wrong
from tritonx.frontend.codegen.values import same_constant
from tritonx.kernel.identity import Exact, exactly, identity
from tritonx.kernel.meaning import meaning
from tritonx.language.values.constexpr import constexpr_type
from tritonx.runtime.tuning.records import Record, Records

EVERY = os.environ.get("TRITONX_ALL_PAIRS") == "1"
DRAWN = random.Random(f"{os.environ.get('TRITONX_SEED', '0')} pairs")
SOME = range(len(PAIRS)) if EVERY else sorted(DRAWN.sample(range(len(PAIRS)), 12))
"""Which pairs are launched; all are compared."""


def test_the_two_of_a_pair_differ_in_meaning() -> None:
    assert [pair for pair in PAIRS if wanted(pair[0]) == wanted(pair[1])] == []


@pytest.mark.parametrize("which", range(len(PAIRS)))
def test_they_have_two_keys(which: int) -> None:
    one, other = PAIRS[which]
    assert identity(one) == identity(one) != identity(other) == identity(other)
    assert meaning(one) == meaning(one) != meaning(other) == meaning(other)
    assert not same_constant(one, other)
    assert constexpr_type(one) != constexpr_type(other)
    assert exactly([one]) != exactly([other])
    assert tritonx.Config({"A": one}) != tritonx.Config({"A": other})
    assert len({exactly([one]): 1, exactly([other]): 2, exactly([one, 0]): 3}) == 3


@pytest.mark.parametrize("interpret", [False, True], ids=["cpu", "interpreter"])
@pytest.mark.parametrize("which", SOME)
def test_one_process(which: int, interpret: bool) -> None:
    assert wrong(which, (0, 1, 0, 1), interpret) + wrong(which, (1, 0, 1), interpret) == []


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_two_processes(order: tuple[int, int], tmp_path: Path) -> None:
    """They share a cache: the second finds what the first compiled for the other value of each pair."""
    environment = {**os.environ, "TRITONX_CACHE_DIR": str(tmp_path)}
    for which in order:
        command = [sys.executable, str(Path(equal_values.__file__)), str(which), *map(str, SOME)]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300, check=False)
        assert done.stdout == "[]\n", done.stdout + done.stderr[-3000:]


# What a name in a kernel stands for ----------------------------------------------------------------------------------

ACTIVATIONS = ("exp", "log", "sqrt", "sin", "cos", "exp2", "log2", "floor")
PROGRAM = """
import numpy as np
import tritonx
import tritonx.language as tl
{before}

@tritonx.jit
def kernel(out_ptr):
    tl.store(out_ptr, {expression})

out = np.zeros(1, np.float32)
kernel[(1,)](out)
print(float(out[0]))
"""


def activation(op: Any) -> Any:
    @tritonx.jit
    def apply(x_ptr, out_ptr):
        tl.store(out_ptr, op(tl.load(x_ptr)))

    return apply


def test_what_a_closure_stands_for() -> None:
    x = np.array([0.75], np.float32)
    for name in DRAWN.sample(ACTIVATIONS, 4):
        out = np.zeros(1, np.float32)
        activation(getattr(tl, name))[(1,)](x, out)
        np.testing.assert_allclose(out, getattr(np, name)(x), rtol=1e-5)


EDITS = {
    "a builtin": ("from tritonx.language import exp as act", "from tritonx.language import log as act", "act(4.0)"),
    "a module": ("import tritonx.language.math as m", "import tritonx.language.extra.libdevice as m", "m.exp(2.0)"),
    "a function of Python's": ("act = tl.constexpr(max)", "act = tl.constexpr(min)", "act(2, 3)"),
    "a default": (
        "S = 2\n@tritonx.jit\ndef f(x, s: tl.constexpr = S):\n    return x * s",
        "S = 3\n@tritonx.jit\ndef f(x, s: tl.constexpr = S):\n    return x * s",
        "f(1.0)",
    ),
    "a class": (
        "import enum\nclass E(enum.Enum):\n    A = 1\nE = tl.constexpr(E)",
        "import enum\nclass E(enum.Enum):\n    A = 2\nE = tl.constexpr(E)",
        "E.A.value",
    ),
    "a method": (
        "class C:\n    def f(self):\n        return 1\nC = tl.constexpr(C())",
        "class C:\n    def f(self):\n        return 2\nC = tl.constexpr(C())",
        "C.f()",
    ),
    "a constant's sign": ("S = tl.constexpr(0.0)", "S = tl.constexpr(-0.0)", "1.0 / tl.full((), S, tl.float32)"),
    "a constant's class": ("S = tl.constexpr(True)", "S = tl.constexpr(1)", "2.0 if S is True else 3.0"),
}


@pytest.mark.parametrize("edit", EDITS if EVERY else DRAWN.sample(sorted(EDITS), 4))
def test_a_program_that_was_edited(edit: str, tmp_path: Path) -> None:
    """The kernel's text and place stay; what it says alone and with the other's code in the cache is the same."""
    one, other, expression = EDITS[edit]
    said: list[list[str]] = []
    for cache in ("shared", "own"):
        for before in (one, other):
            program = tmp_path / "program.py"
            program.write_text(PROGRAM.format(before=before, expression=expression))
            place = tmp_path / (cache if cache == "shared" else f"own{len(said)}")
            environment = {**os.environ, "TRITONX_CACHE_DIR": str(place)}
            done = subprocess.run([sys.executable, str(program)], env=environment, capture_output=True, check=False)
            said.append([done.stdout.decode(), done.stderr.decode()[-500:]])
    assert said[:2] == said[2:]
    assert said[0][0] if edit == "a module" else said[0] != said[1]


# The tuner -----------------------------------------------------------------------------------------------------------


def test_a_tuner_tells_them_apart() -> None:
    @tritonx.autotune([tritonx.Config({}), tritonx.Config({}, num_warps=2)], key=["S"], do_bench=lambda *_, **__: [1.0])
    @tritonx.jit
    def tuned(out_ptr, S: tl.constexpr):
        tl.store(out_ptr, S)

    out = np.zeros(1, np.float32)
    for value in (1, True, 1.0, 1, 0.0, -0.0):
        tuned[(1,)](out, value)
    assert [repr(key[0]) for key in tuned.cache] == ["1", "True", "1.0", "0.0", "-0.0"]
    assert (1, "float32") in tuned.cache  # as Triton's keys are: by values
    assert (True, "float32") in tuned.cache
    assert isinstance(list(tuned.cache)[1][0], Exact)


def test_records_tell_them_apart(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRITONX_CACHE_DIR", str(tmp_path))
    records = Records("kernel", ["part"])
    values = (1, True, 1.0, equal_values.Colour.RED, equal_values.Word("1"), "1", (1,))
    for time, value in enumerate(values):
        records.put(tritonx.Config({"A": value}), Record((float(time),)))
    found = [records.get(tritonx.Config({"A": value})) for value in values]
    assert found == [Record((float(time),)) for time in range(len(values))]


# What a program changes ----------------------------------------------------------------------------------------------


class Settings:
    def __init__(self, by: object) -> None:
        self.by = by


def test_an_object_that_a_program_changes() -> None:
    tell, settings = equal_values.kernel(), Settings(1)
    for value in (1, 2, 1.0, [1], [1, 2]):
        settings.by = value
        assert told(tell, settings) == wanted(settings)


def test_options_are_told_apart() -> None:
    @tritonx.jit
    def tell(out_ptr, num_warps: tl.constexpr):
        tl.store(out_ptr, 1 if num_warps is True else 2)

    keys = [tell.launcher._binder.bind((1,), np.zeros(1), num_warps=value)[0] for value in (1, True, 1.0, "1")]
    assert len(set(keys)) == 4


@pytest.mark.parametrize("which", SOME)
def test_what_a_hook_heard_is_compiled_again_or_refused(which: int) -> None:
    """A value that JSON would make another one of is no part of a compile that is told."""
    for value in PAIRS[which]:
        tell, heard = equal_values.kernel(), list[str]()

        def hear(*, compile: dict[str, Any], heard: list[str] = heard, **_: object) -> None:
            heard.append(compile["specialization_data"])

        with tritonx.knobs.runtime.scope():
            tritonx.knobs.runtime.jit_post_compile_hook = hear
            told(tell, value)
        other = equal_values.kernel()
        with tritonx.knobs.runtime.scope():
            tritonx.knobs.runtime.jit_post_compile_hook = hear
            try:
                other.preload(heard[0])
            except tritonx.TritonError as error:
                assert "exists in one process only" in str(error)
                continue
            assert told(other, value) == wanted(value)
            assert len(heard) == 2, "the launch compiles nothing"
