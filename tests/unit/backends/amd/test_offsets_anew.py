"""Rows that are loaded and stored at the same places: offsets are computed again for the store, and vectors that a mask
may divide are used as far as there are registers for whole ones."""

# pyright: reportArgumentType=false, reportOperatorIssue=false, reportUnknownMemberType=false
# pyright: reportUnknownVariableType=false -- kernels are the language's, not Python's

from __future__ import annotations

import os
import re
from collections.abc import Callable
from random import Random
from typing import Any

import numpy as np
import pytest

import tritonx
import tritonx.language as tl
from tritonx.backends.amd import inserts
from tritonx.backends.amd.emit.machine import AmdMachine
from tritonx.backends.amd.passes.remake_loop_offsets import RemakeLoopOffsets
from tritonx.transforms.gpu.rematerialise import Rematerialise

SEED = int(os.environ["TRITONX_SEED"])
CHIPS = ("gfx942", "gfx950", "gfx1100", "gfx1201")
EPS = 1e-5


@tritonx.jit
def normalised(x_ptr, y_ptr, w_ptr, b_ptr, n_cols, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    cols = tl.arange(0, BLOCK)
    mask = cols < n_cols
    x = tl.load(x_ptr + row * n_cols + cols, mask=mask, other=0.0)
    mean = tl.sum(x, axis=0) / n_cols
    centred = tl.where(mask, x - mean, 0.0)
    rstd = 1 / tl.sqrt(tl.sum(centred * centred, axis=0) / n_cols + eps)
    w = tl.load(w_ptr + cols, mask=mask)
    b = tl.load(b_ptr + cols, mask=mask)
    tl.store(y_ptr + row * n_cols + cols, centred * rstd * w + b, mask=mask)


def arguments(rng: np.random.Generator, rows: int, length: int) -> list[Any]:
    x = rng.standard_normal((rows, length)).astype(np.float32)
    w, b = (rng.standard_normal(length).astype(np.float32) for _ in range(2))
    return [x, np.full_like(x, np.nan), w, b, length, EPS]


def is_right(emulator: Any, random: Random, block: int, warps: int) -> str:
    """Runs rows of a drawn length, and gives the code."""
    rows, length = random.randrange(1, 3), random.randrange(block // 2, block) | 1
    args = arguments(np.random.default_rng(random.randrange(1 << 30)), rows, length)
    code: str = emulator(normalised, rows, *args, kwargs={"BLOCK": block}, num_warps=warps)
    x, y, w, b = (array.astype(np.float64) for array in args[:4])
    centred = x - x.mean(axis=1, keepdims=True)
    exact = centred / np.sqrt((centred**2).mean(axis=1, keepdims=True) + EPS) * w + b
    what = f"seed {SEED}, {emulator.arch}, {rows} of {length}, {block}, {warps}"
    np.testing.assert_allclose(y, exact, rtol=1e-5, atol=1e-5, err_msg=what)
    return code


@pytest.mark.parametrize("warps", [4, 8])
def test_long_rows_without_a_spill(compiled: Callable[..., Any], warps: int) -> None:
    """A thread of four warps has 64 elements of each of three rows, and would keep 64 offsets for the store."""
    args = arguments(np.random.default_rng(SEED), 1, 8190)
    made = compiled("gfx1201", normalised, args, {"BLOCK": 8192}, num_warps=warps)
    assert made.metadata["spills"] == 0 and made.metadata["local"] == 0
    assert "buffer_load_b128" in made.stages["amdgcn"]


def test_no_whole_vectors_beside_too_many_elements(compiled: Callable[..., Any]) -> None:
    """Of 128 elements of three rows no two rows are in registers at once: weights are loaded one by one."""
    args = arguments(np.random.default_rng(SEED), 1, 4094)
    code = compiled("gfx1201", normalised, args, {"BLOCK": 4096}, num_warps=1).stages["amdgcn"]
    assert "buffer_load_b128" not in code


@pytest.mark.parametrize("emulator", ["gfx1201"], indirect=True)
def test_long_rows(emulator: Any) -> None:
    is_right(emulator, Random(f"{SEED} long rows"), 8192, 4)


@pytest.mark.parametrize("emulator", CHIPS, indirect=True)
@pytest.mark.parametrize("registers", [24, 256])
def test_registers_are_short(emulator: Any, registers: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Offsets are made anew for every store; there is room for whole vectors, or there is not."""
    monkeypatch.setattr(inserts, "Rematerialise", lambda *_, **__: Rematerialise(registers=0))
    monkeypatch.setattr(AmdMachine, "lane_registers", lambda *_: registers)
    random = Random(f"{SEED} {emulator.arch} {registers}")
    code = is_right(emulator, random, random.choice((512, 1024)), random.choice((1, 2, 4)))
    assert bool(re.search(r"buffer_load_(b128|dwordx4|b64|dwordx2)\b", code)) == (registers > 24)


@tritonx.jit
def product(
    a_ptr, b_ptr, c_ptr, K, stride_ak, stride_bk, M: tl.constexpr, N: tl.constexpr, STEP: tl.constexpr
):  # fmt: skip
    """Neither operand's elements are known to be neighbours."""
    m, n, k = tl.arange(0, M), tl.arange(0, N), tl.arange(0, STEP)
    a_ptrs = a_ptr + m[:, None] + k[None, :] * stride_ak
    b_ptrs = b_ptr + k[:, None] * stride_bk + n[None, :]
    total = tl.zeros((M, N), dtype=tl.float32)
    for i in range(tl.cdiv(K, STEP)):
        a = tl.load(a_ptrs, mask=k[None, :] < K - i * STEP, other=0.0)
        b = tl.load(b_ptrs, mask=k[:, None] < K - i * STEP, other=0.0)
        total = tl.dot(a, b, total)
        a_ptrs += STEP * stride_ak
        b_ptrs += STEP * stride_bk
    tl.store(c_ptr + m[:, None] * N + n[None, :], total)


def operands(rng: np.random.Generator, m: int, n: int, k: int) -> list[Any]:
    """Of rows that are no multiple of a vector long."""
    a, b = (rng.integers(-3, 4, (k, side + 1)).astype(np.float16) for side in (m, n))
    return [a, b, np.full((m, n), np.nan, np.float32), k, m + 1, n + 1]


def test_elements_apart_without_a_spill(compiled: Callable[..., Any]) -> None:
    """128 offsets beside 128 words of a sum: 63 were spilled, and loaded again in each iteration."""
    args = operands(np.random.default_rng(SEED), 128, 128, 99)
    made = compiled("gfx1201", product, args, {"M": 128, "N": 128, "STEP": 64}, num_warps=4)
    assert made.metadata["spills"] == 0 and made.metadata["local"] == 0


@pytest.mark.parametrize("emulator", CHIPS, indirect=True)
def test_elements_apart(emulator: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Offsets of loads are added in every loop."""
    monkeypatch.setattr(inserts, "RemakeLoopOffsets", lambda *_: RemakeLoopOffsets(registers=0))
    random = Random(f"{SEED} apart {emulator.arch}")
    m, n, k, warps = (
        random.choice((32, 64)),
        random.choice((32, 64)),
        random.randrange(1, 130),
        random.choice((1, 2, 4)),
    )
    args = operands(np.random.default_rng(random.randrange(1 << 30)), m, n, k)
    stages = random.choice((1, 2, 3))
    emulator(product, 1, *args, kwargs={"M": m, "N": n, "STEP": 32}, num_warps=warps, num_stages=stages)
    exact = args[0][:, :m].T.astype(np.float64) @ args[1][:, :n].astype(np.float64)
    what = f"seed {SEED}, {emulator.arch}, {m}x{n}x{k}, {warps} warps, {stages} stages"
    np.testing.assert_array_equal(args[2], exact, err_msg=what)
