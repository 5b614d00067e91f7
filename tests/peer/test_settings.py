"""Every environment variable that Triton's settings read is read here, and means the same, or it is stated how not."""

from __future__ import annotations

import importlib
import os
from importlib.util import find_spec
from typing import Any

import pytest

pytestmark = pytest.mark.peer
if find_spec("triton") is None:
    pytest.skip("the Triton wheel is not installed", allow_module_level=True)

GROUPS = ("build", "redis", "cache", "compilation", "autotuning", "runtime", "language", "nvidia", "amd")
TEXTS = ("1", "0", "on", "no", "12", "some text")
STRICTER: dict[str, str] = {
    "a truth value": "Triton takes what it does not know for false",
    "one of ieee": "Triton asks the backend, at the first product",
    "the path of a file": "Triton finds out when it links",
    "a class as module:Class": "Triton raises what importing raises",
    "a whole number": "the words are others",
}
"""What `BadSetting` says is expected → what Triton does with such a text."""

ELSEWHERE = frozenset(
    {"cache.dir", "cache.dump_dir", "cache.override_dir", "compilation.disable_line_info", "amd.use_async_copy"}
)
"""Another default: below ``~/.tritonx``; no lines in the code; unset is neither true nor false, as in Triton 3.9."""

PROGRAMS = frozenset({"cuobjdump", "nvdisasm", "ptxas", "ptxas_blackwell"})
"""Each package looks for these by itself where the variable names none."""


def groups(package: str) -> dict[str, Any]:
    knobs = importlib.import_module(f"{package}.knobs")
    return {name: getattr(knobs, name) for name in GROUPS}


def variables() -> list[tuple[str, str, str]]:
    """(group, setting, variable) of Triton's."""
    named = groups("triton").items()
    settings = [(g, s, d.key) for g, group in named for s, d in group.knob_descriptors.items() if d.key]
    return [setting for setting in settings if setting[1] not in PROGRAMS]


def outcome(group: Any, setting: str) -> tuple[str, str]:
    try:
        found = getattr(group, setting)
    except Exception as error:
        return type(error).__name__, str(error)
    return "value", str(getattr(found, "path", found))


@pytest.mark.parametrize("group, setting, variable", variables(), ids=lambda part: part)
def test_the_variable_means_the_same(group: str, setting: str, variable: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(variable.replace("TRITON_", "TRITONX_", 1), raising=False)
    theirs, ours = groups("triton")[group], groups("tritonx")[group]
    monkeypatch.delenv(variable, raising=False)
    if f"{group}.{setting}" not in ELSEWHERE:
        assert outcome(ours, setting) == outcome(theirs, setting)
    for text in TEXTS:
        monkeypatch.setenv(variable, text)
        kind, said = outcome(ours, setting)
        if kind == "BadSetting":
            assert any(f"expected {what}" in said for what in STRICTER), said
            assert variable in said
        elif kind == "NotOffered":
            assert f"setting {variable}: " in said and outcome(theirs, setting)[1] not in ("", "False")
        else:
            assert (kind, said) == outcome(theirs, setting), text


@pytest.mark.parametrize("package", ["triton", "tritonx"])
def test_an_assignment_is_seen_by_child_processes(package: str, monkeypatch: pytest.MonkeyPatch) -> None:
    group = groups(package)["redis"]
    monkeypatch.delenv("TRITON_REDIS_HOST", raising=False)
    with group.scope():
        group.host = "elsewhere"
        assert os.environ["TRITON_REDIS_HOST"] == "elsewhere"
        del group.host
        assert group.host == "elsewhere"
    assert "TRITON_REDIS_HOST" not in os.environ


def test_every_setting_is_looked_at() -> None:
    assert len(variables()) > 40
    found = {setting for group, setting, _ in variables() if group == "nvidia"}
    assert PROGRAMS | found == set(groups("triton")["nvidia"].knob_descriptors)
