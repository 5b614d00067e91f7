"""Assertions that hold, printing, and hints: none of them may change a result."""

# pyright: reportArgumentType=false, reportOperatorIssue=false, reportUnknownMemberType=false,
# reportUnknownVariableType=false
from __future__ import annotations

from collections.abc import Iterator

import numpy as np

import tritonx
import tritonx.language as tl
from tritonx_testing.conformance.case import Case, MakeTrial, Output, Trial
from tritonx_testing.conformance.cover import Cover
from tritonx_testing.conformance.values import small_integers


@tritonx.jit
def assert_kernel(x_ptr, out_ptr, n, N: tl.constexpr):
    i = tl.arange(0, N)
    x = tl.load(x_ptr + i)
    tl.static_assert(N >= 32, "a warp")
    tl.device_assert(x < n, "every element is below n")
    tl.device_assert(n > 0)
    tl.store(out_ptr + i, n - x)


@tritonx.jit
def print_kernel(x_ptr, out_ptr, N: tl.constexpr):
    i = tl.arange(0, N)
    x = tl.load(x_ptr + i)
    if tl.max(x, axis=0) > 1000:
        tl.device_print("x", x)
    tl.store(out_ptr + i, x + 1)


@tritonx.jit
def hints_kernel(x_ptr, out_ptr, n, N: tl.constexpr):
    tl.assume(n >= 0)
    n = tl.multiple_of(n, 16)
    i = tl.max_contiguous(tl.multiple_of(n + tl.arange(0, N), N), N)
    tl.store(out_ptr + tl.arange(0, N), tl.load(x_ptr + i))


def _asserted(count: int) -> MakeTrial:
    def make(rng: np.random.Generator) -> Trial:
        x = small_integers(rng, "int32", count)
        return Trial((x, Output.of(np.int32(20) - x), 20), {"N": count})

    return make


def _printed(count: int) -> MakeTrial:
    def make(rng: np.random.Generator) -> Trial:
        x = small_integers(rng, "int32", count)
        return Trial((x, Output.of(x + np.int32(1))), {"N": count})

    return make


def _hinted(count: int) -> MakeTrial:
    def make(rng: np.random.Generator) -> Trial:
        x = small_integers(rng, "int32", count * 2)
        return Trial((x, Output.of(x[count:]), count), {"N": count})

    return make


def cases(cover: Cover) -> Iterator[Case]:
    for count, w in ((64, 1), (256, 4)):
        yield Case(f"debug/assert-{count}-w{w}", assert_kernel, _asserted(count), {"num_warps": w, "debug": True})
        yield Case(f"debug/print-{count}-w{w}", print_kernel, _printed(count), {"num_warps": w}, optional=True)
        yield Case(f"debug/hints-{count}-w{w}", hints_kernel, _hinted(count), {"num_warps": w})
