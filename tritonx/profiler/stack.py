"""Where a thread of the program is: its open scopes and its state, for all sessions.

The stack belongs to the thread and not to a session: a second session, or one that is activated again, knows the scopes
that are open, and a scope may be left while a session is inactive. A thread that opens no scope before its first
launch is taken to work for what the main thread has open at that moment."""

from __future__ import annotations

import contextlib
import itertools
import os
import sys
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tritonx.profiler.quick import Ready
    from tritonx.runtime.launch.measured_launch import Recorded

_OWN = str(Path(__file__).parents[1]) + os.sep
"""tritonx's folder: its frames are not the program's, nor are the library's between them."""

METADATA = "__proton_launch_metadata"
"""The state in which metadata of launches is computed."""

METADATA_PREFIX = METADATA + ":"
"""What its name begins with where that of a kernel follows."""

_KEPT = 1 << 10
"""Versions of states that are found again."""

_CONTEXTS = contextlib.__file__


@dataclass(slots=True)
class Launched:
    """A launch between its two hooks. ``records`` are what the sessions know it by."""

    timer: Any
    begun: object
    device: int
    stream: int
    records: tuple[Any, ...]
    measured: tuple[Any, ...]
    """Those of them that regions are measured for."""
    metrics: dict[str, Any] | None

    def abandon(self) -> None:
        """The launch has failed: the hook behind it was not called."""
        self.timer.abandon(self.begun)
        for record in self.records:
            record.abandon()


@dataclass(frozen=True)
class Entry:
    """An open scope. ``by_call``: `tritonx.profiler.enter_scope` began it, and ``exit_scope`` ends it."""

    name: str
    number: int
    by_call: bool
    before: int
    """The stack's version before it began."""


@dataclass
class ThreadStack:
    """``version`` is another number for each other ``entries`` and innermost one of ``states``."""

    entries: list[Entry] = field(default_factory=list[Entry])
    states: list[tuple[str, int, tuple[Entry, ...]]] = field(default_factory=list[tuple[str, int, tuple[Entry, ...]]])
    """Name, and the version and the innermost entry before it began."""
    version: int = 0
    nodes: dict[int, tuple[int, object, Any]] = field(default_factory=dict[int, tuple[int, object, Any]])
    """Session → (version, the data that it was found in, its place there)."""
    ready: dict[object, Ready | None] = field(default_factory=dict[object, "Ready | None"])
    """What is known of kernels that are launched at this ``version``, ``ready_for`` one object of `profiler.quick`."""
    ready_version: int = -1
    ready_for: object = None
    launched: list[Launched] = field(default_factory=list["Launched"])
    recorded: list[Recorded] = field(default_factory=list["Recorded"])
    """What the launch has recorded of its regions, to be read."""
    placed: dict[int, list[Any]] = field(default_factory=dict[int, list[Any]])
    """Version → what timers are told of where the thread is, by the sessions of ``placed_for``."""
    placed_for: object = None
    _in_state: dict[tuple[int, str], int] = field(default_factory=dict[tuple[int, str], int])
    """The version before a state began and its name → the version in it."""
    epoch: int = 0
    """How often all sessions had ended when it was looked at last."""
    lost: list[Entry] = field(default_factory=list[Entry])
    """Scopes of ended sessions that a call is to end still."""
    describing: bool = False
    """A kernel's ``launch_metadata`` is being called."""
    described: tuple[str, dict[str, Any]] | None = None
    """What a hook says of the launch that begins: its name and metrics."""

    def push(self, name: str, number: int, by_call: bool) -> None:
        self.entries.append(Entry(name, number, by_call, self.version))
        self.version = next(_VERSIONS)

    def pop(self, number: int) -> list[Entry]:
        """Leave a scope and those inside of it, which an error left open; those that were left. None where an error has
        closed it before."""
        for at in range(len(self.entries) - 1, -1, -1):
            if self.entries[at].number == number:
                left = self.entries[at:]
                del self.entries[at:]
                self.version = next(_VERSIONS) if self.states else left[0].before
                return left
        return []

    def forget(self, epoch: int) -> None:
        """All sessions have ended: what they knew to be open is not of later ones."""
        self.lost += [entry for entry in self.entries if entry.by_call]
        self.entries, self.states, self.version, self.epoch = [], [], next(_VERSIONS), epoch

    def abandon(self) -> None:
        """A launch has failed, if one has begun: the hook behind it was not called."""
        for failed in self.launched:
            failed.abandon()
        for lost in self.recorded:
            lost.drop()
        self.launched, self.recorded = [], []

    def by_call(self) -> Entry | None:
        """The innermost scope that a call ends."""
        return next((entry for entry in reversed(self.entries) if entry.by_call), None)

    def take_description(self, name: str) -> tuple[str, dict[str, Any] | None]:
        """What a hook has said of the launch of ``name`` that begins."""
        found, self.described = self.described, None
        return (name, None) if found is None else found

    def push_state(self, name: str) -> None:
        self.states.append((name, self.version, tuple(self.entries[-1:])))
        self.version = self._in_state.get((self.version, name)) or self._new_state(name)
        for each in STATE_LISTENERS:
            each()

    def _new_state(self, name: str) -> int:
        if len(self._in_state) > _KEPT:
            self._in_state.clear()
        return self._in_state.setdefault((self.version, name), next(_VERSIONS))

    def pop_state(self) -> None:
        """Does nothing outside of states."""
        if self.states:
            _, before, innermost = self.states.pop()
            self.version = before if innermost == tuple(self.entries[-1:]) else next(_VERSIONS)
            for each in STATE_LISTENERS:
                each()

    def path(self) -> tuple[str, ...]:
        """The scopes from the outermost to the innermost, and the state."""
        return (*(entry.name for entry in self.entries), *self.state())

    def state(self) -> tuple[str, ...]:
        """The innermost one, if there is one. The computing of a kernel's metadata is two, as in Triton."""
        if not self.states:
            return ()
        name = self.states[-1][0]
        if not name.startswith(METADATA_PREFIX):
            return (name,)
        return METADATA, name.removeprefix(METADATA_PREFIX)


