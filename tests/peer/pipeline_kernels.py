"""Kernels with loops that Triton pipelines, for `pipeline_cases.py`. As a script:

python pipeline_kernels.py DIRECTORY [case...]     the `.ttgir` of the cases for Hopper, as Triton writes it
"""

import sys
from pathlib import Path
from types import SimpleNamespace

import text_oracle
import triton
import triton.language as tl
from pipeline_cases import CASES


@triton.jit
def pointers(
    a, b, c, m, n, k, sa, sb, sc,
    BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, STAGES: tl.constexpr, ACC: tl.constexpr,
):  # fmt: skip
    i = tl.program_id(0) * BM + tl.arange(0, BM)
    j = tl.program_id(1) * BN + tl.arange(0, BN)
    r = tl.arange(0, BK)
    pa = a + i[:, None] * sa + r[None, :]
    pb = b + r[:, None] * sb + j[None, :]
    total = tl.zeros((BM, BN), ACC)
    for at in tl.range(0, k, BK, num_stages=STAGES):
        x = tl.load(pa, mask=r[None, :] < k - at, other=0.0)
        y = tl.load(pb, mask=r[:, None] < k - at, other=0.0)
        total = tl.dot(x, y, total, out_dtype=ACC)
        pa += BK
        pb += BK * sb
    tl.store(c + i[:, None] * sc + j[None, :], total)


@triton.jit
def device_descriptors(
    a, b, c, m, n, k, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, STAGES: tl.constexpr, WS: tl.constexpr
):
    da = tl.make_tensor_descriptor(a, [m, k], [k, 1], [BM, BK])
    db = tl.make_tensor_descriptor(b, [k, n], [n, 1], [BK, BN])
    dc = tl.make_tensor_descriptor(c, [m, n], [n, 1], [BM, BN])
    i, j = tl.program_id(0) * BM, tl.program_id(1) * BN
    total = tl.zeros((BM, BN), tl.float32)
    for at in tl.range(0, k, BK, num_stages=STAGES, warp_specialize=WS):
        total = tl.dot(da.load([i, at]), db.load([at, j]), total)
    dc.store([i, j], total.to(tl.float16))


@triton.jit
def host_descriptors(
    a, b, c, m, n, k, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, STAGES: tl.constexpr, WS: tl.constexpr
):
    i, j = tl.program_id(0) * BM, tl.program_id(1) * BN
    total = tl.zeros((BM, BN), tl.float32)
    for at in tl.range(0, k, BK, num_stages=STAGES, warp_specialize=WS):
        total = tl.dot(a.load([i, at]), b.load([at, j]), total)
    c.store([i, j], total.to(tl.float16))


@triton.jit
def persistent(
    a, b, c, m, n, k,
    BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, STAGES: tl.constexpr, FLATTEN: tl.constexpr,
    PROGRAMS: tl.constexpr,
):  # fmt: skip
    da = tl.make_tensor_descriptor(a, [m, k], [k, 1], [BM, BK])
    db = tl.make_tensor_descriptor(b, [k, n], [n, 1], [BK, BN])
    dc = tl.make_tensor_descriptor(c, [m, n], [n, 1], [BM, BN])
    columns = tl.cdiv(n, BN)
    for tile in tl.range(tl.program_id(0), tl.cdiv(m, BM) * columns, PROGRAMS, flatten=FLATTEN):
        i, j = tile // columns * BM, tile % columns * BN
        total = tl.zeros((BM, BN), tl.float32)
        for at in tl.range(0, tl.cdiv(k, BK), num_stages=STAGES):
            total = tl.dot(da.load([i, at * BK]), db.load([at * BK, j]), total)
        dc.store([i, j], total.to(tl.float16))


