"""Scopes: named parts of the program, with metrics, that the launches inside of them are counted to."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from functools import wraps
from threading import get_ident
from typing import Any, ParamSpec, Self, TypeVar

from tritonx.profiler.errors import BadProfile
from tritonx.profiler.flags import flags
from tritonx.profiler.metric import EXCLUSIVE, checked
from tritonx.profiler.recorder import RECORDER
from tritonx.profiler.stack import current

P = ParamSpec("P")
T = TypeVar("T")


class scope:
    """A context manager and a decorator. Without a session it does nothing. ``metrics`` are numbers, or lists of them,
    by name; each entry adds them up.

    >>> with tritonx.profiler.scope("step", {"bytes": 64}):
    ...     compiled = double[(1,)](np.zeros(8), BLOCK=8)
    """

    def __init__(self, name: str, metrics: Mapping[str, Any] | None = None) -> None:
        self.name = name
        self.metrics = metrics
        self.id: int | None = None
        self._entered: dict[int, list[tuple[int | None, int]]] = {}

    def _enter(self) -> tuple[int | None, int]:
        number = RECORDER.enter_scope(self.name, checked(self.metrics or {})) if flags.profiling_on else None
        return number, time.perf_counter_ns()

    def _leave(self, entered: tuple[int | None, int]) -> None:
        number, began = entered
        if number is not None:
            self._measured(number, time.perf_counter_ns() - began)
            RECORDER.leave_scope(number)

    def _measured(self, number: int, nanoseconds: int) -> None:
        return None

    def __enter__(self) -> Self:
        entered = self._enter()
        self._entered.setdefault(get_ident(), []).append(entered)
        self.id = entered[0]
        return self

    def __exit__(self, exc_type: object, exc_value: object, traceback: object) -> None:
        entered = self._entered.get(get_ident())
        if not entered:
            raise BadProfile(f"scope {self.name!r} is left in a thread that has not entered it")
        self._leave(entered.pop())

    def __call__(self, func: Callable[P, T]) -> Callable[P, T]:
        @wraps(func)
        def wrapper(*args: P.args, **kwargs: P.kwargs) -> T:
            entered = self._enter()
            try:
                return func(*args, **kwargs)
            finally:
                self._leave(entered)

        return wrapper


class cpu_timed_scope(scope):
    """A scope whose time on the host is a metric, ``cpu_time (ns)``.

    >>> with tritonx.profiler.cpu_timed_scope("step"):
    ...     compiled = double[(1,)](np.zeros(8), BLOCK=8)
    """

    def __init__(self, name: str, metrics: Mapping[str, Any] | None = None) -> None:
        super().__init__(name, metrics)
        if metrics and "cpu_time" in metrics:
            raise BadProfile("The metric name 'cpu_time' is reserved.")

    def _measured(self, number: int, nanoseconds: int) -> None:
        RECORDER.add(number, {"cpu_time (ns)" + EXCLUSIVE: nanoseconds})


def enter_scope(name: str, *, metrics: Mapping[str, Any] | None = None) -> int | None:
    """Begin a scope; the number of its entry, or None without a session.

    >>> tritonx.profiler.enter_scope("step") is None
    True
    """
    if not flags.profiling_on:
        return None
    return RECORDER.enter_scope(name, checked(metrics or {}), by_call=True)


def exit_scope(name: str | None = None, *, metrics: Mapping[str, Any] | None = None) -> int | None:
    """End the scope that `enter_scope` began last in this thread; the number of its entry. Raises BadProfile where
    there is none, or where it has another name.

    >>> tritonx.profiler.exit_scope() is None
    True
    """
    stack = current()
    entry = stack.by_call()
    if entry is None and stack.lost and name in (None, stack.lost[-1].name):
        return stack.lost.pop().number  # of a session that has ended
    if not flags.profiling_on:
        return None
    if entry is None:
        raise BadProfile("exit_scope: this thread has entered no scope")
    if name and name != entry.name:
        raise BadProfile(f"Scope name mismatch: {name} != {entry.name}")
    if metrics:
        RECORDER.add(entry.number, checked(metrics))
    RECORDER.leave_scope(entry.number)
    return entry.number
