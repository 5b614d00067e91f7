"""Pipelined loops (`pipeline`): drawn products of every type in every order in memory, products of what a product made,
gathered rows, blocks of descriptors, for few rounds and many and for one to six stages."""

from __future__ import annotations

import os
from random import Random
from typing import Any

import numpy as np
import pytest

from tests.gpu.where import draws
from tests.unit.backends.nvidia.products import drawn, product
from tests.unit.transforms.gpu.flattened_kernels import FLATTENED
from tests.unit.transforms.pipelining.pipelined_kernels import PIPELINED, Draw
from tritonx.interpreter.ir_launch import launch
from tritonx.runtime.arrays import to_device
from tritonx.runtime.driver import get_active
from tritonx.tools.tensor_descriptor import TensorDescriptor

SEED = int(os.environ["TRITONX_SEED"])
DRAWS = draws(40)


@pytest.fixture(autouse=True)
def copies_without_waiting() -> None:
    name, _, number = str(get_active().get_current_target()).partition(":")
    if name != "cuda" or int(number) < 80:
        pytest.skip("loops are pipelined on compute capability 8.0 and later")


@pytest.mark.parametrize("draw", range(DRAWS))
def test_drawn_products(draw: int) -> None:
    one = drawn(SEED + draw, most=128 * 256)
    stages = Random(SEED + draw).randrange(1, 7)
    out = to_device(np.full(one.expected.shape, 77, one.expected.dtype))
    arguments: list[Any] = [to_device(one.a), to_device(one.b), out, *one.scalars]
    kernel: Any = product
    kernel[one.grid](*arguments, **one.constants, num_warps=one.num_warps, num_stages=stages, pipeline=True)
    np.testing.assert_array_equal(out.numpy(), one.expected, err_msg=f"{one.what}, {stages} stages")


def on_device(x: Any) -> Any:
    if isinstance(x, TensorDescriptor):
        return TensorDescriptor(to_device(x.base), x.shape, x.strides, x.block_shape)
    return x if isinstance(x, int) else to_device(x)


def run(made: Draw, stages: int, grid: int = 1, **options: bool) -> list[Any]:
    """The arrays afterwards."""
    arguments = [on_device(x) for x in made.args]
    made.kernel[(grid,)](*arguments, **made.constants, num_warps=made.num_warps, num_stages=stages, **options)
    return [array_of(x).numpy() for x in arguments if not isinstance(x, int)]


def interpreted(made: Draw, grid: int = 1) -> list[Any]:
    """The arrays after what the kernel means."""
    arguments = [copy_of(x) for x in made.args]
    launch(made.kernel, grid, *arguments, **made.constants)
    return [array_of(x) for x in arguments if not isinstance(x, int)]


def copy_of(x: Any) -> Any:
    if isinstance(x, TensorDescriptor):
        return TensorDescriptor(x.base.copy(), x.shape, x.strides, x.block_shape)
    return x if isinstance(x, int) else x.copy()


def array_of(x: Any) -> Any:
    return x.base if isinstance(x, TensorDescriptor) else x


@pytest.mark.parametrize("draw", range(DRAWS // 2))
@pytest.mark.parametrize("name", [name for name in PIPELINED if name != "attention" and name not in FLATTENED])
def test_kernels_of_the_machines_tests(name: str, draw: int) -> None:
    random = Random(f"{SEED} {name} {draw}")
    stages = random.randrange(1, 7)
    made = PIPELINED[name](random, max(2, stages))
    what = f"seed {SEED}, {name}, draw {draw}, {stages} stages, {made.constants}, {made.args[-1]}"
    for got, expected in zip(run(made, stages, pipeline=True), interpreted(made), strict=True):
        np.testing.assert_array_equal(got, expected, err_msg=what)


@pytest.mark.parametrize("draw", range(DRAWS // 2))
@pytest.mark.parametrize("programs", [1, 2])
@pytest.mark.parametrize("name", FLATTENED)
def test_loops_of_tiles(name: str, programs: int, draw: int) -> None:
    """Of the second kernel several programs share the tiles."""
    random = Random(f"{SEED} {name} {programs} {draw}")
    stages, grid = random.randrange(1, 7), programs if name.startswith("described") else 1
    made = FLATTENED[name](random, max(2, stages))
    what = f"seed {SEED}, {name}, draw {draw}, {stages} stages, {made.constants}, {made.args[-2:]}"
    for got, expected in zip(run(made, stages, grid, pipeline=True), interpreted(made, grid), strict=True):
        np.testing.assert_array_equal(got, expected, err_msg=what)


@pytest.mark.parametrize("draw", range(DRAWS // 2))
def test_attention(draw: int) -> None:
    """Its sums are rounded: the bits are those without pipelines, and no further from float64 than the f16 of the
    weights and the products of Hopper (which keep some 22 bits of a sum) can bring them."""
    random = Random(f"{SEED} attention {draw}")
    stages = random.randrange(1, 7)
    made = PIPELINED["attention"](random, max(2, stages))
    *_, got = run(made, stages, pipeline=True)
    *_, plain = run(made, stages, pipeline=False, warp_group_dots=True)
    what = f"seed {SEED}, draw {draw}, {stages} stages, {made.constants}, {made.args[-1]}"
    np.testing.assert_array_equal(got, plain, err_msg=what)
    expected, bound = attention_and_bound(made)
    np.testing.assert_array_less(np.abs(got - expected), bound, err_msg=what)


def attention_and_bound(made: Draw) -> tuple[Any, Any]:
    """In float64, and how far from it the result may be: the weights are rounded to f16 (half of 2^-10 of each, taken
    twice), the scores to 2^-20 of the products that they add up."""
    q, k, v = (np.asarray(x, np.float64) for x in made.args[:3])
    steps, n = made.args[-1], made.constants["N"]
    k, v = k[: steps * n], v[: steps * n]
    scores = q @ k.T
    if made.constants["CAUSAL"]:
        scores += np.triu(np.full(scores.shape, -1.0e6), 1)
    weights = np.exp2(scores - scores.max(1, keepdims=True, initial=-np.inf))
    weights_off = weights * (2.0**-10 + 2.0**-20 * (np.abs(q) @ np.abs(k).T)) + 2.0**-24
    total = weights.sum(1, keepdims=True)
    return weights @ v + total, weights_off @ (np.abs(v) + 1) + 2.0**-20
