"""Products of bytes that lie along rows, columns or K: the words that matrix units take are picked from a thread's
registers, and results are stored as the units leave them. Executed instruction by instruction, and looked at as code.

The default is a sample with the run's seed; `TRITONX_BYTE_PRODUCTS=all` has the whole table."""

from __future__ import annotations

import os
import re
from collections import Counter
from random import Random
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import tritonx as triton
import tritonx.language as tl

SEED = int(os.environ["TRITONX_SEED"])
ALL = os.environ.get("TRITONX_BYTE_PRODUCTS") == "all"
SAMPLE = 4
TYPES: dict[str, Any] = {"i8": np.int8, "f8": ml_dtypes.float8_e5m2}
RESULTS: dict[str, Any] = {"i8": (np.int32, np.int8), "f8": (np.float32, np.float16)}
TILES = ((32, 32, 32), (64, 32, 64), (32, 64, 128), (64, 64, 128), (16, 128, 64))
CHIPS = ("gfx942", "gfx950", "gfx1100", "gfx1201")
CASES = [(chip, name, tile, turned) for chip in CHIPS for name in TYPES for tile in TILES
         for turned in ("nn", "nt", "tn", "tt") if chip != "gfx1100" or name == "i8"]  # fmt: skip


@triton.jit
def product(
    a, b, c, sam, sak, sbk, sbn, ROUNDS: tl.constexpr, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr,
    ACC: tl.constexpr,
):  # fmt: skip
    i, j, r = tl.arange(0, M), tl.arange(0, N), tl.arange(0, K)
    pa = a + i[:, None] * sam + r[None, :] * sak
    pb = b + r[:, None] * sbk + j[None, :] * sbn
    acc = tl.zeros((M, N), ACC)
    for _ in range(ROUNDS):
        acc = tl.dot(tl.load(pa), tl.load(pb), acc, out_dtype=ACC)
        pa += K * sak
        pb += K * sbk
    tl.store(c + i[:, None] * N + j[None, :], acc.to(c.dtype.element_ty))


def strides(rows: int, columns: int, *, turned: bool) -> tuple[int, int]:
    return (1, rows) if turned else (columns, 1)


@pytest.mark.parametrize(
    ("emulator", "name", "tile", "turned"),
    CASES if ALL else Random(f"{SEED} byte products").sample(CASES, SAMPLE),
    indirect=["emulator"],
)
def test_product(emulator: Any, name: str, tile: tuple[int, int, int], turned: str) -> None:
    random = Random(f"{SEED} {emulator.arch} {name} {tile} {turned}")
    rounds, warps, stages = random.choice((1, 2, 3)), random.choice((1, 2, 4)), random.choice((1, 2, 3))
    m, n, k = tile
    inner = rounds * k
    rng = np.random.default_rng(random.randrange(1 << 30))
    a, b = (rng.integers(-3, 4, shape).astype(TYPES[name]) for shape in ((m, inner), (inner, n)))
    result = random.choice(RESULTS[name])
    c = np.full((m, n), -77, result)
    exact = (a.astype(np.int64) @ b.astype(np.int64)).astype(np.int64)
    if result is np.int8:
        exact = exact.astype(np.int8)
    placed = [np.ascontiguousarray(x.T) if t == "t" else x for x, t in zip((a, b), turned, strict=True)]
    steps = (*strides(m, inner, turned=turned[0] == "t"), *strides(inner, n, turned=turned[1] == "t"))
    constants = {"ROUNDS": rounds, "M": m, "N": n, "K": k, "ACC": tl.int32 if name == "i8" else tl.float32}
    given = {"num_warps": warps, "num_stages": stages}
    emulator(product, 1, *placed, c, *steps, kwargs=constants, **given)
    what = f"seed {SEED}, {emulator.arch}, {constants}, {turned}, {given}"
    np.testing.assert_array_equal(c.astype(np.int64), exact.astype(np.int64), err_msg=what)


@pytest.mark.parametrize("turned", ["nn", "nt", "tn", "tt"])
def test_four_bytes_by_four_are_transposed_by_eight_instructions(turned: str, compiled: Any) -> None:
    """A thread loads four neighbours along K of 64 bytes that lie along another dim: 16 words of each such operand,
    two instructions each. The sums are stored by the thread that has them, as wide as can be."""
    size = 128
    a, c = np.zeros(1, np.int8), np.zeros(1, np.int32)
    steps = (*strides(size, 1024, turned=turned[0] == "t"), *strides(1024, size, turned=turned[1] == "t"))
    constants = {"ROUNDS": 8, "M": size, "N": size, "K": size, "ACC": tl.int32}
    made = compiled("gfx942", product, (a, a, c, *steps), constants, until="amdgcn", num_warps=4, num_stages=2)
    text = made.stages["amdgcn"]
    start, end = _loop(text)
    found = Counter(line.split()[0] for line in text[start:end].splitlines() if line.strip())
    along_rows = (turned[0] == "t") + (turned[1] == "n")
    assert found["v_perm_b32"] == 32 * along_rows
    assert not any(name.endswith("_sdwa") or name.startswith("v_lshl") for name in found), found
    assert found["buffer_load_dwordx4"] == 8 and found["ds_read_u16"] + found["ds_read_u8"] + found["ds_read_b32"] == 0
    assert re.findall(r"buffer_store_\w+", text) == 16 * ["buffer_store_dwordx4"]
    assert made.metadata["shared"] == 2 * size * size, "the operands' slots, and no conversion of 64 KiB"


def _loop(text: str) -> tuple[int, int]:
    """Where the last loop with products is."""
    found: list[tuple[int, int]] = []
    for branch in re.finditer(r"s_cbranch\w*\s+(\.LBB\w+)", text):
        label = text.index(f"\n{branch[1]}:")
        if "v_mfma" in text[label : branch.end()]:
            found.append((label, branch.end()))
    return found[-1]
