"""Kernels of K lines in which values are used more than once: x = x + x, diamonds, in-place updates, selects, pointer
arithmetic, masks, loops, reductions, products, ... What walks their use graph as a tree takes 2^K steps."""

from __future__ import annotations

from typing import Any

import tritonx
import tritonx.language as tl
from tritonx.language.extra import libdevice


@tritonx.jit
def doubles(x_ptr, y_ptr, o_ptr, n, B: tl.constexpr, K: tl.constexpr):
    i = tl.arange(0, B)
    x = tl.load(x_ptr + i, mask=i < n)
    for _ in tl.static_range(K):
        x = x + x
    tl.store(o_ptr + i, x, mask=i < n)


@tritonx.jit
def in_place(x_ptr, y_ptr, o_ptr, n, B: tl.constexpr, K: tl.constexpr):
    i = tl.arange(0, B)
    x = tl.load(x_ptr + i, mask=i < n)
    y = tl.load(y_ptr + i, mask=i < n)
    for _ in tl.static_range(K):
        x = x * x - x * 0.5
    tl.store(y_ptr + i, x, mask=i < n)
    tl.store(o_ptr + i, x + y, mask=i < n)


@tritonx.jit
def diamonds(x_ptr, y_ptr, o_ptr, n, B: tl.constexpr, K: tl.constexpr):
    i = tl.arange(0, B)
    x = tl.load(x_ptr + i, mask=i < n)
    for _ in tl.static_range(K):
        a = x * 2.5
        b = x - 1.25
        x = a * b
    tl.store(o_ptr + i, x, mask=i < n)
    tl.store(y_ptr + i, tl.sum(x) + x, mask=i < n)


@tritonx.jit
def carried(x_ptr, y_ptr, o_ptr, n, B: tl.constexpr, K: tl.constexpr):
    i = tl.arange(0, B)
    x = tl.load(x_ptr + i, mask=i < n)
    y = x
    for k in range(n):
        for _ in tl.static_range(K):
            x, y = y * x, x - y * k
    tl.store(o_ptr + i, x, mask=i < n)
    tl.store(y_ptr + i, y, mask=i < n)


@tritonx.jit
def loops(x_ptr, y_ptr, o_ptr, n, B: tl.constexpr, K: tl.constexpr):
    i = tl.arange(0, B)
    x = tl.load(x_ptr + i, mask=i < n)
    y = x
    for _ in tl.static_range(K):
        for k in range(n):
            x, y = y * x, x - y * k
    tl.store(o_ptr + i, x, mask=i < n)
    tl.store(y_ptr + i, y, mask=i < n)


@tritonx.jit
def selects(x_ptr, y_ptr, o_ptr, n, B: tl.constexpr, K: tl.constexpr):
    i = tl.arange(0, B)
    x = tl.load(x_ptr + i, mask=i < n)
    for _ in tl.static_range(K):
        x = tl.where(x > 0, x - 1.0, x * 0.5)
    tl.store(o_ptr + i, x, mask=i < n)


@tritonx.jit
def pointers(x_ptr, y_ptr, o_ptr, n, B: tl.constexpr, K: tl.constexpr):
    i = tl.arange(0, B)
    p = x_ptr + i
    x = tl.load(p, mask=i < n)
    for k in tl.static_range(K):
        p = p + (n + k) * (i % (k + 2))
        x += tl.load(p, mask=i < n)
    tl.store(o_ptr + i, x, mask=i < n)


@tritonx.jit
def offsets(x_ptr, y_ptr, o_ptr, n, B: tl.constexpr, K: tl.constexpr):
    i = tl.arange(0, B)
    o = i
    for k in tl.static_range(K):
        o = (o * 3 + o) // (k + 2) + o % 7
    tl.store(o_ptr + o, tl.load(x_ptr + o, mask=o < n), mask=o < n)


@tritonx.jit
def masks(x_ptr, y_ptr, o_ptr, n, B: tl.constexpr, K: tl.constexpr):
    i = tl.arange(0, B)
    m = i < n
    for k in tl.static_range(K):
        m = (m & (i > k)) | (m ^ (i == k))
    tl.store(o_ptr + i, tl.load(x_ptr + i, mask=m), mask=m)


@tritonx.jit
def scalars(x_ptr, y_ptr, o_ptr, n, B: tl.constexpr, K: tl.constexpr):
    s = n
    t = tl.load(x_ptr)
    for _ in tl.static_range(K):
        s = s * s + s
        t = t * t - t
    tl.store(o_ptr + (s % 16), t)


@tritonx.jit
def reductions(x_ptr, y_ptr, o_ptr, n, B: tl.constexpr, K: tl.constexpr):
    i = tl.arange(0, B)
    x = tl.load(x_ptr + i, mask=i < n)
    for _ in tl.static_range(K):
        x = x - tl.sum(x * x) * tl.max(x)
    tl.store(o_ptr + i, x, mask=i < n)


