"""Which instructions small kernels come to on each compute capability: the table is ``instructions.expected``.

What a capability has and a kernel does not use makes it slower and nothing wrong; what it uses and the capability does
not have, nothing here would run. So both are written down. ``TRITONX_ACCEPT=1`` writes the file anew.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import tritonx
import tritonx.language as tl
from tritonx.backends.nvidia.targets import CAPABILITIES

EXPECTED = Path(__file__).with_name("instructions.expected")
TOLD = re.compile(
    r"(?:mma|wgmma|ldmatrix|stmatrix|cp|mbarrier|fence|redux|shfl|vote|atom|red|cvt|ex2|tanh|membar|st\.async"
    r"|(?:ld|st)\.(?:global|shared)[\w.:]*\.v\d|add\.\w*x2|fma\.\w*x2|max\.\w*(?:x2|NaN))[\w.:]*"
)
"""The instructions that capabilities differ in."""


@tritonx.jit
def product(a, b, c, K, M: tl.constexpr, N: tl.constexpr, KB: tl.constexpr):
    m, n, k = tl.arange(0, M), tl.arange(0, N), tl.arange(0, KB)
    total = tl.zeros((M, N), dtype=tl.int32 if a.dtype.element_ty.is_int() else tl.float32)
    for start in range(0, K, KB):
        x = tl.load(a + m[:, None] * K + start + k[None, :])
        y = tl.load(b + (start + k)[:, None] * N + n[None, :])
        total = tl.dot(x, y, total)
    tl.store(c + m[:, None] * N + n[None, :], total.to(c.dtype.element_ty))


@tritonx.jit
def reductions(x, i, out, N: tl.constexpr):
    k = tl.arange(0, N)
    v, w = tl.load(x + k), tl.load(i + k)
    tl.store(out, tl.max(v) + tl.sum(v))
    tl.store(out + 1, (tl.max(w) + tl.sum(w) + tl.xor_sum(w)).to(tl.float32))


@tritonx.jit
def atomics(x, h, b, N: tl.constexpr):
    k = tl.arange(0, N)
    tl.atomic_add(x + k, 1.0, sem="relaxed")
    tl.atomic_add(h + k, tl.full((N,), 1.0, tl.float16))
    tl.atomic_add(b + k, tl.full((N,), 1.0, tl.bfloat16))
    tl.atomic_max(x + k, 2.0, sem="acq_rel", scope="sys")


@tritonx.jit
def conversions(x, h, b, e, out, N: tl.constexpr):
    k = tl.arange(0, N)
    v = tl.load(x + k)
    tl.store(h + k, v.to(tl.float16))
    tl.store(b + k, v.to(tl.bfloat16))
    tl.store(e + k, v.to(tl.float8e5))
    tl.store(out + k, tl.load(e + N + k).to(tl.float32) + tl.load(b + N + k).to(tl.float32))


@tritonx.jit
def arithmetic(x, b, out, N: tl.constexpr):
    k = tl.arange(0, N)
    v = tl.load(b + k)
    tl.store(out + k, tl.maximum(v, v * v + v, propagate_nan=tl.PropagateNan.ALL))
    w = tl.load(x + k)
    tl.store(x + k, tl.exp2(w) + tl.maximum(w, w * w + w, propagate_nan=tl.PropagateNan.ALL))


PRODUCT = {"a": "*fp16", "b": "*fp16", "c": "*fp16", "K": "i32"}
TILE = {"M": 64, "N": 64, "KB": 32}
KERNELS: dict[str, tuple[Any, dict[str, str], dict[str, int]]] = {
    "product of fp16": (product, PRODUCT, TILE),
    "product of bf16": (product, {**PRODUCT, "a": "*bf16", "b": "*bf16"}, TILE),
    "product of fp32": (product, {**PRODUCT, "a": "*fp32", "b": "*fp32"}, TILE),
    "product of fp8": (product, {**PRODUCT, "a": "*fp8e5", "b": "*fp8e5"}, TILE),
    "product of i8": (product, {**PRODUCT, "a": "*i8", "b": "*i8", "c": "*i32"}, TILE),
    "reductions": (reductions, {"x": "*fp32", "i": "*i32", "out": "*fp32"}, {"N": 256}),
    "atomics": (atomics, {"x": "*fp32", "h": "*fp16", "b": "*bf16"}, {"N": 512}),
    "conversions": (conversions, {"x": "*fp32", "h": "*fp16", "b": "*bf16", "e": "*fp8e5", "out": "*fp32"}, {"N": 512}),
    "arithmetic": (arithmetic, {"x": "*fp32", "b": "*bf16", "out": "*bf16"}, {"N": 512}),
}


def told(ptx: str) -> list[str]:
    return sorted({found for line in ptx.splitlines() for found in _instruction(line)})


def _instruction(line: str) -> Iterator[str]:
    words = line.strip().removesuffix(";").split()
    if words and words[0].startswith("@"):
        words = words[1:]
    if words and TOLD.fullmatch(words[0]):
        yield words[0]


def sections() -> dict[str, str]:
    parts = re.split(r"^==== (.*)\n", EXPECTED.read_text() if EXPECTED.exists() else "", flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


@pytest.mark.parametrize("name", KERNELS)
def test_instructions(name: str, compiler: Any) -> None:
    kernel, signature, constants = KERNELS[name]
    found: dict[str, list[int]] = {}
    for number in CAPABILITIES:
        for instruction in told(compiler(kernel, str(number), signature, constants, until="ptx").ptx):
            found.setdefault(instruction, []).append(number)
    text = "".join(f"{instruction}: {' '.join(map(str, found[instruction]))}\n" for instruction in sorted(found))
    recorded = sections()
    if os.environ.get("TRITONX_ACCEPT"):
        recorded[name] = text
        EXPECTED.write_text("".join(f"==== {n}\n{recorded[n]}" for n in KERNELS if n in recorded))
    assert text == recorded.get(name)
