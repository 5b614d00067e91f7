"""Arguments that are views of one array, and overlap in part: a launch reads a tile whole before it stores it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tritonx
import tritonx.language as tl
from tritonx.interpreter import interpreted
from tritonx.runtime.compiling.compiled_kernel import CompiledKernel
from tritonx.runtime.errors import IrregularArgument


@tritonx.jit
def shift(x_ptr, y_ptr, n, B: tl.constexpr):
    i = tl.arange(0, B)
    tl.store(y_ptr + i, tl.load(x_ptr + i, mask=i < n) + 1, mask=i < n)


@tritonx.jit
def whole(x_ptr, y_ptr, n, B: tl.constexpr):
    i = tl.arange(0, B)
    tl.store(y_ptr + i, tl.load(x_ptr + i))


@tritonx.jit
def offset(x_ptr, y_ptr, n, B: tl.constexpr):
    i = tl.arange(0, B)
    tl.store(y_ptr + n // 8 + i, tl.load(x_ptr + i, mask=i < n // 2) * 2, mask=i < n // 2)


@tritonx.jit
def strided(x_ptr, y_ptr, sx, sy, n, B: tl.constexpr):
    i = tl.arange(0, B)
    tl.store(y_ptr + i * sy, tl.load(x_ptr + i * sx, mask=i < n) + 1, mask=i < n)


@tritonx.jit
def tiles(x_ptr, y_ptr, sx, sy, m, n, M: tl.constexpr, N: tl.constexpr):
    i, j = tl.arange(0, M)[:, None], tl.arange(0, N)[None, :]
    mask = (i < m) & (j < n)
    tl.store(y_ptr + i * sy + j, tl.load(x_ptr + i * sx + j, mask=mask) + 1, mask=mask)


@tritonx.jit
def three(x_ptr, y_ptr, z_ptr, n, B: tl.constexpr):
    i = tl.arange(0, B)
    a, b = tl.load(x_ptr + i, mask=i < n), tl.load(y_ptr + i, mask=i < n)
    tl.store(z_ptr + i, a + b, mask=i < n)
    tl.store(x_ptr + i, a - b, mask=i < n)


@tritonx.jit
def loop(x_ptr, y_ptr, n, B: tl.constexpr):
    for k in range(0, n, B):
        i = k + tl.arange(0, B)
        tl.store(y_ptr + i, tl.load(x_ptr + i, mask=i < n) + 1, mask=i < n)


@tritonx.jit
def advancing(x_ptr, y_ptr, n, B: tl.constexpr):
    x, y = x_ptr + tl.arange(0, B), y_ptr
    for k in range(0, n, B):
        mask = k + tl.arange(0, B) < n
        tl.store(y + tl.arange(0, B), tl.load(x, mask=mask) + 1, mask=mask)
        x, y = x + B, y + B


@tritonx.jit
def atomic(x_ptr, y_ptr, n, B: tl.constexpr):
    i = tl.arange(0, B)
    tl.atomic_add(y_ptr + i, tl.load(x_ptr + i, mask=i < n), mask=i < n)


@tritonx.jit
def rows(x_ptr, y_ptr, sx, sy, n, B: tl.constexpr):
    i = tl.arange(0, B)
    r = tl.program_id(0)
    tl.store(y_ptr + r * sy + i, tl.load(x_ptr + r * sx + i, mask=i < n) + 1, mask=i < n)


DTYPES = ["float32", "int8", "int16", "int64", "float64", "float16"]
FLAT = [shift, offset, loop, advancing, atomic]
blocks = st.sampled_from([8, 32, 64, 256])
shifts = st.one_of(st.integers(-3, 3), st.integers(-80, 80))


def base_of(dtype: str, size: int) -> Any:
    return (np.arange(size) * 7 % 23).astype(dtype)


def same(kernel: Any, views: Any, base: Any, *rest: Any, **meta: Any) -> None:
    """``views`` of a base, given twice each."""
    want, got = base.copy(), base.copy()
    interpreted(kernel)[(1,)](*views(want), *rest, **meta)
    for _ in range(2):
        got[...] = base
        kernel[(1,)](*views(got), *rest, **meta)
        assert got.tobytes() == want.tobytes()


@settings(max_examples=60, deadline=None)
@given(st.sampled_from(FLAT), st.sampled_from(DTYPES), blocks, shifts, st.integers(1, 64))
def test_two_views(kernel: Any, dtype: str, block: int, by: int, n: int) -> None:
    if kernel is atomic and dtype not in ("float32", "float64", "int64"):
        dtype = "float32"
    base = base_of(dtype, n + 400)
    x, y = 100 + max(-by, 0), 100 + max(by, 0)
    if kernel not in (loop, advancing):
        n = min(n, block)
    same(kernel, lambda b: (b[x:], b[y:]), base, n, B=block)
    same(kernel, lambda b: (b[x : x + n + 40], b[y : y + n + 40]), base, n, B=block)


@settings(max_examples=40, deadline=None)
@given(st.sampled_from(DTYPES), blocks, shifts, *[st.integers(1, 3)] * 2)
def test_strides(dtype: str, block: int, by: int, sx: int, sy: int) -> None:
    x, y = 300 + max(-by, 0), 300 + max(by, 0)
    same(strided, lambda b: (b[x:], b[y:]), base_of(dtype, 1500), sx, sy, block - 1, B=block)


@settings(max_examples=40, deadline=None)
@given(st.sampled_from([8, 32]), shifts, st.integers(16, 20), st.integers(16, 20), st.integers(2, 8))
def test_tiles(width: int, by: int, sx: int, sy: int, m: int) -> None:
    x, y = 300 + max(-by, 0), 300 + max(by, 0)
    same(tiles, lambda b: (b[x:], b[y:]), base_of("float32", 1500), sx, sy, m, 15, M=8, N=width)


@settings(max_examples=40, deadline=None)
@given(blocks, shifts, shifts)
def test_three_views(block: int, first: int, second: int) -> None:
    places = (200, 200 + first, 200 + second)
    same(three, lambda b: tuple(b[p:] for p in places), base_of("float32", 700), block - 1, B=block)


@pytest.mark.parametrize("size", [16, 64, 1024])
def test_an_unmasked_shift(size: int) -> None:
    same(whole, lambda b: (b[:-1], b[1:]), base_of("float32", size + 1), size, B=size)


def test_elements_of_two_sizes() -> None:
    same(shift, lambda b: (b.view(np.int16), b), base_of("int32", 300), 64, B=64)
    same(shift, lambda b: (b, b.view(np.int16)), base_of("int32", 300), 64, B=64)


def test_the_plain_entry_point() -> None:
    x = base_of("float32", 100)
    compiled = shift[(1,)](x, np.empty_like(x), 64, B=64)
    want = x.copy()
    want[1:65] = x[:64] + 1
    kernel = compiled.load()[0]
    kernel.launch((1, 1, 1), 0, (x[:-1], x[1:], 64))
    assert (x == want).all()


def test_addresses() -> None:
    """Nothing is known of their extents."""
    x = base_of("float32", 100)
    compiled = shift[(1,)](x, np.empty_like(x), 64, B=64)
    want = x.copy()
    want[1:65] = x[:64] + 1
    compiled[(1,)](x.ctypes.data, x.ctypes.data + 4, 64)
    assert (x == want).all()


def test_tensors() -> None:
    torch = pytest.importorskip("torch")
    x = torch.arange(100.0)
    want = x.clone()
    want[1:65] = x[:64] + 1
    shift[(1,)](x[:-1], x[1:], 64, B=64)
    assert (x == want).all()


REGULAR = {
    "in place": lambda b: (b, b),
    "other arrays": lambda b: (b, b.copy()),
    "a tile apart": lambda b: (b[:64], b[64:]),
    "before": lambda b: (b[64:], b[:64]),
}


@pytest.mark.parametrize("name", REGULAR)
@pytest.mark.parametrize("kernel", [shift, rows])
def test_regular_launches_run_the_fast_code(kernel: Any, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def no_other_code(self: CompiledKernel, options: Any) -> None:
        raise AssertionError("other code was asked for")

    monkeypatch.setattr(CompiledKernel, "_otherwise", no_other_code)
    strides = (64, 64) if kernel is rows else ()
    for _ in range(3):
        kernel[(1,)](*REGULAR[name](base_of("float32", 256)), *strides, 64, B=64)
    with pytest.raises(AssertionError, match="other code"):
        shift[(1,)](*(lambda b: (b, b[1:]))(base_of("float32", 256)), 64, B=64)


def test_rows_of_several_programs() -> None:
    """Each program's row is shifted."""
    base = base_of("float32", 1000)
    want, got = base.copy(), base.copy()
    for r in range(8):
        want[r * 100 + 1 : r * 100 + 65] = base[r * 100 : r * 100 + 64] + 1
    rows[(8,)](got, got[1:], 100, 100, 64, B=64)
    assert (got == want).all()


def test_rows_with_other_strides(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of addresses: the rows of some of five programs are near each other, or those of none are."""
    x, y = np.zeros(4000, np.float32), np.zeros(4000, np.float32)
    kernel = rows[(1,)](x, y, 100, 101, 64, B=64).load()[0]
    asked: list[Any] = []
    monkeypatch.setattr(CompiledKernel, "_otherwise", lambda *_: asked.append(1))
    at = x.ctypes.data
    for launch in (kernel.builtin(), lambda x, y, z, s, *flat: kernel.launch((x, y, z), s, flat)):
        launch(5, 1, 1, 0, at, at + 4 * 2000, 100, 120, 64)
        launch(5, 1, 1, 0, at + 4 * 545, at, 120, 100, 64)
        assert not asked
        with pytest.raises(IrregularArgument, match="x_ptr and y_ptr of rows overlap in part"):
            launch(5, 1, 1, 0, at + 4 * 60, at, 100, 120, 64)
        assert asked.pop()


def test_small_arrays_in_one_page_are_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(CompiledKernel, "_otherwise", lambda *_: pytest.fail("other code was asked for"))
    for _ in range(20):
        shift[(1,)](base_of("float32", 5), base_of("float32", 5), 5, B=1024)
