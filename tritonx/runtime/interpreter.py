"""Triton's module ``triton.runtime.interpreter``: what a kernel is under ``TRITON_INTERPRET=1``."""

from tritonx.interpreter.function import InterpretedFunction

__all__ = ["InterpretedFunction"]
