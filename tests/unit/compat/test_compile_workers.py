"""The process that PyTorch's compile workers are forked from has the compiler; other programs load it when needed."""

from __future__ import annotations

import os
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


UTILS = """
import os, sys, torch, triton
def python_subprocess_env():
    root = os.path.dirname(os.path.dirname(os.path.abspath(torch.__file__)))
    path = os.environ.get("TORCH_CUSTOM_PYTHONPATH", os.pathsep.join((root, *sys.path)))
    return {**os.environ, "PYTHONPATH": path}
"""
"""How PyTorch 2.14 makes the environment of its processes."""

WORKERS = """
import subprocess, sys
sys.path.append({early!r})
from torch._inductor.utils import python_subprocess_env
sys.path.append({late!r})
import a_module_of_it
code = "import triton, sys; print(triton.jit.__module__, {{{early!r}, {late!r}}} <= {{*sys.path}}, {own!r} in sys.path)"
for _ in range(2):  # a process of a process, too
    code = f"import subprocess, sys; from torch._inductor.utils import python_subprocess_env as e;" \\
           f"subprocess.run([sys.executable, '-c', {{code!r}}], env=e(), check=True)"
subprocess.run([sys.executable, "-c", code], env=python_subprocess_env(), check=True)
"""


@pytest.mark.parametrize("own", ["", "theirs"])
def test_an_installed_triton_beside_pytorch_is_not_found(own: str, tmp_path: Path) -> None:
    """PyTorch's folder stands in front of the path of its processes, and has the installed Triton as well. What is on
    the path when they start is on theirs, or what the user has said for it."""
    for name, text in (
        ("torch/__init__.py", ""),
        ("torch/_inductor/__init__.py", ""),
        ("triton.py", "raise SystemExit(3)"),
    ):
        file = tmp_path / "site" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    (tmp_path / "site/torch/_inductor/utils.py").write_text(UTILS)
    early, late = str(tmp_path / "early"), str(tmp_path / "late")
    (tmp_path / "late").mkdir()
    (tmp_path / "late/a_module_of_it.py").touch()
    paths = [str(tmp_path / "site"), *os.environ.get("PYTHONPATH", "").split(os.pathsep)]
    variables = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths))}
    if own:
        own = str(tmp_path / own)
        variables["TORCH_CUSTOM_PYTHONPATH"] = os.pathsep.join([own, *filter(None, paths)])
    program = tmp_path / "program.py"
    program.write_text(WORKERS.format(early=early, late=late, own=own or "nowhere"))
    command = [sys.executable, "-m", "tritonx.compat", str(program)]
    done = subprocess.run(command, env=variables, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (0, f"tritonx.runtime.jit {not own} {bool(own)}\n"), done.stderr
