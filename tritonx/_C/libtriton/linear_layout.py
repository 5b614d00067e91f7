"""Triton's module ``triton._C.libtriton.linear_layout``."""

from tritonx.tools.linear_layout import LinearLayout

__all__ = ["LinearLayout"]
