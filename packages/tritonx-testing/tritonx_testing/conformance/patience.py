"""How long to wait for another process: by its own time, since on a busy machine the clock says nothing of its work."""

from __future__ import annotations

import os
import time
from pathlib import Path

IDLE = 0.01
"""A process with less than this part of the time waits; one that computes gets more on any machine that still works."""


class Patience:
    """It ends when a process, with all that it started, has computed for ``seconds`` since the last sign of life, or
    has done next to nothing for as long. Where the system does not tell its time, when ``seconds`` have passed."""

    def __init__(self, pid: int, seconds: float) -> None:
        self.pid = pid
        self.seconds = seconds
        self.interval = seconds / 4
        """How often it is worth asking."""
        self.renew()

    def renew(self) -> None:
        """There was a sign of life."""
        self._since = self._quiet_since = time.monotonic()
        self._used = self._used_when_quiet = processor_seconds(self.pid)

    def ended(self) -> bool:
        """Whether there is no point in waiting any longer."""
        now, used = time.monotonic(), processor_seconds(self.pid)
        if used is None or self._used is None or self._used_when_quiet is None:
            return now - self._since >= self.seconds
        if used - self._used_when_quiet >= IDLE * (now - self._quiet_since):
            self._quiet_since, self._used_when_quiet = now, used
        return used - self._used >= self.seconds or now - self._quiet_since >= self.seconds


def processor_seconds(pid: int) -> float | None:
    """The time that a process and what it started, and what these started, have computed; None where the system does
    not say."""
    try:
        # proc(5): the fields behind the name in parentheses; utime, stime, and those of the children that have ended
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        own = sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")
        tasks = [int(entry.name) for entry in Path(f"/proc/{pid}/task").iterdir()]
        children = [c for task in tasks for c in Path(f"/proc/{pid}/task/{task}/children").read_text().split()]
    except OSError:
        return None
    return own + sum(processor_seconds(int(child)) or 0.0 for child in children)
