"""The axis analysis' claims about every op on every pair of operand kinds are those of the table, and true."""

from __future__ import annotations

import importlib.util
import os
import random
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tritonx.analysis.axis_value import AxisInfo

HERE = Path(__file__).parent


@pytest.fixture(scope="module")
def axis_table() -> Any:
    spec = importlib.util.spec_from_file_location("axis_table", HERE / "axis_table.py")
    assert spec and spec.loader
    module = sys.modules["axis_table"] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_table_is_what_is_claimed(axis_table: Any) -> None:
    """``TRITONX_ACCEPT=1`` writes the table anew."""
    if os.environ.get("TRITONX_ACCEPT"):
        (HERE / "axis_table.txt").write_text(axis_table.table())
    assert axis_table.table().splitlines() == (HERE / "axis_table.txt").read_text().splitlines()


def test_what_the_table_claims_is_true(axis_table: Any) -> None:
    seed = int(os.environ["TRITONX_SEED"])
    rng = random.Random(seed)
    claims = axis_table.claims()  # of the sign they hold where nothing overflows, so program numbers are small
    for _ in range(6):
        limit = rng.choice([2**4, 2**12, 2**26])
        inputs = axis_table.Inputs(
            16 * rng.randrange(-limit, limit),
            rng.randrange(-limit, limit),
            rng.randrange(min(limit, 2**14)),
            16 * rng.randrange(limit),
        )
        tiles = inputs.tiles()
        for (op, *kinds), info in claims.items():
            numbers = axis_table.computed(op, *(tiles[kind] for kind in kinds))
            if numbers is not None:
                problem = false_claim(info, numbers)
                assert not problem, f"{problem} of {op} {kinds} with {inputs}: {info}\n{numbers} (seed {seed})"


def false_claim(info: AxisInfo, numbers: np.ndarray) -> str:
    """Which of the claims the numbers refute."""
    for d in range(info.rank):
        contiguity, constancy = info.contiguity[d], info.constancy[d]
        along = np.moveaxis(numbers, d, -1)
        if along.shape[-1] % contiguity or along.shape[-1] % constancy:
            return f"dim {d}: longer runs than the tile"
        runs = along.reshape(-1, contiguity)
        if (runs != runs[:, :1] + info.unit * np.arange(contiguity)).any():
            return f"contiguity in dim {d}"
        if (runs[:, 0] % info.divisibility[d]).any():
            return f"divisibility in dim {d}"
        if np.ptp(along.reshape(-1, constancy), axis=1).any():
            return f"constancy in dim {d}"
    if info.non_negative and (numbers < 0).any():
        return "sign"
    return "constant" if info.constant is not None and (numbers != info.constant).any() else ""
