"""Conversions between all integer and floating-point types: wrapping, round to nearest even, truncation, bits."""

# pyright: reportArgumentType=false, reportOperatorIssue=false, reportUnknownMemberType=false,
# reportUnknownVariableType=false
from __future__ import annotations

from collections.abc import Iterator

import numpy as np

import tritonx
import tritonx.language as tl
from tritonx_testing.conformance.case import (
    EXACT,
    ROUNDED,
    Array,
    Case,
    MakeTrial,
    Output,
    Part,
    Tolerance,
    Trial,
    is_float,
)
from tritonx_testing.conformance.cover import Cover
from tritonx_testing.conformance.values import DTYPES, FLOATS, INTEGERS, floats, integers

TWICE_ROUNDED = Tolerance(ulps=1.01)
"""For 64-bit values that become 16-bit floats, which may go through fp32."""

TARGETS = INTEGERS + FLOATS


@tritonx.jit
def cast_kernel(x_ptr, i8, i16, i32, i64, u8, u16, u32, u64, f16, bf16, f32, f64, flags, N: tl.constexpr):
    i = tl.arange(0, N)
    x = tl.load(x_ptr + i)
    tl.store(i8 + i, x.to(tl.int8))
    tl.store(i16 + i, x.to(tl.int16))
    tl.store(i32 + i, x.to(tl.int32))
    tl.store(i64 + i, x.to(tl.int64))
    tl.store(u8 + i, x.to(tl.uint8))
    tl.store(u16 + i, x.to(tl.uint16))
    tl.store(u32 + i, x.to(tl.uint32))
    tl.store(u64 + i, x.to(tl.uint64))
    tl.store(f16 + i, x.to(tl.float16))
    tl.store(bf16 + i, x.to(tl.bfloat16))
    tl.store(f32 + i, x.to(tl.float32))
    tl.store(f64 + i, x.to(tl.float64))
    tl.store(flags + i, (x != 0).to(tl.int1).to(tl.int8))


@tritonx.jit
def bitcast_kernel(x_ptr, out_ptr, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(out_ptr + i, tl.load(x_ptr + i).to(out_ptr.dtype.element_ty, bitcast=True))


@tritonx.jit
def rounding_kernel(x_ptr, out_ptr, N: tl.constexpr, MODE: tl.constexpr):
    i = tl.arange(0, N)
    x = tl.load(x_ptr + i)
    tl.store(out_ptr + i, x.to(out_ptr.dtype.element_ty, fp_downcast_rounding=MODE))


def _tolerance(source: str, target: str) -> Tolerance:
    if target in ("fp16", "bf16") and source in ("int32", "uint32", "int64", "uint64", "fp64"):
        return TWICE_ROUNDED
    return ROUNDED if target in FLOATS else EXACT


def _cast(source: str, count: int) -> MakeTrial:
    def make(rng: np.random.Generator) -> Trial:
        if source in INTEGERS:
            x = integers(rng, source, count)
            exact = x.astype(np.longdouble)
        else:  # whole part inside every integer type
            x = (rng.random(count) * 126).astype(DTYPES[source])
            exact = x.astype(np.float64)
        outputs: list[Output] = []
        for target in TARGETS:
            dtype = np.dtype(DTYPES[target])
            expected: Array = exact if is_float(dtype) else x.astype(dtype)
            outputs.append(Output(dtype, (Part(f"{source} to {target}", expected, _tolerance(source, target)),)))
        return Trial((x, *outputs, Output.of((x != 0).astype(np.int8))), {"N": count})

    return make


def _bitcast(source: str, target: str, count: int) -> MakeTrial:
    def make(rng: np.random.Generator) -> Trial:
        x = floats(rng, source, count, special=True) if source in FLOATS else integers(rng, source, count)
        return Trial((x, Output.of(x.view(DTYPES[target]))), {"N": count})

    return make


def _signed_floats(source: str, target: str, count: int) -> MakeTrial:
    """Values over the target's range, subnormal and overflowing ones among them."""

    def make(rng: np.random.Generator) -> Trial:
        reach = {"fp16": (-26, 17), "bf16": (-126, 127), "fp32": (-126, 127)}[target]
        exponents = rng.integers(*reach, count)
        x = (rng.standard_normal(count) * np.exp2(exponents)).astype(DTYPES[source])
        x[:6] = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 1.0], DTYPES[source])
        return Trial((x, Output.of(x.astype(np.float64), ROUNDED, dtype=DTYPES[target])), {"N": count, "MODE": "rtne"})

    return make


def _toward_zero(source: str, target: str, count: int) -> MakeTrial:
    def make(rng: np.random.Generator) -> Trial:
        x = (rng.standard_normal(count) * np.exp2(rng.integers(-10, 10, count))).astype(DTYPES[source])
        near = x.astype(DTYPES[target])
        bits = near.view(np.uint16)
        beyond = np.abs(near.astype(np.float64)) > np.abs(x.astype(np.float64))
        expected = np.where(beyond, bits - np.uint16(1), bits).astype(np.uint16).view(DTYPES[target])
        return Trial((x, Output.of(expected)), {"N": count, "MODE": "rtz"})

    return make


def cases(cover: Cover) -> Iterator[Case]:
    sizes = cover.choose([(256, 4)], [(1, 1), (256, 4), (1024, 2), (2048, 8)])
    for count, warps in sizes:
        for source in TARGETS:
            yield Case(f"casts/{source}-{count}-w{warps}", cast_kernel, _cast(source, count), {"num_warps": warps})
    for source, target in (
        ("fp32", "int32"), ("int32", "fp32"), ("fp16", "int16"), ("int16", "bf16"), ("fp64", "int64"),
        ("uint8", "int8"), ("fp16", "bf16"), ("uint64", "fp64"),
    ):  # fmt: skip
        yield Case(f"casts/bits-{source}-{target}", bitcast_kernel, _bitcast(source, target, 256))
    for source, target in (("fp32", "fp16"), ("fp32", "bf16"), ("fp64", "fp32")):
        yield Case(f"casts/rounding-{source}-{target}", rounding_kernel, _signed_floats(source, target, 1024))
    for target in ("fp16", "bf16"):
        yield Case(f"casts/toward-zero-fp32-{target}", rounding_kernel, _toward_zero("fp32", target, 512))
