"""Triton's hooks: numbers of described launches, and regions by a hook with what it keeps on the host."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import tritonx
import tritonx.language as tl
import tritonx.profiler as proton
import tritonx.profiler.language as pl
from tritonx.interpreter import interpreted
from tritonx.profiler.errors import AnotherHook, BadProfile
from tritonx.profiler.flags import flags
from tritonx.profiler.hooks import HookManager, InstrumentationHook, LaunchHook, launch
from tritonx.profiler.mode import MMA, Default
from tritonx.runtime.driver import choice


@tritonx.jit(launch_metadata=lambda grid, metadata, args: {"name": f"said_{args['B']}"})
def described(x, B: tl.constexpr = 8):
    tl.store(x + tl.arange(0, B), 1.0)


@tritonx.jit
def regions(x, B: tl.constexpr = 8):
    with pl.scope("outer"):
        for _ in range(3):
            with pl.scope("inner"):
                tl.store(x + tl.program_id(0) * B + tl.arange(0, B), 1.0)


@tritonx.jit
def bare(x, B: tl.constexpr = 8):
    tl.store(x + tl.arange(0, B), 1.0)


@pytest.fixture
def kept() -> Iterator[None]:
    InstrumentationHook.enable_host_buffer = True
    yield
    InstrumentationHook.enable_host_buffer = False


def test_each_described_launch_has_a_number(tmp_path: Path) -> None:
    x = np.zeros(8, np.float32)
    proton.start(str(tmp_path / "a"), hook="triton")
    seen: list[tuple[int | None, str | None]] = []

    def several() -> None:
        for _ in range(20):
            described[(1,)](x)
            seen.append((launch.id.get(), launch.op_name.get()))

    threads = [threading.Thread(target=several) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len({number for number, _ in seen}) == 40 and {name for _, name in seen} == {"said_8"}
    proton.finalize()
    several()
    assert len({number for number, _ in seen}) == 41, "without a session nothing is described"


def test_one_hook_of_regions_is_active() -> None:
    HookManager.register(InstrumentationHook(""), 1)
    HookManager.register(LaunchHook(), 1)
    assert [type(hook) for hook in HookManager.active_hooks] == [LaunchHook, InstrumentationHook]
    with pytest.raises(AnotherHook, match="Only one instance"):
        HookManager.register(InstrumentationHook("mma"), 2)
    assert InstrumentationHook.active_count == 1 and not HookManager.session_hooks.get(2)
    HookManager.unregister()
    assert InstrumentationHook.active_count == 0 and not HookManager.active_hooks


def test_modes_of_the_hook() -> None:
    assert InstrumentationHook(None).mode == Default() == InstrumentationHook("").mode
    assert InstrumentationHook("mma").mode == MMA() == InstrumentationHook(MMA()).mode
    with pytest.raises(BadProfile, match="'sometimes'"):
        InstrumentationHook("sometimes")


def test_the_hook_measures_in_its_session(tmp_path: Path, kept: None) -> None:
    x = np.zeros(8, np.float32)
    session = proton.start(str(tmp_path / "a"), hook=InstrumentationHook("default"))
    assert flags.instrumentation_on and choice.quick is None
    regions[(1,)](x)
    assert InstrumentationHook.host_buffer is not None
    proton.deactivate(session)
    assert not flags.instrumentation_on and InstrumentationHook.host_buffer is None
    proton.activate(session)
    assert flags.instrumentation_on
    proton.finalize(session)
    [root, _] = json.loads((tmp_path / "a.hatchet").read_text())
    assert [(n["frame"]["name"], n["children"]) for n in root["children"]] == [("regions", [])]


def test_a_session_that_measures_goes_before_the_hook(tmp_path: Path) -> None:
    proton.start(str(tmp_path / "a"), hook=InstrumentationHook("mma"))
    session = proton.start(str(tmp_path / "b"), backend="instrumentation")
    assert choice.instrumentation_mode == str(Default())
    proton.finalize(session)
    assert choice.instrumentation_mode == str(MMA())


def words(first: int, count: int) -> list[int]:
    """32-bit words of the buffer from a byte on."""
    buffer = np.asarray(InstrumentationHook.host_buffer)
    return np.frombuffer(buffer.tobytes(), np.uint32)[first // 4 : first // 4 + count].tolist()


def decoded(warps: int, recording: int) -> list[list[tuple[int, bool, int]]]:
    """The records of each block's first warp that records: region, whether it ends, clock."""
    version, at, head, payload, size, device, blocks, units, of_block, uids = words(0, 10)
    assert (version, at, head, payload, device, units, uids) == (1, 4, 40 + 4 * uids, head, 0, warps, recording)
    assert size == blocks * of_block and len(np.asarray(InstrumentationHook.host_buffer)) == head + size
    found: list[list[tuple[int, bool, int]]] = []
    for block in range(blocks):
        start = payload + block * of_block
        mark, number, _, nbytes, *times = words(start, 10)
        assert mark == 0xDEADBEEF and number == block and of_block == 40 + 4 * units + nbytes
        began, ended = (times[i] + (times[i + 1] << 32) for i in (0, 2))
        assert 0 < began <= ended
        [count, *_] = words(start + 40, units)
        records = words(start + 40 + 4 * units, min(count, nbytes // uids // 4))
        found.append(
            [
                (tag >> 23 & 0xFF, bool(tag >> 31), (tag & 0x7FF) << 32 | low)
                for tag, low in zip(records[::2], records[1::2], strict=True)
            ]
        )
    return found


@pytest.mark.parametrize("run_lines", [False, True])
def test_what_a_launch_recorded_is_kept(tmp_path: Path, kept: None, run_lines: bool) -> None:
    """The clocks' differences are the profile's."""
    x = np.zeros(24, np.float32)
    kernel = interpreted(regions) if run_lines else regions
    session = proton.start(str(tmp_path / "a"), backend="instrumentation")
    kernel[(3,)](x)
    found = decoded(1, 1)
    assert len(found) == 3
    outer, inner = 0, 0
    for records in found:
        assert [(region, ends) for region, ends, _ in records] == [(0, False), *[(1, False), (1, True)] * 3, (0, True)]
        clocks = [clock for _, _, clock in records]
        outer += clocks[-1] - clocks[0]
        inner += sum(clocks[2:-1:2]) - sum(clocks[1:-1:2])
    [node] = proton.data.get(session)[0]["children"][0]["children"]
    assert node["metrics"]["cycles"] == outer and node["children"][0]["metrics"]["cycles"] == inner
    proton.finalize()
    assert InstrumentationHook.host_buffer is None


def test_the_last_records_are_kept(tmp_path: Path, kept: None) -> None:
    proton.start(str(tmp_path / "a"), backend="instrumentation", mode=Default(buffer_size=128))
    with pytest.warns(UserWarning, match="records of"):
        regions[(1,)](np.zeros(8, np.float32))
    [records] = decoded(1, 1)
    assert records[-1][:2] == (0, True) and 0 < len(records) < 8
    clocks = [clock for _, _, clock in records]
    assert clocks == sorted(clocks)


def test_a_kernel_without_regions_has_a_head(tmp_path: Path, kept: None) -> None:
    proton.start(str(tmp_path / "a"), backend="instrumentation")
    bare[(1,)](np.zeros(8, np.float32))
    assert words(0, 10) == [1, 4, 40, 40, 0, 0, 0, 0, 0, 0]


def test_nothing_is_kept_unless_it_is_asked_for(tmp_path: Path) -> None:
    proton.start(str(tmp_path / "a"), backend="instrumentation")
    regions[(1,)](np.zeros(8, np.float32))
    assert InstrumentationHook.host_buffer is None