class _Local(threading.local):
    def __init__(self) -> None:
        main = _MAIN[0] if _MAIN else None
        self.stack = ThreadStack()
        if threading.current_thread() is threading.main_thread():
            _MAIN[:] = [self.stack]
        elif main is not None and main.epoch == _ended.epoch:
            self.stack.entries = list(main.entries)
        self.stack.epoch = _ended.epoch


@dataclass
class _Ended:
    epoch: int = 0


_ended = _Ended()

_VERSIONS = itertools.count(1)

STATE_LISTENERS: list[Callable[[], None]] = []
"""Called in the thread whose state has changed."""

NUMBERS = itertools.count()
"""Of entries of scopes, and of launches that a hook describes: each once in a process."""

_MAIN: list[ThreadStack] = []
here = _Local()


def current() -> ThreadStack:
    """This thread's stack."""
    stack = here.stack
    if stack.epoch != _ended.epoch:
        stack.forget(_ended.epoch)
    return stack


def forget_all() -> None:
    """All sessions have ended: no thread is in a scope or a state any more."""
    _ended.epoch += 1


def _is_own(frame: FrameType) -> bool:
    return frame.f_code.co_filename.startswith((_OWN, "<launch of "))


def _is_programs(frame: FrameType) -> bool:
    caller = frame.f_back
    for_own = frame.f_code.co_filename == _CONTEXTS and caller is not None and _is_own(caller)
    return not (_is_own(frame) or for_own)


def program_level() -> int:
    """The ``stacklevel`` with which a warning of the caller names the program's line."""
    level, frame = 1, sys._getframe(1)  # pyright: ignore[reportPrivateUsage]  # who calls is the question
    while not _is_programs(frame) and frame.f_back is not None:
        level, frame = level + 1, frame.f_back
    return level


def call_stack() -> tuple[str, ...]:
    """The program's Python frames from the outermost on, as ``file:line@function``."""
    found: list[str] = []
    frame: FrameType | None = sys._getframe(1)  # pyright: ignore[reportPrivateUsage]  # who calls is the question
    while frame is not None:
        if _is_programs(frame):
            found.append(f"{frame.f_code.co_filename}:{frame.f_lineno}@{frame.f_code.co_name}")
        frame = frame.f_back
    return tuple(reversed(found))
