"""Products that the matrix cores of gfx950 multiply with scales: where they are used, and their code executed.

The reference decodes the operands with ml_dtypes and multiplies in float64. Run with ``TINYGRAD=<checkout of
tinygrad>`` for what is executed."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from dataclasses import dataclass
from itertools import product
from random import Random
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import tritonx as triton
import tritonx.language as tl
from tritonx.interpreter.ir_launch import launch
from tritonx.ir.failure import PassFailure

Compile = Callable[..., Any]

SEED = int(os.environ["TRITONX_SEED"])
FORMATS = ("e4m3", "e5m2", "e2m1")
BYTES = {"e4m3": ml_dtypes.float8_e4m3fn, "e5m2": ml_dtypes.float8_e5m2}
INSTRUCTION = re.compile(r"v_mfma_scale_f32_(\w+)_f8f6f4")


@triton.jit
def scaled(
    a_ptr, sa_ptr, b_ptr, sb_ptr, c_ptr, K, a_row, a_k, b_k, b_column,
    M: tl.constexpr, N: tl.constexpr, BLOCK: tl.constexpr,
    FA: tl.constexpr, FB: tl.constexpr, PACK_A: tl.constexpr, PACK_B: tl.constexpr,
    SCALES_A: tl.constexpr, SCALES_B: tl.constexpr,
):  # fmt: skip
    """``PACK_A``, ``PACK_B``: elements of K in a byte."""
    m, n, g = tl.arange(0, M), tl.arange(0, N), tl.arange(0, BLOCK // 32)
    ka, kb = tl.arange(0, BLOCK // PACK_A), tl.arange(0, BLOCK // PACK_B)
    total = tl.zeros((M, N), tl.float32)
    for k in range(0, K, BLOCK):
        a = tl.load(a_ptr + m[:, None] * a_row + (k // PACK_A + ka)[None, :] * a_k)
        b = tl.load(b_ptr + (k // PACK_B + kb)[:, None] * b_k + n[None, :] * b_column)
        sa = tl.load(sa_ptr + m[:, None] * (K // 32) + (k // 32 + g)[None, :]) if SCALES_A else None
        sb = tl.load(sb_ptr + n[:, None] * (K // 32) + (k // 32 + g)[None, :]) if SCALES_B else None
        total = tl.dot_scaled(a, sa, FA, b, sb, FB, total)
    tl.store(c_ptr + m[:, None] * N + n[None, :], total)


@triton.jit
def batched(
    a_ptr, sa_ptr, b_ptr, sb_ptr, c_ptr, B: tl.constexpr, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr
):  # fmt: skip
    i, m, n = tl.arange(0, B)[:, None, None], tl.arange(0, M), tl.arange(0, N)
    k, g = tl.arange(0, K), tl.arange(0, K // 32)
    a = tl.load(a_ptr + (i * M + m[None, :, None]) * K + k[None, None, :])
    b = tl.load(b_ptr + (i * K + k[None, :, None]) * N + n[None, None, :])
    sa = tl.load(sa_ptr + (i * M + m[None, :, None]) * (K // 32) + g[None, None, :])
    sb = tl.load(sb_ptr + (i * N + n[None, :, None]) * (K // 32) + g[None, None, :])
    c = tl.dot_scaled(a, sa, "e4m3", b, sb, "e4m3")
    tl.store(c_ptr + (i * M + m[None, :, None]) * N + n[None, None, :], c)


@dataclass(frozen=True)
class Operand:
    """``held`` is the array that a kernel gets, ``numbers`` what it means, [row][k]; ``scales`` the codes,
    [row][block], of the exponents that ``numbers`` has already."""

    held: Any
    numbers: Any
    scales: Any

    @staticmethod
    def drawn(rng: Any, kind: str, rows: int, depth: int, scaled: bool = True) -> Operand:
        if kind == "e2m1":
            codes = rng.integers(0, 16, (rows, depth), dtype=np.uint8)
            held = codes[:, ::2] | codes[:, 1::2] << 4
            numbers = codes.view(ml_dtypes.float4_e2m1fn).astype(np.float64)
        else:
            held = (rng.standard_normal((rows, depth)) * 8).astype(BYTES[kind])
            numbers = held.astype(np.float64)
        scales = rng.integers(120, 135, (rows, depth // 32), dtype=np.uint8)
        if scaled:
            numbers = numbers * np.repeat(2.0 ** (scales.astype(np.float64) - 127), 32, axis=1)
        return Operand(held, numbers, scales)


@dataclass(frozen=True)
class Case:
    """``by_k``: whether neighbours along K are neighbours in memory, of each operand; ``scales``: whether it has
    them."""

    kinds: tuple[str, str]
    shape: tuple[int, int, int]
    block: int
    by_k: tuple[bool, bool] = (True, True)
    scales: tuple[bool, bool] = (True, True)

    def arguments(self) -> tuple[list[Any], dict[str, Any], Any, Any]:
        """Of a kernel, with the result that is expected and the sum of its products' sizes."""
        rng = np.random.default_rng([SEED, *str(self).encode()])
        m, n, k = self.shape
        has = zip(self.kinds, (m, n), self.scales, strict=True)
        a, b = (Operand.drawn(rng, kind, rows, k, scaled) for kind, rows, scaled in has)
        held: list[Any] = []
        steps: list[int] = []
        for x, along in ((a, self.by_k[0]), (b, self.by_k[1])):
            held.append(x.held if along else np.ascontiguousarray(x.held.T))
            row, column = (x.held.shape[1], 1) if along else (1, x.held.shape[0])
            steps += [row, column] if x is a else [column, row]
        packs = [2 if kind == "e2m1" else 1 for kind in self.kinds]
        c = np.full((m, n), np.nan, np.float32)
        args = [held[0], a.scales, held[1], b.scales, c, k, *steps]
        names = ("M", "N", "BLOCK", "FA", "FB", "PACK_A", "PACK_B", "SCALES_A", "SCALES_B")
        given = (m, n, self.block, *self.kinds, *packs, *self.scales)
        sizes = np.abs(a.numbers) @ np.abs(b.numbers).T
        return args, dict(zip(names, given, strict=True)), a.numbers @ b.numbers.T, sizes

    def check(self, emulator: Any, **options: Any) -> str:
        """The code, which computes what is expected."""
        args, constants, expected, sizes = self.arguments()
        code = emulator(scaled, (1,), *args, kwargs=constants, **options)
        assert (np.abs(args[4] - expected) <= 1e-6 * sizes).all(), f"seed {SEED}: {self}, {options}"
        return code


