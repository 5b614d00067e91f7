"""Processes that compile, as a ``concurrent.futures.Executor``.

They are helpers of ``tritonx.runtime.isolation``: fresh Python processes that import tritonx and nothing of the user's.
(Python's own process pools fork the user's process, which no GPU's driver survives, or run the user's main program
again.) A worker yields to the user's process where there are too few cores, keeps the compiler loaded for the next
search, and ends when it had nothing to do for a while.
"""

from __future__ import annotations

import base64
import os
import pickle
import threading
from collections.abc import Callable
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from contextlib import suppress
from functools import cache
from typing import ParamSpec, TypeVar

from tritonx.runtime import knobs
from tritonx.runtime.isolation.channel import Parts
from tritonx.runtime.isolation.pool import Pool

P = ParamSpec("P")
T = TypeVar("T")

IDLE_SECONDS = 60.0
"""Workers without work end after this."""

_NICENESS = 5


class CompileWorkers(Executor):
    """``count`` processes. What is submitted must be a function of a module that a worker can import. They are
    ``modest`` where they must not disturb who measures."""

    def __init__(self, count: int, modest: bool = True) -> None:
        self.count = count
        self._modest = modest
        self._pool = Pool(count)
        self._threads = ThreadPoolExecutor(count, thread_name_prefix="tritonx-compile")
        self._lock = threading.Lock()
        self._working = 0
        self._end: threading.Timer | None = None

    def submit(self, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        """Call it in a worker. The result's exception is the call's own, where that can be pickled."""
        request = base64.b85encode(pickle.dumps((self._modest, fn, args, kwargs))).decode()
        with self._lock:
            self._working += 1
            if self._end is not None:
                self._end.cancel()
                self._end = None
        future: Future[T] = self._threads.submit(self._ask, request)  # pyright: ignore[reportAssignmentType]  # what comes back is what fn gives
        future.add_done_callback(self._done)
        return future

    def warm_up(self, backend: str) -> None:
        """Start all workers and have them load the compiler, without waiting for them."""
        if not self._pool.pids():
            for _ in range(self.count):
                self.submit(load_compiler, backend)

    def pids(self) -> list[int]:
        """The workers' process numbers."""
        return self._pool.pids()

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        if not wait:
            self._pool.close()
        self._threads.shutdown(wait, cancel_futures=cancel_futures)
        self._pool.close()

    def _ask(self, request: str) -> object:
        answer = self._pool.run(f"{__name__}:answer", request, {}, knobs.compilation.isolate_timeout)
        content = answer["answer"]
        assert isinstance(content, bytes)
        returned, value = pickle.loads(content)  # of our own process
        if returned:
            return value
        raise value

    def _done(self, _: object) -> None:
        with self._lock:
            self._working -= 1
            if not self._working:
                self._end = threading.Timer(IDLE_SECONDS, self._rest)
                self._end.daemon = True
                self._end.start()

    def _rest(self) -> None:
        with self._lock:
            if not self._working:
                self._pool.close()


def answer(request: str) -> Parts:
    """A worker's side: call what was submitted."""
    modest, fn, args, kwargs = pickle.loads(base64.b85decode(request))
    if modest:
        _be_modest()
    try:
        return {"answer": pickle.dumps((True, fn(*args, **kwargs)))}
    except Exception as error:
        with suppress(Exception):
            content = pickle.dumps((False, error))
            pickle.loads(content)  # some exceptions can be pickled, but not be made again
            return {"answer": content}
        raise


@cache
def _be_modest() -> None:
    """The user's process goes first, which measures."""
    with suppress(OSError, AttributeError):
        os.nice(_NICENESS)


def load_compiler(backend: str) -> None:
    """Import and build what the first compile for ``backend`` takes."""
    from tritonx.runtime.compiling.preload import loading_compile
    from tritonx.runtime.devices.drivers import find_backend

    with suppress(Exception):  # whatever it is, a compile will tell
        loading_compile(find_backend(backend))


def usable_cores() -> int:
    with suppress(AttributeError):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


_kept: dict[int, CompileWorkers] = {}
_lock = threading.Lock()


def compile_workers(count: int) -> CompileWorkers:
    """This process's workers, kept from search to search."""
    with _lock:
        if count not in _kept:
            _kept[count] = CompileWorkers(count)
        return _kept[count]


def _in_child() -> None:
    """A fork has neither the threads nor the workers."""
    global _lock
    _kept.clear()
    _lock = threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_in_child)
