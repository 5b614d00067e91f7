"""Attention, forward and backward, of heads that lie one behind the other. The number of rows is a multiple of the
blocks; logarithms are to base 2."""

# pyright: reportArgumentType=false, reportOperatorIssue=false, reportUnknownMemberType=false
# pyright: reportUnknownVariableType=false, reportMissingTypeStubs=false -- kernels are the language's, not Python's

import triton
import triton.language as tl


@triton.jit
def rows_at(ptrs, within, HEAD: tl.constexpr, WIDTH: tl.constexpr):
    """Rows of `HEAD` elements, filled up to `WIDTH` with zeros. `within` is the place in a row."""
    if HEAD == WIDTH:
        return tl.load(ptrs)
    return tl.load(ptrs, mask=within < HEAD, other=0.0)


@triton.jit
def attention(
    q_ptr, k_ptr, v_ptr, o_ptr, scale, n,
    HEAD: tl.constexpr, WIDTH: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, CAUSAL: tl.constexpr,
):  # fmt: skip
    block = tl.program_id(0)
    base = tl.program_id(1).to(tl.int64) * n * HEAD
    rows = block * BLOCK_M + tl.arange(0, BLOCK_M)
    columns = tl.arange(0, BLOCK_N)
    within = tl.arange(0, WIDTH)
    q = rows_at(q_ptr + base + rows[:, None] * HEAD + within[None, :], within[None, :], HEAD, WIDTH)
    k_ptrs = k_ptr + base + within[:, None] + columns[None, :] * HEAD
    v_ptrs = v_ptr + base + columns[:, None] * HEAD + within[None, :]
    most = tl.full((BLOCK_M,), float("-inf"), dtype=tl.float32)
    total = tl.zeros((BLOCK_M,), dtype=tl.float32) + 1.0
    out = tl.zeros((BLOCK_M, WIDTH), dtype=tl.float32)
    scale = scale * 1.44269504
    whole = block * BLOCK_M if CAUSAL else n
    for _ in range(0, whole, BLOCK_N):
        k = rows_at(k_ptrs, within[:, None], HEAD, WIDTH)
        scores = tl.dot(q, k)
        new = tl.maximum(most, tl.max(scores, 1) * scale)
        p = tl.math.exp2(scores * scale - new[:, None])
        alpha = tl.math.exp2(most - new)
        total = total * alpha + tl.sum(p, 1)
        out = out * alpha[:, None]
        v = rows_at(v_ptrs, within[None, :], HEAD, WIDTH)
        out = tl.dot(p.to(v.dtype), v, out)
        most = new
        k_ptrs += BLOCK_N * HEAD
        v_ptrs += BLOCK_N * HEAD
    if CAUSAL:
        for start in range(whole, whole + BLOCK_M, BLOCK_N):
            k = rows_at(k_ptrs, within[:, None], HEAD, WIDTH)
            scores = tl.dot(q, k)
            allowed = rows[:, None] >= start + columns[None, :]
            scores = scores * scale + tl.where(allowed, 0, -1.0e6)
            new = tl.maximum(most, tl.max(scores, 1))
            p = tl.math.exp2(scores - new[:, None])
            alpha = tl.math.exp2(most - new)
            total = total * alpha + tl.sum(p, 1)
            out = out * alpha[:, None]
            v = rows_at(v_ptrs, within[None, :], HEAD, WIDTH)
            out = tl.dot(p.to(v.dtype), v, out)
            most = new
            k_ptrs += BLOCK_N * HEAD
            v_ptrs += BLOCK_N * HEAD
    out = out / total[:, None]
    o_ptrs = o_ptr + base + rows[:, None] * HEAD + within[None, :]
    if HEAD == WIDTH:
        tl.store(o_ptrs, out.to(o_ptr.dtype.element_ty))
    else:
        tl.store(o_ptrs, out.to(o_ptr.dtype.element_ty), mask=within[None, :] < HEAD)


@triton.jit
def gradient_sums(o_ptr, go_ptr, delta_ptr, HEAD: tl.constexpr, BLOCK: tl.constexpr):
    """Of each row the sum of the result times its gradient."""
    rows = (tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)).to(tl.int64)
    places = rows[:, None] * HEAD + tl.arange(0, HEAD)[None, :]
    o = tl.load(o_ptr + places).to(tl.float32)
    tl.store(delta_ptr + rows, tl.sum(o * tl.load(go_ptr + places).to(tl.float32), 1))


@triton.jit
def queries_of_keys(
    gk, gv, k, v, q_ptr, go_ptr, lse_ptr, delta_ptr, scale, keys, first, last,
    HEAD: tl.constexpr, STEP: tl.constexpr, MASKED: tl.constexpr,
):  # fmt: skip
    """Adds to the gradients of a block of keys and values what the queries from `first` to `last` give."""
    within, queries = tl.arange(0, HEAD), first + tl.arange(0, STEP)
    q_ptrs = q_ptr + queries[:, None] * HEAD + within[None, :]
    go_ptrs = go_ptr + queries[:, None] * HEAD + within[None, :]
    for start in range(first, last, STEP):
        queries = start + tl.arange(0, STEP)
        q = tl.load(q_ptrs)
        p = tl.math.exp2(tl.dot(k, tl.trans(q)) * scale - tl.load(lse_ptr + queries)[None, :])
        if MASKED:
            p = tl.where(queries[None, :] >= keys[:, None], p, 0.0)
        go = tl.load(go_ptrs)
        gv = tl.dot(p.to(go.dtype), go, gv)
        gs = p * (tl.dot(v, tl.trans(go)) - tl.load(delta_ptr + queries)[None, :])
        gk = tl.dot(gs.to(q.dtype), q, gk)
        q_ptrs += STEP * HEAD
        go_ptrs += STEP * HEAD
    return gk, gv


