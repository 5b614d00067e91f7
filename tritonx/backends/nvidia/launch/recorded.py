"""Runs recorded into a CUDA graph, and its replays timed, without PyTorch."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass

from tritonx.runtime.devices.pytorch import GRAPH_REPLAYS, PyTorchDriver, runs_of_graph

_NON_BLOCKING = 1
_THREAD_LOCAL = 1
"""CU_STREAM_CAPTURE_MODE_THREAD_LOCAL: what other threads do meanwhile is theirs."""


@dataclass(frozen=True)
class Recorder:
    """With ``cuda``, the driver's library; ``check(code, call)`` raises an error with the code."""

    cuda: ctypes.CDLL
    check: Callable[[int, str], None]

    def times(self, driver: PyTorchDriver, run: Callable[[], object], milliseconds: float) -> list[float]:
        """Milliseconds of a run in each replay of a graph. A context is current. Raises what ``run`` and the CUDA
        driver raise."""
        with self._stream() as stream, driver.recording(stream.value or 0):
            run()  # what only a first run does: compiling, allocation
            runs = runs_of_graph(min(self._timed(run, stream, 5)), milliseconds)
            with self._recorded(run, runs, stream) as replay:
                replay()
                return [each / runs for each in self._timed(replay, stream, GRAPH_REPLAYS)]

    @contextmanager
    def _stream(self) -> Generator[ctypes.c_void_p]:
        stream = ctypes.c_void_p()
        self.check(self.cuda.cuStreamCreate(ctypes.byref(stream), _NON_BLOCKING), "cuStreamCreate")
        try:
            yield stream
        finally:
            self.cuda.cuStreamDestroy_v2(stream)

    @contextmanager
    def _recorded(self, run: Callable[[], object], runs: int, stream: ctypes.c_void_p) -> Generator[Callable[[], None]]:
        """What replays ``runs`` runs on ``stream``."""
        cuda, graph, executable = self.cuda, ctypes.c_void_p(), ctypes.c_void_p()
        self.check(cuda.cuStreamBeginCapture_v2(stream, _THREAD_LOCAL), "cuStreamBeginCapture")
        try:
            for _ in range(runs):
                run()
        finally:
            code = cuda.cuStreamEndCapture(stream, ctypes.byref(graph))
        self.check(code, "cuStreamEndCapture")
        try:
            made = cuda.cuGraphInstantiateWithFlags(ctypes.byref(executable), graph, ctypes.c_ulonglong(0))
            self.check(made, "cuGraphInstantiateWithFlags")
            yield lambda: self.check(cuda.cuGraphLaunch(executable, stream), "cuGraphLaunch")
        finally:
            if executable:
                cuda.cuGraphExecDestroy(executable)
            cuda.cuGraphDestroy(graph)

    def _timed(self, work: Callable[[], object], stream: ctypes.c_void_p, count: int) -> list[float]:
        cuda, check = self.cuda, self.check
        events = [(ctypes.c_void_p(), ctypes.c_void_p()) for _ in range(count)]
        elapsed = ctypes.c_float()
        out: list[float] = []
        try:
            for start, stop in events:
                for event in (start, stop):
                    check(cuda.cuEventCreate(ctypes.byref(event), 0), "cuEventCreate")
            for start, stop in events:
                check(cuda.cuEventRecord(start, stream), "cuEventRecord")
                work()
                check(cuda.cuEventRecord(stop, stream), "cuEventRecord")
            check(cuda.cuStreamSynchronize(stream), "cuStreamSynchronize")
            for start, stop in events:
                check(cuda.cuEventElapsedTime_v2(ctypes.byref(elapsed), start, stop), "cuEventElapsedTime")
                out.append(elapsed.value)
            return out
        finally:
            for event in (event for pair in events for event in pair if event.value):
                cuda.cuEventDestroy_v2(event)
