"""docs/profiler.md says what happens."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[3]
PAGE = ROOT / "docs" / "profiler.md"
KINDS = ("python", "console")


def test_the_page(tmp_path: Path) -> None:
    programs, consoles = (re.findall(rf"^```{kind}\n(.*?)^```", PAGE.read_text(), re.M | re.S) for kind in KINDS)
    for name, program in zip(("program", "regions"), programs, strict=True):
        (tmp_path / f"{name}.py").write_text(program)
    path = os.pathsep.join([str(ROOT), *sys.path])
    printed = ""
    commands = re.findall(r"^\$ python (.*)\n((?:[^$].*\n)*)", "".join(consoles), re.M)
    assert len(commands) == 4
    for command, expected in commands:
        done = subprocess.run(
            [sys.executable, *command.split()], cwd=tmp_path, capture_output=True, text=True, timeout=100,
            env={**os.environ, "PYTHONPATH": path},
        )  # fmt: skip
        assert done.stdout == expected, done.stderr
        printed += done.stdout
    assert printed
    root, devices = json.loads((tmp_path / "profile.hatchet").read_text())
    [layer] = root["children"]
    assert layer["metrics"] == {"tokens": 30} and "cpu_time (ns)" in layer["children"][1]["metrics"] and devices


def test_programs_of_triton(tmp_path: Path) -> None:
    """The page's program with Triton's names."""
    program, _ = re.findall(r"^```python\n(.*?)^```", PAGE.read_text(), re.M | re.S)
    theirs = program.replace("tritonx", "triton")
    theirs += """
import triton.profiler.viewer as viewer
import triton.profiler.hooks, triton.profiler.hooks.launch, triton.profiler.mode, triton.profiler.data
from triton.profiler.state import metadata_state
from triton.testing import do_bench_proton, do_bench_cudagraph_proton, cuda_graph_without_gc
assert proton.__name__ == "tritonx.profiler"
import triton.profiler.language as pl
assert pl.scope.__module__ == "tritonx.profiler.language"
viewer.print_tree(*viewer.parse(["count"], "profile.hatchet"), depth=1)
"""
    (tmp_path / "program.py").write_text(theirs)
    path = os.pathsep.join([str(ROOT), *sys.path])
    done = subprocess.run(
        [sys.executable, "-m", "tritonx.compat", "program.py"], cwd=tmp_path, capture_output=True, text=True,
        timeout=100, env={**os.environ, "PYTHONPATH": path},
    )  # fmt: skip
    assert done.stdout == "9.000 ROOT\n", done.stderr
