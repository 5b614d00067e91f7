"""Settings: environment under both prefixes, assignment, scopes."""

from __future__ import annotations

import os

import pytest

import tritonx
from tritonx.runtime import knobs


def test_environment_assignment_default(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("TRITON_CACHE_DIR", "TRITONX_CACHE_DIR"):
        monkeypatch.delenv(name, raising=False)
    group = knobs.CacheKnobs()
    assert group.dir.endswith(os.path.join(".tritonx", "cache"))
    monkeypatch.setenv("TRITON_CACHE_DIR", "/theirs")
    assert group.dir == "/theirs"
    monkeypatch.setenv("TRITONX_CACHE_DIR", "/ours")
    assert group.dir == "/ours"
    with group.scope():
        group.dir = "/assigned"
        assert group.dir == "/assigned"
        assert os.environ["TRITON_CACHE_DIR"] == "/assigned"
    assert (group.dir, os.environ["TRITON_CACHE_DIR"]) == ("/ours", "/theirs")
    group.assigned["dir"] = "/again"
    del group.dir
    assert group.dir == "/ours"


@pytest.mark.parametrize(
    ("text", "value"), [("1", True), ("true", True), ("ON", True), ("0", False), ("no", False), ("", False)]
)
def test_truth_values(text: str, value: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRITON_ALWAYS_COMPILE", text)
    assert knobs.compilation.always_compile is value


def test_bad_values_name_the_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRITON_ALWAYS_COMPILE", "perhaps")
    with pytest.raises(ValueError, match="environment variable TRITON_ALWAYS_COMPILE: expected a truth value"):
        _ = knobs.compilation.always_compile


def test_sizes() -> None:
    assert [knobs.parse_size(s) for s in ("5", "2K", "1.5M", "1GB")] == [5, 2048, 3 << 19, 1 << 30]


def test_debug_is_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    with knobs.runtime.scope():
        monkeypatch.setenv("TRITONX_DEBUG", "1")
        assert not knobs.runtime.debug
        knobs.refresh_knobs()
        assert knobs.runtime.debug
    assert not knobs.runtime.debug


def test_copies_and_listing() -> None:
    group = knobs.AutotuningKnobs()
    with group.scope():
        group.print = True
        other = group.copy()
        group.reset()
        assert other.assigned == {"print": True}
        assert not group.assigned
    assert set(group.knobs) == {"cache", "print"}
    assert tritonx.knobs.autotuning.knob_descriptors["print"].env == "TRITON_PRINT_AUTOTUNING"


def test_hook_chains() -> None:
    seen: list[str] = []
    chain = knobs.HookChain(reversed=True)
    assert not chain
    first, second = lambda: seen.append("first"), lambda: seen.append("second")
    chain.add(first)
    chain.add(second)
    chain.add(first)
    chain()
    assert chain and seen == ["second", "first"]
    chain.remove(first)
    chain.remove(first)
    assert chain.calls == [second]
