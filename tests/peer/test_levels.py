"""Text of a level is read by that level's wheel: what the table of spellings has, and kernels that wheels wrote.

The installed Triton, and those in the folders that ``TRITONX_LEVEL_PEERS`` names, separated as in ``PATH``, which
``pip install --target`` made."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest
from xdsl.dialects.builtin import ModuleOp

from tritonx.ir.context import new_context
from tritonx.ir.spelling import LevelError, TextLevel
from tritonx.ir.text import parse_module, print_module

sys.path.insert(0, str(Path(__file__).parents[1]))

from spelled import spelled

pytestmark = pytest.mark.peer
HERE = Path(__file__).parent
TARGETS = ("cuda:90", "hip:gfx942")


@dataclass(frozen=True)
class Wheel:
    """A Triton: the installed one, or one in a folder."""

    folder: str
    level: TextLevel

    def run(self, script: str, *arguments: str) -> str:
        return run(self.folder, script, *arguments)

    def refused(self, directory: Path) -> dict[str, str]:
        """What it does not read of the files in a directory."""
        said: dict[str, str] = json.loads(self.run("level_oracle.py", "read", str(directory)).splitlines()[-1])
        assert len(said) == len(list(directory.glob("*.mlir"))) > 0
        return {name: verdict for name, verdict in said.items() if verdict != "ok"}


def run(folder: str, script: str, *arguments: str) -> str:
    environment = {**os.environ, "PYTHONPATH": folder} if folder else {**os.environ}
    command = [sys.executable, str(HERE / script), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False, timeout=300)
    assert done.returncode == 0, done.stderr[-4000:]
    return done.stdout


def wheels() -> list[Wheel]:
    """Those that there are, of the versions that have a level."""
    folders = [""] if importlib.util.find_spec("triton") is not None else []
    folders += filter(None, os.environ.get("TRITONX_LEVEL_PEERS", "").split(os.pathsep))
    found: list[Wheel] = []
    for folder in folders:
        version = ".".join(run(folder, "level_oracle.py", "version").split(".")[:2])
        if version in map(str, TextLevel):
            found.append(Wheel(folder, TextLevel.named(version)))
    return found


WHEELS = wheels()
if not WHEELS:
    pytest.skip("no Triton wheel is installed or named", allow_module_level=True)


WITHOUT_GENERIC_FORM = ("rocdl.sched.barrier",)
"""Whose properties 3.9 writes in a dialect's own notation, which is not read."""


@pytest.mark.parametrize("wheel", WHEELS, ids=lambda wheel: str(wheel.level))
@pytest.mark.parametrize("generic", [False, True], ids=["custom", "generic"])
def test_spellings_are_read(wheel: Wheel, generic: bool, tmp_path: Path) -> None:
    for one in spelled():
        for level in TextLevel:
            unsaid = one.text(level) is None or one.text(wheel.level) is None
            if unsaid or (generic and one.name in WITHOUT_GENERIC_FORM):
                continue
            module = parse_module(one.module(level))
            text = print_module(module, level=wheel.level, generic=generic)
            (tmp_path / f"{one.name.replace('/', '.')}.{level}.mlir").write_text(text)
    assert wheel.refused(tmp_path) == {}


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> dict[Path, ModuleOp]:
    """What each wheel writes of the kernels in `kernels_*.py` after each stage, as modules."""
    context, found = new_context(), dict[Path, ModuleOp]()
    for wheel in WHEELS:
        for target in TARGETS:
            directory = tmp_path_factory.mktemp(f"{wheel.level}_{target.replace(':', '_')}")
            wheel.run("text_oracle.py", "dump", target, str(directory))
            for path in sorted(directory.glob("*.mlir")):
                found[path] = parse_module(path.read_text(), path.name, context=context)
    return found


@pytest.mark.parametrize("wheel", WHEELS, ids=lambda wheel: str(wheel.level))
def test_kernels_of_all_wheels_are_read(wheel: Wheel, written: dict[Path, ModuleOp], tmp_path: Path) -> None:
    """But for what later versions do not have."""
    unsaid = set[str]()
    for path, module in written.items():
        try:
            text = print_module(module, level=wheel.level)
        except LevelError as error:
            unsaid.add(str(error))
            continue
        (tmp_path / f"{path.parent.name}.{path.name}").write_text(text)
    gone = ("tt.make_tensor_ptr", "tt.advance", "amdg.upcast_mxfp")
    assert unsaid <= {f"Triton {wheel.level} has no {name}" for name in gone}
    assert wheel.refused(tmp_path) == {}