def instructions(code: str) -> set[str]:
    return set(INSTRUCTION.findall(code))


on_gfx950 = pytest.mark.parametrize("emulator", ["gfx950"], indirect=True)
pairs = pytest.mark.parametrize("kinds", [*product(FORMATS, repeat=2)], ids="-".join)


@pairs
@pytest.mark.parametrize("side, shape", [(32, (32, 32, 64)), (16, (16, 16, 128))], ids=["32", "16"])
@on_gfx950
def test_one_instruction(emulator: Any, kinds: Any, side: int, shape: Any) -> None:
    code = Case(kinds, shape, shape[2]).check(emulator, num_warps=1)
    assert instructions(code) == {f"{side}x{side}x{shape[2]}"}


@pairs
@pytest.mark.parametrize("async_copy", [False, True])
@pytest.mark.parametrize("side", [16, 32])
@on_gfx950
def test_tiles_and_steps(emulator: Any, kinds: Any, side: int, async_copy: bool) -> None:
    """Several tiles and steps of K a wave, of four waves, in a loop that loads ahead; each operand in either order."""
    rng = Random(f"{SEED} {kinds} {side} {async_copy}")
    case = Case(kinds, (64, 128, 768), 256, by_k=(rng.random() < 0.5, rng.random() < 0.5))
    options = {"num_warps": 4, "num_stages": rng.choice([1, 2, 3]), "async_copy": async_copy}
    code = case.check(emulator, matrix_instr_nonkdim=side, **options)
    assert instructions(code) == {f"{side}x{side}x{2048 // side}"}


@pytest.mark.parametrize("scales", [(True, False), (False, True), (False, False)])
@pytest.mark.parametrize("kinds", [("e4m3", "e4m3"), ("e2m1", "e5m2"), ("e2m1", "e2m1")], ids="-".join)
@on_gfx950
def test_absent_scales(emulator: Any, kinds: Any, scales: Any) -> None:
    """Without any the instruction is the one without scales."""
    code = Case(kinds, (32, 64, 128), 128, scales=scales).check(emulator, num_warps=2)
    assert "_f8f6f4" in code and bool(instructions(code)) == any(scales)


@pytest.mark.parametrize("by_k", [*product([True, False], repeat=2)])
@pytest.mark.parametrize("num_warps", [1, 8])
@on_gfx950
def test_orders_in_memory(emulator: Any, by_k: Any, num_warps: int) -> None:
    """More waves than tiles of 32 by 32 hold copies."""
    assert instructions(Case(("e4m3", "e2m1"), (32, 64, 128), 128, by_k).check(emulator, num_warps=num_warps))


