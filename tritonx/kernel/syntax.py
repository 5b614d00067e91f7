"""Syntax trees, made and compiled by one thread at a time.

CPython up to 3.12 counts how deep the making of a tree is in one place for all threads: where another thread makes one
meanwhile, either ends in `SystemError: AST constructor recursion depth mismatch` (python/cpython#106905)."""

from __future__ import annotations

import ast
import os
import threading
from types import CodeType

_one_at_a_time = threading.Lock()


def parse(source: str) -> ast.Module:
    with _one_at_a_time:
        return ast.parse(source)


def code_of(module: ast.Module, file: str) -> CodeType:
    with _one_at_a_time:
        return compile(module, file, "exec")


def _after_fork() -> None:
    """Whoever had the lock is not in the child."""
    global _one_at_a_time
    _one_at_a_time = threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
