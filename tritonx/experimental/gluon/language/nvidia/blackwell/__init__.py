"""Gluon for NVIDIA GPUs from 10.0 on."""

from __future__ import annotations

from tritonx.experimental.gluon.language.nvidia.ampere import async_copy, mma_v2
from tritonx.experimental.gluon.language.nvidia.blackwell import clc, tma
from tritonx.experimental.gluon.language.nvidia.blackwell.packed import add2, fma2, max2, min2, mul2, sub2
from tritonx.experimental.gluon.language.nvidia.blackwell.products import (
    tcgen05_commit,
    tcgen05_mma,
    tcgen05_mma_barrier_count,
    tcgen05_mma_scaled,
)
from tritonx.experimental.gluon.language.nvidia.blackwell.tensor_memory import (
    allocate_tensor_memory,
    tcgen05_copy,
    tensor_memory_descriptor,
    tensor_memory_descriptor_type,
)
from tritonx.experimental.gluon.language.nvidia.hopper import cluster, fence_async_shared, mbarrier
from tritonx.experimental.gluon.language.nvidia.policy import CachePolicy, FractionalEvictionPolicy
from tritonx.experimental.gluon.layouts import TensorMemoryLayout, TensorMemoryScalesLayout

__all__ = [
    "CachePolicy",
    "FractionalEvictionPolicy",
    "TensorMemoryLayout",
    "TensorMemoryScalesLayout",
    "add2",
    "allocate_tensor_memory",
    "async_copy",
    "clc",
    "cluster",
    "fence_async_shared",
    "fma2",
    "max2",
    "mbarrier",
    "min2",
    "mma_v2",
    "mul2",
    "sub2",
    "tcgen05_commit",
    "tcgen05_copy",
    "tcgen05_mma",
    "tcgen05_mma_barrier_count",
    "tcgen05_mma_scaled",
    "tensor_memory_descriptor",
    "tensor_memory_descriptor_type",
    "tma",
]
