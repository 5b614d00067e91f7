"""Inclusive prefix sum along the rows of a matrix."""

from __future__ import annotations

import numpy as np
from harness import Case, Device, main

import tritonx
import tritonx.language as tl


@tritonx.jit
def cumsum_kernel(x_ptr, y_ptr, n_cols, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    carry = tl.zeros([1], dtype=tl.float32)
    for start in range(0, n_cols, BLOCK):
        cols = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + row * n_cols + cols, mask=cols < n_cols, other=0.0)
        tl.store(y_ptr + row * n_cols + cols, tl.cumsum(x, axis=0) + carry, mask=cols < n_cols)
        carry += tl.sum(x, axis=0)


def case(device: Device, rng: np.random.Generator) -> Case:
    rows, cols = 2048, 3000
    x = rng.standard_normal((rows, cols), dtype=np.float32)
    dx, dy = device.put(x), device.empty((rows, cols), np.float32)
    return Case(
        title="cumulative sum",
        shapes=f"{rows}×{cols} f32",
        launch=lambda: cumsum_kernel[(rows,)](dx, dy, cols, BLOCK=1024),
        result=lambda: device.get(dy),
        numpy=lambda: np.cumsum(x, axis=1),
        exact=lambda: np.cumsum(x.astype(np.float64), axis=1),
        tolerance=1e-6,
    )


if __name__ == "__main__":
    main(case)
