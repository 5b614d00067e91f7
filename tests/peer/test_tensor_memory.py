"""Tensor memory as the installed Triton has it: of the same `ttg` both write the same `tcgen05` instructions, with the
same descriptors, shapes, counts and addresses, and ptxas assembles ours.

Programs are those of `tensor_memory_programs`, at the wheel's level; ``TRITONX_LEVEL_PEERS`` names further wheels."""

from __future__ import annotations

import importlib.util
import os
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from tritonx.backends.api import Compilation, PassStage
from tritonx.backends.nvidia import BACKEND
from tritonx.ir.pipeline import run_emit_stage, run_pass_stage
from tritonx.ir.spelling import TextLevel
from tritonx.ir.text import parse_module, print_module

sys.path.insert(0, str(Path(__file__).parents[1]))

from tensor_instructions import instructions
from tensor_memory_programs import PASSAGES, PRODUCTS

pytestmark = pytest.mark.peer
HERE = Path(__file__).parent
REFUSED = {TextLevel.V3_6: {"i8_128x64x64_i32_b128"}}
"""What a wheel does not take: products of 8-bit integers came after 3.6."""
PROGRAMS = {one.name.replace(" ", "_"): one for one in (*PRODUCTS, *PASSAGES)}


def run(folder: str, script: str, *arguments: str) -> str:
    environment = {**os.environ, "PYTHONPATH": folder} if folder else {**os.environ}
    command = [sys.executable, str(HERE / script), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False, timeout=600)
    assert done.returncode == 0, done.stderr[-4000:]
    return done.stdout


def folders() -> list[str]:
    found = [""] if importlib.util.find_spec("triton") is not None else []
    return found + [each for each in os.environ.get("TRITONX_LEVEL_PEERS", "").split(os.pathsep) if each]


if not folders():
    pytest.skip("no Triton wheel is installed or named", allow_module_level=True)


def ours(text: str) -> tuple[str, int]:
    """PTX, and how many bytes ptxas made of it."""
    target = BACKEND.parse_target("100")
    warps = re.search(r'"ttg.num-warps" = (\d+)', text)
    assert warps is not None
    compilation = Compilation(target, BACKEND.parse_options(target, {"num_warps": int(warps[1])}))
    value, ptx = parse_module(text), ""
    for stage in BACKEND.stages(target, compilation.options):
        if isinstance(stage, PassStage):
            run_pass_stage(value, stage.remaining(value), compilation)
        else:
            value = run_emit_stage(stage, value, compilation)
            ptx = value if stage.name == "ptx" else ptx
    return str(ptx), len(value)


def before_3_9(found: Counter[str]) -> Counter[str]:
    """From 3.9 on it is said what the collector keeps, and that an mbarrier's address is one of shared memory."""
    out: Counter[str] = Counter()
    for text, count in found.items():
        out[re.sub(r"\.collector::a::\w+|\.shared::cluster", "", text)] += count
    return out


@pytest.fixture(scope="module", params=folders(), ids=lambda folder: Path(folder).name or "installed")
def peer(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[TextLevel, Path]:
    """The folder with what a wheel made of every program."""
    folder: str = request.param
    level = TextLevel.named(".".join(run(folder, "level_oracle.py", "version").split(".")[:2]))
    directory = tmp_path_factory.mktemp("tensor_memory")
    refused = REFUSED.get(level, set[str]())
    for name, program in PROGRAMS.items():
        if name in refused:
            continue
        text = print_module(parse_module(program.text()), level=level)
        (directory / f"{name}.ttgir").write_text(text)
    assert not run(folder, "tensor_memory_oracle.py", str(directory))
    return level, directory


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_instructions_of_triton(name: str, peer: tuple[TextLevel, Path]) -> None:
    level, directory = peer
    if name in REFUSED.get(level, ()):
        pytest.skip(f"Triton {level} does not take it")
    theirs = instructions((directory / f"{name}.ptx").read_text())
    ptx, size = ours(PROGRAMS[name].text())
    assert size > 0
    made = instructions(ptx)
    assert sum(made.values()) > 5
    if level < TextLevel.V3_9:
        made, theirs = before_3_9(made), before_3_9(theirs)
    assert made == theirs
