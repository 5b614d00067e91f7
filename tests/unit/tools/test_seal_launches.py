"""What `tritonx seal` says of launches is so for whole launches: options, tuners, heuristics, the debug setting."""

from __future__ import annotations

import random
import re
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from tritonx.runtime import driver, knobs
from tritonx.runtime.errors import NotSealed
from tritonx.runtime.tuning.case import module
from tritonx.tools import seal
from tritonx.tools.command import Mistake
from tritonx.tools.sealing.draws import draw
from tritonx.tools.sealing.package import entries

TUNED = """
@tritonx.autotune([tritonx.Config({"B": b}, num_warps=w) for b in (16, 32) for w in (2, 8)], key=[])
@tritonx.jit
def k(x, n, B: tl.constexpr):
    at = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(x + at, 1, mask=at < n)
"""
WARPS = """
@tritonx.heuristics({"num_warps": lambda args: 8 if args["n"] > 100 else 4})
@tritonx.jit
def k(x, n):
    tl.store(x, n)
"""
SIZES = """
@tritonx.heuristics({"EVEN": lambda args: args["x"].size % 64 == 0})
@tritonx.jit
def k(x, n, EVEN: tl.constexpr):
    tl.store(x, n if EVEN else 7)
"""
PLAIN = """
@tritonx.jit
def k(x, n):
    tl.store(x, n)
"""
ASSERTS = """
@tritonx.jit
def k(x, n):
    tl.device_assert(n < 1000)
    tl.store(x, n)
"""
FLAG = """
@tritonx.jit
def k(x, n, FLAG: tl.constexpr):
    tl.store(x, n if FLAG else 7)
"""
X, N = {"x": "*fp32:16"}, {"n": {"range": [2, 640]}}


def package(folder: Path, text: str, arguments: object, **fields: object) -> str:
    """The path of a module with the kernel `k`, unless ``fields`` say another, and an entry for it."""
    entry = {"kernel": "k", "targets": ["cpu"], "arguments": arguments, **fields}
    path = folder / "kernels.py"
    path.write_text(f"import tritonx, tritonx.language as tl\n{text}\nSEALED = [{entry!r}]\n")
    return str(path)


