"""A worker process and what it says, for whoever has requests for it."""

from __future__ import annotations

import json
import os
import selectors
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

WORKER = Path(__file__).with_name("worker.py")
STARTING = 240.0
"""Seconds until a worker has imported everything and collected a file."""


class Process:
    """Started when it is first needed and again whenever it has died; ``peer`` is ``tritonx`` or ``triton``."""

    def __init__(self, peer: str, name: str, settings: dict[str, Any], environment: dict[str, str], log: Path) -> None:
        self.peer, self.name, self.settings, self.log = peer, name, settings, log
        self.environment = environment
        self.process: subprocess.Popen[bytes] | None = None
        self.starts = 0

    def start(self) -> None:
        read, write = os.pipe()
        compat = ["-m", "tritonx.compat"] if self.peer == "tritonx" else []
        command = [sys.executable, *compat, str(WORKER), str(write), json.dumps(self.settings)]
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=log, stderr=log, pass_fds=[write], start_new_session=True,
                env=self.environment,
            )  # fmt: skip
        os.close(write)
        self.read = read
        self.rest = b""
        self.starts += 1

    def stop(self) -> None:
        """Nothing of it stays, its children included."""
        if self.process is None:
            return
        try:
            os.killpg(self.process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        self.process.wait()
        os.close(self.read)
        self.process = None

    def _lines(self, limit: Callable[[], float]) -> Iterator[dict[str, Any] | None]:
        """Events; None at its end. TimeoutError when ``limit``, a time, has come."""
        with selectors.DefaultSelector() as waiting:
            waiting.register(self.read, selectors.EVENT_READ)
            while True:
                while b"\n" in self.rest:
                    line, self.rest = self.rest.split(b"\n", 1)
                    yield json.loads(line)
                left = limit() - time.monotonic()
                if left <= 0:
                    raise TimeoutError
                if waiting.select(min(left, 1.0)):
                    data = os.read(self.read, 1 << 16)
                    if not data:
                        yield None
                        return
                    self.rest += data

    def do(self, request: dict[str, Any], limit: float, until: float) -> Iterator[dict[str, Any]]:
        """What happens until the request is done. A test that takes too long or takes the process with it is an event
        ``end`` as well, with outcome ``hang`` or ``crash``, and ends the request. At ``until`` the process is stopped:
        an event ``stopped``."""
        if self.process is None:
            self.start()
        assert self.process is not None and self.process.stdin is not None
        running: str | None = None
        since = time.monotonic()
        seconds = STARTING

        def deadline() -> float:
            return min(since + seconds, until)

        try:
            self.process.stdin.write(json.dumps(request).encode() + b"\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            pass
        try:
            for event in self._lines(deadline):
                if event is None:
                    yield self._died(running or request["file"], since)
                    return
                since = time.monotonic()
                if event["event"] == "start":
                    running, seconds = event["id"], limit
                elif event["event"] == "end":
                    running, seconds = None, STARTING
                yield event
                if event["event"] == "done":
                    return
        except TimeoutError:
            self.stop()
            if time.monotonic() >= until:
                yield {"event": "stopped", "id": running}
            else:
                yield {"event": "end", "id": running or request["file"], "outcome": "hang",
                       "reason": f"not done after {seconds:.0f} s", "seconds": seconds, "died": True}  # fmt: skip

    def _died(self, running: str, since: float) -> dict[str, Any]:
        assert self.process is not None
        code = self.process.wait()
        if code == 77:  # it said so itself, after the end of the test
            self.stop()
            return {"event": "lost", "id": None, "died": True}
        tail = self.log.read_bytes()[-3000:].decode(errors="replace") if self.log.exists() else ""
        self.stop()
        lines = [line for line in tail.splitlines() if line.strip()]
        why = f"exit status {code}" if code >= 0 else f"signal {-code}"
        return {"event": "end", "id": running, "outcome": "crash", "reason": f"{why}: {(lines or [''])[-1][:300]}",
                "tail": tail, "seconds": round(time.monotonic() - since, 3), "died": True}  # fmt: skip
