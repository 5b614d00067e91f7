"""Launches that need their time alone, which is what nearly all of a program do: in few steps, without hooks.

One session is active; it counts to scopes and measures no regions, no hook of another kind than ``launch_metadata`` is
there, and the kernel has none. What else there is goes through `Recorder.enter_launch`. What a launch is counted to is
kept with its scope, for each kernel, so that a launch finds it by two comparisons and a dictionary."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from threading import RLock
from typing import TYPE_CHECKING

from tritonx.backends.api import Driver, LaunchTimer
from tritonx.profiler.hooks import HookManager, LaunchHook
from tritonx.profiler.session import Data, Session
from tritonx.profiler.stack import current, here
from tritonx.profiler.trace import Event, Spot, Trace
from tritonx.profiler.tree import Device, Node

if TYPE_CHECKING:
    from tritonx.runtime.compiling.compiled_kernel import CompiledKernel

COLLECT_EVERY = 1024
"""Launches between two collections of the times that are known."""


@dataclass(slots=True)
class Ready:
    """How a kernel's launches on a device are counted and timed in one scope. ``record`` is what they are known by;
    None: ``made`` makes one for each."""

    begin: Callable[[int, int], object]
    end: Callable[[object, int, object], None]
    timer: LaunchTimer
    driver: Driver
    device: int
    data: Data
    record: tuple[Node] | None
    made: Callable[[int], tuple[Event]]


Place = Node | Spot
Begun = tuple[object, Ready, int, tuple[Node] | tuple[Event]]


class QuickLaunches:
    """Of one session, until anything changes for which another object is made."""

    def __init__(
        self,
        session: Session,
        hooks: tuple[Sequence[object], Sequence[object]],
        lock: RLock,
        timing: Callable[[Driver, int], tuple[LaunchTimer, Device]],
        collect: Callable[[Driver], None],
    ) -> None:
        self.enters, self.leaves = hooks
        """What the hooks of launches have to be, and nothing more."""
        self._session = session
        self._lock = lock
        self._timing = timing
        self._collect = collect
        self._since = 0

    def begin(self, kernel: CompiledKernel | None, device: int, stream: int) -> Begun | None:
        """In front of a launch; None where the hooks have to be called."""
        stack = here.stack
        if stack.version != stack.ready_version or stack.ready_for is not self:
            stack = current()
            place: Place = self._session.place(stack)
            if place.ready_for is not self:
                place.ready, place.ready_for = {}, self
            stack.ready, stack.ready_for, stack.ready_version = place.ready, self, stack.version
        if stack.launched:
            stack.abandon()
        try:
            ready = stack.ready[kernel]
        except KeyError:
            ready = stack.ready[kernel] = self._ready(kernel, device)
        if ready is None or ready.device != device:
            return None
        with self._lock:
            ready.data.pending += 1
        return ready.begin(device, stream), ready, stream, ready.record or ready.made(stream)

    def end(self, begun: Begun) -> None:
        """Behind it."""
        timed, ready, stream, record = begun
        ready.end(timed, stream, record)
        self._since += 1
        if self._since >= COLLECT_EVERY:
            self._since = 0
            self._collect(ready.driver)

    def failed(self, begun: Begun) -> None:
        """In the place of `end`."""
        begun[1].timer.abandon(begun[0])
        for record in begun[3]:
            record.abandon()

    def _ready(self, kernel: CompiledKernel | None, device: int) -> Ready | None:
        if kernel is None or not hasattr(kernel, "launch_facts"):  # it is still being compiled
            return None
        facts = kernel.launch_facts()
        if facts.described and HookManager.active_hooks:
            return None
        timer, known = self._timing(facts.driver, device)
        data = self._session.data
        place: Place = self._session.place(current())
        path = None if isinstance(place, Node) else (*place.path, facts.name)
        record = (place.child(facts.name, known),) if isinstance(place, Node) else None

        def made(stream: int) -> tuple[Event]:
            assert isinstance(data, Trace) and path is not None
            return (data.event(path, known, stream),)

        return Ready(timer.begin, timer.end, timer, facts.driver, device, data, record, made)


def can_be_quick(session: Session) -> bool:
    """Whether launches of this session, if it is the only one, need their time alone."""
    plain = session.asked.context == "shadow" and not session.regions
    return plain and all(type(hook) is LaunchHook for hook in HookManager.active_hooks)
