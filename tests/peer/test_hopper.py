"""Asynchronous programs of compute capability 9.0 that Triton's own passes wrote: each is read, placed and emitted
here, and what is issued is what Triton's back end issues for the same text, instruction by instruction: products with
their operands' major dims and descriptors, block copies, barriers in memory, the fields of tensor maps. Each runs in
the machine of `interpreter/asynchronous` without a report.

A sample is drawn; `TRITONX_HOPPER=all` takes all kernels of `kernels_hopper.py`.
"""

import importlib.util
import os
import random
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from tests.peer.hopper_launches import launch_of
from tritonx.backends.api import Compilation, PassStage
from tritonx.backends.nvidia.passes.insert_fences import InsertFences
from tritonx.backends.registry import get_backend
from tritonx.interpreter.asynchronous import Landing, Order, Setting, execute
from tritonx.ir.pipeline import pass_context, run_emit_stage, run_pass_stage
from tritonx.ir.text import parse_module
from tritonx.ir.verify import verify
from tritonx.transforms.gpu.allocate_shared_memory import AllocateSharedMemory
from tritonx.transforms.gpu.insert_barriers import InsertBarriers

pytestmark = pytest.mark.peer
if importlib.util.find_spec("triton") is None:
    pytest.skip("the Triton wheel is not installed", allow_module_level=True)

ORACLE = Path(__file__).with_name("hopper_oracle.py")
SEED = int(os.environ["TRITONX_SEED"])
SAMPLE = 12
SHARED_BYTES = 227 << 10

TRITON_FAILS = {"persistent_specialized"}
"""Triton 3.6 ends in an error: its warp specialisation does not manage a block that is stored through a descriptor."""


def run_oracle(*arguments: str) -> str:
    result = subprocess.run([sys.executable, str(ORACLE), *arguments], capture_output=True, text=True, timeout=500)
    assert result.returncode == 0, result.stderr[-4000:]
    return result.stdout


@pytest.fixture(scope="module")
def programs(tmp_path_factory) -> list[Path]:
    """Paths of a sample's `ttgir`, beside which lies Triton's PTX."""
    names = [name for name in run_oracle("names").split() if name not in TRITON_FAILS]
    assert len(names) >= 70
    if os.environ.get("TRITONX_HOPPER") != "all":
        names = random.Random(SEED).sample(names, SAMPLE)
    directory = tmp_path_factory.mktemp("hopper")
    assert not run_oracle(str(directory), *names)
    return [directory / f"{name}.ttgir" for name in names]


def emitted(path: Path) -> str:
    """Our PTX for a file."""
    backend = get_backend("cuda")
    target = backend.parse_target("90")
    module: Any = parse_module(path.read_text(), path.name)
    options = backend.parse_options(target, {"num_ctas": module.attributes["ttg.num-ctas"].value.data})
    compilation = Compilation(target, options)
    for stage in backend.stages(target, options)[:4]:
        if isinstance(stage, PassStage):
            run_pass_stage(module, stage.remaining(module), compilation)
        else:
            module = run_emit_stage(stage, module, compilation)
    return module


COUNTED = {
    "products": r"(wgmma\.mma_async[\w.]*) [^;]*?, %rd\d+, (?:[01]|%p\d+)((?:, [01])*);",
    "waits for products": r"(wgmma\.wait_group[\w.]* \d+)",
    "groups of products": r"wgmma\.(commit_group)",
    "block copies": r"(cp\.(?:reduce\.)?async\.bulk\.tensor[\w.:]*)",
    "groups of block copies": r"cp\.async\.bulk\.(\w+)",
    "copies": r"(cp\.async\.c[ag])",
    "barriers in memory": r"mbarrier\.(init|inval|try_wait|arrive(?:\.expect_tx)?)\b",
    "bytes expected": r"expect_tx[\w.:]* _, \[[^]]*\], (\d+)",
    "tensor maps": r"(tensormap\.[\w.:]+|fence\.proxy\.tensormap[\w.:]+)"
    r" \[ ?%r?d?\d+(?: \+ 0)? ?\](?:, \[ ?%r?d?\d+(?: \+ 0)? ?\])?((?:, 0x\w+)*)(?:, %r?d?\d+)?;",
    "descriptors": r"\b(4611686\d{12})\b",
}
"""What must be the same, and how it is found in PTX: how often each text in parentheses comes. Of descriptors which
constants there are, since it depends on the optimiser how often one is written."""


def issued(ptx: str) -> dict[str, Any]:
    found = {what: Counter(re.findall(pattern, ptx)) for what, pattern in COUNTED.items()}
    return {**found, "descriptors": set(found["descriptors"])}


def test_issues_what_triton_issues(programs):
    for path in programs:
        ours = issued(emitted(path))
        theirs = issued(path.with_suffix(".ptx").read_text())
        for what in COUNTED:
            assert ours[what] == theirs[what], f"{path.stem} (seed {SEED}): {what}"


@pytest.mark.parametrize("placed", [False, True])
def test_runs_without_a_report(programs, placed):
    """Executed as Triton wrote it, and with our memory, fences and barriers in it: what comes out is right, nothing is
    read before it is there or overwritten while it is needed, no copy uses a map that it may not."""
    for number, path in enumerate(programs):
        launch = launch_of(path.with_suffix(".json"), (SEED, number, placed), small=True)
        module = parse_module(path.read_text(), path.name)
        verify(module)
        for one in (AllocateSharedMemory(SHARED_BYTES), InsertFences(), InsertBarriers()) if placed else ():
            one.apply(pass_context(), module)
        landing = list(Landing)[(SEED + number) % 3]
        found = execute(module, launch.grid, launch.args, Setting(order=Order(SEED + number, landing)))
        where = f"{path.stem} (seed {SEED}, {number})"
        assert not found, "\n".join((*map(str, found), where))
        for output in launch.outputs:
            output.check(output.array, where)
