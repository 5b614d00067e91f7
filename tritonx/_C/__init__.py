"""Triton's name for its compiled part. What libraries reach for in it stands here, in Python."""

from tritonx._C import libtriton

__all__ = ["libtriton"]
