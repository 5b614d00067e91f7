"""A product of microscaled matrices (OCP MX): 8-bit and 4-bit numbers, of which 32 along K share a power of two."""

from __future__ import annotations

import ml_dtypes
import numpy as np
from harness import Case, Device, main

import tritonx
import tritonx.language as tl


# `tl.dot_scaled` takes the numbers as they lie in memory and the exponents of their blocks. A is e4m3, a byte a number.
# B is e2m1: a byte has two numbers, the even row's in its low half. A scale is e8m0: a byte e stands for 2**(e - 127).
# A target whose matrix unit applies scales does so; on the others operands are widened first.
@tritonx.jit
def block_scaled_kernel(
    a_ptr, a_scale_ptr, b_ptr, b_scale_ptr, c_ptr, M, N, K,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr,
):  # fmt: skip
    rows = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    columns = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)
    ks, halves, blocks = tl.arange(0, BLOCK_K), tl.arange(0, BLOCK_K // 2), tl.arange(0, BLOCK_K // 32)
    in_m, in_n = rows[:, None] < M, columns[:, None] < N
    acc = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for k in range(0, K, BLOCK_K):
        a = tl.load(a_ptr + rows[:, None] * K + k + ks, mask=in_m, other=0.0)
        b = tl.load(b_ptr + (k // 2 + halves[:, None]) * N + columns, mask=columns < N, other=0)
        a_scale = tl.load(a_scale_ptr + rows[:, None] * (K // 32) + k // 32 + blocks, mask=in_m, other=0)
        b_scale = tl.load(b_scale_ptr + columns[:, None] * (K // 32) + k // 32 + blocks, mask=in_n, other=0)
        acc = tl.dot_scaled(a, a_scale, "e4m3", b, b_scale, "e2m1", acc)
    tl.store(c_ptr + rows[:, None] * N + columns, acc, mask=in_m & (columns < N))


# A number times its scale, in float64: what the kernel must come close to. `tritonx.tools.mxfp` converts tensors.
E2M1 = np.array([0, 0.5, 1, 1.5, 2, 3, 4, 6, -0.0, -0.5, -1, -1.5, -2, -3, -4, -6])


def scaled(values: np.ndarray, scales: np.ndarray) -> np.ndarray:
    return values.astype(np.float64) * np.repeat(np.exp2(scales.astype(np.float64) - 127), 32, axis=1)


def case(device: Device, rng: np.random.Generator) -> Case:
    m, n, k = 100, 72, 256
    a = rng.standard_normal((m, k)).astype(ml_dtypes.float8_e4m3fn)
    b = rng.integers(0, 256, (k // 2, n), np.uint8)
    a_scale, b_scale = (rng.integers(120, 134, (extent, k // 32), np.uint8) for extent in (m, n))
    device_arrays = [device.put(x) for x in (a, a_scale, b, b_scale)]
    dc = device.empty((m, n), np.float32)

    def product() -> np.ndarray:
        numbers = np.stack([E2M1[b & 15], E2M1[b >> 4]], axis=1).reshape(k, n)
        return scaled(a, a_scale) @ scaled(numbers.T, b_scale).T

    return Case(
        title="block-scaled product",
        shapes=f"{m}×{n}×{k} e4m3 × e2m1",
        launch=lambda: block_scaled_kernel[(tritonx.cdiv(m, 64), tritonx.cdiv(n, 64))](
            *device_arrays, dc, m, n, k, BLOCK_M=64, BLOCK_N=64, BLOCK_K=64
        ),
        result=lambda: device.get(dc),
        numpy=product,
        exact=product,
        tolerance=1e-5,
    )


if __name__ == "__main__":
    main(case)
