"""A persistent matrix product: as many programs as the device runs at once, each of which computes many tiles."""

from __future__ import annotations

import numpy as np
from harness import Case, Device, main

import tritonx
import tritonx.language as tl


# A grid with a program for each tile ends in a wave that fills only a part of the device, and each program begins with
# an empty pipeline. Here a program takes every `PROGRAMS`-th tile. `flatten=True` makes one loop of the loop over tiles
# and the loop over K, so that the loads of the next tile start while the last one is multiplied.
#
# Tensor descriptors describe A, B and C: the bounds are theirs, so that no access has a mask, and GPUs with a copy
# engine (TMA) move a tile by one instruction.
@tritonx.jit
def persistent_matmul_kernel(
    a_ptr, b_ptr, c_ptr, M, N, K,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr, PROGRAMS: tl.constexpr,
):  # fmt: skip
    a_desc = tl.make_tensor_descriptor(a_ptr, [M, K], [K, 1], [BLOCK_M, BLOCK_K])
    b_desc = tl.make_tensor_descriptor(b_ptr, [K, N], [N, 1], [BLOCK_K, BLOCK_N])
    c_desc = tl.make_tensor_descriptor(c_ptr, [M, N], [N, 1], [BLOCK_M, BLOCK_N])
    tiles_n = tl.cdiv(N, BLOCK_N)
    tiles = tl.cdiv(M, BLOCK_M) * tiles_n
    for tile in tl.range(tl.program_id(0), tiles, PROGRAMS, flatten=True):
        row = tile // tiles_n * BLOCK_M
        column = tile % tiles_n * BLOCK_N
        acc = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
        for k in range(0, K, BLOCK_K):
            acc = tl.dot(a_desc.load([row, k]), b_desc.load([k, column]), acc, input_precision="ieee")
        c_desc.store([row, column], acc)


def case(device: Device, rng: np.random.Generator) -> Case:
    m, n, k, programs = 260, 196, 132, 8
    a, b = rng.standard_normal((m, k), dtype=np.float32), rng.standard_normal((k, n), dtype=np.float32)
    da, db, dc = device.put(a), device.put(b), device.empty((m, n), np.float32)

    def exact() -> np.ndarray:
        return a.astype(np.float64) @ b.astype(np.float64)

    return Case(
        title="persistent product",
        shapes=f"{m}×{n}×{k} f32, {programs} programs",
        launch=lambda: persistent_matmul_kernel[(programs,)](
            da, db, dc, m, n, k, BLOCK_M=64, BLOCK_N=64, BLOCK_K=32, PROGRAMS=programs
        ),
        result=lambda: device.get(dc),
        numpy=lambda: a @ b,
        exact=exact,
        tolerance=1e-6,
    )


if __name__ == "__main__":
    main(case)
