"""What CUPTI's records are waited for, with a module in its package's place: phases, threads, and other profilers."""

from __future__ import annotations

import ctypes
import json
import os
import random
from pathlib import Path
from threading import Barrier, Thread

import numpy as np
import pytest

import tritonx
import tritonx.language as tl
import tritonx.profiler as proton
from tests.unit.profiler.cupti_package import Cupti, counted, counts
from tritonx.backends.api import ClockTimer
from tritonx.backends.nvidia.launch.cupti_timer import CuptiTimer
from tritonx.profiler.recorder import RECORDER
from tritonx.runtime.devices.host_driver import HostDriver
from tritonx.runtime.errors import TimesLost

RNG = random.Random(int(os.environ["TRITONX_SEED"]))


@tritonx.jit
def stored(x):
    tl.store(x, 1.0)


@pytest.mark.parametrize("which", ["others", "own", "both"])
def test_a_phase_is_written_with_all_that_was_launched_in_it(cupti: Cupti, which: str) -> None:
    """While some records are not there: CUPTI gives them late where no wait is."""
    x, expected = np.zeros(1, np.float32), [dict[str, int]()]
    session = proton.start("profile", mode="periodic_flushing:format=hatchet")
    phases = RNG.randrange(3, 7)
    for phase in range(phases):
        for turn in range(RNG.randrange(1, 30)):
            with proton.scope(f"turn_{turn}"):
                if which != "own":
                    cupti.kernel("other")
                    expected[-1][f"turn_{turn}/other"] = 1
                if which != "others":
                    stored[(1,)](x)
                    expected[-1][f"turn_{turn}/stored"] = 1
            if RNG.random() < 0.2:
                proton.deactivate(session)  # collects without a wait
                proton.activate(session)
        if phase < phases - 1:
            assert proton.data.advance_phase(session) == phase + 1
            assert proton.data.is_phase_complete(session, phase)
            assert len(list(Path().glob("*.hatchet"))) == phase + 1
            expected.append({})
    proton.finalize(session)
    assert [counted(json.loads(Path(f"profile.part_{n}.hatchet").read_text())[0]) for n in range(phases)] == expected


def test_a_phase_that_is_over_is_complete_when_it_was_waited_for(cupti: Cupti) -> None:
    session = proton.start("profile")
    for phase in range(5):
        cupti.kernel("other")
        proton.data.advance_phase(session)
        assert proton.data.is_phase_complete(session, phase)
        assert counted(RECORDER.session(session).of_phase(phase).literal({})[0]) == {"other": 1}


def test_a_thread_that_stays_in_a_phase_is_counted_in_the_next(cupti: Cupti) -> None:
    """Its scope was entered before the phase was over and written."""
    session, turn = proton.start("profile", mode="periodic_flushing"), Barrier(2)

    def work() -> None:
        with proton.scope("worker"):
            cupti.kernel("early")
            turn.wait()
            turn.wait()
            cupti.kernel("late")

    thread = Thread(target=work)
    thread.start()
    turn.wait()
    proton.data.advance_phase(session)
    turn.wait()
    thread.join()
    proton.finalize(session)
    parts = [json.loads(Path(f"profile.part_{n}.hatchet").read_text())[0] for n in range(2)]
    assert [counted(part) for part in parts] == [{"worker/early": 1}, {"worker/late": 1}]


def test_records_that_a_thread_of_the_library_has_in_hand_are_waited_for(
    cupti: Cupti, monkeypatch: pytest.MonkeyPatch
) -> None:
    x, flush, asked = np.zeros(1, np.float32), cupti.activity_flush_all, list[int]()

    def late(forced: int) -> None:
        asked.append(forced)
        if sum(asked) > 2:
            flush(forced)

    monkeypatch.setattr(cupti, "activity_flush_all", late)
    session = proton.start("profile")
    stored[(1,)](x)
    assert counts(session) == {"stored": 1}


def test_a_buffer_of_another_profiler(cupti: Cupti) -> None:
    """It has kernels of before the session, which are left out, and the first of the session."""
    x = np.zeros(1, np.float32)
    cupti.kernel("before")
    session = proton.start("profile")
    stored[(1,)](x)
    content = b"".join(map(cupti.library.written, cupti.waiting))
    cupti.waiting.clear()
    given = ctypes.create_string_buffer(content, 1 << 12)
    cupti.library.completed(None, 0, ctypes.addressof(given), len(given), len(content))
    cupti.kernel("other")
    assert counts(session) == {"stored": 1, "other": 1}


def test_two_ways_at_once(cupti: Cupti, monkeypatch: pytest.MonkeyPatch) -> None:
    ways = {"cupti": lambda: CuptiTimer(lambda: None), "clock": ClockTimer}
    monkeypatch.setattr(HostDriver, "launch_timers", lambda _: ways)
    sessions = [proton.start(way, backend=way, data="trace") for way in ways]
    x, count = np.zeros(1, np.float32), RNG.randrange(1, 20)
    for _ in range(count):
        stored[(1,)](x)
    proton.deactivate(flushing=True)
    for session in sessions:
        events = proton.data.get(session)["traceEvents"]
        assert sum(event.get("cat") == "kernel" and event["name"] == "stored" for event in events) == count


def test_a_launch_whose_record_is_lost_is_told_of(cupti: Cupti) -> None:
    x = np.zeros(1, np.float32)
    session = proton.start("profile")
    for _ in range(3):
        stored[(1,)](x)
    del cupti.waiting[2:]
    with pytest.warns(TimesLost, match="2 launches are not counted"):
        assert counts(session) == {"stored": 1}
