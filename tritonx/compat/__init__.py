"""``import triton`` means tritonx: for programs and libraries that import Triton by name, PyTorch's compiler first.

    python -m tritonx.compat prog.py [args]      (also -m module, -c code)
    tritonx.compat.install()                     before anything imports triton
    pytest -p tritonx.compat.pytest_plugin

How: a folder (`search_path`) with a package ``triton`` goes to the front of ``PYTHONPATH``, where every child process
finds it before an installed Triton. The first import of it calls `install`, which puts `finder.CompatFinder` in front
of ``sys.meta_path``; from then on ``triton`` and ``triton.x`` are the modules ``tritonx`` and ``tritonx.x`` themselves,
and ``importlib.metadata.version("triton")`` and ``triton.__version__`` are the version of Triton that tritonx offers.
Nothing of an installed Triton is imported: a name that tritonx does not have is a ModuleNotFoundError or
AttributeError.

An interpreter that ignores the environment (``python -I``, ``-E``) does not see it; call `install` there."""

from __future__ import annotations

import os
import sys

import tritonx
from tritonx import level
from tritonx.compat.compile_workers import prepare
from tritonx.compat.finder import CompatFinder
from tritonx.compat.paths import search_path
from tritonx.compat.torch_level import torch_level
from tritonx.runtime.errors import TritonError
from tritonx.version import triton_version

__all__ = ["environment", "install", "search_path"]


def environment() -> dict[str, str]:
    """The variables to add to a child process's environment, from this process's: ``PYTHONPATH``; where tritonx's cache
    has a place of its own that place under Triton's name, since PyTorch takes finished kernels from there; the level
    of the installed PyTorch, unless one is set.

    >>> environment()["PYTHONPATH"].startswith(tritonx.compat.search_path())
    True
    """
    others = [p for p in os.environ.get("PYTHONPATH", "").split(os.pathsep) if p and p != search_path()]
    found = {"PYTHONPATH": os.pathsep.join([search_path(), *others])}
    if "TRITONX_CACHE_DIR" in os.environ:
        found["TRITON_CACHE_DIR"] = os.environ["TRITONX_CACHE_DIR"]
    wanted = None if level.VARIABLE in os.environ else torch_level()
    if wanted is not None:
        found[level.VARIABLE] = wanted
    return found


def install() -> None:
    """From now on ``triton`` is tritonx, here and in child processes. Raises TritonError where Triton itself has been
    imported before; a second call does nothing. In the process that PyTorch forks its compile workers from, the
    compiler is loaded.

    >>> import subprocess, sys
    >>> program = "import tritonx.compat; tritonx.compat.install(); import triton; print(triton.jit.__module__)"
    >>> print(subprocess.run([sys.executable, "-c", program], capture_output=True, text=True).stdout.strip())
    tritonx.runtime.jit
    """
    os.environ.update(environment())
    if any(isinstance(finder, CompatFinder) for finder in sys.meta_path):
        return
    known = sys.modules.get("triton")
    file = getattr(known, "__file__", None) or ""
    if known is not None and not file.startswith(search_path()):
        raise TritonError(
            f"triton has been imported already, from {file or 'an unknown place'}: "
            "call tritonx.compat.install() before anything that imports it"
        )
    sys.meta_path.insert(0, CompatFinder())
    level.choose(os.environ.get(level.VARIABLE, level.active().name))
    tritonx.__version__ = tritonx.__triton_version__ = triton_version()
    if search_path() not in sys.path:  # what multiprocessing's spawn hands on
        sys.path.insert(0, search_path())
    prepare()
