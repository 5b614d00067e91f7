"""Which tests of which file a peer's workers run next. Both peers are given the same tests in the same order."""

from __future__ import annotations

import random
import threading
from collections import deque
from typing import Any

FIRST, LARGEST = 4, 64
"""Tests of a file's first visit and of the longest: each visit is twice as long as the one before, since a worker has
to collect the file for it."""


class Schedule:
    """One peer's: every file once, then every file again, until no test is left."""

    def __init__(self, files: list[str], seed: int, only_collected: bool = False, first: int = FIRST) -> None:
        """``first`` tests of each file come first; where they are fewer than `FIRST`, visits stay as short, so that all
        workers have some of few files."""
        order = list(files)
        random.Random(seed).shuffle(order)
        self.waiting: deque[dict[str, Any]] = deque(
            {"file": f, "span": [0, 0 if only_collected else first], "seed": seed} for f in order
        )
        self.only_collected, self.first = only_collected, first
        self.counts: dict[str, int] = {}
        self.running = 0
        self.changed = threading.Condition()
        self.closed = False

    @classmethod
    def of(cls, requests: list[dict[str, Any]]) -> Schedule:
        """One with these requests and no others."""
        made = cls([], 0)
        made.waiting.extend(requests)
        return made

    def next(self) -> dict[str, Any] | None:
        """A request, once there is one; None when all is done."""
        with self.changed:
            while not self.waiting:
                if not self.running or self.closed:
                    return None
                self.changed.wait(0.5)
            if self.closed:
                return None
            self.running += 1
            request = self.waiting.popleft()
            if "span" in request and request["file"] in self.counts:
                self._behind(request)  # another worker may begin with it at once
            return request

    def close(self) -> None:
        """No more requests."""
        with self.changed:
            self.closed = True
            self.changed.notify_all()

    def done(self, request: dict[str, Any], ended: int, died: bool) -> None:
        """``ended`` of its tests have run; if the worker died, the others have not."""
        with self.changed:
            self.running -= 1
            if "ids" in request:
                if died and request["ids"][ended:]:
                    self.waiting.appendleft({**request, "ids": request["ids"][ended:]})
            else:
                self._spans(request, ended, died)
            self.changed.notify_all()

    def _spans(self, request: dict[str, Any], ended: int, died: bool) -> None:
        start, stop = request["span"]
        if died and ended and start + ended < min(stop, self.counts.get(request["file"], 0)):
            self.waiting.appendleft({**request, "span": [start + ended, stop], "rest": True})
        if not request.get("queued"):
            self._behind(request)

    def _behind(self, request: dict[str, Any]) -> None:
        """What comes after a visit, into the queue."""
        start, stop = request["span"]
        if stop >= self.counts.get(request["file"], 0) or self.only_collected or request.get("rest"):
            return
        request["queued"] = True
        longer = min(max(FIRST, 2 * (stop - start)), LARGEST) if self.first == FIRST else self.first
        self.waiting.append({"file": request["file"], "seed": request["seed"], "span": [stop, stop + longer]})
