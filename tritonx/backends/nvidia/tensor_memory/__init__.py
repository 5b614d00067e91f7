"""Tensor memory of compute capability 10.0: which columns an allocation has, and how threads access it."""
