"""Waiting for a process: what computes too long and what waits for nothing is given up, what is merely slow is not."""

from __future__ import annotations

import pytest

from tritonx_testing.conformance import isolated

SERVE = """
import json, os, subprocess, sys, time

def compute(seconds):
    end = time.process_time() + seconds
    while time.process_time() < end:
        pass

names = sys.stdin.read().splitlines()
with os.fdopen(int(sys.argv[1]), "w", buffering=1) as out:
    for name in names:
        {body}
        print(json.dumps((name, "passed", "")), file=out)
"""


def kinds(monkeypatch: pytest.MonkeyPatch, body: str) -> list[str]:
    monkeypatch.setattr(isolated, "SECONDS", 2.0)
    return [result.kind for result in isolated.run("none", ["a", "b"], 0, SERVE.format(body=body))]


def test_a_process_that_computes_too_long_hangs(monkeypatch: pytest.MonkeyPatch) -> None:
    assert kinds(monkeypatch, "compute(60 if name == 'a' else 0)") == ["hung", "passed"]


def test_so_does_one_whose_children_do(monkeypatch: pytest.MonkeyPatch) -> None:
    endless = "import time\\nwhile time.process_time() < 60: pass"
    body = f"name == 'a' and subprocess.run([sys.executable, '-c', '{endless}'])"
    assert kinds(monkeypatch, body) == ["hung", "passed"]


def test_so_does_one_that_waits_for_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    assert kinds(monkeypatch, "time.sleep(60 if name == 'a' else 0)") == ["hung", "passed"]


def test_one_that_gets_little_of_the_machine_is_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """More than the limit by the clock, an eighth of it by its own time."""
    assert kinds(monkeypatch, "[(compute(0.02), time.sleep(0.18)) for _ in range(12)]") == ["passed", "passed"]
