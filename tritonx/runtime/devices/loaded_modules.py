"""Device code that cannot be launched any more, and what of it may be taken out of the device's memory.

A module goes with the last launcher of it. It may go in the middle of anything, since Python collects garbage when it
likes, and its kernels may run still. So it is only put aside then. A driver unloads what was put aside when it loads
something else, if the default stream has nothing to do. A module of which something was launched on another stream
stays until the process ends: a graph may have recorded that launch, which no driver tells."""

from __future__ import annotations

import ctypes
import os
import warnings
import weakref
from collections.abc import Callable
from dataclasses import dataclass, field


class LoadedModule:
    """What a launcher keeps of a module with a driver's ``handle``. A launch on another stream than the default one
    sets ``on_other_stream`` to 1; machine code may."""

    def __init__(self, handle: object, device: int, unused: UnusedModules) -> None:
        self.handle = handle
        self.on_other_stream = ctypes.c_uint8(0)
        aside = weakref.finalize(self, unused.put_aside, handle, device, self.on_other_stream, os.getpid())
        aside.atexit = False  # the driver unloads everything itself, and may be gone


@dataclass
class UnusedModules:
    """Those of one driver."""

    found: list[tuple[int, object]] = field(default_factory=list[tuple[int, object]])
    """(device, handle)"""

    def put_aside(self, handle: object, device: int, on_other_stream: ctypes.c_uint8, process: int) -> None:
        if not on_other_stream.value and process == os.getpid():  # of a forked process they are the parent's
            self.found.append((device, handle))

    def unload(self, device: int, *, may: Callable[[], bool], unload: Callable[[object], object]) -> None:
        """Take those of ``device`` out of its memory, if there are any and this ``may`` be done now."""
        if not any(where == device for where, _ in self.found) or not may():
            return
        kept: list[tuple[int, object]] = []
        while self.found:  # one at a time: other threads and the garbage collector add and take as well
            try:
                where, handle = self.found.pop()
            except IndexError:
                break
            if where != device:
                kept.append((where, handle))
                continue
            try:
                unload(handle)
            except Exception as error:  # the kernel that is being loaded is another one
                said = f"a module of device {device} could not be unloaded: {error}"
                warnings.warn(said, RuntimeWarning, stacklevel=2)
        self.found.extend(kept)
