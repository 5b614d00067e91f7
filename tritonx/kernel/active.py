"""Which semantics builtins use when a kernel runs as plain Python, line by line (the interpreter).

The compiler hands its ``Semantics`` to every builtin by keyword. Under the interpreter the kernel's own Python code
calls ``tl.load(p)`` with nothing more, and the builtin takes the semantics that the running program made active in
this thread.
"""

from __future__ import annotations

import threading
from collections.abc import Generator
from contextlib import contextmanager
from typing import Any


class OutsideKernelError(RuntimeError, ValueError):
    """A builtin was called from ordinary Python code."""


class _Active(threading.local):
    semantic: Any = None


_active = _Active()


def current(name: str = "a builtin") -> Any:
    """The active semantics of this thread; ``OutsideKernelError`` where there is none."""
    if _active.semantic is None:
        raise OutsideKernelError(
            f"{name}: Did you forget to add @jit ? (`_semantic` argument must be provided outside of JIT functions.)"
        )
    return _active.semantic


def current_or_none() -> Any:
    """The active semantics of this thread, or None."""
    return _active.semantic


@contextmanager
def activate(semantic: object) -> Generator[None]:
    """Make ``semantic`` the active one for the block of code."""
    before, _active.semantic = _active.semantic, semantic
    try:
        yield
    finally:
        _active.semantic = before
