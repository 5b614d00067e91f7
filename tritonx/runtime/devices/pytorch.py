"""Drivers of devices that PyTorch runs on too: where it is in use, its current device and stream are those of a launch.

PyTorch calls its module for GPUs ``cuda`` whoever made them."""

from __future__ import annotations

import os
import sys
import weakref
from abc import abstractmethod
from collections.abc import Callable, Generator
from contextlib import contextmanager
from threading import get_ident
from typing import Any

from tritonx.backends.api import Driver

GRAPH_REPLAYS = 10
"""Times that a recorded graph is replayed and timed."""


def built_for(platform: str) -> bool | None:
    """Whether the PyTorch in this process was built for ``platform``, a name in ``torch.version``; None without one."""
    version = getattr(sys.modules.get("torch"), "version", None)
    return None if version is None else getattr(version, platform, None) is not None


class PyTorchDriver(Driver):
    """Methods to inherit rather than functions to call: a launch asks for the stream."""

    _recording: tuple[int, int] | None = None
    """The thread whose launches go to another stream than the default one, and that stream."""
    _ask_stream: Callable[[int], int] | None = None
    """What gives PyTorch's current stream of a device, once PyTorch is in use."""

    def current_device(self) -> int:
        """PyTorch's current device if PyTorch is in use, else this thread's."""
        torch = sys.modules.get("torch")
        if torch is not None and torch.cuda.is_initialized():
            return int(torch.cuda.current_device())
        return self.thread_device()

    @abstractmethod
    def thread_device(self) -> int:
        """The device that is current in this thread, as the vendor's library has it."""

    def current_stream(self, device: int) -> int:
        """PyTorch's current stream if PyTorch is in use, else the default stream."""
        ask = self._ask_stream
        return ask(device) if ask is not None else self._stream(device)

    def _stream(self, device: int) -> int:
        """Whether PyTorch is in use is asked until it is: it stays so, but in the child of a fork, which cannot use the
        device."""
        torch = sys.modules.get("torch")
        if torch is not None and torch.cuda.is_initialized():
            self._ask_stream = torch._C._cuda_getCurrentRawStream
            _forgets_at_fork(self)
            return int(torch._C._cuda_getCurrentRawStream(device))
        if self._recording is not None and self._recording[0] == get_ident():
            return self._recording[1]
        return 0

    def is_recording(self) -> bool:
        torch = sys.modules.get("torch")
        if torch is not None and torch.cuda.is_initialized():
            return bool(torch.cuda.is_current_stream_capturing())
        return self._recording is not None and self._recording[0] == get_ident()

    @contextmanager
    def recording(self, stream: int) -> Generator[None]:
        """This thread's launches go to ``stream`` where PyTorch is not in use."""
        self._recording = get_ident(), stream
        try:
            yield
        finally:
            self._recording = None

    def time_graph(self, run: Callable[[], object], milliseconds: float) -> list[float]:
        """Milliseconds of a run in each of ten replays of a graph of as many runs as fill a tenth of ``milliseconds``.
        PyTorch records it where it is in use, with its memory; else `time_recorded`."""
        torch = sys.modules.get("torch")
        if torch is not None and torch.cuda.is_initialized():
            return _time_with_pytorch(torch, run, milliseconds)
        return self.time_recorded(run, milliseconds)

    def time_recorded(self, run: Callable[[], object], milliseconds: float) -> list[float]:
        """The same without PyTorch. Optional."""
        raise NotImplementedError


def _forgets_at_fork(driver: PyTorchDriver) -> None:
    """Have a child ask again whether PyTorch is in use: PyTorch's own error would be another one there."""
    known = weakref.ref(driver)

    def forget() -> None:
        if (kept := known()) is not None:
            kept._ask_stream = None  # pyright: ignore[reportPrivateUsage]  # of this module

    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=forget)


def runs_of_graph(one: float, milliseconds: float) -> int:
    """How many runs of ``one`` millisecond each go into a graph, so that its replays take ``milliseconds``."""
    return max(1, int(milliseconds / GRAPH_REPLAYS / max(one, 1e-4)))


def _time_with_pytorch(torch: Any, run: Callable[[], object], milliseconds: float) -> list[float]:
    cuda = torch.cuda

    def timed(work: Callable[[], object], count: int) -> list[float]:
        events = [(cuda.Event(enable_timing=True), cuda.Event(enable_timing=True)) for _ in range(count)]
        for start, stop in events:
            start.record()
            work()
            stop.record()
        cuda.synchronize()
        return [start.elapsed_time(stop) for start, stop in events]

    with cuda.stream(cuda.Stream()):
        run()  # what only a first run does: compiling, allocation
        runs = runs_of_graph(min(timed(run, 5)), milliseconds)
        graph = cuda.CUDAGraph()
        with cuda.graph(graph):
            for _ in range(runs):
                run()
        graph.replay()
        return [each / runs for each in timed(graph.replay, GRAPH_REPLAYS)]
