"""Messages to the host, executed: the function that the emission calls, with AMD's instructions replaced by those of a
host for a wave of one lane, against a thread that serves the buffer as HIP's runtime does.

The process is a child: a defect in the code would hang or end it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tritonx.backends.amd import device_library

SERVER = Path(__file__).with_name("hostcall_server.py")


def served(which: str) -> list[list[int]]:
    result = subprocess.run([sys.executable, str(SERVER), which], capture_output=True, text=True, timeout=60)
    assert result.returncode == 0, result.stderr[-2000:]
    return json.loads(result.stdout)


def test_packets_arrive_and_are_given_back() -> None:
    """More packets than the buffer has, from two threads at once, each with an answer that depends on it."""
    packets = served("own")
    assert len(packets) == 400
    assert sorted(words[1] for words in packets) == list(range(400))
    assert all(service == 2 and lanes == 1 for service, _, lanes, *_ in packets)
    assert all(words == [number * 10 + k for k in range(7)] for _, number, _, *words in packets)


@pytest.mark.skipif(not device_library.found("ockl.bc"), reason="no ockl.bc")
def test_the_device_library_of_rocm_sends_the_same() -> None:
    assert sorted(served("ockl")) == sorted(served("own"))
