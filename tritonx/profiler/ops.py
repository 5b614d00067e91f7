"""Ops: names that a library gives to the launches of a thread, by number, as Triton's launch hook does."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import dataclass, field

from tritonx.profiler.flags import flags
from tritonx.profiler.hooks import Hook, HookManager
from tritonx.profiler.metric import Value, add
from tritonx.profiler.recorder import RECORDER
from tritonx.profiler.stack import current
from tritonx.runtime.launch.launch_hooks import LazyDict

_SESSION = -1
"""The number, of no session, under which the hook is known."""


@dataclass
class Op:
    number: int
    name: str
    metrics: dict[str, Value] = field(default_factory=dict[str, Value])
    """That no launch has taken."""
    launches: int = 0


class _Local(threading.local):
    def __init__(self) -> None:
        self.open: list[Op] = []


class Ops:
    """The ops that threads have open; while there is one, launches call its hook."""

    def __init__(self) -> None:
        self._here = _Local()
        self._lock = threading.Lock()
        self._open = 0
        self._hook = _OpHook(self)

    def enter(self, number: int, name: str) -> None:
        """Begin an op; nothing without a session."""
        if flags.profiling_on:
            self._here.open.append(Op(number, name))
            self._count(1)

    def describe(self) -> None:
        """A launch begins in this thread: it has the name of the innermost op, and its metrics."""
        if self._here.open and not current().describing:
            op = self._here.open[-1]
            op.launches += 1
            current().described = op.name, op.metrics
            op.metrics = {}

    def exit(self, number: int) -> None:
        """End an op, and those inside of it; nothing where it is not open."""
        while any(op.number == number for op in self._here.open):
            op = self._here.open.pop()
            self._count(-1)
            if flags.profiling_on and (op.metrics or not op.launches):
                RECORDER.leave_scope(RECORDER.enter_scope(op.name, op.metrics))

    def add(self, number: int, metrics: Mapping[str, Value]) -> bool:
        """Whether an op of this thread has the number, whose next launch gets the metrics. Raises MetricMismatch."""
        op = next((op for op in self._here.open if op.number == number), None)
        if op is not None:
            add(op.metrics, metrics)
        return op is not None

    def _count(self, more: int) -> None:
        with self._lock:
            self._open += more
            if self._open == more == 1:
                HookManager.register(self._hook, _SESSION)
            elif self._open == 0:
                HookManager.unregister(_SESSION)


class _OpHook(Hook):
    """What a kernel itself says of its launch goes before the op's name: other hooks enter later."""

    priority = 1000

    def __init__(self, ops: Ops) -> None:
        self._ops = ops

    def init_handle(
        self, module: object, function: object, name: str, metadata_group: Mapping[str, str], hash: str
    ) -> None:
        return None

    def enter(self, metadata: LazyDict) -> None:
        self._ops.describe()

    def exit(self, metadata: LazyDict) -> None:
        return None

    def activate(self) -> None:
        return None

    def deactivate(self) -> None:
        return None


OPS = Ops()
"""This process's."""
