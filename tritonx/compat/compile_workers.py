"""PyTorch compiles kernels in workers that are forks of one process. That process imports triton first, so that the
workers need not; Triton's compiler is loaded by its import, and tritonx's, which loads when it is needed, is loaded
for it here. Otherwise the first kernel of each worker waits for it."""

from __future__ import annotations

import sys
from pathlib import Path

_MAIN = ("torch", "_inductor", "compile_worker", "__main__.py")


def is_their_parent() -> bool:
    """Whether this process is the one that PyTorch's compile workers are forked from."""
    file = getattr(sys.modules.get("__main__"), "__file__", None)
    return file is not None and Path(file).parts[-len(_MAIN) :] == _MAIN


def prepare() -> None:
    """In that process: load the compiler."""
    if is_their_parent():
        from tritonx.runtime.compiling.preload import load_compiler

        load_compiler()
