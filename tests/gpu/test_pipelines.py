"""Pipelined loops (`pipeline`): drawn products of every type in every order in memory, products of what a product made,
gathered rows, blocks of descriptors, for few rounds and many and for one to six stages."""

from __future__ import annotations

import os
from random import Random
from typing import Any

import numpy as np
import pytest

from tests.unit.backends.nvidia.products import drawn, product
from tests.unit.transforms.gpu.pipelined_kernels import PIPELINED
from tritonx.interpreter.launch import launch
from tritonx.runtime.arrays import to_device
from tritonx.runtime.driver import get_active
from tritonx.tools.tensor_descriptor import TensorDescriptor

SEED = int(os.environ["TRITONX_SEED"])
DRAWS = int(os.environ.get("TRITONX_RANDOM_KERNELS", "40"))


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
    return to_device(x)


@pytest.mark.parametrize("draw", range(DRAWS // 2))
@pytest.mark.parametrize("name", PIPELINED)
def test_kernels_of_the_machines_tests(name: str, draw: int) -> None:
    random = Random(f"{SEED} {name} {draw}")
    stages = random.randrange(1, 7)
    made = PIPELINED[name](random, max(2, stages))
    *given, out, count = made.args
    expected = out.copy()
    launch(made.kernel, 1, *given, expected, count, **made.constants)  # what it means
    arguments = [on_device(x) for x in (*given, out)]
    made.kernel[(1,)](*arguments, count, **made.constants, num_warps=made.num_warps, num_stages=stages, pipeline=True)
    what = f"seed {SEED}, {name}, draw {draw}, {stages} stages, {made.constants}, {count}"
    np.testing.assert_array_equal(arguments[-1].numpy(), expected, err_msg=what)
