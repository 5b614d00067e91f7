"""A plug-in as its author sees it: installed by pip from its own project, used without touching tritonx."""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import subprocess
import sys
import tomllib
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
Run = Callable[..., "subprocess.CompletedProcess[str]"]


def _wheel(project: Path, folder: Path) -> Path:
    """The project as a wheel (PEP 427), for machines whose setuptools cannot make one without the network."""
    described = tomllib.loads((project / "pyproject.toml").read_text())["project"]
    stem = f"{described['name'].replace('-', '_')}-{described['version']}"
    entries = "".join(
        f"[{group}]\n" + "".join(f"{name} = {value}\n" for name, value in points.items())
        for group, points in described["entry-points"].items()
    )
    files = {str(p.relative_to(project)): p.read_text() for p in sorted(project.glob("tritonx_toy/*.py"))}
    files[f"{stem}.dist-info/METADATA"] = (
        f"Metadata-Version: 2.1\nName: {described['name']}\nVersion: {described['version']}\n"
    )
    files[f"{stem}.dist-info/WHEEL"] = "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
    files[f"{stem}.dist-info/entry_points.txt"] = entries
    record = f"{stem}.dist-info/RECORD"
    files[record] = "".join(f"{name},,\n" for name in [*files, record])
    path = folder / f"{stem}-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    return path


def _module_exists(name: str) -> bool:
    try:
        return importlib.util.find_spec(name) is not None
    except ModuleNotFoundError:
        return False


def _can_build_wheels() -> bool:
    return any(_module_exists(name) for name in ("setuptools.command.bdist_wheel", "wheel.bdist_wheel"))


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory that holds nothing but the installed plug-in."""
    work = tmp_path_factory.mktemp("plugin")
    project, site = work / "project", work / "site"
    shutil.copytree(HERE, project, ignore=shutil.ignore_patterns("__pycache__", "*.egg-info", "build", "test_*"))
    built = project if _can_build_wheels() else _wheel(project, work)
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-build-isolation", "--no-index"]
    done = subprocess.run([*command, "--target", str(site), str(built)], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return site


@pytest.fixture
def run(site: Path, tmp_path: Path) -> Run:
    """``run(arguments, input, folder, **environment)`` with the plug-in of `folder` on the path, and with the tritonx
    that is tested, which need not be the one installed."""

    def run(
        *arguments: str, input: str | None = None, folder: Path = site, **environment: str
    ) -> subprocess.CompletedProcess[str]:
        path = os.pathsep.join([str(folder), str(ROOT)])
        cache = {"TRITONX_CACHE_DIR": str(tmp_path / "cache"), "PYTHONPATH": path}
        return subprocess.run(
            [sys.executable, *arguments],
            input=input,
            capture_output=True,
            text=True,
            timeout=120,
            env={**os.environ, **cache, **environment},
        )

    return run


def test_the_backend_is_listed(run: Run) -> None:
    done = run("-c", "import tritonx; print(tritonx.backends())")
    assert "toy: toy:v1 (tritonx_toy:BACKEND from tritonx-toy 0.1.0)" in done.stdout, done.stderr
    assert "\ncpu: " in "\n" + done.stdout


def test_kernels_run_through_it(run: Run) -> None:
    done = run(str(HERE / "kernels.py"), TRITONX_BACKEND="toy")
    assert done.returncode == 0, done.stderr
    assert done.stdout == "(0, 0, 0)\nall right False\n"


def test_a_second_process_finds_them_on_disk(run: Run) -> None:
    program = HERE / "kernels.py"
    assert run(str(program), TRITONX_BACKEND="toy").returncode == 0
    code = f"import sys, runpy; runpy.run_path({str(program)!r}, run_name='__main__'); print('xdsl' in sys.modules)"
    done = run("-c", code, TRITONX_BACKEND="toy")
    assert done.stdout.endswith("all right False\nFalse\n"), done.stderr


def test_an_edit_of_its_source_compiles_again(run: Run, site: Path, tmp_path: Path) -> None:
    copy = tmp_path / "site"
    shutil.copytree(site, copy)
    program = str(HERE / "kernels.py")
    code = f"import sys, runpy; runpy.run_path({program!r}, run_name='__main__'); print('xdsl' in sys.modules)"
    compiled: list[bool] = []
    for edit in ("", "", "# another version of the emitter\n"):
        with (copy / "tritonx_toy" / "emit.py").open("a") as file:
            file.write(edit)
        done = run("-c", code, TRITONX_BACKEND="toy", folder=copy)
        compiled.append(done.stdout.endswith("True\n"))
    assert compiled == [True, False, True]


def test_what_it_cannot_do_is_its_own_error(run: Run, tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(
        "import numpy as np, tritonx, tritonx.language as tl\n"
        "@tritonx.jit\n"
        "def kernel(x):\n"
        "    tl.atomic_add(x, 1)\n"
        "kernel[(1,)](np.zeros(4, np.int32))\n"
    )
    done = run(str(program), TRITONX_BACKEND="toy")
    assert f"PassFailure: {program}:4:5: error: stage 'numpy': toy cannot run tt.atomic_rmw" in done.stderr


def counts(done: subprocess.CompletedProcess[str]) -> dict[str, int]:
    """What the last line of a run of the conformance suite counts."""
    last = done.stdout.splitlines()[-1] if done.stdout else ""
    assert last.startswith("toy: "), done.stdout + done.stderr
    return {kind: int(number) for number, kind in re.findall(r"(\d+) (passed|skipped|unsupported|failed)", last)}


CONFORMANCE = ("-m", "tritonx.testing.conformance", "toy", "-k")


@pytest.mark.parametrize("family", ["elementwise", "shape", "reduce", "scan", "control", "blocks"])
def test_the_conformance_suite_passes(run: Run, family: str) -> None:
    done = run(*CONFORMANCE, f"{family}/")
    found = counts(done)
    assert done.returncode == 0, done.stdout
    assert found.pop("passed") >= 7
    assert not any(found.values()), done.stdout


def test_what_it_refuses_is_no_failure_of_the_conformance_suite(run: Run) -> None:
    done = run(*CONFORMANCE, "atomic/add")
    found = counts(done)
    assert done.returncode == 0, done.stdout
    assert found["unsupported"] > 0
    assert found["passed"] == found["failed"] == 0
    assert f"{found['unsupported']} cases: refused: toy cannot run tt.atomic_rmw" in done.stdout


def test_what_it_does_wrong_is(run: Run, site: Path, tmp_path: Path) -> None:
    copy = tmp_path / "site"
    shutil.copytree(site, copy)
    emit = copy / "tritonx_toy" / "emit.py"
    text = emit.read_text()
    wrong = text.replace('arith.SubfOp: expression("{0} - {1}")', 'arith.SubfOp: expression("{1} - {0}")')
    assert wrong != text
    emit.write_text(wrong)
    done = run(*CONFORMANCE, "elementwise/floats-fp32", folder=copy)
    assert done.returncode == 1, done.stdout
    assert counts(done)["failed"] > 0
    assert "WRONG elementwise/floats-fp32-" in done.stdout


def test_the_pass_is_listed_and_runs(run: Run) -> None:
    text = """