@triton.jit
def attention(q, k, v, o, n, BLOCK: tl.constexpr, D: tl.constexpr, STAGES: tl.constexpr, CAUSAL: tl.constexpr):
    first = tl.program_id(0) * BLOCK
    i, d = first + tl.arange(0, BLOCK), tl.arange(0, D)
    query = tl.load(q + i[:, None] * D + d[None, :])
    keys = tl.make_tensor_descriptor(k, [n, D], [D, 1], [BLOCK, D])
    values = tl.make_tensor_descriptor(v, [n, D], [D, 1], [BLOCK, D])
    most = tl.full((BLOCK,), float("-inf"), tl.float32)
    weight = tl.zeros((BLOCK,), tl.float32)
    total = tl.zeros((BLOCK, D), tl.float32)
    end = first + BLOCK if CAUSAL else n
    for at in tl.range(0, end, BLOCK, num_stages=STAGES):
        scores = tl.dot(query, keys.load([at, 0]).T) * (0.125 * 1.44269504)
        if CAUSAL:
            scores = tl.where(i[:, None] >= at + tl.arange(0, BLOCK)[None, :], scores, float("-inf"))
        larger = tl.maximum(most, tl.max(scores, 1))
        p = tl.exp2(scores - larger[:, None])
        shrink = tl.exp2(most - larger)
        weight = weight * shrink + tl.sum(p, 1)
        total = tl.dot(p.to(tl.float16), values.load([at, 0]), total * shrink[:, None])
        most = larger
    tl.store(o + i[:, None] * D + d[None, :], (total / weight[:, None]).to(tl.float16))


@triton.jit
def matrix(x, rows, ROWS: tl.constexpr, D: tl.constexpr, WHERE: tl.constexpr):
    """What blocks of `ROWS` rows are read and written through: a descriptor made here, or what was given."""
    if WHERE == "device":
        return tl.make_tensor_descriptor(x, [rows, D], [D, 1], [ROWS, D])
    else:
        return x


@triton.jit
def read_rows(x, row, ROWS: tl.constexpr, D: tl.constexpr, WHERE: tl.constexpr):
    if WHERE == "pointers":
        return tl.load(x + (row + tl.arange(0, ROWS))[:, None] * D + tl.arange(0, D)[None, :])
    else:
        return x.load([row, 0])


@triton.jit
def write_rows(x, row, value, ROWS: tl.constexpr, D: tl.constexpr, WHERE: tl.constexpr):
    if WHERE == "pointers":
        tl.store(x + (row + tl.arange(0, ROWS))[:, None] * D + tl.arange(0, D)[None, :], value.to(tl.float16))
    else:
        x.store([row, 0], value.to(tl.float16))


@triton.jit
def gradients_of_keys(
    q, k, v, go, gk, gv, lse, delta, n,
    BLOCK: tl.constexpr, D: tl.constexpr, STAGES: tl.constexpr, CAUSAL: tl.constexpr, WHERE: tl.constexpr,
):  # fmt: skip
    """Of one block of keys: goes over the queries, all transposed, so that what is summed stays in registers."""
    first, own = tl.program_id(0) * BLOCK, tl.num_programs(0) * BLOCK
    q, go = matrix(q, n, BLOCK, D, WHERE), matrix(go, n, BLOCK, D, WHERE)
    k, v = matrix(k, own, BLOCK, D, WHERE), matrix(v, own, BLOCK, D, WHERE)
    gk, gv = matrix(gk, own, BLOCK, D, WHERE), matrix(gv, own, BLOCK, D, WHERE)
    j = first + tl.arange(0, BLOCK)
    key, value = read_rows(k, first, BLOCK, D, WHERE), read_rows(v, first, BLOCK, D, WHERE)
    dk = tl.zeros((BLOCK, D), tl.float32)
    dv = tl.zeros((BLOCK, D), tl.float32)
    for at in tl.range(first if CAUSAL else 0, n, BLOCK, num_stages=STAGES):
        i = at + tl.arange(0, BLOCK)
        query, given = read_rows(q, at, BLOCK, D, WHERE), read_rows(go, at, BLOCK, D, WHERE)
        p = tl.exp2(tl.dot(key, query.T) * (0.125 * 1.44269504) - tl.load(lse + i)[None, :])
        if CAUSAL:
            p = tl.where(i[None, :] >= j[:, None], p, 0.0)
        dv = tl.dot(p.to(tl.float16), given, dv)
        ds = p * (tl.dot(value, given.T) - tl.load(delta + i)[None, :])
        dk = tl.dot(ds.to(tl.float16), query, dk)
    write_rows(gk, first, dk * 0.125, BLOCK, D, WHERE)
    write_rows(gv, first, dv, BLOCK, D, WHERE)


