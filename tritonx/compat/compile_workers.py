"""PyTorch compiles kernels in workers that are forks of one process. That process imports triton first, so that the
workers need not; Triton's compiler is loaded by its import, and tritonx's, which loads when it is needed, is loaded
for it here. Otherwise the first kernel of each worker waits for it."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from tritonx.compat.paths import search_path

_MAIN = ("torch", "_inductor", "compile_worker", "__main__.py")
_START_PROCESSES = frozenset(
    f"torch._inductor.{name}" for name in ("utils", "autotune_process", "compile_worker.subproc_pool")
)


def is_their_parent() -> bool:
    """Whether this process is the one that PyTorch's compile workers are forked from."""
    file = getattr(sys.modules.get("__main__"), "__file__", None)
    return file is not None and Path(file).parts[-len(_MAIN) :] == _MAIN


def prepare() -> None:
    """In that process: load the compiler. In one that may start it: say what it finds first."""
    for name in _START_PROCESSES & sys.modules.keys():
        before_import(name)
    if is_their_parent():
        from tritonx.runtime.compiling.preload import load_compiler

        load_compiler()


_THEIR_PATH = "TORCH_CUSTOM_PYTHONPATH"
_written_here: dict[str, str] = {}
"""What that was set to from ``sys.path``; another value is the user's."""


def before_import(name: str) -> None:
    """A module of this name is about to be looked for. From 2.14 on PyTorch starts its processes with the folder that
    itself lies in in front of the path, where an installed Triton is too, unless this variable has their path: it is
    set before a module is imported that starts them, and with every later import it follows ``sys.path``."""
    if name in _START_PROCESSES or _written_here:
        given = os.environ.get(_THEIR_PATH, "")
        own = given in ("", _written_here.get(_THEIR_PATH))
        others = sys.path if own else given.split(os.pathsep)
        wanted = os.pathsep.join([search_path(), *(p for p in others if p != search_path())])
        os.environ[_THEIR_PATH] = wanted
        if own:
            _written_here[_THEIR_PATH] = wanted
