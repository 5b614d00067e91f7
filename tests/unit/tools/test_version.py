"""`tritonx --version`."""

from __future__ import annotations

from importlib.metadata import version

import pytest

import tritonx.__main__ as command
from tritonx import level


def test_version_names_both(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr("sys.argv", ["tritonx", "--version"])
    assert command.main() == 0
    assert capsys.readouterr().out == f"tritonx {version('tritonx')} (Triton {level.active().triton})\n"
