"""Modes, scopes, metrics and names that are wrong: what is said of them, and what is left behind."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

import tritonx.profiler as proton
from tritonx.ir.region_records import BadRecording, recording_of
from tritonx.profiler.errors import BadProfile, CannotWrite
from tritonx.profiler.mode import LARGEST_BUFFER, Default, PCSampling, PeriodicFlushing


@pytest.mark.parametrize(
    "make",
    [
        lambda: Default(optimizations=["time_shifted"]),
        lambda: Default(optimizations=5),
        lambda: Default(metric_type=5),
        lambda: Default(sampling_strategy="selective", sampling_options=[0]),
        lambda: PCSampling(interval="x"),
        lambda: Default(buffer_size=10**23),
        lambda: PeriodicFlushing(format=5),
        lambda: PeriodicFlushing(format=None),
        lambda: proton.start("never", mode="periodic_flushing:format=pdf"),
        lambda: proton.start("never", mode="periodic_flushing:format=chrome_trace"),
        lambda: proton.start("never", data="trace", mode=PeriodicFlushing(format="hatchet")),
        lambda: proton.start("never", backend="instrumentation", mode=f"default:buffer_size={'9' * 5000}"),
        lambda: proton.start("never", mode=5),
        lambda: proton.start("never", backend="instrumentation", mode=Default),
        lambda: proton.scope("left").__exit__(None, None, None),
    ],
)
def test_wrong_modes_and_scopes_are_told(make: Callable[[], object]) -> None:
    with pytest.raises(BadProfile):
        make()


def test_a_scope_of_a_session_that_has_ended_can_be_left(tmp_path: Path) -> None:
    first = proton.start(str(tmp_path / "first"))
    proton.enter_scope("stale")
    proton.finalize(first)
    proton.exit_scope("stale")
    second = proton.start(str(tmp_path / "second"))
    with proton.scope("own"):
        pass
    with pytest.raises(BadProfile, match="metrics are values by name"), proton.scope("other", {5: 1}):
        pass
    proton.finalize(second)
    (tree, *_) = json.loads((tmp_path / "second.hatchet").read_text())
    assert [child["frame"]["name"] for child in tree["children"]] == ["own"]


def test_a_scope_that_is_never_left_ends_with_the_last_session(tmp_path: Path) -> None:
    first = proton.start(str(tmp_path / "first"))
    proton.enter_scope("never left")
    proton.enter_state("nor is this")
    with proton.scope("outer"):
        proton.finalize(first)
        second = proton.start(str(tmp_path / "second"))
        seen: list[int | None] = [proton.context.depth(second)]
        thread = threading.Thread(target=lambda: seen.append(proton.context.depth(second)))
        thread.start()
        thread.join()
        with proton.scope("inner"):
            seen.append(proton.context.depth(second))
            third = proton.start(str(tmp_path / "third"))
            proton.finalize(second)
            seen.append(proton.context.depth(third))
    assert seen == [0, 0, 1, 1], "a session that goes on keeps what is open"
    with pytest.raises(BadProfile, match="entered no scope"):
        proton.exit_scope("other")
    assert isinstance(proton.exit_scope("never left"), int)
    with pytest.raises(BadProfile, match="entered no scope"):
        proton.exit_scope()


def test_a_mode_and_a_compile_take_the_same_buffers() -> None:
    assert recording_of(str(Default(buffer_size=LARGEST_BUFFER)), 1).block_bytes <= LARGEST_BUFFER
    with pytest.raises(BadRecording):
        recording_of(f"default:buffer_size={LARGEST_BUFFER + 1}", 1)
    with pytest.raises(BadProfile):
        Default(buffer_size=LARGEST_BUFFER + 1)


def test_a_name_with_a_null_byte_leaves_no_file(tmp_path: Path) -> None:
    session = proton.start(str(tmp_path / "a\0b"))
    with pytest.raises(CannotWrite):
        proton.finalize(session)
    assert not list(tmp_path.iterdir())
