"""Kernels that reduce, scan or normalise rows and columns."""

import tritonx as triton
import tritonx.language as tl


@triton.jit
def softmax(x_ptr, out_ptr, n_cols, stride_x, stride_out, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    mask = cols < n_cols
    x = tl.load(x_ptr + row * stride_x + cols, mask=mask, other=-float("inf"))
    e = tl.exp(x - tl.max(x, axis=0))
    tl.store(out_ptr + row * stride_out + cols, e / tl.sum(e, axis=0), mask=mask)


@triton.jit
def layer_norm(x_ptr, w_ptr, b_ptr, y_ptr, N, stride_x, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    x_row = x_ptr + row * stride_x
    y_row = y_ptr + row * stride_x
    total = tl.zeros((BLOCK,), dtype=tl.float32)
    for start in range(0, N, BLOCK):
        cols = start + tl.arange(0, BLOCK)
        total += tl.load(x_row + cols, mask=cols < N, other=0.0).to(tl.float32)
    mean = tl.sum(total, axis=0) / N
    square = tl.zeros((BLOCK,), dtype=tl.float32)
    for start in range(0, N, BLOCK):
        cols = start + tl.arange(0, BLOCK)
        x = tl.load(x_row + cols, mask=cols < N, other=0.0).to(tl.float32)
        x = tl.where(cols < N, x - mean, 0.0)
        square += x * x
    rstd = 1 / tl.sqrt(tl.sum(square, axis=0) / N + eps)
    for start in range(0, N, BLOCK):
        cols = start + tl.arange(0, BLOCK)
        mask = cols < N
        w = tl.load(w_ptr + cols, mask=mask)
        b = tl.load(b_ptr + cols, mask=mask)
        x = tl.load(x_row + cols, mask=mask, other=0.0).to(tl.float32)
        tl.store(y_row + cols, ((x - mean) * rstd * w + b).to(tl.float16), mask=mask)


@triton.jit
def rms_norm(x_ptr, w_ptr, y_ptr, n_rows, n_cols, stride_x, stride_y, eps, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    rows = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    cols = tl.arange(0, BLOCK)
    mask = (rows[:, None] < n_rows) & (cols[None, :] < n_cols)
    x = tl.load(x_ptr + rows[:, None] * stride_x + cols[None, :], mask=mask, other=0.0).to(tl.float32)
    mean = tl.sum(x * x, axis=1)[:, None] / n_cols
    w = tl.load(w_ptr + cols, mask=cols < n_cols, other=0.0).to(tl.float32)
    y = x * (1 / tl.sqrt(mean + eps)) * w[None, :]
    tl.store(y_ptr + rows[:, None] * stride_y + cols[None, :], y.to(tl.float16), mask=mask)


@triton.jit
def cross_entropy(x_ptr, label_ptr, loss_ptr, n_cols, stride_x, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    label = tl.load(label_ptr + row)
    top = float("-inf")
    total = 0.0
    for start in range(0, n_cols, BLOCK):
        cols = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + row * stride_x + cols, mask=cols < n_cols, other=float("-inf")).to(tl.float32)
        above = tl.maximum(top, tl.max(x, axis=0))
        total = total * tl.exp(top - above) + tl.sum(tl.exp(x - above), axis=0)
        top = above
    picked = tl.load(x_ptr + row * stride_x + label).to(tl.float32)
    tl.store(loss_ptr + row, top + tl.log(total) - picked)


@triton.jit
def column_sums(x_ptr, out_ptr, M, N, stride_x, BM: tl.constexpr, BN: tl.constexpr):
    cols = tl.program_id(0) * BN + tl.arange(0, BN)
    total = tl.zeros((BM, BN), dtype=tl.float32)
    for start in range(0, M, BM):
        rows = start + tl.arange(0, BM)
        mask = (rows[:, None] < M) & (cols[None, :] < N)
        total += tl.load(x_ptr + rows[:, None] * stride_x + cols[None, :], mask=mask, other=0.0).to(tl.float32)
    tl.store(out_ptr + cols, tl.sum(total, axis=0), mask=cols < N)


@triton.jit
def row_maxima(x_ptr, value_ptr, index_ptr, M, N, stride_x, BM: tl.constexpr, BN: tl.constexpr):
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    cols = tl.arange(0, BN)
    x = tl.load(
        x_ptr + rows[:, None] * stride_x + cols[None, :],
        mask=(rows[:, None] < M) & (cols[None, :] < N), other=float("-inf"),
    )  # fmt: skip
    value = tl.max(x, axis=1)
    index = tl.min(tl.where(x == value[:, None], cols[None, :], BN), axis=1)
    tl.store(value_ptr + rows, value, mask=rows < M)
    tl.store(index_ptr + rows, index.to(tl.int32), mask=rows < M)


@triton.jit
def running_sums(x_ptr, out_ptr, M, N, stride_x, stride_out, BM: tl.constexpr, BN: tl.constexpr):
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    cols = tl.arange(0, BN)
    mask = (rows[:, None] < M) & (cols[None, :] < N)
    x = tl.load(x_ptr + rows[:, None] * stride_x + cols[None, :], mask=mask, other=0.0)
    tl.store(out_ptr + rows[:, None] * stride_out + cols[None, :], tl.cumsum(x, axis=1), mask=mask)


@triton.jit
def top_values(x_ptr, out_ptr, N, stride_x, BLOCK: tl.constexpr, COUNT: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * stride_x + cols, mask=cols < N, other=float("-inf"))
    for i in range(COUNT):
        top = tl.max(x, axis=0)
        tl.store(out_ptr + row * COUNT + i, top)
        x = tl.where(x == top, float("-inf"), x)


@triton.jit
def quantise_rows(x_ptr, out_ptr, scale_ptr, M, N, stride_x, stride_out, BM: tl.constexpr, BN: tl.constexpr):
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    cols = tl.arange(0, BN)
    mask = (rows[:, None] < M) & (cols[None, :] < N)
    x = tl.load(x_ptr + rows[:, None] * stride_x + cols[None, :], mask=mask, other=0.0).to(tl.float32)
    scale = tl.max(tl.abs(x), axis=1) / 127.0 + 1e-8
    y = x / scale[:, None]
    y = tl.where(y >= 0, y + 0.5, y - 0.5)
    tl.store(out_ptr + rows[:, None] * stride_out + cols[None, :], y.to(tl.int8), mask=mask)
    tl.store(scale_ptr + rows, scale, mask=rows < M)
