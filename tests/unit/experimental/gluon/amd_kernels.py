"""Kernels of Gluon for AMD GPUs."""

from __future__ import annotations

from typing import Any

from tritonx.experimental import gluon
from tritonx.experimental.gluon import language as gl
from tritonx.experimental.gluon.language import amd
from tritonx.experimental.gluon.language.amd import cdna3, cdna4, rdna3, rdna4


@gluon.jit
def mfma_product(
    a: Any,
    b: Any,
    c: Any,
    M: gl.constexpr,
    N: gl.constexpr,
    K: gl.constexpr,
    UNIT: gl.constexpr,
    WIDTH: gl.constexpr,
    L: gl.constexpr,
) -> None:
    m, n = gl.arange(0, M, gl.SliceLayout(1, L)), gl.arange(0, N, gl.SliceLayout(0, L))
    k, rows = gl.arange(0, K, gl.SliceLayout(0, L)), gl.arange(0, K, gl.SliceLayout(1, L))
    left = cdna3.buffer_load(a, m[:, None] * K + k[None, :])
    right = cdna3.buffer_load(b, rows[:, None] * N + n[None, :])
    left = gl.convert_layout(left, gl.DotOperandLayout(0, UNIT, WIDTH))
    right = gl.convert_layout(right, gl.DotOperandLayout(1, UNIT, WIDTH))
    total = cdna3.mfma(left, right, gl.zeros([M, N], gl.float32, UNIT), cd_regclass="v")
    cdna3.buffer_store(gl.convert_layout(total, L), c, m[:, None] * N + n[None, :])


@gluon.jit
def wmma_product(
    a: Any,
    b: Any,
    c: Any,
    M: gl.constexpr,
    N: gl.constexpr,
    K: gl.constexpr,
    VERSION: gl.constexpr,
    WIDTH: gl.constexpr,
    L: gl.constexpr,
) -> None:
    unit: gl.constexpr = amd.AMDWMMALayout(VERSION, True, [[1, 0]])
    m, n = gl.arange(0, M, gl.SliceLayout(1, L)), gl.arange(0, N, gl.SliceLayout(0, L))
    k, rows = gl.arange(0, K, gl.SliceLayout(0, L)), gl.arange(0, K, gl.SliceLayout(1, L))
    left = gl.convert_layout(gl.load(a + m[:, None] * K + k[None, :]), gl.DotOperandLayout(0, unit, WIDTH))
    right = gl.convert_layout(gl.load(b + rows[:, None] * N + n[None, :]), gl.DotOperandLayout(1, unit, WIDTH))
    total = gl.zeros([M, N], gl.float32, unit)
    total = rdna3.wmma(left, right, total) if VERSION == 1 else rdna4.wmma(left, right, total)
    gl.store(c + m[:, None] * N + n[None, :], gl.convert_layout(total, L))


@gluon.jit
def ring_of_copies(x: Any, out: Any, SIZE: gl.constexpr, ROUNDS: gl.constexpr, L: gl.constexpr) -> None:
    """Sums of tiles that are copied two rounds ahead, by offsets and by pointers in turn."""
    at = gl.arange(0, SIZE, L)
    memory = gl.allocate_shared_memory(gl.float32, [3, SIZE], gl.SwizzledSharedLayout(1, 1, 1, [0]))
    for ahead in gl.static_range(2):
        cdna4.async_copy.buffer_load_to_shared(memory.index(ahead), x, at + ahead * SIZE)
        cdna4.async_copy.commit_group()
    total = gl.zeros([SIZE], gl.float32, L)
    for step in range(ROUNDS):
        place = at + (step + 2) * SIZE
        slot = memory.index((step + 2) % 3)
        cdna4.async_copy.global_load_to_shared(slot, x + place, mask=step + 2 < ROUNDS, other=0.0)
        cdna4.async_copy.commit_group()
        cdna4.async_copy.wait_group(2)
        total += cdna4.async_copy.load_shared_relaxed(memory.index(step % 3), L)
        amd.hint.sched_barrier()
    cdna4.async_copy.wait_group(0)
    gl.store(out + at, total)


