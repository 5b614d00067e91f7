"""Reductions, scans and ops that rearrange tiles."""

import triton
import triton.language as tl
from kernels_case import Case


@triton.jit
def reductions(x, o, M: tl.constexpr, N: tl.constexpr):
    i, j = tl.arange(0, M), tl.arange(0, N)
    v = tl.load(x + i[:, None] * N + j[None, :])
    tl.store(o + i, tl.sum(v, 1) + tl.max(v, axis=1) + tl.argmin(v, axis=1))
    value, index = tl.max(v, axis=0, return_indices=True)
    tl.store(o + j, value + index + tl.sum(v) + tl.xor_sum(v.to(tl.int32), axis=0))


@triton.jit
def _welford(mean_a, var_a, n_a, mean_b, var_b, n_b):
    delta = mean_b - mean_a
    n = n_a + n_b
    return mean_a + delta * n_b / n, var_a + var_b + delta * delta * n_a * n_b / n, n


@triton.jit
def tuples(x, o, N: tl.constexpr):
    j = tl.arange(0, N)
    v = tl.load(x + j)
    mean, var, n = tl.reduce((v, v * 0, v * 0 + 1), 0, _welford)
    tl.store(o, mean + var + n)


@triton.jit
def _add(a, b):
    return a + b


@triton.jit
def _pair(a, b, c, d):
    return a * c, b * c + d


@triton.jit
def scans(x, o, M: tl.constexpr, N: tl.constexpr):
    i, j = tl.arange(0, M), tl.arange(0, N)
    at = i[:, None] * N + j[None, :]
    v = tl.load(x + at)
    a, b = tl.associative_scan((v, v + 1), 0, _pair)
    tl.store(o + at, tl.cumsum(v, 1) + tl.cumprod(v, 1, reverse=True) + tl.associative_scan(v, 1, _add) + a + b)


@triton.jit
def shapes(x, o, M: tl.constexpr, N: tl.constexpr):
    i, j = tl.arange(0, M), tl.arange(0, N)
    at = i[:, None] * N + j[None, :]
    v = tl.load(x + at)
    w = tl.trans(v).reshape(M, N) + tl.permute(v.reshape(2, M // 2, N), (1, 0, 2)).reshape(M, N)
    left, right = tl.split(tl.join(w, v))
    pairs = tl.interleave(left, right)
    tl.store(o + tl.arange(0, 2 * M * N), tl.ravel(pairs))
    c = tl.cat(tl.arange(0, N), tl.arange(0, N) + 1, can_reorder=True)
    tl.store(o + tl.arange(0, 2 * N), c.to(tl.float32) + tl.view(v, (M * N,)).sum())


@triton.jit
def gathers(x, k, o, M: tl.constexpr, N: tl.constexpr):
    i, j = tl.arange(0, M), tl.arange(0, N)
    at = i[:, None] * N + j[None, :]
    v = tl.load(x + at)
    tl.store(o + at, tl.gather(v, tl.load(k + at), axis=0) + tl.gather(v, tl.load(k + at), axis=1))
    h = tl.histogram(tl.load(k + j), 64)
    h += tl.histogram(tl.load(k + j), 64, mask=j < 7)
    tl.store(k + tl.arange(0, 64), h)


@triton.jit
def sorting(x, o, N: tl.constexpr):
    j = tl.arange(0, N)
    v = tl.load(x + j)
    tl.store(o + j, tl.sort(v) + tl.flip(v, 0) + tl.softmax(v))


@triton.jit
def softmax(x, o, stride, n, N: tl.constexpr):
    row = tl.program_id(0)
    j = tl.arange(0, N)
    v = tl.load(x + row * stride + j, mask=j < n, other=-float("inf"))
    v = tl.exp(v - tl.max(v, 0))
    tl.store(o + row * stride + j, v / tl.sum(v, 0), mask=j < n)


F32 = {"x": "*fp32", "o": "*fp32"}
MN = {"M": 32, "N": 64}
CASES = [
    Case("reductions", reductions, F32, MN),
    Case("tuples", tuples, F32, {"N": 1024}),
    Case("scans", scans, F32, MN),
    Case("shapes", shapes, F32, MN),
    Case("gathers", gathers, {"x": "*fp32", "k": "*i32", "o": "*fp32"}, MN),
    Case("sorting", sorting, F32, {"N": 64}),
    Case("softmax", softmax, {**F32, "stride": "i32", "n": "i32"}, {"N": 2048}, {"num_warps": 8}),
]
