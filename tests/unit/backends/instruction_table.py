"""Small kernels, and files of the instructions that they come to on each target of a backend.

What a target has and a kernel does not use makes it slower and nothing wrong; what it uses and the target does not
have, nothing here would run. So both are written down. ``TRITONX_ACCEPT=1`` writes a file anew.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import tritonx
import tritonx.language as tl


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
def scaled_product(a, b, s, c, M: tl.constexpr, N: tl.constexpr, KB: tl.constexpr):
    """Two numbers of four bits a byte, with a scale for 32 of them."""
    m, n, k, g = tl.arange(0, M), tl.arange(0, N), tl.arange(0, KB // 2), tl.arange(0, KB // 32)
    x = tl.load(a + m[:, None] * (KB // 2) + k[None, :])
    y = tl.load(b + k[:, None] * N + n[None, :])
    scale = tl.load(s + m[:, None] * (KB // 32) + g[None, :])
    total = tl.dot_scaled(x, scale, "e2m1", y, None, "e2m1")
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


@tritonx.jit
def scans(x, i, out, N: tl.constexpr):
    k = tl.arange(0, N)
    tl.store(out + k, tl.cumsum(tl.load(x + k)))
    tl.store(i + k, tl.associative_scan(tl.load(i + k), 0, _larger, reverse=True))


@tritonx.jit
def _larger(a, b):
    return tl.maximum(a, b)


PRODUCT = {"a": "*fp16", "b": "*fp16", "c": "*fp16", "K": "i32"}
TILE = {"M": 64, "N": 64, "KB": 32}
KERNELS: dict[str, tuple[Any, dict[str, str], dict[str, int]]] = {
    "product of fp16": (product, PRODUCT, TILE),
    "product of bf16": (product, {**PRODUCT, "a": "*bf16", "b": "*bf16"}, TILE),
    "product of fp32": (product, {**PRODUCT, "a": "*fp32", "b": "*fp32"}, TILE),
    "product of fp8": (product, {**PRODUCT, "a": "*fp8e5", "b": "*fp8e5"}, TILE),
    "product of i8": (product, {**PRODUCT, "a": "*i8", "b": "*i8", "c": "*i32"}, TILE),
    "product of 4 bits": (scaled_product, {"a": "*u8", "b": "*u8", "s": "*u8", "c": "*fp16"}, {**TILE, "KB": 64}),
    "reductions": (reductions, {"x": "*fp32", "i": "*i32", "out": "*fp32"}, {"N": 256}),
    "scans": (scans, {"x": "*fp32", "i": "*i32", "out": "*fp32"}, {"N": 1024}),
    "atomics": (atomics, {"x": "*fp32", "h": "*fp16", "b": "*bf16"}, {"N": 512}),
    "conversions": (conversions, {"x": "*fp32", "h": "*fp16", "b": "*bf16", "e": "*fp8e5", "out": "*fp32"}, {"N": 512}),
    "arithmetic": (arithmetic, {"x": "*fp32", "b": "*bf16", "out": "*bf16"}, {"N": 512}),
}


def told(assembly: str, of_interest: re.Pattern[str]) -> list[str]:
    return sorted({found for line in assembly.splitlines() for found in _instruction(line, of_interest)})


def _instruction(line: str, of_interest: re.Pattern[str]) -> Iterator[str]:
    words = line.strip().removesuffix(";").split()
    if words and words[0].startswith("@"):
        words = words[1:]
    if words and of_interest.fullmatch(words[0]):
        yield words[0]


def check(path: Path, name: str, by_target: Mapping[str, list[str]]) -> None:
    """That the kernel's section of the file at ``path`` says which targets have which instructions."""
    found: dict[str, list[str]] = {}
    for target, instructions in by_target.items():
        for instruction in instructions:
            found.setdefault(instruction, []).append(target)
    text = "".join(f"{instruction}: {' '.join(found[instruction])}\n" for instruction in sorted(found))
    parts = re.split(r"^==== (.*)\n", path.read_text() if path.exists() else "", flags=re.MULTILINE)
    recorded = dict(zip(parts[1::2], parts[2::2], strict=True))
    if os.environ.get("TRITONX_ACCEPT"):
        recorded[name] = text
        path.write_text("".join(f"==== {n}\n{recorded[n]}" for n in KERNELS if n in recorded))
    assert text == recorded.get(name)
