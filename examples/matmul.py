"""Tiled matrix product with a leaky ReLU fused into its epilogue; the tile is chosen by the autotuner."""

from __future__ import annotations

import numpy as np
from harness import Case, Device, main

import tritonx
import tritonx.language as tl


@tritonx.jit
def leaky_relu(x):
    return tl.where(x >= 0, x, 0.01 * x)


@tritonx.autotune(
    configs=[
        tritonx.Config({"BLOCK_M": 64, "BLOCK_N": 64, "BLOCK_K": 32, "GROUP_M": 8}, num_warps=4, num_stages=2),
        tritonx.Config({"BLOCK_M": 128, "BLOCK_N": 64, "BLOCK_K": 64, "GROUP_M": 8}, num_warps=4, num_stages=3),
    ],
    key=["M", "N", "K"],
)
@tritonx.jit
def matmul_kernel(
    a_ptr, b_ptr, c_ptr, M, N, K, stride_am, stride_ak, stride_bk, stride_bn, stride_cm, stride_cn,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr, GROUP_M: tl.constexpr,
    ACTIVATION: tl.constexpr,
):  # fmt: skip
    pid = tl.program_id(0)
    pid_m, pid_n = tl.swizzle2d(pid // tl.cdiv(N, BLOCK_N), pid % tl.cdiv(N, BLOCK_N),
                                tl.cdiv(M, BLOCK_M), tl.cdiv(N, BLOCK_N), GROUP_M)  # fmt: skip
    rows = pid_m * BLOCK_M + tl.arange(0, BLOCK_M)
    cols = pid_n * BLOCK_N + tl.arange(0, BLOCK_N)
    ks = tl.arange(0, BLOCK_K)
    a_ptrs = a_ptr + rows[:, None] * stride_am + ks[None, :] * stride_ak
    b_ptrs = b_ptr + ks[:, None] * stride_bk + cols[None, :] * stride_bn
    acc = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for k in range(0, K, BLOCK_K):
        a = tl.load(a_ptrs, mask=(rows[:, None] < M) & (k + ks[None, :] < K), other=0.0)
        b = tl.load(b_ptrs, mask=(k + ks[:, None] < K) & (cols[None, :] < N), other=0.0)
        acc = tl.dot(a, b, acc, input_precision="ieee")
        a_ptrs += BLOCK_K * stride_ak
        b_ptrs += BLOCK_K * stride_bk
    if ACTIVATION == "leaky_relu":
        acc = leaky_relu(acc)
    c_ptrs = c_ptr + rows[:, None] * stride_cm + cols[None, :] * stride_cn
    tl.store(c_ptrs, acc, mask=(rows[:, None] < M) & (cols[None, :] < N))


def case(device: Device, rng: np.random.Generator) -> Case:
    m, n, k = 500, 520, 512
    a = rng.standard_normal((m, k), dtype=np.float32)
    b = rng.standard_normal((k, n), dtype=np.float32)
    da, db, dc = device.put(a), device.put(b), device.empty((m, n), np.float32)

    def grid(meta: dict[str, int]) -> tuple[int]:
        return (tritonx.cdiv(m, meta["BLOCK_M"]) * tritonx.cdiv(n, meta["BLOCK_N"]),)

    def reference(x: np.ndarray, y: np.ndarray) -> np.ndarray:
        z = x @ y
        return np.where(z >= 0, z, z.dtype.type(0.01) * z)

    return Case(
        title="matmul + leaky ReLU",
        shapes=f"{m}×{k} · {k}×{n} f32",
        launch=lambda: matmul_kernel[grid](da, db, dc, m, n, k, k, 1, n, 1, n, 1, ACTIVATION="leaky_relu"),
        result=lambda: device.get(dc),
        numpy=lambda: reference(a, b),
        exact=lambda: reference(a.astype(np.float64), b.astype(np.float64)),
        tolerance=1e-6,
    )


if __name__ == "__main__":
    main(case)
