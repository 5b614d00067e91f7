"""Triton's name for its compiled part. What libraries use of it is here, in Python."""

from tritonx._C import libtriton

__all__ = ["libtriton"]
