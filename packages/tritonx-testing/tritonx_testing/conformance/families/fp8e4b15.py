"""fp8e4b15, the type that NumPy and the IR lack: kernels see its codes as bytes, and by reinterpretation its numbers.

Source of the rounding: Triton's conversion for NVIDIA GPUs (`language/extra/cuda/utils.py`). From fp16 to the nearest,
halves away from zero, NaN and what is beyond 1.75 to 1.75; from fp32 by way of fp16, toward zero."""

# pyright: reportArgumentType=false, reportOperatorIssue=false, reportUnknownMemberType=false,
# reportUnknownVariableType=false
from __future__ import annotations

from collections.abc import Iterator

import numpy as np

import tritonx
import tritonx.language as tl
from tritonx_testing.conformance.case import Array, Case, MakeTrial, Output, Trial
from tritonx_testing.conformance.cover import Cover
from tritonx_testing.conformance.families.shape import grid_2d
from tritonx_testing.conformance.values import DTYPES


@tritonx.jit
def up_kernel(x_ptr, out_ptr, N: tl.constexpr):
    i = tl.arange(0, N)
    x = tl.load(x_ptr + i).to(tl.float8e4b15, bitcast=True)
    tl.store(out_ptr + i, x.to(out_ptr.dtype.element_ty))


@tritonx.jit
def down_kernel(x_ptr, out_ptr, N: tl.constexpr):
    i = tl.arange(0, N)
    x = tl.load(x_ptr + i).to(tl.float8e4b15)
    tl.store(out_ptr + i, x.to(tl.uint8, bitcast=True))


@tritonx.jit
def moved_kernel(x_ptr, y_ptr, out_ptr, N: tl.constexpr):
    i = tl.arange(0, N)
    x = tl.load((x_ptr + i).to(tl.pointer_type(tl.float8e4b15)), mask=i < N // 2, other=1.5)
    y = tl.load((y_ptr + i).to(tl.pointer_type(tl.float8e4b15)))
    chosen = tl.where(i % 2 == 0, tl.abs(x), y)
    tl.store((out_ptr + i).to(tl.pointer_type(tl.float8e4b15)), chosen)


@tritonx.jit
def dot_kernel(a_ptr, b_ptr, out_ptr, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr, BOTH: tl.constexpr):
    a = tl.load(a_ptr + grid_2d(M, K)).to(tl.float8e4b15, bitcast=True)
    b = tl.load(b_ptr + grid_2d(K, N))
    if BOTH:
        b = b.to(tl.float8e4b15, bitcast=True)
    tl.store(out_ptr + grid_2d(M, N), tl.dot(a, b, out_dtype=out_ptr.dtype.element_ty))


def numbers(codes: Array) -> Array:
    """What codes stand for, as fp16."""
    wide = codes.astype(np.uint16)
    return ((wide & 0x80) << 8 | (wide & 0x7F) << 7).astype(np.uint16).view(np.float16)


def codes(x: Array) -> Array:
    """fp16 or fp32 rounded."""
    if x.dtype == np.float32:
        half = x.astype(np.float16)
        away = np.abs(half.astype(np.float32)) > np.abs(x)
        x = (half.view(np.uint16) - away.astype(np.uint16)).view(np.float16)
    bits = x.view(np.uint16)
    magnitude = np.minimum(bits & 0x7FFF, 0x3F00)
    return ((magnitude + 0x40 >> 7) | (bits >> 8 & 0x80)).astype(np.uint8)


def _up(target: str) -> MakeTrial:
    def make(rng: np.random.Generator) -> Trial:
        x = rng.permutation(np.arange(256, dtype=np.uint8))
        return Trial((x, Output.of(numbers(x).astype(np.float32).astype(DTYPES[target]))), {"N": 256})

    return make


def _down(source: str, count: int) -> MakeTrial:
    def make(rng: np.random.Generator) -> Trial:
        x = rng.integers(0, 1 << 16, count, dtype=np.uint16).view(np.float16)
        if source == "fp32":
            near = rng.uniform(-2.0, 2.0, count) * np.exp2(rng.integers(-18, 1, count))
            x = np.where(rng.random(count) < 0.5, near, x.astype(np.float64)).astype(np.float32)
            x[np.isnan(x)] = np.nan  # on the way to fp16 the hardware's NaN loses its sign
        return Trial((x, Output.of(codes(x))), {"N": count})

    return make


def _moved(count: int) -> MakeTrial:
    def make(rng: np.random.Generator) -> Trial:
        x, y = rng.integers(0, 256, (2, count), dtype=np.uint8)
        i = np.arange(count)
        x_seen = np.where(i < count // 2, x, codes(np.array([1.5], np.float16)))
        return Trial((x, y, Output.of(np.where(i % 2 == 0, x_seen & 0x7F, y))), {"N": count})

    return make


def _dot(m: int, n: int, k: int, second: str) -> MakeTrial:
    """Numbers of few digits, so that every sum is exact."""

    def make(rng: np.random.Generator) -> Trial:
        a, b = (codes(rng.integers(-6, 7, shape).astype(np.float16) / np.float16(4)) for shape in ((m, k), (k, n)))
        expected = numbers(a).astype(np.float32) @ numbers(b).astype(np.float32)
        both = second == "fp8e4b15"
        right = b if both else numbers(b).astype(DTYPES[second])
        return Trial((a, right, Output.of(expected)), {"M": m, "N": n, "K": k, "BOTH": both})

    return make


def cases(cover: Cover) -> Iterator[Case]:
    needs = frozenset({"fp8e4b15"})
    for target in ("fp16", "fp32", "bf16"):
        yield Case(f"fp8e4b15/up-{target}", up_kernel, _up(target), {"num_warps": 2}, needs)
    for source in ("fp16", "fp32"):
        for count in cover.choose((1024,), (1024, 64, 2)):
            yield Case(f"fp8e4b15/down-{source}-{count}", down_kernel, _down(source, count), {}, needs)
    yield Case("fp8e4b15/moved-256", moved_kernel, _moved(256), {}, needs)
    for second in ("fp8e4b15", "fp8e5"):
        for m, n, k in cover.choose(((32, 32, 32),), ((32, 32, 32), (16, 64, 128), (4, 8, 32))):
            make = _dot(m, n, k, second)
            yield Case(f"fp8e4b15/dot-{second}-{m}x{n}x{k}", dot_kernel, make, {}, needs | {second})
