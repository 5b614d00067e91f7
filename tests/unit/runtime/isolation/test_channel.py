"""A deadline is one, however busy the machine is."""

from __future__ import annotations

import socket
import time

import pytest

from tritonx.runtime.isolation.channel import READY, receive, send


def test_what_arrives_is_not_taken_after_the_deadline() -> None:
    here, there = socket.socketpair()
    with here, there:
        send(there, READY)
        with pytest.raises(TimeoutError):
            receive(here, time.monotonic())
        assert receive(here, time.monotonic() + 60) == READY
        with pytest.raises(TimeoutError):
            send(here, READY, time.monotonic())
