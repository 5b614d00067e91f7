"""Programs of several blocks: each block has its part of the tile, and all have the program's number."""

from __future__ import annotations

import numpy as np
import pytest

import tritonx
import tritonx.language as tl
from tritonx.runtime.arrays import to_device


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
