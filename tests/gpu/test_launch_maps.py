"""Tensor maps that launches make of a kernel's arguments, on a GPU: products of matrices that descriptors in loops
describe, empty ones, graphs, and many launches with other arguments."""

# pyright: reportArgumentType=false, reportOperatorIssue=false, reportUnknownMemberType=false
# pyright: reportUnknownVariableType=false -- kernels are the language's, not Python's

from __future__ import annotations

import os
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import tritonx
import tritonx.language as tl
from tritonx.runtime import driver
from tritonx.runtime.arrays import to_device

SEED = int(os.environ["TRITONX_SEED"])


@pytest.fixture(autouse=True)
def _on_a_chip_that_has_them() -> None:
    if str(driver.get_active().get_current_target()) != "cuda:90":
        pytest.skip("no launch here makes tensor maps")


@tritonx.jit
def product(
    a_ptr, b_ptr, c_ptr, M, N, K, PROGRAMS: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr,
    INSIDE: tl.constexpr,
):  # fmt: skip
    """Persistent; ``INSIDE`` makes all descriptors for each tile anew, as far as the text says."""
    if not INSIDE:
        a = tl.make_tensor_descriptor(a_ptr, [M, K], [K, 1], [BM, BK])
        b = tl.make_tensor_descriptor(b_ptr, [K, N], [N, 1], [BK, BN])
        c = tl.make_tensor_descriptor(c_ptr, [M, N], [N, 1], [BM, BN])
    columns = tl.cdiv(N, BN)
    for tile in range(tl.program_id(0), tl.cdiv(M, BM) * columns, PROGRAMS):
        if INSIDE:
            a = tl.make_tensor_descriptor(a_ptr, [M, K], [K, 1], [BM, BK])
            b = tl.make_tensor_descriptor(b_ptr, [K, N], [N, 1], [BK, BN])
            c = tl.make_tensor_descriptor(c_ptr, [M, N], [N, 1], [BM, BN])
        row, column = tile // columns * BM, tile % columns * BN
        total = tl.zeros((BM, BN), tl.float32)
        for k in range(0, K, BK):
            total = tl.dot(a.load([row, k]), b.load([k, column]), total)
        c.store([row, column], total.to(c.dtype))


CONSTANTS = {"PROGRAMS": 6, "BM": 128, "BN": 128, "BK": 64}


@pytest.mark.parametrize("inside", [False, True])
@pytest.mark.parametrize("dtype", [np.float16, ml_dtypes.bfloat16])
def test_products(dtype: Any, inside: bool) -> None:
    """Ragged, one after another, with the same arguments and others."""
    rng, kernel = np.random.default_rng(SEED), product
    made: list[tuple[Any, Any]] = []
    for m, n, k in [(256, 256, 128), (200, 328, 168), (200, 328, 168), (8, 8, 8), (1, 8, 16), (640, 136, 72)]:
        a, b = (rng.integers(-3, 4, shape).astype(dtype) for shape in ((m, k), (k, n)))
        c = to_device(np.full((m, n), np.nan, dtype))
        held = to_device(a), to_device(b), c
        for _ in range(3):
            kernel[(6,)](*held, m, n, k, **CONSTANTS, INSIDE=inside, launch_maps=True)
        made.append((held, (a.astype(np.float64) @ b.astype(np.float64)).astype(dtype)))
    for held, expected in made:
        found = held[2].numpy().astype(np.float64)
        np.testing.assert_array_equal(found, expected.astype(np.float64), f"seed {SEED}")


def test_products_of_nothing() -> None:
    """With K = 0 all sums are 0; without rows nothing happens."""
    kernel = product
    a, b, c = (to_device(np.ones((64, 64), np.float16)) for _ in range(3))
    kernel[(6,)](a, b, c, 64, 64, 0, **CONSTANTS, INSIDE=False, launch_maps=True)
    assert not c.numpy().any()
    kernel[(6,)](a, b, c, 0, 64, 64, **CONSTANTS, INSIDE=False, launch_maps=True)
    assert not c.numpy().any()


@tritonx.jit
def read_and_write(x, y, out, n, m, N: tl.constexpr, PADDING: tl.constexpr):
    source = tl.make_tensor_descriptor(x, [n], [1], [N], padding_option=PADDING)
    target = tl.make_tensor_descriptor(y, [m], [1], [N])
    block = source.load([0])
    target.store([0], block)
    tl.store(out + tl.arange(0, N), block)


@pytest.mark.parametrize("padding", ["zero", "nan"])
@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
def test_tensors_without_elements(dtype: str, padding: str) -> None:
    """Reads find the padding, writes change nothing, however often."""
    kind, kernel = np.dtype(ml_dtypes.bfloat16 if dtype == "bfloat16" else dtype), read_and_write
    for n, m in [(0, 64), (64, 0), (0, 0), (-16, -32)]:
        x, y, out = (to_device(np.full(64, 5 + i, kind)) for i in range(3))
        for _ in range(2):
            kernel[(1,)](x, y, out, n, m, N=64, PADDING=padding, launch_maps=True)
        read = np.full(64, 5.0) if n > 0 else np.full(64, np.nan if padding == "nan" else 0.0)
        np.testing.assert_array_equal(out.numpy().astype(np.float64), read, f"{n} {m}")
        np.testing.assert_array_equal(y.numpy().astype(np.float64), read if m > 0 else np.full(64, 6.0), f"{n} {m}")


@pytest.mark.real_gpu
def test_in_a_graph_that_is_replayed() -> None:
    torch: Any = pytest.importorskip("torch")
    kernel = product
    a, b = (torch.randint(-3, 4, (256, 256)).half().cuda() for _ in range(2))
    c = torch.full((256, 256), 77, dtype=torch.float16, device="cuda")
    arguments = (a, b, c, 256, 256, 256)
    kernel[(6,)](*arguments, **CONSTANTS, INSIDE=True, launch_maps=True)
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        kernel[(6,)](*arguments, **CONSTANTS, INSIDE=True, launch_maps=True)
    for _ in range(3):
        a.neg_().add_(1)
        graph.replay()
        torch.cuda.synchronize()
        assert torch.equal(c, (a.float() @ b.float()).half())
