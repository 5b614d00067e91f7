"""Triton's pipelines for Hopper run in the machine of `interpreter/asynchronous` without a report, and give what they
must; with a mistake written into them, they do not.

The wheel writes the `.ttgir`; nothing of it is changed. Its memory is not placed and its barriers between threads are
not there yet (`Warps.TOGETHER`): what is looked at is copies, products, mbarriers, fences and partitions.
`TRITONX_PIPELINES=all` runs every program with every number of trips, and every mutant.
"""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from random import Random

import numpy as np
import pytest
from xdsl.dialects.builtin import ModuleOp

from tests.peer.pipeline_cases import CASES, Case, check
from tests.unit.interpreter.asynchronous.mutants import mutants, mutated
from tritonx.backends.nvidia.passes.insert_fences import InsertFences
from tritonx.dialects.gpu_layout import LocalBarrierOp
from tritonx.interpreter.asynchronous import Landing, Order, Report, Setting, execute
from tritonx.interpreter.errors import KernelFault
from tritonx.ir.edit import erase
from tritonx.ir.pipeline import pass_context
from tritonx.ir.text import parse_module
from tritonx.ir.verify import verify
from tritonx.transforms.gpu.allocate_shared_memory import AllocateSharedMemory
from tritonx.transforms.gpu.insert_barriers import InsertBarriers

pytestmark = pytest.mark.peer
if importlib.util.find_spec("triton") is None:
    pytest.skip("the Triton wheel is not installed", allow_module_level=True)

ORACLE = Path(__file__).with_name("pipeline_kernels.py")
SEED = int(os.environ["TRITONX_SEED"])
ALL = os.environ.get("TRITONX_PIPELINES", "") == "all"
LANDINGS = (Landing.LATE, Landing.RANDOM, Landing.EARLY)


@pytest.fixture(scope="module")
def texts(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Case → `.ttgir`."""
    folder = tmp_path_factory.mktemp("pipelines")
    done = subprocess.run([sys.executable, str(ORACLE), str(folder)], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr[-2000:]
    found = {path.stem: path.read_text() for path in folder.glob("*.ttgir")}
    assert set(found) == {case.name for case in CASES}, done.stderr[-2000:]
    return found


def drawn(cases: list[Case], count: int) -> list[Case]:
    """That many of them; all where all are asked for."""
    return cases if ALL else Random(SEED).sample(cases, min(count, len(cases)))


def trips_of(case: Case) -> list[int]:
    stages = case.constants["STAGES"]
    return sorted({0, 1, 2, stages - 1, stages, stages + 1, 3 * stages})


def settings(case: Case) -> Iterator[tuple[int, Landing]]:
    """Trips and landings: all of them, or one of each that is drawn."""
    if ALL:
        yield from ((trips, landing) for trips in trips_of(case) for landing in LANDINGS)
        return
    random = Random(f"{SEED} {case.name}")
    yield random.choice(trips_of(case)), Landing.RANDOM
    if case.kernel != "attention":  # a program for each of its trips
        yield 3 * case.constants["STAGES"], random.choice(LANDINGS)


@pytest.mark.parametrize("case", drawn(CASES, 20), ids=lambda case: case.name)
def test_runs_without_a_report(case: Case, texts: dict[str, str]) -> None:
    module = parse_module(texts[case.name], case.name)
    verify(module)
    for trips, landing in settings(case):
        where = f"{case.name}, {trips} trips, copies land {landing.value}, seed {SEED}"
        run = case.make(np.random.default_rng(SEED), trips)
        found = execute(module, run.grid, run.args, Setting(order=Order(SEED, landing)))
        assert not found, "\n".join(map(str, (*found, where)))
        check(run, case, where)


def placed(text: str, name: str) -> ModuleOp:
    """The module with its memory placed and barriers between its warps, by our passes."""
    module = parse_module(text, name)
    for one in (AllocateSharedMemory(SHARED_BYTES), InsertFences(), InsertBarriers()):
        one.apply(pass_context(), module)
    verify(module)
    return module


SHARED_BYTES = 227 << 10


@pytest.mark.parametrize("case", drawn(CASES, 10), ids=lambda case: case.name)
def test_placed_by_our_passes(case: Case, texts: dict[str, str]) -> None:
    """Every warp by itself; and without barriers there is a report. (Not every one of them is needed.)"""
    run = case.make(np.random.default_rng(SEED), 3 if case.kernel == "attention" else case.constants["STAGES"] + 2)
    setting = Setting(order=Order(SEED, Landing.LATE))
    where = f"{case.name}, seed {SEED}"
    module = placed(texts[case.name], case.name)
    found = execute(module, run.grid, run.args, setting)
    assert not found, "\n".join(map(str, (*found, where)))
    check(run, case, where)
    if case.kernel == "column_sum":  # every warp reads what it has copied itself
        return
    for op in list(module.walk()):
        if isinstance(op, LocalBarrierOp):
            erase(op)
    assert execute(module, run.grid, run.args, setting), f"{where}: no report without the barriers"


MUTATED = [case for case in CASES if not case.name.startswith(("persistent_s1", "sum_s1"))]
"""Those that have something to mutate."""


def caught(case: Case, text: str, what: str, number: int) -> bool:
    """Whether some run of the mutant is reported or faults; values are not looked at."""
    many = case.constants["STAGES"] + 2 if case.kernel == "attention" else 2 * case.constants["STAGES"] + 5
    grid_of_all = case.constants.get("CAUSAL") or case.kernel == "persistent"  # the first program does not do it all
    for trips, landing in ((many, Landing.LATE), (many, Landing.RANDOM), (0, Landing.LATE)):
        run = case.make(np.random.default_rng(SEED), trips)
        setting = Setting(order=Order(SEED, landing))
        try:
            grid = run.grid if grid_of_all else 1
            found: tuple[Report, ...] = execute(mutated(text, what, number), grid, run.args, setting)
        except KernelFault:
            return True
        if found:
            return True
    return False


@pytest.mark.parametrize("case", drawn(MUTATED, 16), ids=lambda case: case.name)
def test_mutants_are_caught(case: Case, texts: dict[str, str]) -> None:
    text = texts[case.name]
    everything = [mutant for mutant in mutants(parse_module(text, case.name)) if "barrier dropped" not in mutant[0]]
    chosen = everything if ALL else [Random(f"{SEED} {case.name}").choice(everything)]
    missed = [(what, number) for what, number in chosen if not caught(case, text, what, number)]
    assert not missed, f"{case.name}, seed {SEED}: {missed}"
