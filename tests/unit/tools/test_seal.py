"""`tritonx seal` compiles all that launches ask for, and a sealed program compiles nothing."""

from __future__ import annotations

import os
import random
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import tritonx
from tests.unit.tools import sealed_launches
from tests.unit.tools.sealed_kernels import HEAD, kernels
from tritonx.runtime import knobs
from tritonx.runtime.errors import NotSealed
from tritonx.runtime.launch.specialize import INT32_MAX, INT32_MIN, INT64_MAX, INT64_MIN, UINT64_MAX
from tritonx.runtime.tuning.case import module
from tritonx.tools import seal
from tritonx.tools.command import Mistake
from tritonx.tools.sealing.domains import Integers
from tritonx.tools.sealing.draws import closed
from tritonx.tools.sealing.package import entries

PAGE = Path(__file__).parents[3] / "docs" / "seal.md"
ROOT = Path(__file__).parents[3]
SEED = int(os.environ["TRITONX_SEED"])
SHARE = 10
"""One of so many kernels is compiled and launched."""


def run(folder: Path, *command: str, **environment: str) -> subprocess.CompletedProcess[str]:
    path = os.pathsep.join([str(ROOT), *sys.path])
    return subprocess.run(
        [sys.executable, *command], cwd=folder, capture_output=True, text=True, timeout=100,
        env={**os.environ, "PYTHONPATH": path, "TRITONX_CACHE_DIR": str(folder / "empty"), **environment},
    )  # fmt: skip


