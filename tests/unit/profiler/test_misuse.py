"""Modes, scopes, metrics and names that are wrong: what is said of them, and what is left behind."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import tritonx.profiler as proton
from tritonx.profiler.errors import BadProfile, CannotWrite
from tritonx.profiler.mode import Default, PCSampling
from tritonx.profiler.recorder import RECORDER


@pytest.fixture(autouse=True)
def fresh(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.chdir(tmp_path)
    yield
    for session in list(RECORDER.sessions):
        RECORDER.forget(session)


@pytest.mark.parametrize(
    "make",
    [
        lambda: Default(optimizations=["time_shifted"]),
        lambda: Default(optimizations=5),
        lambda: Default(metric_type=5),
        lambda: Default(sampling_strategy="selective", sampling_options=[0]),
        lambda: PCSampling(interval="x"),
        lambda: proton.start("never", mode=5),
        lambda: proton.start("never", backend="instrumentation", mode=Default),
        lambda: proton.start("never", backend="instrumentation", mode=Default(optimizations=["time_shift"])),
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


def test_a_name_with_a_null_byte_leaves_no_file(tmp_path: Path) -> None:
    session = proton.start(str(tmp_path / "a\0b"))
    with pytest.raises(CannotWrite):
        proton.finalize(session)
    assert not list(tmp_path.iterdir())
