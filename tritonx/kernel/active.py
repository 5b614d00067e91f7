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


state = _Active()
"""``semantic`` is this thread's active semantics, or None."""


def current(name: str = "a builtin") -> Any:
    """The active semantics of this thread; ``OutsideKernelError`` where there is none."""
    if state.semantic is None:
        raise OutsideKernelError(
            f"{name}: Did you forget to add @jit ? (`_semantic` argument must be provided outside of JIT functions.)"
        )
    return state.semantic


def current_or_none() -> Any:
    """The active semantics of this thread, or None."""
    return state.semantic


@contextmanager
def activate(semantic: object) -> Generator[None]:
    """Make ``semantic`` the active one for the block of code."""
    before, state.semantic = state.semantic, semantic
    try:
        yield
    finally:
        state.semantic = before
