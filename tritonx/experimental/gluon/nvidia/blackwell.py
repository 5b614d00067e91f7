"""Descriptors of arrays that hosts make, as for `hopper`."""

from tritonx.experimental.gluon.nvidia.hopper import TensorDescriptor

__all__ = ["TensorDescriptor"]
