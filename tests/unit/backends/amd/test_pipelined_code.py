"""The code of loops whose loads run ahead: what is waited for where, how often threads meet, and that nothing spills.

The default is a sample with the run's seed; `TRITONX_PIPELINED_CODE=all` has the whole table."""

from __future__ import annotations

import os
import re
from random import Random
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from tests.unit.transforms.pipelining.pipelined_kernels import matmul

SEED = int(os.environ["TRITONX_SEED"])
ALL = os.environ.get("TRITONX_PIPELINED_CODE") == "all"
SAMPLE, SAMPLE_OF_COPIES = 20, 6
MFMA, WMMA = ("f16", "bf16", "i8", "f32"), ("f16", "bf16", "i8")
"""Types of which a unit multiplies matrices."""
CHIPS = {
    "gfx90a": MFMA,
    "gfx942": (*MFMA, "f8"),
    "gfx950": (*MFMA, "f8"),
    "gfx1100": WMMA,
    "gfx1101": WMMA,
    "gfx1200": (*WMMA, "f8"),
    "gfx1201": (*WMMA, "f8"),
}
TYPES: dict[str, Any] = {
    "f16": np.float16,
    "bf16": ml_dtypes.bfloat16,
    "i8": np.int8,
    "f32": np.float32,
    "f8": ml_dtypes.float8_e5m2,
}
TILES = ((64, 64, 32), (64, 128, 32), (128, 64, 64), (128, 128, 32))
TABLE = [
    (chip, name, tile, stages, small)
    for chip, names in CHIPS.items()
    for name in names
    for tile in TILES
    for stages in (1, 2, 3, 4)
    for small in (True, False)
    if name != "f32" or tile[2] == 32
]

LOAD = re.compile(r"(global|buffer)_load")
PRODUCT = re.compile(r"v_mfma|v_wmma")
WAIT = re.compile(r"vmcnt\((\d+)\)|s_wait_loadcnt\w* (0x[0-9a-f]+|\d+)")
BARRIER = re.compile(r"s_barrier$|s_barrier_wait")


def loop_of(text: str) -> list[str]:
    """The instructions of the loop with products."""
    lines = [line.strip() for line in text.splitlines()]
    labels = {line[: line.index(":")]: number for number, line in enumerate(lines) if line.startswith(".LBB")}
    found: list[list[str]] = []
    for number, line in enumerate(lines):
        branch = re.match(r"s_c?branch\w*\s+(\.LBB\w+)", line)
        if branch is not None and labels.get(branch[1], number) < number:
            body = lines[labels[branch[1]] : number + 1]
            if any(map(PRODUCT.match, body)):
                found.append(body)
    assert len(found) == 1
    return found[0]


def waited(line: str) -> int | None:
    """How many loads may be under way behind an instruction; None for one that waits for none."""
    found = WAIT.search(line) if line.startswith("s_wait") else None
    return None if found is None else int(found[1] or found[2], 0)


def drawn(table: list[Any], count: int) -> list[Any]:
    return table if ALL else Random(f"{SEED} pipelined code").sample(table, count)


@pytest.mark.parametrize(("chip", "name", "tile", "stages", "small"), drawn(TABLE, SAMPLE))
def test_loop(chip: str, name: str, tile: tuple[int, int, int], stages: int, small: bool, compiled: Any) -> None:
    a = np.zeros(1, TYPES[name] if (chip, name) != ("gfx942", "f8") else ml_dtypes.float8_e5m2fnuz)
    c = np.zeros(1, np.int32 if name == "i8" else np.float32)
    m, n, k = tile
    masked = Random(f"{SEED} {chip} {name} {tile}").random() < 0.5
    constants = {"M": m, "N": n, "K": k, "MASKED": masked, "BY_COLUMNS": False}
    given = {"num_stages": stages, "num_warps": 8 if m * n > 64 * 64 else 4, "async_copy": False}
    made = compiled(chip, matmul, (a, a, c, 4096), constants, small=small, until="amdgcn", **given)
    what = f"seed {SEED}: {constants}, {given}"
    assert made.metadata["spills"] == 0 and made.metadata["local"] == 0, what
    body = loop_of(made.stages["amdgcn"])
    loads = [number for number, line in enumerate(body) if LOAD.match(line)]
    products = [number for number, line in enumerate(body) if PRODUCT.match(line)]
    waits = [(number, left) for number, line in enumerate(body) if (left := waited(line)) is not None]
    barriers = sum(bool(BARRIER.match(line)) for line in body)
    if stages == 1:
        assert barriers == 2, what
        return
    assert barriers == (2 if stages == 2 else 1), what  # with two stages the slot that was read is the next one's
    assert len(loads) > 1, what
    if stages == 2:  # loaded at the start of a round, waited for behind the products, the first tile first
        assert loads[-1] < products[0], what
        first, left = next((number, left) for number, left in waits if number > loads[-1])
        assert first > products[-1] and left > 0, what
    else:  # in flight across the end of the round
        assert all(left > 0 for number, left in waits if number > loads[-1]), what


