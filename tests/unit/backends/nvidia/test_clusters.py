"""Products of programs of several blocks, executed from their PTX: each block computes its part of the result, and
loads all that it needs for it."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
import pytest

from tests.unit.backends.nvidia.clustered_products import (
    SHAPES,
    WAYS,
    Multiplied,
    of_two_products,
    two_products,
    used_besides,
    written_in_place,
)
from tritonx.ir.failure import PassFailure
from tritonx.tools.tensor_descriptor import TensorDescriptor
from tritonx_testing.emulators.ptx.device import PtxDevice

SEED = int(os.environ["TRITONX_SEED"])


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(SEED)


def small(rng: np.random.Generator, *shape: int, dtype: Any = np.float16) -> Any:
    return rng.integers(-2, 3, shape).astype(dtype)


def check(way: str, shape: tuple[int, int, int], rng: np.random.Generator, **options: Any) -> str:
    """Returns the PTX."""
    one = Multiplied.drawn(way, *shape, rng)
    out = one.out()
    constants = one.constants
    ptx = PtxDevice("90", SEED).launch(one.kernel, one.arguments(out), constants, one.grid, options)
    np.testing.assert_array_equal(out, one.expected, err_msg=f"seed {SEED}: {way}, {constants}, {options}")
    return ptx


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(("m", "n", "k", "stages"), SHAPES)
def test_products(way: str, m: int, n: int, k: int, stages: int, rng: np.random.Generator) -> None:
    """Each block multiplies half of the rows."""
    ptx = check(way, (m, n, k), rng, num_warps=8, num_stages=stages, num_ctas=2)
    tiles = max(1, m // 2 * n // (8 * 16 * 8))
    assert ptx.count("mma.sync") == tiles * k // 16
    if way != "pointers" and m >= 128 and n >= 64:  # as Triton's test wants it
        assert "stmatrix.sync.aligned.m8n8.x4.shared.b16" in ptx


@pytest.mark.parametrize("columns", [64, 60, 33])
def test_rows_that_end_within_a_vector(columns: int, rng: np.random.Generator) -> None:
    """Of a descriptor of the host in a wider matrix: what lies beside is neither read nor written."""
    m, n, k = 32, 64, 32
    one = Multiplied.drawn("host", m, n, k, rng)
    whole = np.full((one.a.shape[0], 72), np.nan, np.float16)
    b = np.full((one.b.shape[0], 72), np.nan, np.float16)
    b[:, :columns] = one.b[:, :columns]
    blocks = [TensorDescriptor(x, [x.shape[0], columns], [72, 1], [s, n]) for x, s in ((b, k), (whole, m))]
    a = TensorDescriptor(one.a, [*one.a.shape], [one.a.shape[1], 1], [m, k])
    options = {"num_warps": 4, "num_ctas": 2}
    PtxDevice("90", SEED).launch(one.kernel, (a, *blocks), one.constants, one.grid, options)
    np.testing.assert_array_equal(whole[:, :columns], one.expected[:, :columns], err_msg=f"seed {SEED}")
    assert np.isnan(whole[:, columns:]).all()


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(
    ("shape", "ctas", "warps"), [((64, 32, 32), 4, 4), ((32, 32, 16), 4, 1), ((32, 64, 32), 8, 2), ((16, 16, 16), 2, 4)]
)
def test_blocks_without_rows_of_their_own(
    way: str, shape: tuple[int, int, int], ctas: int, warps: int, rng: np.random.Generator
) -> None:
    """Where there are fewer tiles of the instruction than blocks, some have copies, of which each stores a part."""
    check(way, shape, rng, num_warps=warps, num_ctas=ctas)


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
@pytest.mark.parametrize("taken", ["as A", "as B", "transposed", "by columns"])
@pytest.mark.parametrize(("shape", "ctas", "warps"), [((64, 32, 32), 2, 4), ((32, 64, 16), 4, 2)])
def test_two_products(
    shape: tuple[int, int, int], ctas: int, warps: int, taken: str, dtype: Any, rng: np.random.Generator
) -> None:
    m, n, k = shape
    x, y = small(rng, m, k, dtype=dtype), small(rng, k, n, dtype=dtype)
    z = small(rng, *{"as A": (n, k), "as B": (k, m), "transposed": (m, k), "by columns": (m, n)}[taken], dtype=dtype)
    expected = of_two_products(taken, x, y, z)
    out = np.full(expected.shape, np.nan, np.float32)
    constants = {"M": m, "N": n, "K": k, "TAKEN": taken}
    options = {"num_warps": warps, "num_ctas": ctas}
    PtxDevice("90", SEED).launch(two_products, (x, y, z, out), constants, 1, options)
    np.testing.assert_array_equal(out, expected, err_msg=f"seed {SEED}")


def test_operands_that_are_stored_as_well(rng: np.random.Generator) -> None:
    x, y = small(rng, 64, 32), small(rng, 32, 64)
    out, other = np.zeros((64, 64), np.float32), np.full(2 * 64 * 32, np.nan, np.float16)
    constants, options = {"M": 64, "N": 64, "K": 32}, {"num_warps": 4, "num_ctas": 2}
    PtxDevice("90", SEED).launch(used_besides, (x, y, out, other), constants, 1, options)
    a, b = x * 2, y + 1
    np.testing.assert_array_equal(out, a.astype(np.float64) @ b.astype(np.float64), err_msg=f"seed {SEED}")
    np.testing.assert_array_equal(other, np.concatenate([a.ravel(), b.ravel()]), err_msg=f"seed {SEED}")


def test_what_is_written_is_not_loaded_by_other_blocks(rng: np.random.Generator) -> None:
    """They do not wait for each other: the conversion between blocks is refused with its line."""
    x, y, out = small(rng, 64, 32), small(rng, 32, 64), np.zeros((64, 64), np.float32)
    constants, options = {"M": 64, "N": 64, "K": 32}, {"num_warps": 4, "num_ctas": 2}
    with pytest.raises(PassFailure, match="moves data between the blocks of a cluster") as caught:
        PtxDevice("90", SEED).launch(written_in_place, (x, y, out), constants, 1, options)
    assert not caught.value.internal and "num_ctas=1" in caught.value.hint
