"""Kernels that move and combine elements."""

import tritonx as triton
import tritonx.language as tl


@triton.jit
def scaled_add(x_ptr, y_ptr, out_ptr, alpha, n, BLOCK: tl.constexpr):
    pid = tl.program_id(0)
    offsets = pid * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    x = tl.load(x_ptr + offsets, mask=mask, other=0.0)
    y = tl.load(y_ptr + offsets, mask=mask, other=0.0)
    tl.store(out_ptr + offsets, x * alpha + y, mask=mask)


@triton.jit
def rotary(x_ptr, cos_ptr, sin_ptr, out_ptr, L, H, stride_l, stride_h, HALF: tl.constexpr, HEADS: tl.constexpr):
    place = tl.program_id(0)
    heads = tl.program_id(1) * HEADS + tl.arange(0, HEADS)
    dims = tl.arange(0, HALF)
    cos = tl.load(cos_ptr + place % L * HALF + dims)
    sin = tl.load(sin_ptr + place % L * HALF + dims)
    offsets = place * stride_l + heads[:, None] * stride_h + dims[None, :]
    mask = heads[:, None] < H
    a = tl.load(x_ptr + offsets, mask=mask, other=0.0)
    b = tl.load(x_ptr + offsets + HALF, mask=mask, other=0.0)
    tl.store(out_ptr + offsets, (a * cos[None, :] - b * sin[None, :]).to(tl.float16), mask=mask)
    tl.store(out_ptr + offsets + HALF, (b * cos[None, :] + a * sin[None, :]).to(tl.float16), mask=mask)


@triton.jit
def sigmoid(x):
    return 1.0 / (1.0 + tl.exp(-x))


@triton.jit
def gated(x_ptr, out_ptr, n, width, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    row = offsets // width
    col = offsets % width
    gate = tl.load(x_ptr + row * (2 * width) + col, mask=mask, other=0.0).to(tl.float32)
    up = tl.load(x_ptr + row * (2 * width) + width + col, mask=mask, other=0.0).to(tl.float32)
    tl.store(out_ptr + offsets, (gate * sigmoid(gate) * up).to(tl.float16), mask=mask)


@triton.jit
def embedding(ids_ptr, table_ptr, out_ptr, n_cols, stride_table, stride_out, BLOCK: tl.constexpr):
    token = tl.program_id(0)
    cols = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    row = tl.load(ids_ptr + token)
    x = tl.load(table_ptr + row * stride_table + cols, mask=cols < n_cols, other=0.0)
    tl.store(out_ptr + token * stride_out + cols, x, mask=cols < n_cols)


@triton.jit
def gather_rows(index_ptr, x_ptr, out_ptr, M, N, stride_x, stride_out, BM: tl.constexpr, BN: tl.constexpr):
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    cols = tl.program_id(1) * BN + tl.arange(0, BN)
    index = tl.load(index_ptr + rows, mask=rows < M, other=0)
    mask = (rows[:, None] < M) & (cols[None, :] < N)
    x = tl.load(x_ptr + index[:, None] * stride_x + cols[None, :], mask=mask, other=0.0)
    tl.store(out_ptr + rows[:, None] * stride_out + cols[None, :], x, mask=mask)


@triton.jit
def transpose(x_ptr, out_ptr, M, N, stride_xm, stride_xn, stride_on, stride_om, BM: tl.constexpr, BN: tl.constexpr):
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    cols = tl.program_id(1) * BN + tl.arange(0, BN)
    x = tl.load(
        x_ptr + rows[:, None] * stride_xm + cols[None, :] * stride_xn, mask=(rows[:, None] < M) & (cols[None, :] < N)
    )
    tl.store(
        out_ptr + cols[:, None] * stride_on + rows[None, :] * stride_om, tl.trans(x),
        mask=(cols[:, None] < N) & (rows[None, :] < M),
    )  # fmt: skip


@triton.jit
def stencil(x_ptr, out_ptr, M, N, stride_x, BM: tl.constexpr, BN: tl.constexpr):
    i = tl.program_id(0) * BM + tl.arange(0, BM)
    j = tl.program_id(1) * BN + tl.arange(0, BN)
    inside = (i[:, None] > 0) & (i[:, None] < M - 1) & (j[None, :] > 0) & (j[None, :] < N - 1)
    middle = x_ptr + i[:, None] * stride_x + j[None, :]
    above = tl.load(middle - stride_x, mask=inside, other=0.0)
    below = tl.load(middle + stride_x, mask=inside, other=0.0)
    left = tl.load(middle - 1, mask=inside, other=0.0)
    right = tl.load(middle + 1, mask=inside, other=0.0)
    tl.store(out_ptr + i[:, None] * stride_x + j[None, :], 0.25 * (above + below + left + right), mask=inside)


@triton.jit
def convolution(
    x_ptr, w_ptr, out_ptr, C, H, W, OH, OW, F, K, pixels, R: tl.constexpr, S: tl.constexpr,
    BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr,
):  # fmt: skip
    pixel = tl.program_id(0) * BM + tl.arange(0, BM)
    filters = tl.program_id(1) * BN + tl.arange(0, BN)
    image = pixel // (OH * OW)
    y = pixel // OW % OH
    x = pixel % OW
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for start in range(0, K, BK):
        k = start + tl.arange(0, BK)
        c = k % C
        r = k // C // S
        s = k // C % S
        address = ((image[:, None] * H + y[:, None] + r[None, :]) * W + x[:, None] + s[None, :]) * C + c[None, :]
        a = tl.load(x_ptr + address, mask=(pixel[:, None] < pixels) & (k[None, :] < K), other=0.0)
        b = tl.load(
            w_ptr + k[:, None] * F + filters[None, :], mask=(k[:, None] < K) & (filters[None, :] < F), other=0.0
        )
        acc = tl.dot(a, b, acc)
    mask = (pixel[:, None] < pixels) & (filters[None, :] < F)
    tl.store(out_ptr + pixel[:, None] * F + filters[None, :], acc.to(tl.float16), mask=mask)


@triton.jit
def histogram(x_ptr, counts_ptr, n, bins, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    x = tl.load(x_ptr + offsets, mask=mask, other=0)
    tl.atomic_add(counts_ptr + x % bins, 1, mask=mask)


@triton.jit
def copy_volume(x_ptr, out_ptr, n, D, E, stride_0, stride_1, stride_2, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    i = offsets // (D * E)
    j = offsets // E % D
    k = offsets % E
    x = tl.load(x_ptr + i * stride_0 + j * stride_1 + k * stride_2, mask=mask, other=0.0)
    tl.store(out_ptr + offsets, x, mask=mask)


@triton.jit
def add_bias(x_ptr, bias_ptr, out_ptr, n, width, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    x = tl.load(x_ptr + offsets, mask=mask, other=0.0)
    bias = tl.load(bias_ptr + offsets % width, mask=mask, other=0.0)
    y = tl.maximum(x + bias, 0.0)
    tl.store(out_ptr + offsets, y, mask=mask)
