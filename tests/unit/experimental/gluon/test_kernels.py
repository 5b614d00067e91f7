"""Kernels of Gluon give what NumPy gives, and say of mistakes what and where they are."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tritonx
from tests.unit.experimental.gluon.executed import compiled, run
from tritonx.experimental import gluon
from tritonx.experimental.gluon import language as gl
from tritonx.experimental.gluon.language.nvidia.ampere import async_copy, mma_v2
from tritonx.experimental.gluon.language.nvidia.hopper import (
    fence_async_shared,
    mbarrier,
    tma,
    warpgroup_mma,
    warpgroup_mma_init,
    warpgroup_mma_wait,
)

ROW = gl.BlockedLayout([2], [32], [4], [0])
TILE = gl.BlockedLayout([1, 4], [8, 4], [4, 1], [1, 0])


@gluon.jit
def add(x: Any, y: Any, out: Any, n: Any, SIZE: gl.constexpr, L: gl.constexpr) -> None:
    at = gl.program_id(0) * SIZE + gl.arange(0, SIZE, L)
    inside = at < n
    gl.store(out + at, gl.load(x + at, mask=inside) + 2.0 * gl.load(y + at, mask=inside), mask=inside)


def test_a_sum_of_rows_with_a_mask(rng: np.random.Generator) -> None:
    n = 1000
    x, y = rng.standard_normal((2, n)).astype(np.float32)
    out = np.full(1024, 7, np.float32)
    run(add, 4, x=x, y=y, out=out, n=n, SIZE=256, L=ROW)
    np.testing.assert_array_equal(out[:n], x + np.float32(2) * y)
    assert (out[n:] == 7).all()


@gluon.jit
def reductions(x: Any, out: Any, R: gl.constexpr, C: gl.constexpr, L: gl.constexpr) -> None:
    rows = gl.arange(0, R, gl.SliceLayout(1, L))
    columns = gl.arange(0, C, gl.SliceLayout(0, L))
    tile = gl.load(x + rows[:, None] * C + columns[None, :])
    memory = gl.allocate_shared_memory(gl.float32, [R, C], gl.SwizzledSharedLayout(4, 2, 4, [1, 0]), tile)
    turned = memory.permute((1, 0)).load(gl.BlockedLayout([4, 1], [8, 4], [1, 4], [0, 1]))
    most = gl.convert_layout(gl.max(turned, axis=0), rows.type.layout)
    gl.store(out + rows, gl.sum(tile, axis=1) + most)


def test_reductions_and_a_transposed_view(rng: np.random.Generator) -> None:
    x = rng.integers(-8, 8, (32, 16)).astype(np.float32)
    out = np.full(32, np.nan, np.float32)
    run(reductions, 1, x=x, out=out, R=32, C=16, L=TILE)
    np.testing.assert_array_equal(out, x.sum(1) + x.max(1))


@gluon.jit
def product(a: Any, b: Any, c: Any, M: gl.constexpr, N: gl.constexpr, K: gl.constexpr, L: gl.constexpr) -> None:
    unit: gl.constexpr = gl.NVMMADistributedLayout(version=[2, 0], warps_per_cta=[2, 2], instr_shape=[16, 8])
    left: gl.constexpr = gl.DotOperandLayout(0, unit, 2)
    right: gl.constexpr = gl.DotOperandLayout(1, unit, 2)
    memory: gl.constexpr = gl.SwizzledSharedLayout(8, 1, 8, [1, 0])
    m = gl.arange(0, M, gl.SliceLayout(1, L))
    n = gl.arange(0, N, gl.SliceLayout(0, L))
    k = gl.arange(0, K, gl.SliceLayout(0, L))
    rows = gl.arange(0, K, gl.SliceLayout(1, L))
    left_memory = gl.allocate_shared_memory(gl.float16, [M, K], memory)
    right_memory = gl.allocate_shared_memory(gl.float16, [K, N], memory)
    async_copy.async_load(left_memory, a + m[:, None] * K + k[None, :])
    async_copy.async_load(right_memory, b + rows[:, None] * N + n[None, :])
    async_copy.commit_group()
    async_copy.wait_group(0)
    total = mma_v2(left_memory.load(left), right_memory.load(right), gl.zeros([M, N], gl.float32, unit))
    gl.store(c + m[:, None] * N + n[None, :], gl.convert_layout(total, L))


def test_a_product_of_copied_operands(rng: np.random.Generator) -> None:
    a, b = rng.integers(-4, 5, (64, 32)).astype(np.float16), rng.integers(-4, 5, (32, 64)).astype(np.float16)
    c = np.full((64, 64), np.nan, np.float32)
    made = run(product, 1, a=a, b=b, c=c, M=64, N=64, K=32, L=gl.BlockedLayout([1, 8], [8, 4], [4, 1], [1, 0]))
    np.testing.assert_array_equal(c, a.astype(np.float32) @ b.astype(np.float32))
    assert "mma.sync" in made.asm["ptx"] and "cp.async" in made.asm["ptx"]


@gluon.jit
def pipelined(
    a: Any,
    b: Any,
    c: Any,
    M: Any,
    N: Any,
    K: Any,
    BM: gl.constexpr,
    BN: gl.constexpr,
    BK: gl.constexpr,
    STAGES: gl.constexpr,
) -> None:
    left: gl.constexpr = gl.NVMMASharedLayout.get_default_for([BM, BK], gl.float16)
    right: gl.constexpr = gl.NVMMASharedLayout.get_default_for([BK, BN], gl.float16)
    result: gl.constexpr = gl.NVMMASharedLayout.get_default_for([BM, BN], gl.float32)
    a_desc = tma.make_tensor_descriptor(a, [M, K], [K, 1], [BM, BK], left)
    b_desc = tma.make_tensor_descriptor(b, [K, N], [N, 1], [BK, BN], right)
    c_desc = tma.make_tensor_descriptor(c, [M, N], [N, 1], [BM, BN], result)
    a_memory = gl.allocate_shared_memory(gl.float16, [STAGES, BM, BK], left)
    b_memory = gl.allocate_shared_memory(gl.float16, [STAGES, BK, BN], right)
    barriers = mbarrier.allocate_mbarrier(batch=STAGES)
    for stage in gl.static_range(STAGES):
        mbarrier.init(barriers.index(stage), count=1)
    row, column, steps = gl.program_id(0) * BM, gl.program_id(1) * BN, gl.cdiv(K, BK)
    unit: gl.constexpr = gl.NVMMADistributedLayout([3, 0], [4, 1], [16, BN, 16])
    total = warpgroup_mma_init(gl.zeros([BM, BN], gl.float32, unit))
    for stage in gl.static_range(STAGES - 1):
        mbarrier.expect(barriers.index(stage), a_desc.nbytes_per_cta + b_desc.nbytes_per_cta)
        tma.async_load(a_desc, [row, stage * BK], barriers.index(stage), a_memory.index(stage))
        tma.async_load(b_desc, [stage * BK, column], barriers.index(stage), b_memory.index(stage))
    for k in range(steps):
        slot = k % STAGES
        mbarrier.wait(barriers.index(slot), (k // STAGES) & 1)
        total = warpgroup_mma(a_memory.index(slot), b_memory.index(slot), total, is_async=True)
        total = warpgroup_mma_init(warpgroup_mma_wait(0, deps=[total]))
        ahead = k + STAGES - 1
        behind = ahead % STAGES
        wanted = ahead < steps
        mbarrier.expect(barriers.index(behind), a_desc.nbytes_per_cta + b_desc.nbytes_per_cta, pred=wanted)
        tma.async_load(a_desc, [row, ahead * BK], barriers.index(behind), a_memory.index(behind), pred=wanted)
        tma.async_load(b_desc, [ahead * BK, column], barriers.index(behind), b_memory.index(behind), pred=wanted)
    total = warpgroup_mma_wait(0, deps=[total])
    for stage in gl.static_range(STAGES):
        mbarrier.invalidate(barriers.index(stage))
    memory = gl.allocate_shared_memory(gl.float32, [BM, BN], result)
    memory.store(total)
    fence_async_shared()
    tma.async_store(c_desc, [row, column], memory)
    tma.store_wait(0)


def test_a_pipeline_of_warp_group_products(rng: np.random.Generator) -> None:
    m, n, k = 128, 64, 200
    a, b = rng.integers(-4, 5, (m, k)).astype(np.float16), rng.integers(-4, 5, (k, n)).astype(np.float16)
    c = np.full((m, n), np.nan, np.float32)
    made = run(pipelined, (2, 1), a=a, b=b, c=c, M=m, N=n, K=k, BM=64, BN=64, BK=64, STAGES=3)
    np.testing.assert_array_equal(c, a.astype(np.float32) @ b.astype(np.float32))
    assert made.metadata.spills == 0 and "wgmma.mma_async" in made.asm["ptx"]


@gluon.jit
def first(x: Any, out: Any, n: Any) -> None:
    at = gl.arange(0, 64, gl.BlockedLayout([1], [32], [gl.num_warps()], [0]))
    gl.store(out + at, gl.load(x + at) + n)


@gluon.jit
def apart(x: Any, out: Any, n: Any) -> None:
    gl.warp_specialize(
        [(first, (x, out, n)), (first, (x + 64, out + 64, 2 * n)), (first, (x + 128, out + 128, 3))], [1, 2], [24, 24]
    )


def test_functions_in_warps_of_their_own(rng: np.random.Generator) -> None:
    x, out = rng.integers(-9, 9, 192).astype(np.int32), np.full(192, -1, np.int32)
    made = run(apart, 1, x=x, out=out, n=5)
    np.testing.assert_array_equal(out, x + np.repeat([5, 10, 3], 64))
    assert '"ttg.total-num-warps" = 8' in made.asm["ttgir"]


@gluon.aggregate
class Total:
    """A sum that is a block at first, and products under way in a loop."""

    sum: Any

    def __init__(self, sum: Any) -> None:
        self.sum = sum


@gluon.jit
def summed(a: Any, b: Any, c: Any, steps: Any, M: gl.constexpr, N: gl.constexpr, K: gl.constexpr) -> None:
    unit: gl.constexpr = gl.NVMMADistributedLayout([3, 0], [4, 1], [16, N, 16])
    left: gl.constexpr = gl.NVMMASharedLayout.get_default_for([M, K], gl.float16)
    right: gl.constexpr = gl.NVMMASharedLayout.get_default_for([K, N], gl.float16)
    tile: gl.constexpr = gl.BlockedLayout([1, 8], [4, 8], [4, 1], [1, 0])
    a_memory = gl.allocate_shared_memory(gl.float16, [M, K], left, loaded(a, M, K, tile))
    b_memory = gl.allocate_shared_memory(gl.float16, [K, N], right, loaded(b, K, N, tile))
    fence_async_shared()
    total = Total(gl.zeros([M, N], gl.float32, unit))
    for _ in range(steps):
        done = warpgroup_mma_wait(0, deps=[total.sum])
        total = Total(warpgroup_mma(a_memory, b_memory, done, is_async=True))
    done = warpgroup_mma_wait(0, deps=[total.sum])
    rows = gl.arange(0, M, gl.SliceLayout(1, unit))
    columns = gl.arange(0, N, gl.SliceLayout(0, unit))
    gl.store(c + rows[:, None] * N + columns[None, :], done)


@gluon.jit
def loaded(x: Any, M: gl.constexpr, N: gl.constexpr, L: gl.constexpr) -> Any:
    rows, columns = gl.arange(0, M, gl.SliceLayout(1, L)), gl.arange(0, N, gl.SliceLayout(0, L))
    return gl.load(x + rows[:, None] * N + columns[None, :])


def test_a_struct_with_products_under_way_in_a_loop(rng: np.random.Generator) -> None:
    a, b = rng.integers(-4, 5, (64, 64)).astype(np.float16), rng.integers(-4, 5, (64, 64)).astype(np.float16)
    c = np.full((64, 64), np.nan, np.float32)
    run(summed, 1, a=a, b=b, c=c, steps=3, M=64, N=64, K=64)
    np.testing.assert_array_equal(c, 3 * (a.astype(np.float32) @ b.astype(np.float32)))


@gluon.jit
def left_open(x: Any, out: Any, R: gl.constexpr, C: gl.constexpr) -> None:
    at = gl.arange(0, R)[:, None] * C + gl.arange(0, C)[None, :]
    tile = gl.load(gl.set_auto_layout(x + at, gl.CoalescedLayout()))
    there = gl.arange(0, R)[:, None] * C + gl.arange(0, C)[None, :]
    gl.store(gl.set_auto_layout(out + there, TILE_OF_STORES), gl.convert_layout(tile * 2, TILE_OF_STORES))


TILE_OF_STORES = gl.constexpr(gl.BlockedLayout([1, 1], [4, 8], [4, 1], [1, 0]))


def test_layouts_that_the_compiler_finds(rng: np.random.Generator) -> None:
    x, out = rng.standard_normal((32, 64)).astype(np.float32), np.full((32, 64), np.nan, np.float32)
    made = run(left_open, 1, x=x, out=out, R=32, C=64)
    np.testing.assert_array_equal(out, 2 * x)
    assert "ld.global.v4" in made.asm["ptx"] and "#gluon" not in made.asm["ttgir"]


@gluon.jit
def mismatched(x: Any, out: Any) -> None:
    at = gl.arange(0, 64, gl.BlockedLayout([1], [32], [4], [0]))
    other = gl.arange(0, 64, gl.BlockedLayout([2], [32], [4], [0]))
    gl.store(out + at, gl.load(x + at) + other)


@gluon.jit
def unsliced(x: Any, out: Any) -> None:
    at = gl.arange(0, 64, gl.BlockedLayout([1], [32], [4], [0]))
    gl.store(out + at[:, None], 1)


@pytest.mark.parametrize(
    ("kernel", "line", "words"),
    [(mismatched, 4, "Layout mismatch in broadcast"), (unsliced, 3, "to have a SliceLayout")],
    ids=lambda given: getattr(given, "__name__", None),
)
def test_a_mistake_is_shown_with_its_line(kernel: Any, line: int, words: str) -> None:
    x = np.zeros(64, np.float32)
    with pytest.raises(tritonx.CompilationError, match=words) as error:
        compiled(kernel, {"x": x, "out": x})
    assert f"at {line}:" in str(error.value)


def test_a_host_has_no_layouts() -> None:
    x = np.zeros(256, np.float32)
    with pytest.raises(ValueError, match=r"cannot start from \.ttgir"):
        add[(1,)](x, x, x, 256, 256, ROW)


@gluon.jit
def trivially(out: Any, L: gl.constexpr) -> None:
    gl.convert_layout(gl.arange(0, 64, L), gl.AutoLayout(), assert_trivial=True)


def test_a_change_to_an_open_layout_is_not_trivial() -> None:
    with pytest.raises(tritonx.CompilationError, match="is not trivial") as error:
        compiled(trivially, {"out": np.zeros(1, np.float32), "L": ROW})
    assert isinstance(error.value.__cause__, TypeError)


@gluon.jit
def halves(x: Any, out: Any, L: gl.constexpr) -> None:
    rows, columns = gl.arange(0, 32, gl.SliceLayout(1, L)), gl.arange(0, 16, gl.SliceLayout(0, L))
    at = rows[:, None] * 16 + columns[None, :]
    tile = gl.load(x + at)
    left, right = tile.reshape([32, 2, 8]).permute([0, 2, 1]).split()
    gl.static_assert(left.type.layout == gl.SliceLayout(2, tile.reshape([32, 2, 8]).permute([0, 2, 1]).type.layout))
    gl.store(out + at, gl.join(right, left).permute([0, 2, 1]).reshape([32, 16]) + tile)


def test_halves_of_a_tile_meet_it_in_its_layout(rng: np.random.Generator) -> None:
    x = rng.integers(-99, 99, (32, 16)).astype(np.int32)
    out = np.full((32, 16), -1, np.int32)
    run(halves, 1, x=x, out=out, L=gl.BlockedLayout([1, 16], [32, 1], [4, 1], [0, 1]))
    np.testing.assert_array_equal(out, x + np.concatenate([x[:, 8:], x[:, :8]], axis=1))


@gluon.jit
def counted(x: Any, out: Any, N: gl.constexpr, BINS: gl.constexpr, L: gl.constexpr) -> None:
    values = gl.load(x + gl.arange(0, N, L))
    gl.store(out + gl.arange(0, BINS, L), gl.histogram(values, BINS, layout=L))


def test_negative_numbers_are_in_no_bin(rng: np.random.Generator) -> None:
    x = rng.integers(-128, 128, 1024).astype(np.int8)
    out = np.full(256, -1, np.int32)
    run(counted, 1, x=x, out=out, N=1024, BINS=256, L=ROW)
    np.testing.assert_array_equal(out, np.bincount(x[x >= 0], minlength=256))


PRODUCT = gl.constexpr(gl.NVMMADistributedLayout([2, 0], [4, 1], [16, 8]))


@gluon.jit
def of_pairs(pairs: Any, b: Any, c: Any, M: gl.constexpr, N: gl.constexpr, K: gl.constexpr, L: gl.constexpr) -> None:
    packed: gl.constexpr = gl.DotOperandLayout(0, PRODUCT, 4)
    left: gl.constexpr = gl.DotOperandLayout(0, PRODUCT, 8)
    right: gl.constexpr = gl.DotOperandLayout(1, PRODUCT, 8)
    a = gl.fp4_to_fp(gl.convert_layout(loaded(pairs, M, K // 2, L), packed), gl.float16, 1)
    gl.static_assert(a.type.layout == left)
    done = mma_v2(a, gl.convert_layout(loaded(b, K, N, L), right), gl.zeros([M, N], gl.float32, PRODUCT))
    rows, columns = gl.arange(0, M, gl.SliceLayout(1, PRODUCT)), gl.arange(0, N, gl.SliceLayout(0, PRODUCT))
    gl.store(c + rows[:, None] * N + columns[None, :], done)


def test_pairs_of_4_bits_are_unpacked_into_an_operand(rng: np.random.Generator) -> None:
    m, n, k = 64, 32, 64
    pairs, b = rng.integers(0, 256, (m, k // 2)).astype(np.uint8), rng.integers(-4, 5, (k, n)).astype(np.float16)
    c = np.full((m, n), np.nan, np.float32)
    run(of_pairs, 1, pairs=pairs, b=b, c=c, M=m, N=n, K=k, L=TILE)
    positive = np.array([0, 0.5, 1, 1.5, 2, 3, 4, 6])
    a = np.concatenate([positive, -positive])[np.stack([pairs & 15, pairs >> 4], axis=-1).reshape(m, k)]
    np.testing.assert_array_equal(c, a @ b.astype(np.float64))


@gluon.jit
def too_far(out: Any, L: gl.constexpr) -> None:
    gl.store(out + gl.arange(2**32, 2**32 + 64, L), 1)


def test_a_range_is_of_32_bits() -> None:
    with pytest.raises(tritonx.CompilationError, match="arange must fit in int32"):
        compiled(too_far, {"out": np.zeros(1, np.int32), "L": ROW})
