"""Loads and stores with every modifier, atomics, descriptors, block pointers."""

import triton
import triton.language as tl
from kernels_case import Case


@triton.jit
def modifiers(x, o, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    a = tl.load(x + i, cache_modifier=".ca", eviction_policy="evict_first")
    b = tl.load(x + i, mask=i < n, cache_modifier=".cg", eviction_policy="evict_last", volatile=True)
    c = tl.load(x + i, cache_modifier=".cv")
    tl.store(o + i, a + b + c, cache_modifier=".cs", eviction_policy="evict_first")
    tl.store(o + i + 1, a, mask=i < n, cache_modifier=".wt")
    tl.store(o + n, tl.load(x + n) + 1.0)


@triton.jit
def atomics(x, k, h, o, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    v = tl.load(x + i)
    a = tl.atomic_add(o + i, v, mask=i < 7, sem="relaxed")
    a += tl.atomic_xchg(o + i, v, scope="cta")
    a += tl.atomic_max(o + i, v)
    n = tl.load(k + i)
    b = tl.atomic_and(k + i, n) + tl.atomic_or(k + i, n, sem="acquire") + tl.atomic_xor(k + i, n, sem="release")
    b += tl.atomic_max(k + i, n) + tl.atomic_min(k + i, n, scope="sys")
    b += tl.atomic_cas(k + i, n, n + 1) + tl.atomic_cas(k, 0, 1, sem="acquire", scope="sys")
    tl.atomic_add(k, 1)
    tl.atomic_add(h + i, v.to(tl.float16))
    tl.store(o + i, a + b)


@triton.jit
def descriptors(x, o, m, n, M: tl.constexpr, N: tl.constexpr):
    source = tl.make_tensor_descriptor(x, shape=[m, n], strides=[n, 1], block_shape=[M, N])
    target = tl.make_tensor_descriptor(o, shape=[m, n], strides=[n, 1], block_shape=[M, N], padding_option="nan")
    row, column = tl.program_id(0) * M, tl.program_id(1) * N
    v = source.load([row, column])
    target.store([row, column], v * 2)
    target.atomic_add([row, column], v)


@triton.jit
def descriptor_reductions(x, o, m, n, M: tl.constexpr, N: tl.constexpr):
    source = tl.make_tensor_descriptor(x, shape=[m, n], strides=[n, 1], block_shape=[M, N])
    target = tl.make_tensor_descriptor(o, shape=[m, n], strides=[n, 1], block_shape=[M, N])
    v = source.load([0, 0])
    target.atomic_and([0, 0], v)
    target.atomic_or([0, 0], v)
    target.atomic_xor([0, 0], v)
    target.atomic_min([0, 0], v)
    target.atomic_max([0, 0], v)


@triton.jit
def descriptor_rows(x, o, k, m, n, R: tl.constexpr, N: tl.constexpr):
    source = tl.make_tensor_descriptor(x, shape=[m, n], strides=[n, 1], block_shape=[1, N])
    rows = tl.load(k + tl.arange(0, R))
    v = source.gather(rows, 0)
    target = tl.make_tensor_descriptor(o, shape=[m, n], strides=[n, 1], block_shape=[1, N])
    target.scatter(v, rows, N)


@triton.jit
def descriptor_matmul(a, b, c, m, n, k, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    da = tl.make_tensor_descriptor(a, shape=[m, k], strides=[k, 1], block_shape=[M, K])
    db = tl.make_tensor_descriptor(b, shape=[n, k], strides=[k, 1], block_shape=[N, K])
    dc = tl.make_tensor_descriptor(c, shape=[m, n], strides=[n, 1], block_shape=[M, N])
    acc = tl.zeros((M, N), tl.float32)
    for r in tl.range(0, k, K, num_stages=3, warp_specialize=True):
        acc = tl.dot(da.load([tl.program_id(0) * M, r]), db.load([tl.program_id(1) * N, r]).T, acc)
    dc.store([tl.program_id(0) * M, tl.program_id(1) * N], acc.to(tl.float16))


@triton.jit
def blocks(x, o, m, n, s, M: tl.constexpr, N: tl.constexpr):
    source = tl.make_block_ptr(x, (m, n), (s, 1), (tl.program_id(0) * M, 0), (M, N), (1, 0))
    target = tl.make_block_ptr(o, (m, n), (s, 1), (tl.program_id(0) * M, 0), (M, N), (1, 0))
    for _ in range(0, n, N):
        tl.store(target, tl.load(source, boundary_check=(0, 1), padding_option="zero"), boundary_check=(1,))
        source = tl.advance(source, (0, N))
        target = tl.advance(target, (0, N))


@triton.jit
def hints(x, o, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    i = tl.max_contiguous(tl.multiple_of(i, BLOCK), BLOCK)
    tl.assume(n > 0)
    n = tl.multiple_of(n, 8)
    j = tl.max_constancy(tl.load(x + i // 4), 4)
    tl.store(o + i, j, mask=i < n)


@triton.jit
def transposing(x, o, M: tl.constexpr, N: tl.constexpr):
    i, j = tl.arange(0, M), tl.arange(0, N)
    tl.store(o + j[:, None] * M + i[None, :], tl.load(x + i[:, None] * N + j[None, :]).T)


F16 = {"x": "*fp16", "o": "*fp16", "m": "i32", "n": "i32"}
CASES = [
    Case("modifiers", modifiers, {"x": "*fp32", "o": "*fp32", "n": "i32"}, {"BLOCK": 256}),
    Case("atomics", atomics, {"x": "*fp32", "k": "*i32", "h": "*fp16", "o": "*fp32"}, {"BLOCK": 256}),
    Case("descriptors", descriptors, F16, {"M": 32, "N": 64}),
    Case("descriptor_reductions", descriptor_reductions, {**F16, "x": "*i32", "o": "*i32"}, {"M": 32, "N": 64}),
    Case("descriptor_rows", descriptor_rows, {**F16, "k": "*i32"}, {"R": 32, "N": 64}, {}, ("hip", "cuda:80")),
    Case(
        "descriptor_matmul",
        descriptor_matmul,
        {"a": "*fp16", "b": "*fp16", "c": "*fp16", "m": "i32", "n": "i32", "k": "i32"},
        {"M": 128, "N": 128, "K": 64},
        {"num_warps": 4},
    ),
    Case("blocks", blocks, {**F16, "s": "i64"}, {"M": 32, "N": 64}),
    Case("hints", hints, {"x": "*fp32", "o": "*fp32", "n": "i32"}, {"BLOCK": 256}),
    Case("transposing", transposing, {"x": "*fp16", "o": "*fp16"}, {"M": 64, "N": 64}),
]
