"""Random kernels of the language: their Python lines, their IR, the IR after the tile passes, and the CPU agree.

`TRITONX_RANDOM_KERNELS=500` runs more of them than the default.
"""

from __future__ import annotations

import os
from random import Random
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, note, settings
from hypothesis import strategies as st

from tritonx.interpreter.function import interpreted
from tritonx.interpreter.ir_launch import launch
from tritonx.ir.pipeline import pass_context
from tritonx.ir.verify import verify
from tritonx.transforms.tile.pipeline import TILE_PIPELINE
from tritonx_testing.generate import Features, RandomKernel, random_kernel

EXAMPLES = int(os.environ.get("TRITONX_RANDOM_KERNELS", "25"))

several = settings(
    max_examples=EXAMPLES,
    deadline=None,
    print_blob=True,
    suppress_health_check=list(HealthCheck),
    phases=(Phase.explicit, Phase.reuse, Phase.generate, Phase.shrink),
)


def through_passes(module: Any) -> None:
    context = pass_context()
    for tile_pass in TILE_PIPELINE:
        tile_pass.apply(context, module)
    verify(module)


def check(kernel: RandomKernel, got: list[Any], seed: int, what: str) -> None:
    expected = kernel.arrays(seed)
    launch(kernel.function(), kernel.grid, *expected, *kernel.scalars)
    difference = kernel.difference(expected, got)
    assert difference is None, f"{what}: {difference}\n{kernel.source}"


@several
@given(st.randoms(use_true_random=False), st.integers(0, 1000))
def test_python_lines_and_ir_agree(random: Random, seed: int) -> None:
    kernel = random_kernel(random)
    note(kernel.source)
    arrays = kernel.arrays(seed)
    interpreted(kernel.function())[kernel.grid](*arrays, *kernel.scalars)
    check(kernel, arrays, seed, "IR and Python lines")


@several
@given(st.randoms(use_true_random=False), st.integers(0, 1000))
def test_tile_passes_change_nothing(random: Random, seed: int) -> None:
    kernel = random_kernel(random)
    note(kernel.source)
    arrays = kernel.arrays(seed)
    launch(kernel.function(), kernel.grid, *arrays, *kernel.scalars, transform=through_passes)
    check(kernel, arrays, seed, "before and after the passes")


@several
@given(st.randoms(use_true_random=False), st.integers(0, 1000))
def test_cpu_agrees(random: Random, seed: int) -> None:
    # A sorting network is a thousand lines of loops: its compile would take most of the time of this test.
    kernel = random_kernel(random, features=Features(sorting=False))
    note(kernel.source)
    arrays = kernel.arrays(seed)
    kernel.function()[kernel.grid](*arrays, *kernel.scalars, enable_fp_fusion=False)
    check(kernel, arrays, seed, "interpreter and CPU")


@pytest.mark.parametrize("seed", range(5))
def test_the_generator_is_a_function_of_its_random_numbers(seed: int) -> None:
    assert random_kernel(Random(seed)) == random_kernel(Random(seed))