@tritonx.jit
def updates(x_ptr, y_ptr, o_ptr, n, B: tl.constexpr, K: tl.constexpr):
    i = tl.arange(0, B)
    x = tl.load(x_ptr + i, mask=i < n)
    for k in tl.static_range(K):
        x = x * tl.load(y_ptr + k * n + i, mask=i < n)
        tl.store(y_ptr + k * n + i, x, mask=i < n)
    tl.store(o_ptr + i, x, mask=i < n)


@tritonx.jit
def branches(x_ptr, y_ptr, o_ptr, n, B: tl.constexpr, K: tl.constexpr):
    i = tl.arange(0, B)
    x = tl.load(x_ptr + i, mask=i < n)
    for k in tl.static_range(K):
        if n > k:
            x = x * x
        else:
            x = x - 1.0
    tl.store(o_ptr + i, x, mask=i < n)


@tritonx.jit
def transposed(x_ptr, y_ptr, o_ptr, n, B: tl.constexpr, K: tl.constexpr):
    i = tl.arange(0, 16)[:, None] * 16 + tl.arange(0, 16)[None, :]
    x = tl.load(x_ptr + i, mask=i < n)
    for _ in tl.static_range(K):
        x = tl.trans(x) * 0.5 + x
    tl.store(o_ptr + i, x, mask=i < n)


@tritonx.jit
def views(x_ptr, y_ptr, o_ptr, n, B: tl.constexpr, K: tl.constexpr):
    i = tl.arange(0, 16)[:, None] * 16 + tl.arange(0, 16)[None, :]
    x = tl.load(x_ptr + i, mask=i < n)
    for _ in tl.static_range(K):
        x = tl.reshape(tl.reshape(x, [256]) * 2.5, [16, 16]) - x
        x = x + tl.sum(x, 1)[:, None] * tl.max(x, 0)[None, :]
    tl.store(o_ptr + i, x, mask=i < n)


@tritonx.jit
def scans(x_ptr, y_ptr, o_ptr, n, B: tl.constexpr, K: tl.constexpr):
    i = tl.arange(0, B)
    x = tl.load(x_ptr + i, mask=i < n)
    for _ in tl.static_range(K):
        x = tl.cumsum(x) - x
    tl.store(o_ptr + i, x, mask=i < n)


@tritonx.jit
def products(x_ptr, y_ptr, o_ptr, n, B: tl.constexpr, K: tl.constexpr):
    i = tl.arange(0, 32)[:, None] * 32 + tl.arange(0, 32)[None, :]
    x = tl.load(x_ptr + i).to(tl.float16)
    for _ in tl.static_range(K):
        x = tl.dot(x, x).to(tl.float16) + x
    tl.store(o_ptr + i, x)


@tritonx.jit
def sums_of_products(x_ptr, y_ptr, o_ptr, n, B: tl.constexpr, K: tl.constexpr):
    i = tl.arange(0, 32)[:, None] * 32 + tl.arange(0, 32)[None, :]
    a = tl.zeros([32, 32], tl.float32)
    for j in range(n):
        x = tl.load(x_ptr + j * 1024 + i).to(tl.float16)
        for _ in tl.static_range(K):
            a = tl.dot(x, x, a)
    tl.store(o_ptr + i, a)


@tritonx.jit
def library(x_ptr, y_ptr, o_ptr, n, B: tl.constexpr, K: tl.constexpr):
    i = tl.arange(0, B)
    x = tl.load(x_ptr + i, mask=i < n)
    y = tl.load(y_ptr + i, mask=i < n)
    for _ in tl.static_range(K):
        x = libdevice.tanh(x) + libdevice.log1p(x) * libdevice.erf(x)
    tl.store(y_ptr + i, x, mask=i < n)
    tl.store(o_ptr + i, x + y, mask=i < n)


@tritonx.jit
def atomics(x_ptr, y_ptr, o_ptr, n, B: tl.constexpr, K: tl.constexpr):
    i = tl.arange(0, B)
    x = tl.load(x_ptr + i, mask=i < n)
    for _ in tl.static_range(K):
        x = tl.atomic_add(y_ptr + i, x * x, mask=i < n)
    tl.store(o_ptr + i, x, mask=i < n)


@tritonx.jit
def steps(x_ptr, y_ptr, o_ptr, n, B: tl.constexpr, K: tl.constexpr):
    i = tl.arange(0, B)
    p = x_ptr + i
    q = y_ptr + i
    x = tl.zeros([B], tl.float32)
    for _ in range(n):
        for _k in tl.static_range(K):
            x += tl.load(p) * tl.load(q)
            p += n
            q += B
    tl.store(o_ptr + i, x)


KERNELS: dict[str, Any] = {name: f for name, f in globals().items() if isinstance(f, tritonx.JITFunction)}
