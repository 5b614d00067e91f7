"""Asynchronous programs that Triton's passes wrote for compute capability 9.0, run here as they are: its `ttgir` of
`tests/peer/kernels_hopper.py`, with descriptors as arguments, on random inputs, against products in f64.

`TRITONX_HOPPER=all` runs all, `TRITONX_HOPPER=NAME,NAME` these; otherwise a sample is drawn.
"""

from __future__ import annotations

import importlib
import importlib.util
import os
import random
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import tritonx
from tests.peer.hopper_launch import Launch
from tests.peer.hopper_launches import launch_of
from tests.peer.pipeline_cases import HostDescriptor
from tritonx.runtime.arrays import to_device
from tritonx.runtime.driver import get_active
from tritonx.tools.tensor_descriptor import TensorDescriptor

if importlib.util.find_spec("triton") is None:
    pytest.skip("the Triton wheel is not installed", allow_module_level=True)

PEER = Path(__file__).parents[1] / "peer"
ORACLE = PEER / "hopper_oracle.py"
SEED = int(os.environ["TRITONX_SEED"])

TRITON_FAILS = {"persistent_specialized"}
"""Its warp specialisation does not manage a block that is stored through a descriptor."""


def cases() -> dict[str, Any]:
    sys.path.insert(0, str(PEER))
    try:
        kernels: Any = importlib.import_module("kernels_hopper")
    finally:
        sys.path.remove(str(PEER))
    return {case.name: case for case in kernels.CASES if case.name not in TRITON_FAILS}


def chosen() -> list[str]:
    names, wanted = sorted(cases()), os.environ.get("TRITONX_HOPPER", "")
    if wanted == "all":
        return names
    return wanted.split(",") if wanted else random.Random(SEED).sample(names, 12)


@pytest.fixture(autouse=True)
def on_hopper() -> None:
    if str(get_active().get_current_target()) != "cuda:90":
        pytest.skip("these programs are of compute capability 9.0")


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("hopper")
    made = subprocess.run(
        [sys.executable, str(ORACLE), str(directory), *chosen()], capture_output=True, text=True, timeout=500
    )
    assert made.returncode == 0 and not made.stdout, made.stdout + made.stderr
    return directory


def run_launch(kernel: Any, launch: Launch, where: str) -> None:
    held = {id(output.array): to_device(output.array) for output in launch.outputs}

    def on_device(given: Any) -> Any:
        if isinstance(given, HostDescriptor):
            return TensorDescriptor(on_device(given.base), list(given.shape), list(given.strides), given.block)
        return held[id(given)] if id(given) in held else to_device(given)

    kernel[launch.grid](*launch.over(on_device))
    for output in launch.outputs:
        output.check(held[id(output.array)].numpy(), f"{where} (seed {SEED})")


@pytest.mark.parametrize("name", chosen())
def test_runs_what_triton_wrote(programs: Path, name: str) -> None:
    kernel = tritonx.compile(str(programs / f"{name}.ttgir"))
    for number in range(4):
        run_launch(kernel, launch_of(programs / f"{name}.json", (SEED, number)), f"{name} {number}")


@pytest.mark.parametrize("kind", ["min", "max"])
@pytest.mark.parametrize("name", ["made_2d_fp16_add", "made_4d_bf16_add"])
def test_reduces_floats_to_their_extremes(tmp_path: Path, name: str, kind: str) -> None:
    """Triton's language asks for a device before it compiles these; its sums with another kind are the same program."""
    subprocess.run([sys.executable, str(ORACLE), str(tmp_path), name], check=True, timeout=200)
    path = tmp_path / f"{name}.ttgir"
    text = path.read_text()
    assert text.count("ttng.async_tma_reduce add") == 1
    path.write_text(text.replace("ttng.async_tma_reduce add", f"ttng.async_tma_reduce {kind}"))
    described = tmp_path / f"{name}.json"
    described.write_text(described.read_text().replace('"KIND": "add"', f'"KIND": "{kind}"'))
    kernel = tritonx.compile(str(path))
    for number in range(4):
        run_launch(kernel, launch_of(described, (SEED, number)), f"{name} {number}")
