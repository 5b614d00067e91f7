"""The process that PyTorch's compile workers are forked from has the compiler; other programs load it when needed."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tritonx.compat import environment
from tritonx.runtime.compiling.preload import loading_compile

ROOT = Path(__file__).parents[3]
PROGRAM = "import sys, threading; import triton; print('llvmlite.binding' in sys.modules, threading.active_count())"


@pytest.mark.parametrize(
    ("place", "expected"),
    [("torch/_inductor/compile_worker/__main__.py", "True 1"), ("torch/_inductor/other/__main__.py", "False 1")],
)
def test_what_an_import_loads(place: str, expected: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    monkeypatch.setenv("TRITONX_CACHE_DIR", str(tmp_path / "cache"))
    for name, value in environment().items():
        monkeypatch.setenv(name, value)
    program = tmp_path / place
    program.parent.mkdir(parents=True)
    program.write_text(PROGRAM)
    done = subprocess.run([sys.executable, str(program)], capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout.strip() == expected
    assert not (tmp_path / "cache").exists()


@pytest.mark.parametrize("name", ["cpu", "cuda", "hip"])
def test_every_backend_compiles_what_loads_it(name: str) -> None:
    """`load_compiler` says nothing of what goes wrong."""
    from tritonx.backends.registry import available

    loading_compile(available()[name])