def test_drawn_launches_have_a_member(tmp_path: Path) -> None:
    """A hundred thousand, of thirty kernels."""
    file = tmp_path / "kernels.py"
    file.write_text("".join([HEAD, *kernels()]))
    found = entries(str(file))
    assert len(found) == 30
    for entry in found:
        closed(entry.sealed, 100_000 // len(found), SEED)


def test_sealed_programs_compile_nothing(tmp_path: Path) -> None:
    """In another process, with an empty cache, and arguments that are drawn by another program."""
    (tmp_path / "kernels.py").write_text("".join([HEAD, *kernels()[SEED % SHARE :: SHARE]]))
    seal.seal(str(tmp_path / "kernels.py"), str(tmp_path / "sealed"), workers=0)
    done = run(tmp_path, sealed_launches.__file__, "kernels.py", "300", str(SEED), TRITONX_SEALED="sealed")
    assert done.stdout == "300 launches, 0 compiles, imported: nothing\n", done.stderr


EDGES = (INT64_MIN, INT32_MIN, 0, INT32_MAX, INT64_MAX, UINT64_MAX)


@tritonx.jit
def plain(n, x):
    pass


def test_representatives_stand_for_all() -> None:
    """Of ranges around the edges of types: the specs of the representatives are those of all values."""
    from tritonx.runtime.launch.binder import handlers_of

    rng = random.Random(SEED)
    handlers = handlers_of(plain.params[0])
    for _ in range(300):
        edge = rng.choice(EDGES)
        low = max(INT64_MIN, edge + rng.randrange(-40, 40))
        high = min(UINT64_MAX, low + rng.randrange(90))
        step = rng.choice((1, 2, 3, 4, 6, 8, 16, 24))
        values = [n for n in range(low, high + 1) if n % step == 0]
        found = {handlers(n)[0] for n in Integers(low, high, step).representatives()}
        assert found == {handlers(n)[0] for n in values}, (low, high, step)


def write(folder: Path, arguments: str, kernel: str = "") -> str:
    file = folder / "kernels.py"
    body = kernel or "@tritonx.jit\ndef k(x, n, B: tl.constexpr):\n    tl.store(x, n + B)\n"
    listed = f'SEALED = [{{"kernel": "k", "targets": "cpu", "arguments": {{{arguments}}}}}]\n'
    file.write_text(f"import tritonx, tritonx.language as tl\n{body}{listed}")
    return str(file)


MISTAKES = [
    ('"x": "*fp32", "n": [1]', "'B' has no domain"),
    ('"x": "*fp32", "n": [1], "B": 1, "C": 1', "no parameter 'C'"),
    ('"x": "*fp31", "n": [1], "B": 1', "argument x"),
    ('"x": "*fp32:8", "n": [1], "B": 1', "argument x"),
    ('"x": "*fp32", "n": {"range": [5, 4]}, "B": 1', "argument n: there is no integer"),
    ('"x": "*fp32", "n": {"range": [1]}, "B": 1', "argument n: there is no integer"),
    ('"x": "*fp32", "n": {"range": [1, 9], "step": 2}, "B": 1', "argument n: expected range"),
    ('"x": "*fp32", "n": [], "B": 1', "argument n: there is no value"),
]


@pytest.mark.parametrize(("arguments", "said"), MISTAKES)
def test_mistakes(arguments: str, said: str, tmp_path: Path) -> None:
    with pytest.raises(Mistake, match=re.escape(said)):
        seal.members(write(tmp_path, arguments))


def test_a_heuristic_beyond_its_domain(tmp_path: Path) -> None:
    kernel = (
        '@tritonx.heuristics({"B": lambda args: args["n"] % 4})\n'
        "@tritonx.jit\ndef k(x, n, B: tl.constexpr):\n    tl.store(x, n + B)\n"
    )
    given = '"x": "*fp32:16", "n": {"range": [1, 100]}, '
    with pytest.raises(Mistake, match="argument B = 3 has no member"):
        seal.members(write(tmp_path, given + '"B": [0, 1, 2]', kernel))


def test_too_many(tmp_path: Path) -> None:
    path = write(tmp_path, '"x": ["*fp32", "*fp16"], "n": {"range": [1, 100]}, "B": [1, 2]')
    with pytest.raises(Mistake, match=r"40 members, and --most is 39: the most different are n \(5\), x \(4\)"):
        seal.members(path, most=39)
    assert len(seal.members(path, most=40)[0][1]) == 40


def test_refusals(tmp_path: Path) -> None:
    path = write(tmp_path, '"x": "*fp32:16", "n": {"range": [2, 64], "multiple_of": 2}, "B": [1, 2]')
    folder = str(tmp_path / "sealed")
    seal.seal(path, folder, workers=0)
    kernel, x = module(path).k, np.zeros(8, np.float32)
    with knobs.compilation.scope(), knobs.cache.scope():
        knobs.cache.dir = str(tmp_path / "empty")
        knobs.compilation.sealed = folder
        kernel[(1,)](x, 6, B=2)
        assert x[0] == 8
        refused = {
            "argument n = i32, negative": (x, -2, 2),
            "argument x = [*]fp32:": (x[1:], 2, 2),
            "argument x = [*]i64": (x.astype(np.int64), 2, 2),
            "argument B = 3: sealed are 1; 2": (x, 2, 3),
        }
        for said, (array, n, b) in refused.items():
            with pytest.raises(NotSealed, match=f"k has no member in .* for {said}"):
                kernel[(1,)](array, n, B=b)
        with pytest.raises(NotSealed, match="no member of kernel plain; it has members of k"):
            plain[(1,)](2, x)
        knobs.compilation.sealed = str(tmp_path)
        with pytest.raises(NotSealed, match=r"holds no sealed\.json"):
            plain[(1,)](4, x)
        knobs.compilation.sealed = "1"
        with pytest.raises(NotSealed, match="plain is not in the cache for n: i32, multiple of 8"):
            plain[(1,)](8, x)


def test_targets_without_a_device(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = Path(write(tmp_path, '"x": "*fp32:16", "n": [4], "B": 2'))
    path.write_text(path.read_text().replace('"cpu"', '["cuda:90", "hip:gfx942"]'))
    assert seal.main([str(path), "-o", str(tmp_path / "made"), "--workers", "0"]) == 0
    assert capsys.readouterr().out == "k: 3 members; 10000 drawn launches have one\n"
    assert {p.suffix for p in (tmp_path / "made").glob("*/*")} >= {".cubin", ".amdgcn"}


def test_the_page(tmp_path: Path) -> None:
    """The kernel, its package, the command, the program, and what it raises."""
    found = re.findall(r"^```(?:python|toml|console|text)\n(.*?)^```", PAGE.read_text(), re.M | re.S)
    for name, text in zip(("kernels.py", "package.toml", "", "program.py"), found, strict=False):
        if name:
            (tmp_path / name).write_text(text)
    command, _, printed = found[2].partition("\n")
    done = run(tmp_path, "-m", *command.removeprefix("$ ").split())
    assert done.stdout == printed, done.stderr
    done = run(tmp_path, "program.py", TRITONX_SEALED="sealed")
    assert done.stderr.replace(str(tmp_path), "/srv").splitlines()[-1] == "tritonx.runtime.errors." + found[4].rstrip(
        "\n"
    )