@triton.jit
def gradients_of_keys(
    q_ptr, k_ptr, v_ptr, go_ptr, lse_ptr, delta_ptr, gk_ptr, gv_ptr, scale, n,
    HEAD: tl.constexpr, BLOCK: tl.constexpr, STEP: tl.constexpr, CAUSAL: tl.constexpr,
):  # fmt: skip
    """Each program has a block of keys and values of one head, and goes through the queries."""
    head = tl.program_id(1).to(tl.int64)
    q_ptr, go_ptr = q_ptr + head * n * HEAD, go_ptr + head * n * HEAD
    lse_ptr, delta_ptr = lse_ptr + head * n, delta_ptr + head * n
    begin = tl.program_id(0) * BLOCK
    keys = begin + tl.arange(0, BLOCK)
    places = head * n * HEAD + keys[:, None] * HEAD + tl.arange(0, HEAD)[None, :]
    k, v = tl.load(k_ptr + places), tl.load(v_ptr + places)
    gk = tl.zeros((BLOCK, HEAD), dtype=tl.float32)
    gv = tl.zeros((BLOCK, HEAD), dtype=tl.float32)
    first = 0
    if CAUSAL:
        first = begin + BLOCK
        gk, gv = queries_of_keys(
            gk, gv, k, v, q_ptr, go_ptr, lse_ptr, delta_ptr, scale * 1.44269504, keys, begin, first, HEAD, STEP, True
        )
    gk, gv = queries_of_keys(
        gk, gv, k, v, q_ptr, go_ptr, lse_ptr, delta_ptr, scale * 1.44269504, keys, first, n, HEAD, STEP, False
    )
    tl.store(gk_ptr + places, (gk * scale).to(gk_ptr.dtype.element_ty))
    tl.store(gv_ptr + places, gv.to(gv_ptr.dtype.element_ty))


@triton.jit
def keys_of_queries(
    gq, q, go, lse, delta, k_ptr, v_ptr, scale, queries, first, last,
    HEAD: tl.constexpr, STEP: tl.constexpr, MASKED: tl.constexpr,
):  # fmt: skip
    """Adds to the gradient of a block of queries what the keys from `first` to `last` give."""
    within, keys = tl.arange(0, HEAD), first + tl.arange(0, STEP)
    k_ptrs = k_ptr + keys[:, None] * HEAD + within[None, :]
    v_ptrs = v_ptr + keys[:, None] * HEAD + within[None, :]
    for start in range(first, last, STEP):
        k = tl.load(k_ptrs)
        v = tl.load(v_ptrs)
        p = tl.math.exp2(tl.dot(q, tl.trans(k)) * scale - lse[:, None])
        if MASKED:
            p = tl.where(queries[:, None] >= (start + tl.arange(0, STEP))[None, :], p, 0.0)
        gs = p * (tl.dot(go, tl.trans(v)) - delta[:, None])
        gq = tl.dot(gs.to(k.dtype), k, gq)
        k_ptrs += STEP * HEAD
        v_ptrs += STEP * HEAD
    return gq


@triton.jit
def gradients_of_queries(
    q_ptr, k_ptr, v_ptr, go_ptr, lse_ptr, delta_ptr, gq_ptr, scale, n,
    HEAD: tl.constexpr, BLOCK: tl.constexpr, STEP: tl.constexpr, CAUSAL: tl.constexpr,
):  # fmt: skip
    """Each program has a block of queries of one head, and goes through the keys and values."""
    head = tl.program_id(1).to(tl.int64)
    k_ptr, v_ptr = k_ptr + head * n * HEAD, v_ptr + head * n * HEAD
    begin = tl.program_id(0) * BLOCK
    queries = begin + tl.arange(0, BLOCK)
    places = head * n * HEAD + queries[:, None] * HEAD + tl.arange(0, HEAD)[None, :]
    q, go = tl.load(q_ptr + places), tl.load(go_ptr + places)
    lse, delta = tl.load(lse_ptr + head * n + queries), tl.load(delta_ptr + head * n + queries)
    gq = tl.zeros((BLOCK, HEAD), dtype=tl.float32)
    last = n
    if CAUSAL:
        last = begin
        gq = keys_of_queries(
            gq, q, go, lse, delta, k_ptr, v_ptr, scale * 1.44269504, queries, begin, begin + BLOCK, HEAD, STEP, True
        )
    gq = keys_of_queries(gq, q, go, lse, delta, k_ptr, v_ptr, scale * 1.44269504, queries, 0, last, HEAD, STEP, False)
    tl.store(gq_ptr + places, (gq * scale).to(gq_ptr.dtype.element_ty))