def sealed(path: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> tuple[ModuleType, str]:
    """The kernels, and what the command prints."""
    assert seal.main([path, "-o", str(folder), "--workers", "0", "--draws", "1000"]) == 0
    knobs.compilation.sealed = str(folder)
    return module(path), capsys.readouterr().out


@pytest.fixture(autouse=True)
def _nothing_kept(tmp_path: Path):
    with knobs.compilation.scope(), knobs.cache.scope():
        knobs.cache.dir = str(tmp_path / "empty")
        yield


MISTAKES = [
    (TUNED, X | N, {"options": {"num_warps": [4]}}, "num_warps is what the tuner's configurations give"),
    (TUNED, X | N | {"B": [16]}, {}, "B is what the tuner's configurations give"),
    (PLAIN, X | N, {"options": {"num_warps": []}}, "option num_warps: there is no value"),
    (PLAIN, X | N, {"options": {"n": [1]}}, "option n is a parameter as well"),
    (WARPS, X | N, {}, "a heuristic computes option num_warps: say which values it has"),
    (
        WARPS,
        X | N,
        {"options": {"num_warps": [4]}},
        "option num_warps = 8 has no member; widen its domain (members have 4)",
    ),
    (SIZES, X | N, {}, "argument 'EVEN' has no domain; a heuristic computes it"),
    (FLAG, X | N | {"FLAG": "float"}, {}, "argument FLAG: each value of a compile-time parameter is compiled"),
]


@pytest.mark.parametrize(("kernel", "arguments", "fields", "said"), MISTAKES)
def test_mistakes(kernel: str, arguments: object, fields: dict[str, object], said: str, tmp_path: Path) -> None:
    with pytest.raises(Mistake, match=re.escape(said)):
        seal.members(package(tmp_path, kernel, arguments, **fields))


def test_a_launch_without_a_member_is_named(tmp_path: Path) -> None:
    given = X | {"n": [7, 103]}
    path = package(tmp_path, WARPS, given, options={"num_warps": [4]})
    with pytest.raises(Mistake, match=r"The drawn launch is k\(x=\*fp32 at 0x\w+, n=103, num_warps=8\)"):
        seal.members(path)


def test_a_heuristic_that_raises(tmp_path: Path) -> None:
    kernel = PLAIN.replace(
        "@tritonx.jit", '@tritonx.heuristics({"num_warps": lambda args: 8 // (args["n"] - 5)})\n@tritonx.jit'
    )
    path = package(tmp_path, kernel, X | {"n": [5]}, options={"num_warps": [8]})
    with pytest.raises(Mistake, match=r"heuristic of num_warps raises ZeroDivisionError .* k\(x=.*, n=5\)"):
        seal.members(path)


def test_all_configurations_of_a_tuner(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = package(tmp_path, TUNED, X | N)
    kernels, said = sealed(path, tmp_path / "sealed", capsys)
    assert said == "k: 16 members; 1000 drawn launches have one\n"
    x = np.zeros(512, np.float32)
    for config in kernels.k.configs:
        kernels.k.fn[(32,)](x, 500, **config.all_kwargs())
    kernels.k[lambda args: (-(-500 // args["B"]),)](x, 500)
    assert x[:500].all() and not x[500:].any()


def test_options_that_a_heuristic_computes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = package(tmp_path, WARPS, X | N, options={"num_warps": [4, 8]})
    kernels, said = sealed(path, tmp_path / "sealed", capsys)
    assert said == "k: 8 members; 1000 drawn launches have one\n"
    x = np.zeros(8, np.float32)
    for n in (7, 600):
        kernels.k[(1,)](x, n)
        assert x[0] == n


def test_a_heuristic_inside_a_tuner(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What it computes takes the place of what the configuration gives."""
    inside = '@tritonx.heuristics({"num_warps": lambda args: 4 if args["B"] > 16 else 1})\n@tritonx.jit'
    text = TUNED.replace("@tritonx.jit", inside)
    path = package(tmp_path, text, X | {"n": [500]}, options={"num_warps": [1, 4]})
    kernels, said = sealed(path, tmp_path / "sealed", capsys)
    assert said == "k: 4 members; 1000 drawn launches have one\n"
    x = np.zeros(512, np.float32)
    kernels.k[lambda args: (-(-500 // args["B"]),)](x, 500)
    assert x[:500].all() and not x[500:].any()


def test_what_is_not_drawn_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A heuristic that reads an array's size: launches where it computes what the package does not name are refused."""
    path = package(tmp_path, SIZES, X | N | {"EVEN": [True]})
    kernels, said = sealed(path, tmp_path / "sealed", capsys)
    assert "k: EVEN was not computed in these launches: its heuristic reads x.size, which is not drawn" in said
    kernels.k[(1,)](np.zeros(64, np.float32), 8)
    with pytest.raises(NotSealed, match="for argument EVEN = False: sealed are True"):
        kernels.k[(1,)](np.zeros(60, np.float32), 8)


def test_the_debug_setting_is_an_option(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = package(tmp_path, ASSERTS, X | N, options={"debug": [True]})
    kernels, _ = sealed(path, tmp_path / "sealed", capsys)
    x = np.zeros(8, np.float32)
    kernels.k[(1,)](x, 8, debug=True)
    assert x[0] == 8
    with pytest.raises(NotSealed, match="for option debug = False: sealed are True"):
        kernels.k[(1,)](x, 8)


def test_either_truth_value_of_a_constant(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = package(tmp_path, FLAG, X | N | {"FLAG": "bool"})
    kernels, _ = sealed(path, tmp_path / "sealed", capsys)
    x = np.zeros(8, np.float32)
    for flag, value in ((True, 8), (False, 7)):
        kernels.k[(1,)](x, 8, FLAG=flag)
        assert x[0] == value


READS = [
    ("args['x'].size", "x.size"),
    ("len(args['x'])", "x.size"),
    ("getattr(args['x'], 'shape', 1)", "x.shape"),
    ("hasattr(args['x'], 'numel')", "x.numel"),
    ("isinstance(args['x'], float)", "the class of x"),
    ("args['x'][0]", "x[0]"),
    ("args['grid'][0]", "grid[0]"),
    ("args['grid'](args)", "grid()"),
    ("args['x'] is None", ""),
    ("args['x'].data_ptr() % 16", ""),
    ("args['n']", ""),
]


@pytest.mark.parametrize(("expression", "read"), READS)
def test_what_heuristics_read(expression: str, read: str, tmp_path: Path) -> None:
    text = f'@tritonx.heuristics({{"num_warps": lambda args: 4 + 0 * bool({expression})}})' + PLAIN
    ((entry, own),) = seal.members(package(tmp_path, text, X | N, options={"num_warps": [4]}), draws=10)
    assert len(own) == 4
    assert entry.sealed.undrawn == ({"num_warps": read} if read else {})


@pytest.mark.parametrize(("kernel", "fields"), [(TUNED, {}), (WARPS, {"options": {"num_warps": [4, 8]}}), (FLAG, {})])
def test_the_launch_path_asks_for_the_same(kernel: str, fields: dict[str, object], tmp_path: Path) -> None:
    """For the target of this machine drawn launches ask it; what is put together for other targets is the same."""
    flag = {"FLAG": "bool"} if kernel is FLAG else {}
    own = entries(package(tmp_path, kernel, X | N | flag, targets=[], **fields))[0].sealed
    (target,) = own.targets
    assert target == driver.get_active().get_current_target()
    rng = random.Random(1)
    for _ in range(50):
        launch = draw(own, rng)
        assert launch.asked(target) == own.member(launch.specs(), launch.options(), target).description
