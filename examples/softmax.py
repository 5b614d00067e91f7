"""Row-wise softmax in one pass over memory: a row stays on chip between the maximum, the exponential and the sum."""

from __future__ import annotations

import numpy as np
from harness import Case, Device, main

import tritonx
import tritonx.language as tl


@tritonx.jit
def softmax_kernel(out_ptr, in_ptr, in_stride, out_stride, n_cols, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    mask = cols < n_cols
    x = tl.load(in_ptr + row * in_stride + cols, mask=mask, other=-float("inf"))
    x = x - tl.max(x, axis=0)
    numerator = tl.exp(x)
    tl.store(out_ptr + row * out_stride + cols, numerator / tl.sum(numerator, axis=0), mask=mask)


def softmax(x: np.ndarray) -> np.ndarray:
    e = np.exp(x - x.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


def case(device: Device, rng: np.random.Generator) -> Case:
    rows, cols = 4096, 1000
    x = rng.standard_normal((rows, cols), dtype=np.float32)
    dx, dy = device.put(x), device.empty((rows, cols), np.float32)
    block = tritonx.next_power_of_2(cols)
    return Case(
        title="fused softmax",
        shapes=f"{rows}×{cols} f32",
        launch=lambda: softmax_kernel[(rows,)](dy, dx, cols, cols, cols, BLOCK=block),
        result=lambda: device.get(dy),
        numpy=lambda: softmax(x),
        exact=lambda: softmax(x.astype(np.float64)),
        tolerance=1e-6,
    )


if __name__ == "__main__":
    main(case)
