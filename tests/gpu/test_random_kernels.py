"""Random kernels of the language on the GPU against the interpreter: others with every run's seed."""

from __future__ import annotations

import os
from random import Random
from typing import Any

import pytest

from tests.gpu.where import draws
from tritonx.interpreter.ir_launch import launch
from tritonx.runtime.arrays import to_device
from tritonx_testing.generate import Features, random_kernel

SEED = int(os.environ["TRITONX_SEED"])
COUNT = draws(60)


@pytest.mark.parametrize("number", range(COUNT))
def test_gpu_agrees_with_the_interpreter(number: int) -> None:
    seed = SEED + number
    # Division is approximate on the device, as Triton's is.
    kernel = random_kernel(Random(seed), features=Features(division=False))
    arrays: list[Any] = kernel.arrays(seed)
    devices = [to_device(a) for a in arrays]
    warps = (1, 2, 4, 8)[seed % 4]
    kernel.function()[kernel.grid](*devices, *kernel.scalars, num_warps=warps, enable_fp_fusion=False)
    launch(kernel.function(), kernel.grid, *arrays, *kernel.scalars)
    difference = kernel.difference(arrays, [d.numpy() for d in devices], rtol=2e-3)
    assert difference is None, f"seed {seed}: {difference}\n{kernel.source}"
