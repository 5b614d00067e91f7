"""Kernels of Gluon with tensor memory give what NumPy gives, and say of mistakes what and where they are."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tritonx
from tests.unit.experimental.gluon.executed import compiled, run
from tritonx.experimental import gluon
from tritonx.experimental.gluon import language as gl
from tritonx.experimental.gluon.language.nvidia.blackwell import (
    TensorMemoryLayout,
    add2,
    allocate_tensor_memory,
    fence_async_shared,
    fma2,
    mbarrier,
    min2,
    mul2,
    sub2,
    tcgen05_commit,
    tcgen05_mma,
    tcgen05_mma_barrier_count,
    tcgen05_mma_scaled,
    tma,
)

BLACKWELL = "cuda:100"


@gluon.jit
def through_memory(x: Any, out: Any, M: gl.constexpr, N: gl.constexpr, V: gl.constexpr) -> None:
    L: gl.constexpr = gl.BlockedLayout([1, 1], [1, 32], [1, gl.num_warps()], [1, 0])
    at = gl.arange(0, M, gl.SliceLayout(1, L))[:, None] * N + gl.arange(0, N, gl.SliceLayout(0, L))[None, :]
    stride: gl.constexpr = 32 // x.dtype.element_ty.primitive_bitwidth
    memory = allocate_tensor_memory(x.dtype.element_ty, [M, N], TensorMemoryLayout((min(M, 128), N), stride))
    memory.store(gl.convert_layout(gl.load(x + at), memory.get_reg_layout()))
    half: gl.constexpr = N // 2
    first = memory.slice(half, half).load()
    second = memory.slice(0, half).load()
    memory.slice(0, half).store(first)
    memory.slice(half, half).store(second)
    gl.store(out + at, gl.convert_layout(memory.load(memory.get_reg_layout(instr_variant=V)), L))


@pytest.mark.parametrize("warps", [4, 8])
@pytest.mark.parametrize("dtype", [np.float32, np.float16])
@pytest.mark.parametrize(("m", "variant"), [(64, "32x32b"), (128, "16x256b"), (256, "32x32b")])
def test_a_tile_through_tensor_memory(
    rng: np.random.Generator, m: int, variant: str, dtype: type[np.floating[Any]], warps: int
) -> None:
    x = rng.standard_normal((m, 64)).astype(dtype)
    out = np.full_like(x, np.nan)
    made = run(through_memory, 1, BLACKWELL, {"num_warps": warps}, x=x, out=out, M=m, N=64, V=variant)
    np.testing.assert_array_equal(out, np.roll(x, 32, axis=1))
    assert "tcgen05.ld" in made.asm["ptx"] and "tcgen05.st" in made.asm["ptx"]


@gluon.jit
def product(
    a: Any,
    b: Any,
    c: Any,
    M: gl.constexpr,
    N: gl.constexpr,
    K: gl.constexpr,
    LEFT_IN_TENSOR_MEMORY: gl.constexpr,
    COMMITS: gl.constexpr,
) -> None:
    """Add a product to what is there."""
    in_a: gl.constexpr = gl.NVMMASharedLayout.get_default_for([M, K], gl.float16)
    in_b: gl.constexpr = gl.NVMMASharedLayout.get_default_for([K, N], gl.float16)
    in_c: gl.constexpr = gl.NVMMASharedLayout.get_default_for([M, N], gl.float32)
    a_desc = tma.make_tensor_descriptor(a, [M, K], [K, 1], [M, K], in_a)
    b_desc = tma.make_tensor_descriptor(b, [K, N], [N, 1], [K, N], in_b)
    c_desc = tma.make_tensor_descriptor(c, [M, N], [N, 1], [M, N], in_c)
    bar = mbarrier.allocate_mbarrier()
    mbarrier.init(bar, count=1)
    a_memory = gl.allocate_shared_memory(gl.float16, [M, K], in_a)
    b_memory = gl.allocate_shared_memory(gl.float16, [K, N], in_b)
    c_memory = gl.allocate_shared_memory(gl.float32, [M, N], in_c)
    mbarrier.expect(bar, a_desc.nbytes_per_cta + b_desc.nbytes_per_cta + c_desc.nbytes_per_cta)
    tma.async_load(a_desc, [0, 0], bar, a_memory)
    tma.async_load(b_desc, [0, 0], bar, b_memory)
    tma.async_load(c_desc, [0, 0], bar, c_memory)
    mbarrier.wait(bar, phase=0)
    mbarrier.invalidate(bar)
    mbarrier.init(bar, count=1)
    total = allocate_tensor_memory(gl.float32, [M, N], TensorMemoryLayout([min(M, 128), N], col_stride=1))
    total.store(c_memory.load(total.get_reg_layout()))
    if LEFT_IN_TENSOR_MEMORY:
        left = allocate_tensor_memory(gl.float16, [M, K], TensorMemoryLayout([min(M, 128), K], col_stride=1))
        left.store(a_memory.load(left.get_reg_layout()))
    else:
        left = a_memory
    if COMMITS:
        tcgen05_mma(left, b_memory, total)
        tcgen05_commit(bar)
    else:
        tcgen05_mma(left, b_memory, total, mbarriers=[bar], mbarrier_preds=[True])
    mbarrier.wait(bar, phase=0)
    mbarrier.invalidate(bar)
    out = gl.allocate_shared_memory(gl.float32, [M, N], in_c)
    out.store(total.load())
    fence_async_shared()
    tma.async_store(c_desc, [0, 0], out)
    tma.store_wait(0)


@pytest.mark.parametrize(
    ("m", "n", "k", "left", "commits", "warps"),
    [(128, 64, 64, False, True, 4), (64, 64, 64, True, False, 4), (256, 64, 64, False, False, 8)],
)
def test_a_product_that_adds(
    rng: np.random.Generator, m: int, n: int, k: int, left: bool, commits: bool, warps: int
) -> None:
    a, b = rng.integers(-4, 5, (m, k)).astype(np.float16), rng.integers(-4, 5, (k, n)).astype(np.float16)
    c = rng.integers(-9, 9, (m, n)).astype(np.float32)
    expected = a.astype(np.float32) @ b.astype(np.float32) + c
    sizes = {"M": m, "N": n, "K": k, "LEFT_IN_TENSOR_MEMORY": left, "COMMITS": commits}
    made = run(product, 1, BLACKWELL, {"num_warps": warps}, a=a, b=b, c=c, **sizes)
    np.testing.assert_array_equal(c, expected)
    assert "tcgen05.mma" in made.asm["ptx"] and made.asm["cubin"]


@gluon.jit
def summed(a: Any, b: Any, c: Any, K: Any, M: gl.constexpr, N: gl.constexpr, BK: gl.constexpr) -> None:
    """Products of blocks of K into one of two tiles of tensor memory, each behind a commit."""
    in_a: gl.constexpr = gl.NVMMASharedLayout.get_default_for([M, BK], gl.float16)
    in_b: gl.constexpr = gl.NVMMASharedLayout.get_default_for([N, BK], gl.float16)
    a_desc = tma.make_tensor_descriptor(a, [M, K], [K, 1], [M, BK], in_a)
    b_desc = tma.make_tensor_descriptor(b, [N, K], [K, 1], [N, BK], in_b)
    a_memory = gl.allocate_shared_memory(gl.float16, [M, BK], in_a)
    b_memory = gl.allocate_shared_memory(gl.float16, [N, BK], in_b)
    filled = mbarrier.allocate_mbarrier()
    done = mbarrier.allocate_mbarrier()
    mbarrier.init(filled, count=1)
    mbarrier.init(done, count=1)
    totals = allocate_tensor_memory(gl.float32, [2, M, N], TensorMemoryLayout([M, N], col_stride=1))
    total = totals.index(1)
    phase = 0
    use_acc = False
    for k in range(0, K, BK):
        mbarrier.expect(filled, a_desc.nbytes_per_cta + b_desc.nbytes_per_cta)
        tma.async_load(a_desc, [0, k], filled, a_memory)
        tma.async_load(b_desc, [0, k], filled, b_memory)
        mbarrier.wait(filled, phase)
        tcgen05_mma(a_memory, b_memory.permute((1, 0)), total, use_acc=use_acc)
        tcgen05_commit(done)
        mbarrier.wait(done, phase)
        use_acc = True
        phase ^= 1
    mbarrier.invalidate(filled)
    mbarrier.invalidate(done)
    L: gl.constexpr = gl.BlockedLayout([1, 4], [2, 16], [4, 1], [1, 0])
    at = gl.arange(0, M, gl.SliceLayout(1, L))[:, None] * N + gl.arange(0, N, gl.SliceLayout(0, L))[None, :]
    gl.store(c + at, gl.convert_layout(total.load(), L))


def test_products_in_a_loop(rng: np.random.Generator) -> None:
    m, n, k = 128, 64, 160
    a, b = rng.integers(-4, 5, (m, k)).astype(np.float16), rng.integers(-4, 5, (n, k)).astype(np.float16)
    c = np.full((m, n), np.nan, np.float32)
    run(summed, 1, BLACKWELL, a=a, b=b, c=c, K=k, M=m, N=n, BK=64)
    np.testing.assert_array_equal(c, a.astype(np.float32) @ b.T.astype(np.float32))


@gluon.jit
def rows_moved(x: Any, numbers: Any, to: Any, out: Any, R: Any, COLUMNS: gl.constexpr, N: gl.constexpr) -> None:
    lies: gl.constexpr = gl.NVMMASharedLayout.get_default_for([N, COLUMNS], gl.float16)
    x_desc = tma.make_tensor_descriptor(x, [R, 2 * COLUMNS], [2 * COLUMNS, 1], [1, COLUMNS], lies)
    out_desc = tma.make_tensor_descriptor(out, [R, COLUMNS], [COLUMNS, 1], [1, COLUMNS], lies)
    memory = gl.allocate_shared_memory(gl.float16, [N, COLUMNS], lies)
    bar = mbarrier.allocate_mbarrier()
    mbarrier.init(bar, count=1)
    at = gl.arange(0, N, gl.SliceLayout(0, gl.BlockedLayout([1, 4], [32, 1], [1, 4], [1, 0])))
    mbarrier.expect(bar, N * COLUMNS * 2)
    tma.async_gather(x_desc, gl.load(numbers + at), COLUMNS, bar, memory)
    mbarrier.wait(bar, 0)
    mbarrier.invalidate(bar)
    tma.async_scatter(out_desc, gl.load(to + at), 0, memory)
    tma.store_wait(0)


def test_rows_by_their_numbers(rng: np.random.Generator) -> None:
    rows, columns, count = 100, 64, 32
    x, out = rng.standard_normal((rows, 2 * columns)).astype(np.float16), np.full((rows, columns), -1, np.float16)
    numbers, to = (rng.permutation(rows)[:count].astype(np.int32) for _ in range(2))
    expected = out.copy()
    expected[to] = x[numbers, columns:]
    made = run(rows_moved, 1, BLACKWELL, x=x, numbers=numbers, to=to, out=out, R=rows, COLUMNS=columns, N=count)
    np.testing.assert_array_equal(out, expected)
    assert "gather4" in made.asm["ptx"] and "scatter4" in made.asm["ptx"]


@gluon.jit
def pairs(x: Any, y: Any, out: Any, N: gl.constexpr) -> None:
    at = gl.arange(0, N, gl.BlockedLayout([4], [32], [4], [0]))
    left, right = gl.load(x + at), gl.load(y + at)
    found = fma2(sub2(mul2(left, right), 3.0), 2.0, add2(left, right))
    gl.store(out + at, min2(found.to(gl.float16), right.to(gl.float16)).to(gl.float32))


def test_arithmetic_on_pairs(rng: np.random.Generator) -> None:
    x, y = rng.integers(-8, 9, (2, 512)).astype(np.float32)
    out = np.full(512, np.nan, np.float32)
    run(pairs, 1, BLACKWELL, x=x, y=y, out=out, N=512)
    np.testing.assert_array_equal(out, np.minimum((x * y - 3) * 2 + x + y, y))


def test_blocks_that_commit() -> None:
    class Operand:
        def __init__(self, cga_layout: list[list[int]]) -> None:
            self.layout = gl.NVMMASharedLayout(128, 16, 2, cga_layout=cga_layout)

    left, right = Operand([[1, 0], [0, 0]]), Operand([[0, 0], [0, 1]])
    assert tcgen05_mma_barrier_count([left, right], True, False) == 3
    assert tcgen05_mma_barrier_count([left, right], True, True) == 2
    assert tcgen05_mma_barrier_count([left, right], False, False) == 1


@gluon.jit
def of_registers(x: Any) -> None:
    layout: gl.constexpr = gl.BlockedLayout([1, 4], [32, 1], [4, 1], [1, 0])
    total = allocate_tensor_memory(gl.float32, [128, 64], TensorMemoryLayout([128, 64], 1))
    tcgen05_mma(gl.zeros([128, 64], gl.float16, layout), x, total)


@gluon.jit
def rows_of_memory(x: Any) -> None:
    memory = allocate_tensor_memory(gl.float32, [256, 64], TensorMemoryLayout([128, 64], 1))
    memory.slice(0, 128, dim=0)


@gluon.jit
def by_two_blocks(x: Any) -> None:
    lies: gl.constexpr = gl.NVMMASharedLayout.get_default_for([128, 64], gl.float16)
    operand = gl.allocate_shared_memory(gl.float16, [128, 64], lies)
    total = allocate_tensor_memory(gl.float32, [128, 64], TensorMemoryLayout([128, 64], 1, two_ctas=True))
    tcgen05_mma(operand, operand.permute((1, 0)), total)


@gluon.jit
def of_numbers(x: Any) -> None:
    add2(1.0, 2.0)


@gluon.jit
def least(x: Any) -> None:
    memory = allocate_tensor_memory(gl.float32, [128, 64], TensorMemoryLayout([128, 64], 1))
    memory.load_min()


@gluon.jit
def other_shape(x: Any) -> None:
    memory = allocate_tensor_memory(gl.float32, [128, 64], TensorMemoryLayout([128, 64], 1))
    memory.store(gl.zeros([128, 32], gl.float32, gl.BlockedLayout([1, 4], [32, 1], [4, 1], [1, 0])))


@gluon.jit
def scaled(x: Any) -> None:
    lies: gl.constexpr = gl.NVMMASharedLayout.get_default_for([128, 128], gl.float8e5)
    operand = gl.allocate_shared_memory(gl.float8e5, [128, 128], lies)
    scales = allocate_tensor_memory(gl.int8, [128, 4], gl.nvidia.blackwell.TensorMemoryScalesLayout())
    total = allocate_tensor_memory(gl.float32, [128, 128], TensorMemoryLayout([128, 128], 1))
    tcgen05_mma_scaled(operand, operand, total, scales, scales, "e5m2", "e4m2")


@pytest.mark.parametrize(
    ("kernel", "line", "words"),
    [
        (of_registers, 4, "operands are in shared or tensor memory"),
        (rows_of_memory, 3, "a slice of tensor memory is one of the columns"),
        (by_two_blocks, 5, "a product by two blocks is not supported"),
        (of_numbers, 2, "requires at least one distributed tensor operand"),
        (least, 3, "does not have load_min"),
        (other_shape, 3, "does not match destination shape"),
        (scaled, 6, "b_type must be one of e2m1, e4m3, e5m2"),
    ],
    ids=lambda given: getattr(given, "__name__", None),
)
def test_a_mistake_is_shown_with_its_line(kernel: Any, line: int, words: str) -> None:
    with pytest.raises(tritonx.CompilationError, match=words) as error:
        compiled(kernel, {"x": np.zeros(64, np.float32)}, BLACKWELL)
    assert f"at {line}:" in str(error.value)
