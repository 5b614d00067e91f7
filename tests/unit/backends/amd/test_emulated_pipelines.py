"""Products whose loads run ahead, executed instruction by instruction: every type and number of stages, for loops that
run not at all, once, about as often as there are stages, and often.

The default is a sample with the run's seed; `TRITONX_EMULATED_PIPELINES=all` has the whole table."""

from __future__ import annotations

import os
import re
from random import Random
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from tests.unit.backends.amd.shared_kernels import up_to_diagonal
from tests.unit.transforms.pipelining.pipelined_kernels import matmul

SEED = int(os.environ["TRITONX_SEED"])
ALL = os.environ.get("TRITONX_EMULATED_PIPELINES") == "all"
SAMPLE = 4
TYPES: dict[str, Any] = {
    "f16": np.float16,
    "bf16": ml_dtypes.bfloat16,
    "f8e5": ml_dtypes.float8_e5m2,
    "f8e4": ml_dtypes.float8_e4m3fn,
    "i8": np.int8,
    "f32": np.float32,
}
ROUNDS = ("0", "1", "2", "S-1", "S", "S+1", "3S")
TABLE = [(name, stages, rounds) for name in TYPES for stages in (1, 2, 3, 4) for rounds in ROUNDS]


CHIPS_OF_COPIES = ("gfx942", "gfx950")
COPIED = {"gfx942": ("f16", "bf16", "i8", "f32"), "gfx950": ("f16", "bf16", "f8e5", "f8e4", "i8")}
"""Types that copies past the registers bring to products there."""
COPIES = [
    (chip, name, stages, rounds)
    for chip in CHIPS_OF_COPIES
    for name in COPIED[chip]
    for stages in (2, 3, 4)
    for rounds in ROUNDS
]


def drawn(table: list[Any]) -> list[Any]:
    return table if ALL else Random(f"{SEED} emulated pipelines").sample(table, SAMPLE)


@pytest.mark.parametrize(("name", "stages", "rounds"), drawn(TABLE))
def test_product(emulator: Any, name: str, stages: int, rounds: str) -> None:
    random = Random(f"{SEED} {name} {stages} {rounds} {emulator.arch}")
    m, n, warps = random.choice((32, 64)), random.choice((16, 32)), random.choice((1, 2, 4))
    is_right(emulator, random, name, stages, rounds, (m, n, 32), warps, by_columns=random.random() < 0.5, odd=3)


@pytest.mark.parametrize(("emulator", "name", "stages", "rounds"), drawn(COPIES), indirect=["emulator"])
def test_product_of_copies_past_registers(emulator: Any, name: str, stages: int, rounds: str) -> None:
    """Both operands lie along K, or one is transposed as it is read, so that all is copied; loads arrive when they are
    issued, or as late as waits let them."""
    random = Random(f"{SEED} copies {name} {stages} {rounds} {emulator.arch}")
    m, n, warps = random.choice((64, 128)), random.choice((32, 64)), random.choice((1, 2, 4))
    tile = (m, n, 64 if name != "f32" else 32)
    by_columns = emulator.arch != "gfx950" or random.random() < 0.5
    code = is_right(emulator, random, name, stages, rounds, tile, warps, by_columns=by_columns, async_copy=True)
    assert by_columns or "ds_read_b64_tr_b" in code
    if warps > 1:  # one need not exchange what it loads
        assert LOADED_TO_LDS.search(code) is not None, f"seed {SEED}, {emulator.arch}, {tile}"


@pytest.mark.parametrize("emulator", CHIPS_OF_COPIES, indirect=True)
@pytest.mark.parametrize("stages", [2, 3, 4])
def test_loops_of_a_known_length(emulator: Any, stages: int) -> None:
    """A second loop goes on where the first one ends; where its loads are all in front of it, it is written out."""
    random = Random(f"{SEED} lengths {stages} {emulator.arch}")
    m, n, k, warps = random.choice((64, 128)), random.choice((32, 64)), 64, random.choice((2, 4))
    length, whole = k * random.randrange(1, stages + 2), k * random.randrange(0, stages + 2)
    rng = np.random.default_rng(random.randrange(1 << 30))
    a = rng.integers(-3, 4, (m, whole + length)).astype(np.float16)
    b = rng.integers(-3, 4, (whole + length, n)).astype(np.float16)
    o = np.full((m, n), np.nan, np.float32)
    seen = np.arange(whole + length)[None, :] <= whole + np.arange(m)[:, None]
    exact = np.where(seen | (np.arange(whole + length) < whole), a, 0).astype(np.float64) @ b.astype(np.float64)
    constants = {"M": m, "N": n, "K": k, "LENGTH": length}
    given = {"num_stages": stages, "num_warps": warps, "small": random.random() < 0.7, "async_copy": True}
    emulator(up_to_diagonal, 1, a, b, o, whole, kwargs=constants, **given)
    np.testing.assert_array_equal(o, exact, err_msg=f"seed {SEED}, {emulator.arch}, {constants}, {whole}, {given}")


LOADED_TO_LDS = re.compile(r"(global_load_lds_dword|buffer_load_dword.* lds$)", re.MULTILINE)


def is_right(
    emulator: Any,
    random: Random,
    name: str,
    stages: int,
    rounds: str,
    tile: tuple[int, int, int],
    warps: int,
    *,
    by_columns: bool,
    odd: int = 0,
    **given: Any,
) -> str:
    """Runs a product of drawn numbers, and gives its code. With `odd` K may be that much less, so that no rows are
    aligned."""
    m, n, k = tile
    count = {"0": 0, "1": 1, "2": 2, "S-1": stages - 1, "S": stages, "S+1": stages + 1, "3S": 3 * stages}[rounds]
    masked, small = random.random() < 0.5, random.random() < 0.5
    inner = max(0, count * k - masked * random.choice((odd, 8, 16, 32)))
    rng = np.random.default_rng(random.randrange(1 << 30))
    a = rng.integers(-3, 4, (m, max(inner, 1))).astype(TYPES[name])
    b = rng.integers(-3, 4, (max(inner, 1), n)).astype(TYPES[name])
    c = np.full((m, n), -77, np.int32 if name == "i8" else np.float32)
    constants = {"M": m, "N": n, "K": k, "MASKED": masked, "BY_COLUMNS": by_columns}
    given |= {"num_stages": stages, "num_warps": warps, "small": small}
    exact = a[:, :inner].astype(np.int64) @ b[:inner].astype(np.int64)
    if by_columns:
        b = np.ascontiguousarray(b.T)
    code = emulator(matmul, 1, a, b, c, inner, kwargs=constants, **given)
    what = f"seed {SEED}, {emulator.arch}, {constants}, {inner}, {given}"
    np.testing.assert_array_equal(c.astype(np.int64), exact, err_msg=what)
    return code