tt.func public @f(%x: f32, %p: !tt.ptr<f32>) {
  %two = arith.constant 2.000000e+00 : f32
  %y = arith.mulf %x, %two : f32
  tt.store %p, %y : !tt.ptr<f32>
  tt.return
}
"""
    line = "    toy-double-by-adding        Replaces ``x * 2.0`` by ``x + x``, the same number.\n"
    assert f"  backend toy: tt → tt\n{line}" in run("-m", "tritonx.tools.opt", "--help").stdout
    explained = run("-m", "tritonx.tools.opt", "--explain", "toy-double-by-adding").stdout
    assert explained.startswith("toy-double-by-adding: tt → tt, of backend toy\n") and "arith.mulf" in explained
    done = run("-m", "tritonx.tools.opt", "-p", "toy-double-by-adding", input=text)
    assert "arith.addf %x, %x" in done.stdout, done.stderr


def test_an_op_of_its_own_is_read_back(run: Run) -> None:
    body = "  %y = toy.double %x : f32\n  tt.store %p, %y : !tt.ptr<f32>\n  tt.return\n}\n"
    text = "tt.func public @f(%x: f32, %p: !tt.ptr<f32>) {\n" + body
    printed = run("-m", "tritonx.tools.opt", "-p", "cse,dce", input=text)
    assert "%y = toy.double %x : f32" in printed.stdout, printed.stderr
    assert run("-m", "tritonx.tools.opt", "-p", "cse,dce", input=printed.stdout).stdout == printed.stdout
    assert "toy" in run("-m", "tritonx.tools.opt", "--list-dialects").stdout.split()
    emitted = run("-m", "tritonx.tools.opt", "--target", "toy", "-t", "numpy", input=text)
    assert "= v0 + v0" in emitted.stdout, emitted.stderr
    wrong = run("-m", "tritonx.tools.opt", input=text.replace("toy.double", "toy.triple"))
    assert wrong.returncode == 1 and "<stdin>:2:8: error:" in wrong.stderr, wrong.stderr


def test_the_compiler_command_goes_through_its_stages(run: Run) -> None:
    text = "tt.func public @f(%x: f32, %p: !tt.ptr<f32>) {\n  tt.store %p, %x : !tt.ptr<f32>\n  tt.return\n}\n"
    done = run("-m", "tritonx.tools.opt", "--target", "toy", "-t", "numpy", input=text)
    assert "memory.store(v1, v0)" in done.stdout, done.stderr
