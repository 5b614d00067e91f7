"""Triton's module ``triton._C.libproton``: what its profiler calls, here in Python."""

from tritonx._C.libproton import proton

__all__ = ["proton"]
