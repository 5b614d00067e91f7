"""A session: what is profiled under one name, in phases, until it is finalized."""

from __future__ import annotations

import errno
import os
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from tritonx.profiler.errors import CannotWrite, UnknownSession, one_of
from tritonx.profiler.metric import Value
from tritonx.profiler.mode import BaseMode, PeriodicFlushing
from tritonx.profiler.stack import ThreadStack, call_stack
from tritonx.profiler.trace import Trace
from tritonx.profiler.tree import Tree
from tritonx.profiler.writing import FORMATS, encoded

Data = Tree | Trace

DATA: Mapping[str, type[Data]] = {"tree": Tree, "trace": Trace}
CONTEXTS = ("shadow", "python")
INSTRUMENTATION = "instrumentation"
"""The backend of sessions that measure regions of kernels."""


@dataclass(frozen=True)
class Asked:
    """What ``start`` was asked for."""

    name: str
    context: str
    data: str
    backend: str | None
    mode: BaseMode | None

    @property
    def timer(self) -> str | None:
        """The way in which launches are timed; None: the device's best one."""
        return None if self.backend == INSTRUMENTATION else self.backend

    @property
    def regions(self) -> str:
        """The mode in which regions are measured; empty where they are not."""
        return str(self.mode) if self.backend == INSTRUMENTATION else ""


class Session:
    """``phases`` are by number; those that were cleared or flushed are gone."""

    def __init__(self, number: int, asked: Asked) -> None:
        self.number = number
        self.asked = asked
        self.regions = asked.regions
        self.active = True
        self.phase = 0
        self.data: Data = self._empty()
        self.phases: dict[int, Data] = {0: self.data}
        self.devices: dict[str, dict[str, Any]] = {}
        self.settled = 0
        """Phases below this one are over, and all kernels of others that were launched meanwhile are known."""
        self._open: dict[int, Any] = {}

    def _empty(self) -> Data:
        made = DATA[self.asked.data]()
        if isinstance(made, Trace):
            made.of_regions = bool(self.regions)
        return made

    # ---- places

    def path(self, stack: ThreadStack) -> tuple[str, ...]:
        """Where the thread is."""
        return (*call_stack(), *stack.state()) if self.asked.context == "python" else stack.path()

    def place(self, stack: ThreadStack) -> Any:
        """The same in this phase's data."""
        if self.asked.context == "python":
            return self.data.scope(self.path(stack))
        known = stack.nodes.get(self.number)
        if known is not None and known[0] == stack.version and known[1] is self.data:
            return known[2]
        place = self.data.scope(stack.path())
        stack.nodes[self.number] = (stack.version, self.data, place)
        return place

    def enter(self, stack: ThreadStack, number: int, now: int) -> None:
        """A scope begins, whose entry has this number."""
        self._open[number] = self.data.enter(self.place(stack), now, number)

    def leave(self, number: int, now: int) -> None:
        """It ends; nothing where the session was not active when it began."""
        entered = self._open.pop(number, None)
        if entered is not None:
            entered.leave(now)

    def add(self, number: int, metrics: Mapping[str, Value]) -> None:
        """Add ``metrics`` to a scope. Raises MetricMismatch."""
        entered = self._open.get(number)
        if entered is not None:
            entered.add(metrics)

    # ---- phases

    def advance(self) -> int:
        """The number of the phase that begins."""
        self.phase += 1
        self.data = self.phases[self.phase] = self._empty()
        return self.phase

    @property
    def flushes(self) -> bool:
        return isinstance(self.asked.mode, PeriodicFlushing)

    def flush_complete(self) -> None:
        """In periodic flushing, write phases that are over and forget them. Raises CannotWrite."""
        mode = self.asked.mode
        if isinstance(mode, PeriodicFlushing):
            for number in [n for n in self.phases if n < self.phase and self.is_complete(n)]:
                self._write(number, mode.format or self.formats[0], parts=True)
                del self.phases[number]

    def is_complete(self, number: int) -> bool:
        """Whether nothing more will come to the phase, and the time of all its launches is known."""
        found = self.phases.get(number)
        return number < self.phase and (found is None or (number < self.settled and found.pending == 0))

    def now(self, data: Data) -> Data:
        """What takes a kernel that was placed in ``data``: this phase's, where that was flushed or cleared since."""
        return data if any(data is each for each in self.phases.values()) else self.data

    def of_phase(self, number: int) -> Data:
        """Raises UnknownSession."""
        if number not in self.phases:
            raise UnknownSession(f"session {self.number} has no data of phase {number}")
        return self.phases[number]

    def clear(self, number: int, up_to: bool) -> None:
        for each in [n for n in self.phases if n == number or (up_to and n < number)]:
            if each == self.phase:
                self.data = self.phases[each] = self._empty()
            else:
                del self.phases[each]

    # ---- output

    @property
    def formats(self) -> tuple[str, ...]:
        return DATA[self.asked.data].formats

    def output(self, asked: str | None) -> str:
        """The format to write. Raises BadProfile."""
        return _format_of(self.asked.data, asked or _format_asked(self.asked) or self.formats[0])

    def write(self, asked: str | None) -> None:
        """Write all phases: ``name.hatchet``, or ``name.part_N.hatchet`` where there were several. Raises CannotWrite,
        BadProfile."""
        chosen = self.output(asked)
        for number in list(self.phases):
            self._write(number, chosen, parts=self.phase > 0)

    def _write(self, number: int, chosen: str, *, parts: bool) -> None:
        part = f".part_{number}" if parts else ""
        content = encoded(self.phases[number].literal(self.devices), chosen)
        write_whole(f"{os.path.expanduser(self.asked.name)}{part}.{chosen}", content)


def check_format(asked: Asked) -> None:
    """Raises BadProfile where a session would be written in a format that its data has not."""
    if chosen := _format_asked(asked):
        _format_of(asked.data, chosen)


def _format_asked(asked: Asked) -> str:
    return asked.mode.format if isinstance(asked.mode, PeriodicFlushing) else ""


def _format_of(data: str, chosen: str) -> str:
    one_of("output format", chosen, tuple(FORMATS))
    return one_of(f"output format of a {data}", chosen, DATA[data].formats)


def write_whole(path: str, content: bytes) -> None:
    """The file has all of ``content`` or is as it was. Raises CannotWrite."""
    temporary = None
    try:
        handle, temporary = tempfile.mkstemp(prefix=".profile-", dir=os.path.dirname(path) or ".")
        with open(handle, "wb") as file:
            file.write(content)
        os.chmod(temporary, 0o666 & ~_umask())
        os.replace(temporary, path)
    except (OSError, ValueError) as error:  # a name with a null byte is the second
        if temporary is not None:
            with suppress(OSError):
                os.unlink(temporary)
        number, why = (error.errno, error.strerror) if isinstance(error, OSError) else (errno.EINVAL, str(error))
        raise CannotWrite(number, f"the profile could not be written: {why}", path) from error


def _umask() -> int:
    mask = os.umask(0o077)
    os.umask(mask)
    return mask
