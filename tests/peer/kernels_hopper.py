"""Kernels whose GPU IR is asynchronous on compute capability 9.0: pipelined products through pointers and descriptors,
persistent ones, clusters, partitions of warps, attention forward and backward, and copies of one to five dimensions."""

import triton
import triton.language as tl
from kernels_case import Case
from kernels_dot import matmul


@triton.jit
def product_of_blocks(
    a, b, c, k, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr, TURNED: tl.constexpr, ACC: tl.constexpr
):  # fmt: skip
    """C = A·B, or A·Bᵀ if `TURNED`, of blocks that host descriptors name."""
    row, column = tl.program_id(0) * M, tl.program_id(1) * N
    acc = tl.zeros((M, N), ACC)
    for start in range(0, k, K):
        x = a.load([row, start])
        if TURNED:
            acc = tl.dot(x, b.load([column, start]).T, acc, out_dtype=ACC)
        else:
            acc = tl.dot(x, b.load([start, column]), acc, out_dtype=ACC)
    c.store([row, column], acc.to(c.dtype))


@triton.jit
def product_device_descriptors(a, b, c, m, n, k, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    da = tl.make_tensor_descriptor(a, [m, k], [k, 1], [M, K])
    db = tl.make_tensor_descriptor(b, [n, k], [k, 1], [N, K])
    dc = tl.make_tensor_descriptor(c, [m, n], [n, 1], [M, N])
    row, column = tl.program_id(0) * M, tl.program_id(1) * N
    acc = tl.zeros((M, N), tl.float32)
    for start in range(0, k, K):
        acc = tl.dot(da.load([row, start]), db.load([column, start]).T, acc)
    dc.store([row, column], acc.to(tl.float16))


@triton.jit
def specialized_device_descriptors(a, b, c, m, n, k, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    """Two groups of warps use what a third, or all together, has made."""
    da = tl.make_tensor_descriptor(a, [m, k], [k, 1], [M, K])
    db = tl.make_tensor_descriptor(b, [n, k], [k, 1], [N, K])
    row, column = tl.program_id(0) * M, tl.program_id(1) * N
    acc = tl.zeros((M, N), tl.float32)
    for start in tl.range(0, k, K, warp_specialize=True):
        acc = tl.dot(da.load([row, start]), db.load([column, start]).T, acc)
    i, j = row + tl.arange(0, M), column + tl.arange(0, N)
    tl.store(c + i[:, None] * n + j[None, :], acc.to(tl.float16))


@triton.jit
def persistent_device_descriptors(
    a, b, c, m, n, k, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr, BLOCKS: tl.constexpr
):  # fmt: skip
    da = tl.make_tensor_descriptor(a, [m, k], [k, 1], [M, K])
    db = tl.make_tensor_descriptor(b, [n, k], [k, 1], [N, K])
    dc = tl.make_tensor_descriptor(c, [m, n], [n, 1], [M, N])
    columns = tl.cdiv(n, N)
    for tile in tl.range(tl.program_id(0), tl.cdiv(m, M) * columns, BLOCKS, flatten=True):
        row, column = tile // columns * M, tile % columns * N
        acc = tl.zeros((M, N), tl.float32)
        for start in range(0, k, K):
            acc = tl.dot(da.load([row, start]), db.load([column, start]).T, acc)
        dc.store([row, column], acc.to(tl.float16))


@triton.jit
def persistent_product(
    a, b, c, m, n, k, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr, BLOCKS: tl.constexpr,
    FLATTEN: tl.constexpr, SPECIALIZE: tl.constexpr,
):  # fmt: skip
    columns = tl.cdiv(n, N)
    tiles = tl.cdiv(m, M) * columns
    for tile in tl.range(tl.program_id(0), tiles, BLOCKS, flatten=FLATTEN, warp_specialize=SPECIALIZE):
        row, column = tile // columns * M, tile % columns * N
        acc = tl.zeros((M, N), tl.float32)
        for start in range(0, k, K):
            acc = tl.dot(a.load([row, start]), b.load([column, start]).T, acc)
        c.store([row, column], acc.to(c.dtype))


@triton.jit
def specialized_product(a, b, c, sc, k, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    row, column = tl.program_id(0) * M, tl.program_id(1) * N
    acc = tl.zeros((M, N), tl.float32)
    for start in tl.range(0, k, K, warp_specialize=True):
        acc = tl.dot(a.load([row, start]), b.load([column, start]).T, acc)
    i, j = row + tl.arange(0, M), column + tl.arange(0, N)
    tl.store(c + i[:, None] * sc + j[None, :], acc.to(tl.float16))


@triton.jit
def gathered_product(a, b, rows, c, k, sa, sb, sc, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    """The rows of A are named by an array, as in a mixture of experts."""
    i = tl.load(rows + tl.program_id(0) * M + tl.arange(0, M))
    j = tl.program_id(1) * N + tl.arange(0, N)
    r = tl.arange(0, K)
    acc = tl.zeros((M, N), tl.float32)
    for start in range(0, k, K):
        x = tl.load(a + i[:, None] * sa + (start + r)[None, :])
        y = tl.load(b + (start + r)[:, None] * sb + j[None, :])
        acc = tl.dot(x, y, acc)
    tl.store(c + (tl.program_id(0) * M + tl.arange(0, M))[:, None] * sc + j[None, :], acc.to(tl.float16))


@triton.jit
def two_products(a, b, c, d, k, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    """(A·B)·C: the second product takes the first from registers."""
    row, column = tl.program_id(0) * M, tl.program_id(1) * N
    acc = tl.zeros((M, N), tl.float32)
    for start in range(0, k, K):
        first = tl.dot(a.load([row, start]), b.load([start, 0]))
        acc = tl.dot(first.to(tl.float16), c.load([0, column]), acc)
    d.store([row, column], acc.to(d.dtype))


@triton.jit
def attention_of_blocks(
    q, k, v, o, n, scale, M: tl.constexpr, N: tl.constexpr, D: tl.constexpr, CAUSAL: tl.constexpr
):  # fmt: skip
    row = tl.program_id(0) * M
    i = row + tl.arange(0, M)
    query = q.load([row, 0])
    best = tl.full((M,), -float("inf"), tl.float32)
    total = tl.zeros((M,), tl.float32)
    acc = tl.zeros((M, D), tl.float32)
    end = tl.minimum(n, row + M) if CAUSAL else n
    for start in range(0, end, N):
        scores = tl.dot(query, k.load([start, 0]).T) * scale
        if CAUSAL:
            scores = tl.where(i[:, None] >= (start + tl.arange(0, N))[None, :], scores, -1.0e6)
        higher = tl.maximum(best, tl.max(scores, 1))
        p = tl.exp2(scores - higher[:, None])
        correction = tl.exp2(best - higher)
        total = total * correction + tl.sum(p, 1)
        acc = tl.dot(p.to(v.dtype), v.load([start, 0]), acc * correction[:, None])
        best = higher
    o.store([row, 0], (acc / total[:, None]).to(o.dtype))


@triton.jit
def attention_keys(
    q, k, v, go, gk, gv, lse, delta, n, scale, M: tl.constexpr, N: tl.constexpr, D: tl.constexpr
):  # fmt: skip
    """The gradients of keys and values of one block of keys."""
    column = tl.program_id(0) * N
    key, value = k.load([column, 0]), v.load([column, 0])
    dk = tl.zeros((N, D), tl.float32)
    dv = tl.zeros((N, D), tl.float32)
    for start in range(0, n, M):
        i = start + tl.arange(0, M)
        query, given = q.load([start, 0]), go.load([start, 0])
        p = tl.exp2(tl.dot(key, query.T) * scale - tl.load(lse + i)[None, :])
        dv = tl.dot(p.to(tl.float16), given, dv)
        ds = p * (tl.dot(value, given.T) - tl.load(delta + i)[None, :])
        dk = tl.dot(ds.to(tl.float16), query, dk)
    gk.store([column, 0], (dk * scale).to(gk.dtype))
    gv.store([column, 0], dv.to(gv.dtype))


@triton.jit
def attention_queries(
    q, k, v, go, gq, lse, delta, n, scale, M: tl.constexpr, N: tl.constexpr, D: tl.constexpr
):  # fmt: skip
    """The gradients of the queries of one block."""
    row = tl.program_id(0) * M
    i = row + tl.arange(0, M)
    query, given = q.load([row, 0]), go.load([row, 0])
    largest, correction = tl.load(lse + i), tl.load(delta + i)
    dq = tl.zeros((M, D), tl.float32)
    for start in range(0, n, N):
        key, value = k.load([start, 0]), v.load([start, 0])
        p = tl.exp2(tl.dot(query, key.T) * scale - largest[:, None])
        ds = p * (tl.dot(given, value.T) - correction[:, None])
        dq = tl.dot(ds.to(tl.float16), key, dq)
    gq.store([row, 0], (dq * scale).to(gq.dtype))


@triton.jit
def copy_blocks(source, target, RANK: tl.constexpr, KIND: tl.constexpr):
    if RANK == 1:
        at = [tl.program_id(0) * 256]
    elif RANK == 2:
        at = [tl.program_id(0) * 32, tl.program_id(1) * 64]
    elif RANK == 3:
        at = [tl.program_id(0) * 4, 8, tl.program_id(1) * 32]
    elif RANK == 4:
        at = [tl.program_id(0), 2, tl.program_id(1) * 4, 0]
    else:
        at = [tl.program_id(0), 0, tl.program_id(1) * 2, 4, 0]
    combine(target, at, source.load(at), KIND)


@triton.jit
def combine(target, at, block, KIND: tl.constexpr):
    if KIND == "store":
        target.store(at, block)
    elif KIND == "add":
        target.atomic_add(at, block)
    elif KIND == "min":
        target.atomic_min(at, block)
    elif KIND == "max":
        target.atomic_max(at, block)
    elif KIND == "and":
        target.atomic_and(at, block)
    elif KIND == "or":
        target.atomic_or(at, block)
    else:
        target.atomic_xor(at, block)


@triton.jit
def rows_of_described_blocks(
    source, target, n0, n1, n2, n3, n4, steps, RANK: tl.constexpr, KIND: tl.constexpr, STAGES: tl.constexpr,
    B0: tl.constexpr, B1: tl.constexpr, B2: tl.constexpr, B3: tl.constexpr, B4: tl.constexpr,
):  # fmt: skip
    """Blocks along the first dim, one after the other, from descriptors that are made of an address and extents."""
    first = tl.program_id(0) * steps
    if RANK == 1:
        x = tl.make_tensor_descriptor(source, [n0], [1], [B0])
        y = tl.make_tensor_descriptor(target, [n0], [1], [B0])
    elif RANK == 2:
        x = tl.make_tensor_descriptor(source, [n0, n1], [n1, 1], [B0, B1])
        y = tl.make_tensor_descriptor(target, [n0, n1], [n1, 1], [B0, B1])
    elif RANK == 3:
        x = tl.make_tensor_descriptor(source, [n0, n1, n2], [n1 * n2, n2, 1], [B0, B1, B2])
        y = tl.make_tensor_descriptor(target, [n0, n1, n2], [n1 * n2, n2, 1], [B0, B1, B2])
    elif RANK == 4:
        x = tl.make_tensor_descriptor(source, [n0, n1, n2, n3], [n1 * n2 * n3, n2 * n3, n3, 1], [B0, B1, B2, B3])
        y = tl.make_tensor_descriptor(target, [n0, n1, n2, n3], [n1 * n2 * n3, n2 * n3, n3, 1], [B0, B1, B2, B3])
    else:
        x = tl.make_tensor_descriptor(
            source, [n0, n1, n2, n3, n4], [n1 * n2 * n3 * n4, n2 * n3 * n4, n3 * n4, n4, 1], [B0, B1, B2, B3, B4]
        )
        y = tl.make_tensor_descriptor(
            target, [n0, n1, n2, n3, n4], [n1 * n2 * n3 * n4, n2 * n3 * n4, n3 * n4, n4, 1], [B0, B1, B2, B3, B4]
        )
    for step in tl.range(0, steps, num_stages=STAGES):
        start = (first + step) * B0
        if RANK == 1:
            at = [start]
        elif RANK == 2:
            at = [start, 0]
        elif RANK == 3:
            at = [start, 0, 0]
        elif RANK == 4:
            at = [start, 0, 0, 0]
        else:
            at = [start, 0, 0, 0, 0]
        combine(y, at, x.load(at), KIND)


@triton.jit
def groups_of_rows(source, target, starts, n, groups, KIND: tl.constexpr, B0: tl.constexpr, B1: tl.constexpr):
    """Of every group of rows one block, from descriptors that are made anew for each; persistent."""
    for group in tl.range(tl.program_id(0), groups, tl.num_programs(0)):
        first = tl.load(starts + group)
        rows = tl.load(starts + group + 1) - first
        at = first.to(tl.int64) * n
        x = tl.make_tensor_descriptor(source + at, [rows, n], [n, 1], [B0, B1])
        y = tl.make_tensor_descriptor(target + at, [rows, n], [n, 1], [B0, B1])
        combine(y, [0, 0], x.load([0, 0]), KIND)


def _blocks(name, dtype, acc=tl.float32, tile=(128, 128, 64), turned=True, out="fp16", **options):
    m, n, k = tile
    signature = {
        "a": f"tensordesc<{dtype}[{m}, {k}]>",
        "b": f"tensordesc<{dtype}[{n}, {k}]>" if turned else f"tensordesc<{dtype}[{k}, {n}]>",
        "c": f"tensordesc<{out}[{m}, {n}]>",
        "k": "i32",
    }
    constants = {"M": m, "N": n, "K": k, "TURNED": turned, "ACC": acc}
    return Case(name, product_of_blocks, signature, constants, options, ("cuda:90",))


def _pointers(name, dtype, acc=tl.float32, precision="tf32", tile=(128, 128, 64), **options):
    out = "i32" if acc is tl.int32 else "fp32"
    signature = {"a": f"*{dtype}", "b": f"*{dtype}", "c": f"*{out}"}
    signature |= dict.fromkeys(("m", "n", "k", "sa", "sb", "sc"), "i32")
    constants = {"M": tile[0], "N": tile[1], "K": tile[2], "PRECISION": precision, "ACC": acc}
    return Case(name, matmul, signature, constants, options, ("cuda:90",))


def _persistent(name, *, flatten=False, specialize=False, **options):
    signature = {
        "a": "tensordesc<fp16[128, 64]>",
        "b": "tensordesc<fp16[128, 64]>",
        "c": "tensordesc<fp16[128, 128]>",
        **dict.fromkeys(("m", "n", "k"), "i32"),
    }
    constants = {"M": 128, "N": 128, "K": 64, "BLOCKS": 132, "FLATTEN": flatten, "SPECIALIZE": specialize}
    return Case(name, persistent_product, signature, constants, options, ("cuda:90",))


def _on_device(name, fn, more=None, m=128, **options):
    signature = {**dict.fromkeys("abc", "*fp16"), **dict.fromkeys("mnk", "i32")}
    return Case(name, fn, signature, {"M": m, "N": 128, "K": 64, **(more or {})}, options, ("cuda:90",))


def _attention(name, dtype, d, *, causal, m=128, n=64, **options):
    signature = {
        "q": f"tensordesc<{dtype}[{m}, {d}]>",
        "k": f"tensordesc<{dtype}[{n}, {d}]>",
        "v": f"tensordesc<{dtype}[{n}, {d}]>",
        "o": f"tensordesc<fp16[{m}, {d}]>",
        "n": "i32",
        "scale": "fp32",
    }
    return Case(
        name, attention_of_blocks, signature, {"M": m, "N": n, "D": d, "CAUSAL": causal}, options, ("cuda:90",)
    )  # fmt: skip


def _gradients(name, fn, outputs, **options):
    blocks = {**dict.fromkeys(("q", "go", "gq"), 64), **dict.fromkeys(("k", "v", "gk", "gv"), 64)}
    signature = {key: f"tensordesc<fp16[{blocks[key]}, 64]>" for key in ("q", "k", "v", "go", *outputs)}
    signature |= {"lse": "*fp32", "delta": "*fp32", "n": "i32", "scale": "fp32"}
    return Case(name, fn, signature, {"M": 64, "N": 64, "D": 64}, options, ("cuda:90",))


BLOCKS = {1: "256", 2: "32, 64", 3: "4, 8, 32", 4: "1, 2, 4, 64", 5: "1, 2, 2, 4, 32"}


def _copy(name, rank, dtype="fp16", kind="store"):
    type_ = f"tensordesc<{dtype}[{BLOCKS[rank]}]>"
    return Case(name, copy_blocks, {"source": type_, "target": type_}, {"RANK": rank, "KIND": kind}, {}, ("cuda:90",))


MADE = {1: (256,), 2: (32, 64), 3: (4, 8, 32), 4: (2, 2, 4, 64), 5: (1, 2, 2, 4, 32)}
"""Blocks of descriptors that kernels make."""


def _made(rank, dtype="fp16", kind="store", stages=3, **options):
    block = (*MADE[rank], 1, 1, 1, 1)[:5]
    signature = {"source": f"*{dtype}", "target": f"*{dtype}", **{f"n{i}": "i32" for i in range(5)}, "steps": "i32"}
    constants = {"RANK": rank, "KIND": kind, "STAGES": stages, **{f"B{i}": size for i, size in enumerate(block)}}
    name = f"made_{rank}d_{dtype}_{kind}"
    return Case(name, rows_of_described_blocks, signature, constants, options, ("cuda:90",))


def _groups(dtype, kind="store", **options):
    signature = {"source": f"*{dtype}", "target": f"*{dtype}", "starts": "*i32", "n": "i32", "groups": "i32"}
    constants = {"KIND": kind, "B0": 16, "B1": 64}
    return Case(f"groups_{dtype}_{kind}", groups_of_rows, signature, constants, options, ("cuda:90",))


CASES = [
    *(_pointers(f"pointers_f16_s{s}", "fp16", num_stages=s) for s in range(1, 6)),
    _pointers("pointers_bf16_w8", "bf16", tile=(128, 256, 64), num_warps=8, num_stages=3),
    _pointers("pointers_tf32", "fp32", tile=(128, 128, 32), num_stages=3),
    _pointers("pointers_i8", "i8", tl.int32, tile=(128, 128, 128), num_stages=3),
    _pointers("pointers_e4m3", "fp8e4nv", tile=(128, 128, 128), num_stages=3),
    _pointers("pointers_e5m2", "fp8e5", tile=(128, 128, 128), num_stages=3),
    _pointers("pointers_cluster", "fp16", num_ctas=2, num_stages=3),
    *(_blocks(f"blocks_f16_s{s}", "fp16", num_stages=s) for s in range(1, 6)),
    _blocks("blocks_f16_plain", "fp16", turned=False, num_stages=3),
    _blocks("blocks_bf16_w8", "bf16", tile=(128, 256, 64), out="bf16", num_warps=8, num_stages=3),
    _blocks("blocks_tf32", "fp32", tile=(64, 128, 32), out="fp32", num_stages=3),
    _blocks("blocks_e4m3", "fp8e4nv", tile=(128, 128, 128), num_stages=3),
    _blocks("blocks_e5m2", "fp8e5", tile=(128, 256, 128), num_warps=8, num_stages=3),
    _blocks("blocks_i8", "i8", tl.int32, tile=(128, 128, 128), out="i32", num_stages=3),
    _blocks("blocks_cluster", "fp16", num_ctas=2, num_stages=3),
    _on_device("device_descriptors", product_device_descriptors, num_stages=3),
    _on_device("device_cluster", product_device_descriptors, num_stages=3, num_ctas=2),
    _on_device("device_specialized", specialized_device_descriptors, m=64, num_stages=3),
    _on_device("device_persistent", persistent_device_descriptors, {"BLOCKS": 132}, num_stages=3, num_warps=8),
    _persistent("persistent", num_stages=3),
    _persistent("persistent_flat", flatten=True, num_stages=3, num_warps=8),
    _persistent("persistent_specialized", specialize=True, num_stages=3),
    Case(
        "specialized",
        specialized_product,
        {"a": "tensordesc<fp16[64, 64]>", "b": "tensordesc<fp16[128, 64]>", "c": "*fp16", "sc": "i32", "k": "i32"},
        {"M": 64, "N": 128, "K": 64},
        {"num_stages": 3},
        ("cuda:90",),
    ),
    Case(
        "gathered_rows",
        gathered_product,
        {"a": "*fp16", "b": "*fp16", "rows": "*i32", "c": "*fp16", **dict.fromkeys(("k", "sa", "sb", "sc"), "i32")},
        {"M": 128, "N": 128, "K": 64},
        {"num_stages": 3},
        ("cuda:90",),
    ),
    Case(
        "two_products",
        two_products,
        {
            "a": "tensordesc<fp16[128, 64]>",
            "b": "tensordesc<fp16[64, 64]>",
            "c": "tensordesc<fp16[64, 128]>",
            "d": "tensordesc<fp16[128, 128]>",
            "k": "i32",
        },
        {"M": 128, "N": 128, "K": 64},
        {"num_stages": 3},
        ("cuda:90",),
    ),
    _attention("attention_d64", "fp16", 64, causal=False, num_stages=3),
    _attention("attention_d64_causal", "fp16", 64, causal=True, num_stages=3),
    _attention("attention_d128_w8", "bf16", 128, causal=False, n=128, num_stages=2, num_warps=8),
    _gradients("attention_keys", attention_keys, ("gk", "gv"), num_stages=2),
    _gradients("attention_queries", attention_queries, ("gq",), num_stages=2),
    *(_copy(f"copy_{rank}d", rank) for rank in BLOCKS),
    _copy("copy_2d_f32", 2, "fp32"),
    _copy("copy_add", 2, "fp32", "add"),
    _copy("copy_max", 3, "i32", "max"),
    _copy("copy_xor", 1, "i32", "xor"),
    _copy("copy_max_u32", 3, "u32", "max"),
    *(_made(rank, dtype) for rank in MADE for dtype in ("fp16", "fp32")),
    *(_made(rank, dtype) for rank, dtype in ((1, "bf16"), (2, "fp8e4nv"), (3, "fp8e5"), (4, "i32"), (5, "i8"))),
    _made(2, "fp16", "add"),
    *(_made(3, "i32", kind) for kind in ("add", "min", "max", "and", "or", "xor")),
    _made(2, "u32", "min"),
    _made(1, "fp32", "add", num_warps=1),
    _made(4, "bf16", "add", num_warps=8),
    *(_groups(dtype) for dtype in ("fp16", "fp8e4nv", "fp32")),
    _groups("i32", "add"),
]