@triton.jit
def gradients_of_queries(
    q, k, v, go, gq, lse, delta, n,
    BLOCK: tl.constexpr, D: tl.constexpr, STAGES: tl.constexpr, CAUSAL: tl.constexpr, WHERE: tl.constexpr,
):  # fmt: skip
    """Of one block of queries; they are the last of as many as there are keys."""
    first = tl.program_id(0) * BLOCK
    i = first + tl.arange(0, BLOCK)
    own = tl.num_programs(0) * BLOCK
    past = n - own
    q, go, gq = matrix(q, own, BLOCK, D, WHERE), matrix(go, own, BLOCK, D, WHERE), matrix(gq, own, BLOCK, D, WHERE)
    k, v = matrix(k, n, BLOCK, D, WHERE), matrix(v, n, BLOCK, D, WHERE)
    query, given = read_rows(q, first, BLOCK, D, WHERE), read_rows(go, first, BLOCK, D, WHERE)
    largest, correction = tl.load(lse + i), tl.load(delta + i)
    dq = tl.zeros((BLOCK, D), tl.float32)
    for at in tl.range(0, past + first + BLOCK if CAUSAL else n, BLOCK, num_stages=STAGES):
        key, value = read_rows(k, at, BLOCK, D, WHERE), read_rows(v, at, BLOCK, D, WHERE)
        p = tl.exp2(tl.dot(query, key.T) * (0.125 * 1.44269504) - largest[:, None])
        if CAUSAL:
            p = tl.where((past + i)[:, None] >= (at + tl.arange(0, BLOCK))[None, :], p, 0.0)
        ds = p * (tl.dot(given, value.T) - correction[:, None])
        dq = tl.dot(ds.to(tl.float16), key, dq)
    write_rows(gq, first, dq * 0.125, BLOCK, D, WHERE)


@triton.jit
def column_sum(x, o, rows, BM: tl.constexpr, BN: tl.constexpr, STAGES: tl.constexpr):
    i, j = tl.arange(0, BM), tl.arange(0, BN)
    total = tl.zeros((BM, BN), tl.float32)
    for at in tl.range(0, rows, BM, num_stages=STAGES):
        total += tl.load(x + (at + i)[:, None] * BN + j[None, :])
    tl.store(o + j, tl.sum(total, 0))


TYPES = {"fp32": tl.float32, "i32": tl.int32}


MARK = "// case "
"""In front of what the compiler tells of one, with `MLIR_ENABLE_DUMP`."""


def dump(directory: Path, chosen: list[str]) -> None:
    for case in CASES:
        if chosen and case.name not in chosen:
            continue
        constants = {
            name: TYPES.get(value, value) if isinstance(value, str) else value for name, value in case.constants.items()
        }
        wanted = SimpleNamespace(
            fn=globals()[case.kernel], signature=case.signature, constants=constants, options=case.options
        )
        print(f"{MARK}{case.name}", file=sys.stderr, flush=True)
        try:
            text = text_oracle.stages_of(wanted, "cuda:90")["ttgir"]
        except Exception as error:
            print(f"{case.name}: {type(error).__name__}: {error}", file=sys.stderr)
            continue
        (directory / f"{case.name}.ttgir").write_text(text)


if __name__ == "__main__":
    dump(Path(sys.argv[1]), sys.argv[2:])
