"""The standard library of the language, run in the interpreter on random inputs against NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tritonx.language as tl
from tritonx import jit
from tritonx.backends.api import Target
from tritonx.frontend.compile import make_module
from tritonx.interpreter.machine import interpret
from tritonx.interpreter.options import InterpreterOptions

NAMES = {
    np.dtype(np.float32): "fp32", np.dtype(np.float64): "fp64", np.dtype(np.float16): "fp16", np.dtype(np.int8): "i8",
    np.dtype(np.int16): "i16", np.dtype(np.int32): "i32", np.dtype(np.int64): "i64", np.dtype(np.uint8): "u8",
    np.dtype(np.uint16): "u16", np.dtype(np.uint32): "u32", np.dtype(np.uint64): "u64",
}  # fmt: skip


def run(kernel: Any, *arrays: Any, **constants: Any) -> None:
    """Compile ``kernel`` for the arrays (and Python ints) and these constants, and interpret one program."""
    names = kernel.arg_names
    types = [f"*{NAMES[a.dtype]}" if isinstance(a, np.ndarray) else "i32" for a in arrays]
    signature = dict(zip(names, types, strict=False)) | dict.fromkeys(constants, "constexpr")
    module = make_module(
        kernel, signature, {(names.index(k),): v for k, v in constants.items()}, {}, InterpreterOptions(), Target("cpu")
    )
    interpret(module, (1,), list(arrays))


def random(dtype: Any, shape: Any, seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    if np.dtype(dtype).kind == "f":
        return rng.normal(size=shape).astype(dtype)
    info = np.iinfo(dtype)
    return rng.integers(info.min, info.max, size=shape, dtype=dtype, endpoint=True)


@jit
def rows(x, out, f: tl.constexpr, M: tl.constexpr, N: tl.constexpr):
    at = tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :]
    tl.store(out + at, f(tl.load(x + at)))


@jit
def descending(x):
    return tl.sort(x, descending=True)


@jit
def flip_first(x):
    return tl.flip(x, 0)


@pytest.mark.parametrize(
    "dtype", [np.float32, np.float16, np.float64, np.int8, np.uint8, np.int32, np.uint32, np.int64]
)
@pytest.mark.parametrize("n", [2, 8, 64])
def test_sort(dtype: Any, n: int) -> None:
    x = random(dtype, (4, n), n)
    x[1, : n // 2] = x[1, 0]
    for function, expected in (
        (tl.sort, np.sort(x, axis=1)),
        (descending, np.sort(x, axis=1)[:, ::-1]),
        (tl.flip, x[:, ::-1]),
        (flip_first, x[::-1]),
    ):
        out = np.zeros_like(x)
        run(rows, x, out, f=function, M=4, N=n)
        np.testing.assert_array_equal(out, expected)


@pytest.mark.parametrize("function", [tl.sort, descending])
def test_sort_keeps_every_element(function: Any) -> None:
    """Zeros go by their signs, NaNs by theirs to the ends; none is lost or doubled, with all its bits."""
    x = random(np.float32, (2, 32))
    x[:, ::5] = np.array([0x7FC00001, 0xFFC00002], np.uint32).view(np.float32)[:, None]
    x[:, 1::5], x[:, 2::5] = 0.0, -0.0
    out = np.zeros_like(x)
    run(rows, x, out, f=function, M=2, N=32)
    bits = x.view(np.int32)
    keys = np.sort(np.where(bits < 0, bits ^ 0x7FFFFFFF, bits), axis=1)
    expected = np.where(keys < 0, keys ^ 0x7FFFFFFF, keys)
    np.testing.assert_array_equal(out.view(np.int32), expected if function is tl.sort else expected[:, ::-1])


@jit
def top(x, out, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    values = tl.topk(tl.load(x + tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :]), K)
    tl.store(out + tl.arange(0, M)[:, None] * K + tl.arange(0, K)[None, :], values)


@pytest.mark.parametrize(("n", "k"), [(8, 1), (16, 2), (64, 8), (32, 32)])
def test_topk(n: int, k: int) -> None:
    x = random(np.float32, (4, n), k)
    out = np.zeros((4, k), np.float32)
    run(top, x, out, M=4, N=n, K=k)
    np.testing.assert_array_equal(out, np.sort(x, axis=1)[:, ::-1][:, :k])


def test_bitonic_merge() -> None:
    x = np.sort(random(np.int32, (4, 32)), axis=1)
    x[:, 16:] = x[:, 16:][:, ::-1]
    out = np.zeros_like(x)
    run(rows, x, out, f=tl.bitonic_merge, M=4, N=32)
    np.testing.assert_array_equal(out, np.sort(x, axis=1))


@jit
def along(x, out, f: tl.constexpr, axis: tl.constexpr, keep: tl.constexpr, M: tl.constexpr, N: tl.constexpr):
    values = tl.load(x + tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :])
    result = f(values, axis, keep_dims=keep)
    if axis is None:
        tl.store(out, tl.sum(result))
    elif keep:
        tl.store(
            out + tl.arange(0, M)[:, None] + tl.arange(0, N)[None, :] if axis == 0 else out + tl.arange(0, M)[:, None],
            result,
        )
    else:
        tl.store(out + tl.arange(0, N if axis == 0 else M), result)


@jit
def first_argmax(x, axis, keep_dims=False):
    return tl.argmax(x, axis, keep_dims=keep_dims)


@jit
def first_argmin(x, axis, keep_dims=False):
    return tl.argmin(x, axis, keep_dims=keep_dims)


@pytest.mark.parametrize("axis", [0, 1, -1])
@pytest.mark.parametrize(
    ("function", "reference"),
    [
        (tl.sum, np.sum),
        (tl.max, np.max),
        (tl.min, np.min),
        (first_argmax, np.argmax),
        (first_argmin, np.argmin),
        (tl.xor_sum, np.bitwise_xor.reduce),
        (tl.reduce_or, np.bitwise_or.reduce),
    ],
)
def test_reductions(function: Any, reference: Any, axis: int) -> None:
    x = random(np.int32, (8, 16)) % 64
    expected = reference(x, axis=axis).astype(np.int32)
    out = np.zeros(expected.size, np.int32)
    run(along, x, out, f=function, axis=axis, keep=False, M=8, N=16)
    np.testing.assert_array_equal(out, expected)


def test_reduce_everything() -> None:
    x = random(np.float64, (8, 16))
    out = np.zeros(1)
    run(along, x, out, f=tl.sum, axis=None, keep=True, M=8, N=16)
    np.testing.assert_allclose(out[0], x.sum(), rtol=1e-12)
    run(along, x, out, f=tl.max, axis=None, keep=False, M=8, N=16)
    assert out[0] == x.max()


@jit
def index_of_extremum(x, values, indices, largest: tl.constexpr, left: tl.constexpr, N: tl.constexpr):
    v = tl.load(x + tl.arange(0, N))
    if largest:
        value, index = tl.max(v, 0, return_indices=True, return_indices_tie_break_left=left)
    else:
        value, index = tl.min(v, 0, return_indices=True, return_indices_tie_break_left=left)
    tl.store(values, value)
    tl.store(indices, index)


@pytest.mark.parametrize("largest", [True, False])
def test_ties_break_to_the_left(largest: bool) -> None:
    x = (random(np.int32, 64) % 4).astype(np.float32)
    value, index = np.zeros(1, np.float32), np.zeros(1, np.int32)
    run(index_of_extremum, x, value, index, largest=largest, left=True, N=64)
    assert index[0] == (np.argmax(x) if largest else np.argmin(x))
    run(index_of_extremum, x, value, index, largest=largest, left=False, N=64)
    assert x[index[0]] == value[0] == (x.max() if largest else x.min())


@jit
def scans(x, out, f: tl.constexpr, axis: tl.constexpr, reverse: tl.constexpr, M: tl.constexpr, N: tl.constexpr):
    at = tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :]
    tl.store(out + at, f(tl.load(x + at), axis, reverse=reverse))


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("axis", [0, 1])
def test_scans(axis: int, reverse: bool) -> None:
    x = random(np.int8, (8, 16))
    for function, reference in ((tl.cumsum, np.cumsum), (tl.cumprod, np.cumprod)):
        dtype = np.int32 if function is tl.cumsum else np.int8
        expected = reference(np.flip(x, axis) if reverse else x, axis=axis, dtype=dtype)
        out = np.zeros((8, 16), dtype)
        run(scans, x, out, f=function, axis=axis, reverse=reverse, M=8, N=16)
        np.testing.assert_array_equal(out, np.flip(expected, axis) if reverse else expected)


@jit
def softmax_of(x, out, axis: tl.constexpr, M: tl.constexpr, N: tl.constexpr):
    at = tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :]
    tl.store(out + at, tl.softmax(tl.load(x + at), axis))


@pytest.mark.parametrize("axis", [0, 1])
def test_softmax(axis: int) -> None:
    x = random(np.float32, (8, 16))
    e = np.exp(x.astype(np.float64) - x.max(axis=axis, keepdims=True))
    out = np.zeros_like(x)
    run(softmax_of, x, out, axis=axis, M=8, N=16)
    np.testing.assert_allclose(out, e / e.sum(axis=axis, keepdims=True), rtol=1e-5)


@jit
def swizzled(out, m, n, group):
    for i in range(m):
        for j in range(n):
            a, b = tl.swizzle2d(i, j, m, n, group)
            tl.store(out + a * n + b, i * n + j)


def test_swizzle2d() -> None:
    """Groups of rows, column by column within a group; a last group that is smaller."""
    out = np.zeros((5, 4), np.int32)
    run(swizzled, out, 5, 4, 2)
    order = [(r, c) for g in (range(2), range(2, 4), range(4, 5)) for c in range(4) for r in g]
    np.testing.assert_array_equal([out[p] for p in order], np.arange(20))


@jit
def assorted(x, y, out, n, N: tl.constexpr):
    i = tl.arange(0, N)
    a, b = tl.load(x + i), tl.load(y + i)
    tl.store(out + tl.arange(0, 2 * N), tl.interleave(a, b))
    tl.store(out + 2 * N + i, tl.ravel(tl.reshape(a, (2, N // 2))))
    tl.store(out + 3 * N, tl.cdiv(n, 7))
    tl.store(out + 3 * N + 1 + i, tl.zeros_like(a) + tl.zeros([N], tl.int32))


def test_shapes_and_small_functions() -> None:
    x, y = random(np.int32, 16, 1), random(np.int32, 16, 2)
    out = np.full(65, -1, np.int32)
    run(assorted, x, y, out, 50, N=16)
    np.testing.assert_array_equal(out[:32], np.stack([x, y], axis=-1).reshape(-1))
    np.testing.assert_array_equal(out[32:48], x)
    assert out[48] == 8
    np.testing.assert_array_equal(out[49:], 0)


def test_the_library_is_declared_and_not_launched() -> None:
    """Libraries ask for `JITFunction` before they read a function's source, as they do with Triton's."""
    import tritonx
    from tritonx.runtime.jit import JITFunction

    assert isinstance(tl.sum, JITFunction) and not isinstance(tl.load, JITFunction)
    assert tl.sum.cache_key and "def sum" in tl.sum.src
    with pytest.raises(RuntimeError, match="outside of the scope of a kernel"):
        tl.sum(1)

    class Own(JITFunction):
        pass

    assert not isinstance(tl.sum, Own) and isinstance(
        tritonx.jit(test_the_library_is_declared_and_not_launched), JITFunction
    )