COPIES = [case for case in TABLE if case[0] in ("gfx942", "gfx950") and case[3] > 1 and case[:2] != ("gfx950", "f32")]
"""On gfx950 f32 could be copied by words alone, which threads load four of."""
TO_LDS = re.compile(r"global_load_lds_dword|buffer_load_dword\w* .* lds$")


@pytest.mark.parametrize(("chip", "name", "tile", "stages", "small"), drawn(COPIES, SAMPLE_OF_COPIES))
def test_loop_of_copies(
    chip: str, name: str, tile: tuple[int, int, int], stages: int, small: bool, compiled: Any
) -> None:
    """Nothing is loaded but past the registers, or stored in the LDS, nor are bytes or halves put together: what lies
    along rows is transposed as it is read. No wait is for what is under way for later rounds, and with three slots one
    barrier a round is enough, but for halves that alternate."""
    a = np.zeros(1, TYPES[name] if (chip, name) != ("gfx942", "f8") else ml_dtypes.float8_e5m2fnuz)
    c = np.zeros(1, np.int32 if name == "i8" else np.float32)
    m, n, k = tile
    masked = Random(f"{SEED} copies {chip} {name} {tile}").random() < 0.5
    by_columns = chip != "gfx950" or Random(f"{SEED} {chip} {name} {tile} {stages}").random() < 0.5
    constants = {"M": m, "N": n, "K": k, "MASKED": masked, "BY_COLUMNS": by_columns}
    given = {"num_stages": stages, "num_warps": 8 if m * n > 64 * 64 else 4, "async_copy": True}
    made = compiled(chip, matmul, (a, a, c, 4096), constants, small=small, until="amdgcn", **given)
    what = f"seed {SEED}: {constants}, {given}"
    assert made.metadata["spills"] == 0 and made.metadata["local"] == 0, what
    body = loop_of(made.stages["amdgcn"])
    copies = [number for number, line in enumerate(body) if TO_LDS.match(line)]
    assert copies and copies == [number for number, line in enumerate(body) if LOAD.match(line)], what
    assert not any(line.startswith(("ds_write", "v_perm_b32")) for line in body), what
    assert by_columns or any(line.startswith("ds_read_b64_tr") for line in body), what
    waits = [left for line in body if (left := waited(line)) is not None]
    lines = [line.strip() for line in made.stages["amdgcn"].splitlines()]
    kept = sum(bool(TO_LDS.match(line)) for line in lines) // len(copies)  # stages: in front of the loop, and in it
    assert 2 <= kept <= stages, what
    assert set(waits) == {min(63, len(copies) * max(1, kept - 2))}, what
    slots = {int(count) for count in re.findall(r"local_alloc.*memdesc<(\d+)x", str(made.stages["ttgir"]))}
    assert slots in ({kept}, {kept - 1}), what  # where another block has room for it, copies are behind the readers
    alternates = given["num_warps"] == 8 and "s_setprio 1" in body  # the halves are a cluster apart
    barriers = 1 if kept > 2 and slots == {kept} and not alternates else 2
    assert sum(bool(BARRIER.match(line)) for line in body) == barriers, what
