"""Products of matrices of different sizes in one launch: a table in memory says where each lies and how large it is."""

from __future__ import annotations

import numpy as np
from harness import Case, Device, main

import tritonx
import tritonx.language as tl


# One launch for each product would leave most of the device idle while a small one runs. The programs walk over the
# tiles of all products as over one list: a program goes through the groups, and computes those of its tiles that lie in
# each. What differs between groups is read from `table`: M, N and K, and where A, B and C begin in their buffers.
@tritonx.jit
def grouped_matmul_kernel(
    a_ptr, b_ptr, c_ptr, table_ptr, groups, programs,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr,
):  # fmt: skip
    tile = tl.program_id(0)
    first = 0
    for group in range(groups):
        entry = table_ptr + group * 6
        m, n, k = tl.load(entry), tl.load(entry + 1), tl.load(entry + 2)
        a, b, c = a_ptr + tl.load(entry + 3), b_ptr + tl.load(entry + 4), c_ptr + tl.load(entry + 5)
        tiles_n = tl.cdiv(n, BLOCK_N)
        end = first + tl.cdiv(m, BLOCK_M) * tiles_n
        while tile < end:
            rows = (tile - first) // tiles_n * BLOCK_M + tl.arange(0, BLOCK_M)
            columns = (tile - first) % tiles_n * BLOCK_N + tl.arange(0, BLOCK_N)
            acc = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
            for start in range(0, k, BLOCK_K):
                ks = start + tl.arange(0, BLOCK_K)
                x = tl.load(
                    a + rows[:, None] * k + ks[None, :], mask=(rows[:, None] < m) & (ks[None, :] < k), other=0.0
                )
                y = tl.load(b + ks[:, None] * n + columns, mask=(ks[:, None] < k) & (columns < n), other=0.0)
                acc = tl.dot(x, y, acc, input_precision="ieee")
            tl.store(c + rows[:, None] * n + columns, acc, mask=(rows[:, None] < m) & (columns < n))
            tile += programs
        first = end


def case(device: Device, rng: np.random.Generator) -> Case:
    sizes = [tuple(int(extent) for extent in rng.integers(1, 200, 3)) for _ in range(6)]
    a = [rng.standard_normal((m, k), dtype=np.float32) for m, _, k in sizes]
    b = [rng.standard_normal((k, n), dtype=np.float32) for _, n, k in sizes]

    def starts(arrays: list[int]) -> np.ndarray:
        return np.cumsum([0, *arrays[:-1]])

    offsets = (starts([x.size for x in a]), starts([x.size for x in b]), starts([m * n for m, n, _ in sizes]))
    table = np.array([[*size, *at] for size, at in zip(sizes, zip(*offsets, strict=True), strict=True)], np.int32)
    programs = 8
    da, db = (device.put(np.concatenate([x.ravel() for x in each])) for each in (a, b))
    dt, dc = device.put(table), device.empty(sum(m * n for m, n, _ in sizes), np.float32)

    def products(dtype: type) -> np.ndarray:
        return np.concatenate([(x.astype(dtype) @ y.astype(dtype)).ravel() for x, y in zip(a, b, strict=True)])

    return Case(
        title="grouped products",
        shapes=f"{len(sizes)} products up to 200³ f32",
        launch=lambda: grouped_matmul_kernel[(programs,)](
            da, db, dc, dt, len(sizes), programs, BLOCK_M=32, BLOCK_N=32, BLOCK_K=32
        ),
        result=lambda: device.get(dc),
        numpy=lambda: products(np.float32),
        exact=lambda: products(np.float64),
        tolerance=1e-6,
    )


if __name__ == "__main__":
    main(case)
