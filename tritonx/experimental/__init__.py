"""Triton's experiments: Gluon, whose names are here and whose kernels are refused when they are launched."""
