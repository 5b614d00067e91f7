"""The helpers of this process: started when one is needed, used again, ended with the process.

Several threads may ask at once: each gets a helper of its own, up to one a core; the others wait. A fork leaves the
child without helpers: it starts its own, and closes what it inherited, so that the parent's helpers still see the
parent's end. A helper that died or took too long is gone for good, and the next request starts another.
"""

from __future__ import annotations

import atexit
import os
import threading
import weakref
from collections.abc import Mapping
from typing import Any

from tritonx.runtime.isolation.channel import Parts
from tritonx.runtime.isolation.helper import FunctionFailed, Helper, HelperGone

MOST = min(8, os.cpu_count() or 1)

_pools: weakref.WeakSet[Pool] = weakref.WeakSet()
"""Those of this process."""


class Pool:
    """Helpers that wait for work, and those at work."""

    def __init__(self, most: int = MOST) -> None:
        self._turns = threading.BoundedSemaphore(most)
        self._lock = threading.Lock()
        self._idle: list[Helper] = []
        self._every: set[Helper] = set()
        self.starting = threading.Lock()
        """Held while a process is being started and while this one forks: a child must know every socket."""
        _pools.add(self)

    def run(self, function: str, text: str, arguments: Mapping[str, Any], seconds: float) -> Parts:
        """``Helper.call`` on a helper that is free."""
        with self._turns:
            try:
                return self._ask(self._take(), function, text, arguments, seconds)
            except HelperGone:  # it ended between two requests, for reasons that are not ours
                return self._ask(self._started(), function, text, arguments, seconds)

    def _ask(self, helper: Helper, function: str, text: str, arguments: Mapping[str, object], seconds: float) -> Parts:
        try:
            made = helper.call(function, text, arguments, seconds)
        except FunctionFailed:
            self._give(helper)
            raise
        except BaseException:  # an interrupt too: the next answer would be to this question
            self._drop(helper)
            raise
        self._give(helper)
        return made

    def _take(self) -> Helper:
        while True:
            with self._lock:
                helper = self._idle.pop() if self._idle else None
            if helper is None:
                return self._started()
            if helper.alive():
                return helper
            self._drop(helper)

    def _started(self) -> Helper:
        with self.starting:
            helper = Helper()
            with self._lock:
                self._every.add(helper)
        return helper

    def _give(self, helper: Helper) -> None:
        with self._lock:
            self._idle.append(helper)

    def _drop(self, helper: Helper) -> None:
        helper.kill()
        with self._lock:
            self._every.discard(helper)

    def prepare(self) -> None:
        """Start a helper unless there is one, without waiting for it: Python comes up while other work is done."""
        with self._lock:
            wanted = not self._every
        if wanted:
            self._give(self._started())

    def pids(self) -> list[int]:
        """The helpers' process numbers."""
        with self._lock:
            return [helper.pid for helper in self._every]

    def close(self) -> None:
        """End all helpers; the next request starts another."""
        with self._lock:
            idle, busy = self._idle, self._every - set(self._idle)
            self._idle, self._every = [], set()
        for helper in busy:
            helper.kill()
        for helper in idle:
            helper.close()

    def abandon(self) -> None:
        """In a forked child: forget the parent's helpers."""
        for helper in self._every:
            helper.abandon()


_pool = Pool()


def pool() -> Pool:
    """This process's."""
    return _pool


_one_fork = threading.Lock()
"""Held while this process forks, so that ``_forking`` is of one fork."""

_forking: list[Pool] = []
"""The pools that are locked while this process forks."""


def _before_fork() -> None:
    _one_fork.acquire()
    _forking[:] = _pools
    for each in _forking:
        each.starting.acquire()


def _in_parent() -> None:
    for each in _forking:
        each.starting.release()
    _forking.clear()
    _one_fork.release()


def _in_child() -> None:
    global _pool, _one_fork
    for each in _forking:
        each.abandon()
        each.starting = threading.Lock()
    _forking.clear()
    _pools.clear()
    _one_fork = threading.Lock()
    _pool = Pool()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before_fork, after_in_parent=_in_parent, after_in_child=_in_child)


def _at_exit() -> None:
    for each in [*_pools]:
        each.close()


atexit.register(_at_exit)
