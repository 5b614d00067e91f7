"""A ``-k`` of the commands of ``tritonx_testing`` that selects nothing is a mistake that would go unseen."""

from __future__ import annotations

import importlib
import sys

import pytest


@pytest.mark.parametrize(("name", "device"), [("conformance", "python"), ("differential", "python"), ("sweep", "cpu")])
def test_nothing_selected(
    name: str, device: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    command = importlib.import_module(f"tritonx_testing.{name}.__main__")
    monkeypatch.setattr(sys, "argv", [name, device, "-k", "no such name"])
    with pytest.raises(SystemExit) as stopped:
        command.main()
    assert stopped.value.code == 2 and "name contains 'no such name'" in capsys.readouterr().err
