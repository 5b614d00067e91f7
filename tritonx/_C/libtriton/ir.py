"""Triton's module ``triton._C.libtriton.ir``, for code that makes a kernel's IR to look at it (`ASTSource.make_ir`)."""

from __future__ import annotations


class context:
    """Where a module's types and ops live. Here each module has its own, so this holds nothing."""


def load_dialects(context: context) -> None:
    """All dialects are known to every module."""
