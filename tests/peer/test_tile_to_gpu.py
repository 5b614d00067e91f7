"""Triton accepts the layouts that we assign to its own tile IR: it verifies them, and lowers some of them on."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

from tritonx.backends.gpu_passes import gpu_passes
from tritonx.backends.registry import parse_target
from tritonx.ir.pipeline import pass_context
from tritonx.ir.text import parse_module, print_module
from tritonx.ir.verify import verify
from tritonx.transforms.tile.pipeline import TILE_PIPELINE

pytestmark = pytest.mark.peer
if importlib.util.find_spec("triton") is None:
    pytest.skip("the Triton wheel is not installed", allow_module_level=True)

ORACLE = Path(__file__).with_name("text_oracle.py")
TARGETS = ("cuda:80", "hip:gfx1100", "hip:gfx942")


def oracle(*arguments: object) -> str:
    command = [sys.executable, str(ORACLE), *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, cwd=ORACLE.parent)
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout


@pytest.mark.parametrize("name", TARGETS)
def test_triton_accepts(name: str, tmp_path: Path) -> None:
    dumped, written = tmp_path / "dumped", tmp_path / "written"
    dumped.mkdir()
    written.mkdir()
    oracle("dump", name, dumped)
    files = sorted(dumped.glob("*.ttir.mlir"))
    assert len(files) > 30
    backend, target = parse_target(name)
    options = backend.parse_options(target, {})
    own = import_module(f"{type(backend).__module__}.inserts").on_layouts(target, options)
    gpu = backend.gpu_target(target, options)
    assert gpu is not None
    _, layouts, _ = gpu_passes(gpu, on_layouts=tuple(own))
    for path in files:
        module = parse_module(path.read_text(), path.name)
        warps = module.attributes.get("ttg.num-warps")
        assert warps is None
        for one in (*TILE_PIPELINE, *layouts):
            one.apply(pass_context(), module)
        verify(module)
        kernel = path.name.split(".")[0]
        (written / f"{kernel}.ttgir.mlir").write_text(print_module(module))
    verdicts = json.loads(oracle("accept", name, written).splitlines()[-1])
    assert len(verdicts) == len(files)
    assert {k: v for k, v in verdicts.items() if v != "ok"} == {}
