"""Triton's module ``triton.errors``."""

from tritonx.runtime.errors import TritonError

__all__ = ["TritonError"]
