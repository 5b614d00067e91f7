"""Layer normalisation with weight and bias; rows may be longer than a block, so the statistics are gathered in a
loop.
"""

from __future__ import annotations

import numpy as np
from harness import Case, Device, main

import tritonx
import tritonx.language as tl


@tritonx.jit
def layer_norm_kernel(x_ptr, y_ptr, w_ptr, b_ptr, stride, n_cols, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    x_ptr += row * stride
    y_ptr += row * stride
    total = tl.zeros([BLOCK], dtype=tl.float32)
    for start in range(0, n_cols, BLOCK):
        cols = start + tl.arange(0, BLOCK)
        total += tl.load(x_ptr + cols, mask=cols < n_cols, other=0.0).to(tl.float32)
    mean = tl.sum(total, axis=0) / n_cols
    squares = tl.zeros([BLOCK], dtype=tl.float32)
    for start in range(0, n_cols, BLOCK):
        cols = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + cols, mask=cols < n_cols, other=0.0).to(tl.float32)
        centred = tl.where(cols < n_cols, x - mean, 0.0)
        squares += centred * centred
    rstd = tl.rsqrt(tl.sum(squares, axis=0) / n_cols + eps)
    for start in range(0, n_cols, BLOCK):
        cols = start + tl.arange(0, BLOCK)
        mask = cols < n_cols
        x = tl.load(x_ptr + cols, mask=mask, other=0.0).to(tl.float32)
        w = tl.load(w_ptr + cols, mask=mask)
        b = tl.load(b_ptr + cols, mask=mask)
        tl.store(y_ptr + cols, (x - mean) * rstd * w + b, mask=mask)


def layer_norm(x: np.ndarray, w: np.ndarray, b: np.ndarray, eps: float) -> np.ndarray:
    centred = x - x.mean(axis=1, keepdims=True)
    variance = (centred * centred).mean(axis=1, keepdims=True)
    return centred / np.sqrt(variance + x.dtype.type(eps)) * w + b


def case(device: Device, rng: np.random.Generator) -> Case:
    rows, cols, eps = 2048, 3000, 1e-5
    x = rng.standard_normal((rows, cols), dtype=np.float32)
    w, b = (rng.standard_normal(cols, dtype=np.float32) for _ in range(2))
    dx, dw, db, dy = device.put(x), device.put(w), device.put(b), device.empty((rows, cols), np.float32)
    return Case(
        title="layer norm",
        shapes=f"{rows}×{cols} f32",
        launch=lambda: layer_norm_kernel[(rows,)](dx, dy, dw, db, cols, cols, eps, BLOCK=1024),
        result=lambda: device.get(dy),
        numpy=lambda: layer_norm(x, w, b, eps),
        exact=lambda: layer_norm(x.astype(np.float64), w.astype(np.float64), b.astype(np.float64), eps),
        tolerance=1e-6,
    )


if __name__ == "__main__":
    main(case)
