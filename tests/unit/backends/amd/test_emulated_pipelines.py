"""Products whose loads run ahead, executed instruction by instruction: every type and number of stages, for loops that
go round not at all, once, about as often as there are stages, and often.

The default is a sample with the run's seed; `TRITONX_EMULATED_PIPELINES=all` has the whole table."""

from __future__ import annotations

import os
from random import Random
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from tests.unit.transforms.gpu.pipelined_kernels import matmul

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


def drawn() -> list[tuple[str, int, str]]:
    return TABLE if ALL else Random(f"{SEED} emulated pipelines").sample(TABLE, SAMPLE)


@pytest.mark.parametrize(("name", "stages", "rounds"), drawn())
def test_product(emulator: Any, name: str, stages: int, rounds: str) -> None:
    random = Random(f"{SEED} {name} {stages} {rounds} {emulator.arch}")
    count = {"0": 0, "1": 1, "2": 2, "S-1": stages - 1, "S": stages, "S+1": stages + 1, "3S": 3 * stages}[rounds]
    m, n, k = random.choice((32, 64)), random.choice((16, 32)), 32
    masked, small, warps = random.random() < 0.5, random.random() < 0.5, random.choice((1, 2, 4))
    inner = max(0, count * k - masked * random.choice((0, 8)))
    rng = np.random.default_rng(random.randrange(1 << 30))
    a = rng.integers(-3, 4, (m, max(inner, 1))).astype(TYPES[name])
    b = rng.integers(-3, 4, (max(inner, 1), n)).astype(TYPES[name])
    c = np.full((m, n), -77, np.int32 if name == "i8" else np.float32)
    by_columns, copies = random.random() < 0.5, random.random() < 0.5
    constants = {"M": m, "N": n, "K": k, "MASKED": masked, "BY_COLUMNS": by_columns}
    emulator(matmul, 1, a, b, c, inner, kwargs=constants, small=small, num_stages=stages, num_warps=warps)
    exact = a[:, :inner].astype(np.int64) @ b[:inner].astype(np.int64)
    what = f"seed {SEED}, {emulator.arch}, {warps} warps, {constants}, {inner}, small arrays: {small}"
    np.testing.assert_array_equal(c.astype(np.int64), exact, err_msg=what)
