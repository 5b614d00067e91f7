"""Gluon for NVIDIA GPUs from 9.0 on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tritonx.experimental.gluon.language.nvidia.ampere import async_copy, mma_v2
from tritonx.experimental.gluon.language.nvidia.hopper import cluster, mbarrier, tma
from tritonx.experimental.gluon.language.nvidia.hopper.products import (
    warpgroup_mma,
    warpgroup_mma_accumulator,
    warpgroup_mma_accumulator_type,
    warpgroup_mma_init,
    warpgroup_mma_wait,
)
from tritonx.experimental.gluon.language.nvidia.policy import CachePolicy, FractionalEvictionPolicy
from tritonx.language.builtins.builtin import INJECTED, builtin
from tritonx.language.values.constexpr import unwrap

if TYPE_CHECKING:
    from tritonx.experimental.gluon.semantics import GluonSemantics

__all__ = [
    "CachePolicy",
    "FractionalEvictionPolicy",
    "async_copy",
    "cluster",
    "fence_async_shared",
    "mbarrier",
    "mma_v2",
    "tma",
    "warpgroup_mma",
    "warpgroup_mma_accumulator",
    "warpgroup_mma_accumulator_type",
    "warpgroup_mma_init",
    "warpgroup_mma_wait",
]


@builtin
def fence_async_shared(cluster: Any = False, _semantic: GluonSemantics = INJECTED) -> None:
    """Order ordinary accesses of shared memory before those of asynchronous copies and products that follow; of the
    whole cluster with ``cluster``."""
    _semantic.fence_async_shared(bool(unwrap(cluster)))