@on_gfx950
def test_special_scales(emulator: Any) -> None:
    """The smallest and the largest exponent, and NaN, each in one row."""
    args, constants, _, _ = Case(("e4m3", "e4m3"), (32, 32, 128), 128).arguments()
    a, sa, b, sb, c = args[:5]
    a[:], b[:], sa[:], sb[:] = 1, 1, 127, 127
    a[5] = 2**-7
    sa[3, 1], sa[5], sa[7] = 255, 254, 0
    emulator(scaled, (1,), *args, kwargs=constants, num_warps=1)
    assert np.isnan(c[3]).all() and (c[5] == np.float32(2.0**127)).all()
    assert (c[7] == np.float32(128 * 2.0**-127)).all() and (c[[0, 31]] == 128).all()


@on_gfx950
def test_batches(emulator: Any) -> None:
    rng = np.random.default_rng(SEED)
    sides = [[Operand.drawn(rng, "e4m3", rows, 64) for _ in range(4)] for rows in (32, 64)]
    a, b = np.stack([x.held for x in sides[0]]), np.ascontiguousarray(np.stack([x.held.T for x in sides[1]]))
    sa, sb = (np.stack([x.scales for x in side]) for side in sides)
    c = np.full((4, 32, 64), np.nan, np.float32)
    code = emulator(batched, (1,), a, sa, b, sb, c, kwargs={"B": 4, "M": 32, "N": 64, "K": 64}, num_warps=2)
    assert instructions(code) == {"32x32x64"}
    for i, (x, y) in enumerate(zip(*sides, strict=True)):
        assert (np.abs(c[i] - x.numbers @ y.numbers.T) <= 1e-6 * (np.abs(x.numbers) @ np.abs(y.numbers).T)).all()


@pairs
def test_decomposed_product_agrees(kinds: Any) -> None:
    """What a unit without scales would multiply is the same product: the reference is compared with the interpreter."""
    args, constants, expected, sizes = Case(kinds, (16, 16, 128), 64).arguments()
    launch(scaled, (1,), *args, **constants)
    assert (np.abs(args[4] - expected) <= 1e-6 * sizes).all()


@pytest.mark.parametrize(
    "target, shape, options, found",
    [
        ("gfx950", (32, 32, 64), {}, "32x32x64"),
        ("gfx950", (128, 128, 128), {}, "32x32x64"),
        ("gfx950", (128, 128, 128), {"matrix_instr_nonkdim": 16}, "16x16x128"),
        ("gfx950", (16, 64, 128), {}, "16x16x128"),
        ("gfx950", (16, 64, 64), {}, ""),
        ("gfx950", (32, 32, 32), {}, ""),
        ("gfx950", (32, 32, 64), {"matrix_instr_nonkdim": 16}, ""),
        ("gfx942", (128, 128, 128), {}, ""),
    ],
    ids=str,
)
def test_extents(compiled: Compile, target: str, shape: Any, options: Any, found: str) -> None:
    """Products that fill no instruction of the unit are decomposed."""
    args, constants, _, _ = Case(("e4m3", "e4m3"), shape, shape[2]).arguments()
    made = compiled(target, scaled, args, constants, until="amdgcn", **options)
    assert instructions(made.stages["amdgcn"]) == ({found} if found else set())


def test_scales_share_registers(compiled: Compile) -> None:
    """Four that are loaded together stay in one, of which an instruction takes a byte."""
    args, constants, _, _ = Case(("e4m3", "e4m3"), (128, 128, 256), 128).arguments()
    code = compiled("gfx950", scaled, args, constants, until="amdgcn").stages["amdgcn"]
    chosen = re.findall(r"v_mfma_scale.* op_sel(?:_hi)?:.*", code)
    assert any("op_sel:[1,1,0]" in line for line in chosen) and any("op_sel_hi:[1,1,0]" in line for line in chosen)


def test_side_that_no_product_fills(compiled: Compile) -> None:
    """An instruction that is asked for is refused for the decomposed product as well."""
    args, constants, _, _ = Case(("e4m3", "e4m3"), (16, 64, 128), 128).arguments()
    with pytest.raises(PassFailure, match="no 32x32 instruction"):
        compiled("gfx950", scaled, args, constants, until="amdgcn", matrix_instr_nonkdim=32)
