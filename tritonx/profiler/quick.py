"""Launches that need their time alone, which is what nearly all of a program do: in few steps, without hooks.

The sessions that are active count to scopes, measure no regions and are timed by one timer, and no hook of another kind
than ``launch_metadata`` is there. What else there is goes through `Recorder.enter_launch`. What a launch is counted to
is kept with its scope, for each kernel, so that a launch finds it by two comparisons and a dictionary. A kernel that
describes its launches is asked here too, once `begin` has left them to `begin_described`, which is given the arguments.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from threading import RLock
from typing import TYPE_CHECKING

from tritonx.backends.api import Driver, LaunchTimer
from tritonx.profiler.hooks import HookManager, LaunchHook
from tritonx.profiler.metric import Value
from tritonx.profiler.session import Data, Session
from tritonx.profiler.stack import ThreadStack, current, here
from tritonx.profiler.trace import Event, Spot, Trace
from tritonx.profiler.tree import Device, Node

if TYPE_CHECKING:
    from tritonx.runtime.compiling.compiled_kernel import CompiledKernel

COLLECT_EVERY = 1024
"""Launches between two collections of the times that are known."""

Place = Node | Spot
Record = Node | Event
Description = Callable[[object, object, Mapping[str, object]], Mapping[str, object]]


@dataclass(slots=True)
class Ready:
    """How a kernel's launches on a device are counted and timed in one scope."""

    begin: Callable[[int, int], object]
    end: Callable[[object, int, object], None]
    timer: LaunchTimer
    driver: Driver
    device: int
    known: Device
    name: str
    counted: tuple[tuple[Data, Place], ...]
    """For each session, its data and the place there."""
    description: Description | None
    """The kernel's ``launch_metadata``, if it is to be asked."""
    records: tuple[Node, ...] | None = None
    """What launches that are not described are known by; None: each by a record of its own."""
    described: dict[str, tuple[Node, ...]] = field(default_factory=dict[str, tuple[Node, ...]])
    """The same for those that are, by name, where all data are trees."""

    def made(self, name: str, stream: int) -> tuple[Record, ...]:
        """Records of a launch of this name."""
        found: list[Record] = []
        for data, place in self.counted:
            if isinstance(place, Node):
                found.append(place.child(name, self.known))
            else:
                assert isinstance(data, Trace)
                found.append(data.event((*place.path, name), self.known, stream))
        return tuple(found)

    def nodes(self, name: str) -> tuple[Node, ...] | None:
        """Records of all launches of this name, where all data are trees."""
        found = [place.child(name, self.known) for _, place in self.counted if isinstance(place, Node)]
        return tuple(found) if len(found) == len(self.counted) else None


Begun = tuple[object, Ready, int, tuple[Record, ...], Mapping[str, Value] | None]


class QuickLaunches:
    """Of the active sessions, until anything changes for which another object is made."""

    def __init__(
        self,
        sessions: Sequence[Session],
        hooks: tuple[Sequence[object], Sequence[object]],
        lock: RLock,
        timing: Callable[[Driver, int], tuple[LaunchTimer, Device] | None],
        collect: Callable[[Driver], None],
    ) -> None:
        self.enters, self.leaves = hooks
        """What the hooks of launches have to be, and nothing more."""
        self._sessions = tuple(sessions)
        self._lock = lock
        self._timing = timing
        self._collect = collect
        self._hook = LaunchHook()
        self._since = 0

    def begin(self, kernel: CompiledKernel | None, device: int, stream: int) -> Begun | None:
        """In front of a launch; None where its arguments are asked for, or the hooks have to be called."""
        stack = here.stack
        if stack.version != stack.ready_version or stack.ready_for is not self:
            stack = self._arrived()
        if stack.launched:
            stack.abandon()
        try:
            ready = stack.ready[kernel]
        except KeyError:
            ready = stack.ready[kernel] = self._ready(kernel, device)
        if ready is None or ready.device != device or (ready.description is not None and not stack.describing):
            return None
        return self._begun(ready, stream, ready.records or ready.made(ready.name, stream), None)

    def begin_described(
        self,
        kernel: CompiledKernel | None,
        device: int,
        stream: int,
        grid: tuple[int, int, int],
        arguments: Mapping[str, object],
    ) -> Begun | None:
        """In front of a launch that `begin` has returned None for; None where the hooks have to be called."""
        ready = here.stack.ready.get(kernel)
        if ready is None or ready.device != device or (description := ready.description) is None:
            return None
        assert kernel is not None
        found = self._hook.describe(ready.name, lambda: description(grid, kernel.metadata, arguments))
        name, metrics = (ready.name, None) if found is None else found
        records: tuple[Record, ...] | None = ready.described.get(name)
        if records is None:
            if (nodes := ready.nodes(name)) is not None:
                ready.described[name] = nodes
            records = nodes or ready.made(name, stream)
        return self._begun(ready, stream, records, metrics)

    def _begun(
        self, ready: Ready, stream: int, records: tuple[Record, ...], metrics: Mapping[str, Value] | None
    ) -> Begun:
        with self._lock:
            for data, _ in ready.counted:
                data.pending += 1
        return ready.begin(ready.device, stream), ready, stream, records, metrics

    def end(self, begun: Begun) -> None:
        """Behind it."""
        timed, ready, stream, records, metrics = begun
        ready.end(timed, stream, records)
        if metrics:
            with self._lock:
                for record in records:
                    record.add(metrics)
        self._since += 1
        if self._since >= COLLECT_EVERY:
            self._since = 0
            self._collect(ready.driver)

    def failed(self, begun: Begun) -> None:
        """In the place of `end`."""
        begun[1].timer.abandon(begun[0])
        for record in begun[3]:
            record.abandon()

    def _arrived(self) -> ThreadStack:
        """The thread is in a scope that it was not in, or has changed sessions."""
        stack = current()
        place: Place = self._sessions[0].place(stack)
        if place.ready_for is not self:
            place.ready, place.ready_for = {}, self
        stack.ready, stack.ready_for, stack.ready_version = place.ready, self, stack.version
        return stack

    def _ready(self, kernel: CompiledKernel | None, device: int) -> Ready | None:
        if kernel is None or not hasattr(kernel, "launch_facts"):  # it is still being compiled
            return None
        facts = kernel.launch_facts()
        timed = self._timing(facts.driver, device)
        if timed is None:
            return None
        timer, known = timed
        stack = current()
        counted = tuple((session.data, session.place(stack)) for session in self._sessions)
        description = facts.description if HookManager.active_hooks else None
        ready = Ready(timer.begin, timer.end, timer, facts.driver, device, known, facts.name, counted, description)
        if description is None:
            ready.records = ready.nodes(facts.name)
        return ready


def can_be_quick(sessions: Sequence[Session]) -> bool:
    """Whether launches of these sessions, which are all, need their time alone."""
    plain = all(session.asked.context == "shadow" and not session.regions for session in sessions)
    return bool(sessions) and plain and all(type(hook) is LaunchHook for hook in HookManager.active_hooks)
