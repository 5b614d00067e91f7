"""Regions inside of kernels, executed on the emulator: which waves record what."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
import pytest

import tritonx
import tritonx.language as tl
import tritonx.profiler.language as pl
from tritonx.ir.region_records import recording_of
from tritonx.profiler.regions import drawn, matched
from tritonx.runtime.launch.measured_launch import Records, records_of
from tritonx_testing.emulators.amd.emulator import Emulator, compile_for

RNG = np.random.default_rng(int(os.environ["TRITONX_SEED"]))


@tritonx.jit
def doubled(x):
    with pl.scope("called"):
        return_value = tl.load(x) * 2
    return return_value


@tritonx.jit
def summed(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    pid = tl.program_id(0)
    with pl.scope("whole"):
        total = 0.0
        for first in range(0, n, BLOCK):
            with pl.scope("part"):
                at = first + tl.arange(0, BLOCK)
                total += tl.sum(tl.load(x_ptr + pid * n + at, mask=at < n, other=0.0), 0)
        tl.store(y_ptr + pid, total + doubled(x_ptr + pid * n))


ROWS, N = 3, 200
PARTS = 2


def run(emulator: Emulator, mode: str, warps: int) -> Records:
    x, y = RNG.standard_normal((ROWS, N), dtype=np.float32), np.full(ROWS, np.nan, np.float32)
    given: dict[str, Any] = {"num_warps": warps, "instrumentation_mode": mode}
    compiled = compile_for(emulator.arch, summed, (x, y, N), {"BLOCK": 128}, **given)
    recording = recording_of(mode, warps)
    words = np.zeros(ROWS * recording.block_bytes // 8 + 2, np.uint64)
    words = words[words.ctypes.data % 16 // 8 :]
    types, values = (*compiled.types, "*i64"), [x.ctypes.data, y.ctypes.data, N, words.ctypes.data]
    emulator.run(compiled.code_object, types, values, (ROWS, 1, 1), warps * compiled.metadata["warp_size"])
    np.testing.assert_allclose(y, x.sum(1, dtype=np.float64) + 2 * x[:, 0], rtol=1e-4, atol=1e-4)
    units = words[: ROWS * recording.block_bytes // 8].reshape(ROWS * len(recording.warps), -1)
    names = tuple(compiled.metadata["regions"])
    return records_of(units, ROWS, recording.warps, names, nanoseconds=recording.nanoseconds)


@pytest.mark.parametrize(
    ("mode", "recorded"),
    [
        ("default", [0, 1]),
        ("default:metric_type=time", [0, 1]),
        ("default:sampling_strategy=selective:sampling_options=1", [1]),
    ],
)
def test_waves_record_their_regions(emulator: Emulator, mode: str, recorded: list[int]) -> None:
    records = run(emulator, mode, warps=2)
    assert records.warps.tolist() == recorded * ROWS
    assert records.blocks.tolist() == [block for block in range(ROWS) for _ in recorded]
    counts: dict[tuple[str, ...], int] = {}
    for each in matched(records, "summed"):
        counts[each.path] = counts.get(each.path, 0) + len(each.units)
        assert (each.stops >= each.starts).all()
    waves = ROWS * len(recorded)
    assert counts == {
        ("whole",): waves, ("whole", "part"): PARTS * waves, ("whole", "called"): waves
    }  # fmt: skip
    lasted = {(each.block, each.warp): each for each in drawn(records, "summed", 0.0) if each.path == ("whole",)}
    for each in drawn(records, "summed", 0.0):
        around = lasted[each.block, each.warp]
        assert around.start <= each.start and each.start + each.duration <= around.start + around.duration + 1
