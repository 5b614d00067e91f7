"""Triton's module ``triton._C.libtriton``: the part of its bindings that libraries use."""

from tritonx._C.libtriton import ir

__all__ = ["ir"]
