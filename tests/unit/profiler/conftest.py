"""No session, hook or scope is left by a test of the profiler, and no file outside of its folder."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.unit.profiler.cupti_package import Cupti
from tritonx.backends.nvidia.launch import cupti_buffers
from tritonx.backends.nvidia.launch.cupti_timer import CuptiTimer
from tritonx.profiler.flags import flags
from tritonx.profiler.hooks import HookManager
from tritonx.profiler.recorder import RECORDER
from tritonx.runtime import driver, knobs
from tritonx.runtime.devices.host_driver import HostDriver
from tritonx.runtime.driver import choice


@pytest.fixture(autouse=True)
def fresh(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.chdir(tmp_path)
    yield
    for session in list(RECORDER.sessions):
        RECORDER.forget(session)
    HookManager.unregister()
    assert not knobs.runtime.launch_enter_hook and not knobs.runtime.launch_exit_hook
    assert not choice.instrumentation_mode and choice.listener is None and not flags.instrumentation_on


@pytest.fixture
def cupti(monkeypatch: pytest.MonkeyPatch) -> Iterator[Cupti]:
    """CUPTI times the CPU's launches, each of which is a kernel of it, also on a machine that has a GPU."""
    found = Cupti()
    driver.set_active("cpu")
    monkeypatch.setitem(sys.modules, "cupti.cupti", found)
    monkeypatch.setattr(cupti_buffers, "loaded", lambda: found.library)
    monkeypatch.setattr(HostDriver, "launch_timers", lambda _: {"cupti": lambda: CuptiTimer(lambda: None)})
    end = CuptiTimer.end

    def ended(self: CuptiTimer, begun: object, stream: int, record: object) -> None:
        found.kernel("on_device")  # between begin and end
        end(self, begun, stream, record)

    monkeypatch.setattr(CuptiTimer, "end", ended)
    yield found
    driver.reset_active()
