"""Matrix products of every kind, with and without a loop to pipeline."""

import triton
import triton.language as tl
from kernels_case import Case


@triton.jit
def matmul(
    a,
    b,
    c,
    m,
    n,
    k,
    sa,
    sb,
    sc,
    M: tl.constexpr,
    N: tl.constexpr,
    K: tl.constexpr,
    PRECISION: tl.constexpr,
    ACC: tl.constexpr,
):
    i = tl.program_id(0) * M + tl.arange(0, M)
    j = tl.program_id(1) * N + tl.arange(0, N)
    r = tl.arange(0, K)
    pa = a + i[:, None] * sa + r[None, :]
    pb = b + r[:, None] * sb + j[None, :]
    acc = tl.zeros((M, N), ACC)
    for step in range(tl.cdiv(k, K)):
        x = tl.load(pa, mask=r[None, :] < k - step * K, other=0.0)
        y = tl.load(pb, mask=r[:, None] < k - step * K, other=0.0)
        acc = tl.dot(x, y, acc, input_precision=PRECISION, out_dtype=ACC)
        pa += K
        pb += K * sb
    tl.store(c + i[:, None] * sc + j[None, :], acc, mask=(i[:, None] < m) & (j[None, :] < n))


@triton.jit
def plain_dot(a, b, c, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr, ACC: tl.constexpr):
    i, j, r = tl.arange(0, M), tl.arange(0, N), tl.arange(0, K)
    x = tl.load(a + i[:, None] * K + r[None, :])
    y = tl.load(b + r[:, None] * N + j[None, :])
    tl.store(c + i[:, None] * N + j[None, :], tl.dot(x, y, out_dtype=ACC).to(c.dtype.element_ty))


