"""No session, hook or scope is left by a test of the profiler, and no file outside of its folder."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tritonx.profiler.flags import flags
from tritonx.profiler.hooks import HookManager
from tritonx.profiler.recorder import RECORDER
from tritonx.runtime import knobs
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
