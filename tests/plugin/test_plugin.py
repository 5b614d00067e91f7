"""A plug-in as its author sees it: installed by pip from its own project, used without touching tritonx."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

PROGRAMS = Path(__file__).parent / "programs"
Run = Callable[..., "subprocess.CompletedProcess[str]"]


def test_the_backend_is_listed(run: Run) -> None:
    done = run("-c", "import tritonx; print(tritonx.backends())")
    assert "toy: toy:v1 (tritonx_toy:BACKEND from tritonx-toy 0.2.0)" in done.stdout, done.stderr
    assert "\ncpu: " in "\n" + done.stdout


def test_kernels_run_through_it(run: Run) -> None:
    done = run(str(PROGRAMS / "kernels.py"), TRITONX_BACKEND="toy")
    assert done.returncode == 0, done.stderr
    assert done.stdout == "(0, 0, 0)\nall right False\n"


def test_a_second_process_finds_them_on_disk(run: Run) -> None:
    program = PROGRAMS / "kernels.py"
    assert run(str(program), TRITONX_BACKEND="toy").returncode == 0
    code = f"import sys, runpy; runpy.run_path({str(program)!r}, run_name='__main__'); print('xdsl' in sys.modules)"
    done = run("-c", code, TRITONX_BACKEND="toy")
    assert done.stdout.endswith("all right False\nFalse\n"), done.stderr


def test_an_edit_of_its_source_compiles_again(run: Run, site: Path, tmp_path: Path) -> None:
    copy = tmp_path / "site"
    shutil.copytree(site, copy)
    program = str(PROGRAMS / "kernels.py")
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


def refused(done: subprocess.CompletedProcess[str], reason: str) -> int:
    """The cases of a run that were for this reason."""
    found = re.search(rf"(\d+) cases: refused: {reason}\n", done.stdout)
    return int(found[1]) if found else 0


CONFORMANCE = ("-m", "tritonx_testing.conformance", "toy", "-k")


@pytest.mark.parametrize("family", ["elementwise", "shape", "reduce", "scan", "control", "blocks", "dot_cuts"])
def test_the_conformance_suite_passes(run: Run, family: str) -> None:
    done = run(*CONFORMANCE, f"{family}/")
    found = counts(done)
    assert done.returncode == 0, done.stdout
    assert found["passed"] >= 7 and found["failed"] == 0 and found["skipped"] <= 1, done.stdout  # a foreign fp8
    assert found["unsupported"] == refused(done, "toy has no float64"), done.stdout


def test_what_it_refuses_is_no_failure_of_the_conformance_suite(run: Run) -> None:
    done = run(*CONFORMANCE, "atomic/add")
    found = counts(done)
    assert done.returncode == 0, done.stdout
    assert found["unsupported"] > 0
    assert found["passed"] == found["failed"] == 0
    atomics = refused(done, "toy cannot run tt.atomic_rmw")
    assert atomics > 0 and atomics + refused(done, "toy has no float64") == found["unsupported"], done.stdout


def test_what_it_does_wrong_is(run: Run, site: Path, tmp_path: Path) -> None:
    copy = tmp_path / "site"
    shutil.copytree(site, copy)
    emit = copy / "tritonx_toy" / "emit.py"
    text = emit.read_text()
    wrong = text.replace('arith.SubfOp: expression("{0} - {1}")', 'arith.SubfOp: expression("{1} - {0}")')
    assert wrong != text
    emit.write_text(wrong + "# longer, so that no compiled file of the same second is taken for it\n")
    done = run(*CONFORMANCE, "elementwise/floats-fp32", folder=copy)
    assert done.returncode == 1, done.stdout
    assert counts(done)["failed"] > 0
    assert "WRONG elementwise/floats-fp32-" in done.stdout


def test_the_compiler_command_goes_through_its_stages(run: Run) -> None:
    text = "tt.func public @f(%x: f32, %p: !tt.ptr<f32>) {\n  tt.store %p, %x : !tt.ptr<f32>\n  tt.return\n}\n"
    done = run("-m", "tritonx.tools.opt", "--target", "toy", "-t", "numpy", input=text)
    assert "memory.store(v1, v0)" in done.stdout, done.stderr