@triton.jit
def batched_dot(a, b, c, B: tl.constexpr, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    g, i, j, r = tl.arange(0, B), tl.arange(0, M), tl.arange(0, N), tl.arange(0, K)
    x = tl.load(a + g[:, None, None] * M * K + i[None, :, None] * K + r[None, None, :])
    y = tl.load(b + g[:, None, None] * K * N + r[None, :, None] * N + j[None, None, :])
    tl.store(c + g[:, None, None] * M * N + i[None, :, None] * N + j[None, None, :], tl.dot(x, y))


@triton.jit
def scaled_dot(a, sa, b, sb, c, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr, FA: tl.constexpr, FB: tl.constexpr):
    PA: tl.constexpr = 2 if FA == "e2m1" else 1
    PB: tl.constexpr = 2 if FB == "e2m1" else 1
    i, j = tl.arange(0, M), tl.arange(0, N)
    x = tl.load(a + i[:, None] * K // PA + tl.arange(0, K // PA)[None, :])
    y = tl.load(b + tl.arange(0, K // PB)[:, None] * N + j[None, :])
    s = tl.load(sa + i[:, None] * (K // 32) + tl.arange(0, K // 32)[None, :])
    t = tl.load(sb + j[:, None] * (K // 32) + tl.arange(0, K // 32)[None, :])
    tl.store(c + i[:, None] * N + j[None, :], tl.dot_scaled(x, s, FA, y, t, FB) + tl.dot_scaled(x, s, FA, y, None, FB))


@triton.jit
def attention(q, k, v, o, n, scale, M: tl.constexpr, N: tl.constexpr, D: tl.constexpr):
    i, d = tl.program_id(0) * M + tl.arange(0, M), tl.arange(0, D)
    query = tl.load(q + i[:, None] * D + d[None, :])
    best = tl.full((M,), -float("inf"), tl.float32)
    total = tl.zeros((M,), tl.float32)
    acc = tl.zeros((M, D), tl.float32)
    for start in tl.range(0, n, N, num_stages=3):
        j = start + tl.arange(0, N)
        key = tl.load(k + j[None, :] * D + d[:, None])
        scores = tl.dot(query, key) * scale
        scores = tl.where(i[:, None] >= j[None, :], scores, -1.0e6)
        new = tl.maximum(best, tl.max(scores, 1))
        p = tl.exp2(scores - new[:, None])
        alpha = tl.exp2(best - new)
        total = total * alpha + tl.sum(p, 1)
        acc = tl.dot(p.to(tl.float16), tl.load(v + j[:, None] * D + d[None, :]), acc * alpha[:, None])
        best = new
    tl.store(o + i[:, None] * D + d[None, :], acc / total[:, None])


def _matmul(name, dtype, acc, precision="ieee", tile=(128, 128, 32), targets=(), **options):
    signature = {
        "a": f"*{dtype}",
        "b": f"*{dtype}",
        "c": f"*{'i32' if acc is tl.int32 else 'fp64' if acc is tl.float64 else 'fp32'}",
    }
    signature |= dict.fromkeys(("m", "n", "k", "sa", "sb", "sc"), "i32")
    constants = {"M": tile[0], "N": tile[1], "K": tile[2], "PRECISION": precision, "ACC": acc}
    return Case(name, matmul, signature, constants, options, targets)


MNK = {"M": 64, "N": 64, "K": 64}
CASES = [
    _matmul("matmul_f16", "fp16", tl.float32, num_stages=3),
    _matmul("matmul_bf16", "bf16", tl.float32, num_stages=4, num_warps=8),
    _matmul("matmul_f32", "fp32", tl.float32, num_stages=2),
    _matmul("matmul_tf32", "fp32", tl.float32, "tf32", num_stages=3, targets=("cuda", "hip:gfx942")),
    _matmul("matmul_tf32x3", "fp32", tl.float32, "tf32x3", targets=("cuda",)),
    _matmul("matmul_bf16x3", "fp32", tl.float32, "bf16x3", targets=("hip:gfx942",)),
    _matmul("matmul_i8", "i8", tl.int32, tile=(128, 128, 64), num_stages=3),
    _matmul("matmul_f8", "fp8e4nv", tl.float32, tile=(128, 128, 64), num_stages=3, targets=("cuda:90",)),
    _matmul("matmul_f8e5", "fp8e5", tl.float32, tile=(128, 128, 64), num_stages=3),
    _matmul("matmul_f8b8", "fp8e4b8", tl.float32, tile=(128, 128, 64), num_stages=3, targets=("hip:gfx942",)),
    _matmul("matmul_f64", "fp64", tl.float64, tile=(64, 64, 16)),
    _matmul("matmul_cluster", "fp16", tl.float32, num_ctas=2, targets=("cuda:90",)),
    Case("dot_f16_acc", plain_dot, {"a": "*fp16", "b": "*fp16", "c": "*fp16"}, {**MNK, "ACC": tl.float16}),
    Case(
        "dot_small",
        plain_dot,
        {"a": "*fp16", "b": "*fp16", "c": "*fp32"},
        {"M": 16, "N": 16, "K": 16, "ACC": tl.float32},
    ),
    Case("dot_batched", batched_dot, {"a": "*fp16", "b": "*fp16", "c": "*fp32"}, {"B": 4, "M": 32, "N": 32, "K": 32}),
    Case(
        "dot_scaled_mx8",
        scaled_dot,
        {"a": "*fp8e5", "sa": "*u8", "b": "*fp8e5", "sb": "*u8", "c": "*fp32"},
        {"M": 64, "N": 64, "K": 128, "FA": "e5m2", "FB": "e5m2"},
    ),
    Case(
        "dot_scaled_mx4",
        scaled_dot,
        {"a": "*u8", "sa": "*u8", "b": "*bf16", "sb": "*u8", "c": "*fp32"},
        {"M": 64, "N": 64, "K": 128, "FA": "e2m1", "FB": "bf16"},
    ),
    Case(
        "attention",
        attention,
        {"q": "*fp16", "k": "*fp16", "v": "*fp16", "o": "*fp32", "n": "i32", "scale": "fp32"},
        {"M": 64, "N": 64, "D": 64},
    ),
]
