"""Programs of several blocks: each block has its part of the tile, and all have the program's number."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
import pytest

import tritonx
import tritonx.language as tl
from tests.unit.backends.nvidia.clustered_products import SHAPES, WAYS, Multiplied, of_two_products, two_products
from tritonx.runtime import driver
from tritonx.runtime.arrays import to_device

SEED = int(os.environ["TRITONX_SEED"])


@tritonx.jit
def numbered(out, N: tl.constexpr):
    i = tl.arange(0, N)
    at = (tl.program_id(1) * tl.num_programs(0) + tl.program_id(0)) * N
    tl.store(out + at + i, i + 10000 * tl.program_id(0) + 100000 * tl.program_id(1) + 1000000 * tl.num_programs(0))


@pytest.mark.parametrize("num_ctas", [1, 2, 4])
@pytest.mark.parametrize("n", [64, 2048])
def test_numbers_of_programs(n: int, num_ctas: int) -> None:
    out = to_device(np.full((3, 5, n), -1, np.int32))
    try:
        numbered[(5, 3)](out, N=n, num_ctas=num_ctas)
    except ValueError as refused:
        assert "clusters" in str(refused) and num_ctas > 1
        pytest.skip(str(refused))
    x, y, i = np.arange(5)[None, :, None], np.arange(3)[:, None, None], np.arange(n)
    assert np.array_equal(out.numpy(), i + 10000 * x + 100000 * y + 5000000)


@pytest.fixture
def _clusters() -> None:
    target = driver.get_active().get_current_target()
    if not str(target).startswith("cuda:") or int(target.arch) < 90:
        pytest.skip(f"{target} has no clusters")


@pytest.mark.usefixtures("_clusters")
@pytest.mark.parametrize("num_ctas", [2, 4])
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(("m", "n", "k", "stages"), SHAPES)
def test_products(way: str, m: int, n: int, k: int, stages: int, num_ctas: int) -> None:
    one = Multiplied.drawn(way, m, n, k, np.random.default_rng(SEED))
    out = to_device(one.out())
    args = one.arguments(out, to_device)
    one.kernel[one.grid](*args, **one.constants, num_warps=8, num_stages=stages, num_ctas=num_ctas)
    np.testing.assert_array_equal(out.numpy(), one.expected, err_msg=f"seed {SEED}")


@pytest.mark.usefixtures("_clusters")
@pytest.mark.parametrize("dtype", [np.float16, np.float32])
@pytest.mark.parametrize("num_ctas", [2, 4])
@pytest.mark.parametrize("taken", ["as A", "as B", "transposed", "by columns"])
def test_two_products(taken: str, num_ctas: int, dtype: Any) -> None:
    m, n, k = 64, 32, 32
    rng = np.random.default_rng(SEED)
    shapes = {"as A": (n, k), "as B": (k, m), "transposed": (m, k), "by columns": (m, n)}
    x, y, z = (rng.integers(-2, 3, shape).astype(dtype) for shape in ((m, k), (k, n), shapes[taken]))
    expected = of_two_products(taken, x, y, z)
    out: Any = to_device(np.full(expected.shape, np.nan, np.float32))
    args = [*map(to_device, (x, y, z)), out]
    two_products[(1,)](*args, M=m, N=n, K=k, TAKEN=taken, num_warps=4, num_ctas=num_ctas)
    np.testing.assert_array_equal(out.numpy(), expected, err_msg=f"seed {SEED}")