@gluon.jit
def staged(x: Any, out: Any, ROUNDS: gl.constexpr, L: gl.constexpr) -> None:
    at = gl.arange(0, 128, L)
    total = gl.zeros([128], gl.float32, L)
    for step in range(ROUNDS):
        with amd.warp_pipeline_stage("load", priority=2):
            value = cdna3.buffer_load(x, at + step * 128)
        with amd.warp_pipeline_stage():
            total += value
    gl.store(out + at, total)


@gluon.jit
def masked(x: Any, out: Any, old: Any, n: Any, SIZE: gl.constexpr, L: gl.constexpr) -> None:
    at = gl.arange(0, SIZE, L)
    value = cdna3.buffer_load(x, at, mask=at < n, other=3, cache=".cg")
    before = cdna3.buffer_atomic_add(out, at % 8, value, mask=at % 3 > 0, sem="relaxed", scope="cta")
    cdna3.buffer_atomic_max(out, at % 8 + 8, value)
    cdna3.buffer_atomic_or(out, at % 8 + 16, value)
    kept = gl.where(at % 3 > 0, before, 0)
    cdna3.buffer_store(kept, old, at, mask=at < SIZE - 2, cache=".cs")


@gluon.jit
def sliced(x: Any, out: Any, L: gl.constexpr) -> None:
    rows, columns = gl.arange(0, 32, gl.SliceLayout(1, L)), gl.arange(0, 32, gl.SliceLayout(0, L))
    tile = gl.load(x + rows[:, None] * 32 + columns[None, :])
    part = amd.slice(tile, [16, 32], [16, 0])
    few = gl.arange(0, 16, gl.SliceLayout(1, L))
    gl.store(out + few[:, None] * 32 + columns[None, :], part)


@gluon.jit
def upcast(x: Any, scales: Any, out: Any, FP4: gl.constexpr) -> None:
    wide: gl.constexpr = gl.BlockedLayout([1, 8], [8, 8], [1, 1], [1, 0])
    rows, columns = gl.arange(0, 8, gl.SliceLayout(1, wide)), gl.arange(0, 64, gl.SliceLayout(0, wide))
    place = rows[:, None] * 64 + columns[None, :]
    scale = gl.load(scales + place).to(gl.uint8, bitcast=True)
    if FP4:
        narrow: gl.constexpr = gl.BlockedLayout([1, 4], [8, 8], [1, 1], [1, 0])
        bytes_ = gl.arange(0, 32, gl.SliceLayout(0, narrow))[None, :]
        packed = gl.load(x + gl.arange(0, 8, gl.SliceLayout(1, narrow))[:, None] * 32 + bytes_)
        result = cdna3.scaled_upcast(packed, scale, gl.bfloat16, axis=1)
    else:
        result = cdna3.scaled_upcast(gl.load(x + place).to(gl.float8e5, bitcast=True), scale, gl.bfloat16)
    gl.store(out + place, result.to(gl.float32))


@gluon.jit
def scaled_product(a: Any, b: Any, scales: Any, c: Any) -> None:
    unit: gl.constexpr = amd.AMDMFMALayout(4, [16, 16, 128], True, [1, 1])
    L: gl.constexpr = gl.BlockedLayout([1, 4], [8, 8], [1, 1], [1, 0])
    left: gl.constexpr = gl.DotOperandLayout(0, unit, 16)
    right: gl.constexpr = gl.DotOperandLayout(1, unit, 16)
    m, n = gl.arange(0, 16, gl.SliceLayout(1, L)), gl.arange(0, 16, gl.SliceLayout(0, L))
    k, rows = gl.arange(0, 64, gl.SliceLayout(0, L)), gl.arange(0, 128, gl.SliceLayout(1, L))
    x = gl.convert_layout(gl.load(a + m[:, None] * 64 + k[None, :]).to(gl.uint8, bitcast=True), left)
    y = gl.convert_layout(gl.load(b + rows[:, None] * 16 + n[None, :]).to(gl.float8e5, bitcast=True), right)
    spread: gl.constexpr = cdna4.get_mfma_scale_layout(left, [16, 4])
    at = gl.arange(0, 16, gl.SliceLayout(1, spread))[:, None] * 4 + gl.arange(0, 4, gl.SliceLayout(0, spread))[None, :]
    scale = gl.load(scales + at)
    total = cdna4.mfma_scaled(x, scale, "e2m1", y, 128, "e5m2", gl.zeros([16, 16], gl.float32, unit))
    gl.store(c + m[:, None] * 16 + n[None, :], gl.convert_layout(total, L))
