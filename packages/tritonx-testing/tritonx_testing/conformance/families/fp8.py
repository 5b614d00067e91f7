"""The 8-bit floating-point formats: every value up, random values down."""

# pyright: reportArgumentType=false, reportOperatorIssue=false, reportUnknownMemberType=false,
# reportUnknownVariableType=false
from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

import tritonx
import tritonx.language as tl
from tritonx_testing.conformance.case import ROUNDED, Array, Case, MakeTrial, Output, Trial, format_of
from tritonx_testing.conformance.cover import Cover
from tritonx_testing.conformance.values import ALL_FP8, DTYPES, FP8

LARGEST = {"fp8e4nv": 448.0, "fp8e5": 57344.0}


@tritonx.jit
def convert_kernel(x_ptr, out_ptr, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(out_ptr + i, tl.load(x_ptr + i).to(out_ptr.dtype.element_ty))


@tritonx.jit
def arithmetic_kernel(x_ptr, y_ptr, out_ptr, N: tl.constexpr):
    i = tl.arange(0, N)
    x = tl.load(x_ptr + i).to(tl.float32)
    y = tl.load(y_ptr + i).to(tl.float32)
    tl.store(out_ptr + i, (x + y).to(out_ptr.dtype.element_ty))


@tritonx.jit
def toward_zero_kernel(x_ptr, out_ptr, N: tl.constexpr):
    i = tl.arange(0, N)
    x = tl.load(x_ptr + i)
    tl.store(out_ptr + i, x.to(out_ptr.dtype.element_ty, fp_downcast_rounding="rtz"))


def _up(source: str, target: str) -> MakeTrial:
    def make(rng: np.random.Generator) -> Trial:
        x = rng.permutation(np.arange(256, dtype=np.uint8)).view(DTYPES[source])
        return Trial((x, Output.of(x.astype(np.float32).astype(DTYPES[target]))), {"N": 256})

    return make


def _random(rng: np.random.Generator, target: str, count: int) -> Array:
    """Numbers inside the format's range, with many of its subnormals, and half-way cases."""
    low = {"fp8e4nv": -10, "fp8e5": -18}[target]
    high = {"fp8e4nv": 8, "fp8e5": 15}[target]
    x = (1 + rng.random(count)) * np.exp2(rng.integers(low, high, count)) * rng.choice([-1.0, 1.0], count)
    halves = rng.integers(16, 32, count) / 16 * np.exp2(rng.integers(low, high, count))
    return np.clip(np.where(rng.random(count) < 0.5, x, halves), -LARGEST[target], LARGEST[target])


def _down(source: str, target: str, count: int) -> MakeTrial:
    def make(rng: np.random.Generator) -> Trial:
        x = _random(rng, target, count).astype(DTYPES[source])
        x[:3] = np.array([0.0, np.nan, -0.0], DTYPES[source])[:count]
        return Trial((x, Output.of(x.astype(np.float64), ROUNDED, dtype=DTYPES[target])), {"N": count})

    return make


def _toward_zero(count: int) -> MakeTrial:
    def make(rng: np.random.Generator) -> Trial:
        x = _random(rng, "fp8e5", count).astype(np.float32)
        near = x.astype(DTYPES["fp8e5"])
        beyond = np.abs(near.astype(np.float32)) > np.abs(x)
        bits = near.view(np.uint8)
        return Trial((x, Output.of(np.where(beyond, bits - np.uint8(1), bits).view(DTYPES["fp8e5"]))), {"N": count})

    return make


def _sum(dtype: str, count: int) -> MakeTrial:
    def make(rng: np.random.Generator) -> Trial:
        x, y = (_random(rng, dtype, count).astype(DTYPES[dtype]) for _ in range(2))
        x, y = (np.where(np.abs(v.astype(np.float32)) > LARGEST[dtype] / 4, v.dtype.type(1), v) for v in (x, y))
        total = x.astype(np.float32) + y.astype(np.float32)
        return Trial((x, y, Output.of(total, ROUNDED, dtype=DTYPES[dtype])), {"N": count})

    return make


def _once(rng: np.random.Generator, target: str, *, toward_zero: bool) -> Any:
    """fp64 so near to a number of the format (toward zero) or to the middle of two (else) that fp32 cannot tell."""
    dtype = np.dtype(DTYPES[target])
    codes = rng.integers(1, 1 << (8 * dtype.itemsize - 1), 4096).astype(f"u{dtype.itemsize}")
    x = codes.view(dtype).astype(np.float64)
    following = (codes + np.array(1, codes.dtype)).view(dtype).astype(np.float64)
    normal = np.abs(x) >= float(format_of(dtype).smallest_normal)  # devices may flush the others
    usable = np.isfinite(x) & np.isfinite(following) & normal
    x, following = x[usable][:512], following[usable][:512]
    below = rng.random(512) < 0.5
    if toward_zero:
        return np.where(below, following * (1 - 2.0**-40), following), np.where(below, x, following)
    return (x + following) / 2 * np.where(below, 1 - 2.0**-40, 1 + 2.0**-40), np.where(below, x, following)


def _rounded_once(target: str, *, toward_zero: bool) -> MakeTrial:
    def make(rng: np.random.Generator) -> Trial:
        given, expected = _once(rng, target, toward_zero=toward_zero)
        return Trial((given, Output.of(expected.astype(DTYPES[target]))), {"N": 512})

    return make


def cases(cover: Cover) -> Iterator[Case]:
    for target in (*ALL_FP8, "fp16", "bf16"):
        needs = frozenset({target} & {*ALL_FP8})
        make = _rounded_once(target, toward_zero=False)
        yield Case(f"fp8/once-fp64-{target}", convert_kernel, make, {}, needs)
        make = _rounded_once(target, toward_zero=True)
        yield Case(f"fp8/once-toward-zero-fp64-{target}", toward_zero_kernel, make, {}, needs)
    for small in FP8:
        needs = frozenset({small})
        for wide in ("fp32", "fp16", "bf16"):
            yield Case(f"fp8/up-{small}-{wide}", convert_kernel, _up(small, wide), {"num_warps": 2}, needs)
            for count in cover.choose((512,), (1, 2, 64, 512, 4096)):
                yield Case(f"fp8/down-{wide}-{small}-{count}", convert_kernel, _down(wide, small, count), {}, needs)
        yield Case(f"fp8/down-fp32-{small}-4-w1", convert_kernel, _down("fp32", small, 4), {"num_warps": 1}, needs)
        yield Case(f"fp8/sum-{small}-1024-w8", arithmetic_kernel, _sum(small, 1024), {"num_warps": 8}, needs)
    yield Case("fp8/toward-zero-fp32-fp8e5", toward_zero_kernel, _toward_zero(512), {}, frozenset({"fp8e5"}))
