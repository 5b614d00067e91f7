"""The product whose configurations `gpu_tuning.py` searches, in a file that ``tritonx tune`` takes.

    tritonx tune benchmarks/tuned_product.py --devices 0,1

``TUNED_SIZE`` are the rows of the matrices (4096), ``TUNED_DEVICE`` is PyTorch's name of where they are (cuda)."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import torch
from peers import load

CONFIGURATIONS = [
    (m, n, k, warps, stages)
    for m, n, warps in [(128, 256, 8), (256, 128, 8), (128, 128, 4), (128, 128, 8), (64, 256, 4), (64, 128, 4)]
    for k in (32, 64, 128)
    for stages in (3, 4)
]
"""36: what the tutorials list and a little around it. With 128 of K some do not fit the shared memory."""


def inputs(size: int) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    device = os.environ.get("TUNED_DEVICE", "cuda")
    a, b = (torch.randn(size, size, device=device, dtype=torch.float16) for _ in range(2))
    return a, b, torch.full_like(a, float("nan"))


def tiled(size: int) -> Any:
    return lambda meta: (-(-size // meta["BLOCK_M"]) * -(-size // meta["BLOCK_N"]),)


def arguments(arrays: tuple[torch.Tensor, ...], size: int) -> tuple[Any, ...]:
    return (*arrays, size, size, size, *(stride for array in arrays for stride in array.stride()))


def tuned(which: str) -> Any:
    """The kernel of one compiler, ``ours`` or ``peer``, with its tuner."""
    module = getattr(load("kernels_products"), which)
    configs = [
        module.triton.Config({"BLOCK_M": m, "BLOCK_N": n, "BLOCK_K": k}, num_warps=warps, num_stages=stages)
        for m, n, k, warps, stages in CONFIGURATIONS
    ]
    return module.triton.autotune(configs, key=["M", "N", "K"])(module.matmul)


matmul = tuned("ours")


def tuning_inputs() -> Iterator[Any]:
    size = int(os.environ.get("TUNED_SIZE", "4096"))
    yield tiled(size), arguments(inputs(size), size), {"GROUP": 8}
