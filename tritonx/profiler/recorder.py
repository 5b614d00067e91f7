"""The sessions of this process, and the hooks around its launches while one of them is active.

While none is, the hooks of launches are empty and a launch costs what it does without the profiler. Times come from the
driver that launches (`tritonx.backends.api.LaunchTimer`), which may know them only later: they are collected when the
data is asked for, and from time to time."""

from __future__ import annotations

import itertools
import os
import threading
import time
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

from tritonx.backends.api import ClockTimer, Driver, LaunchTimer, OtherKernel
from tritonx.profiler import host_buffer
from tritonx.profiler.errors import BadProfile, MetricMismatch, UnknownSession
from tritonx.profiler.flags import flags
from tritonx.profiler.hooks.hook import HookManager
from tritonx.profiler.hooks.instrumentation import InstrumentationHook
from tritonx.profiler.metric import Value
from tritonx.profiler.mode import Optimize
from tritonx.profiler.quick import COLLECT_EVERY, QuickLaunches, can_be_quick
from tritonx.profiler.regions import Clock
from tritonx.profiler.session import Asked, Data, Session
from tritonx.profiler.stack import NUMBERS, STATE_LISTENERS, Launched, current, forget_all
from tritonx.profiler.tree import Device
from tritonx.runtime import driver as active_driver
from tritonx.runtime import knobs
from tritonx.runtime.driver import choice
from tritonx.runtime.errors import NoTimer, TritonError
from tritonx.runtime.launch.launch_hooks import LazyDict

if TYPE_CHECKING:
    from tritonx.profiler.trace import Event
    from tritonx.profiler.tree import Node
    from tritonx.runtime.launch.measured_launch import Recorded

INTERPRETER: Device = ("INTERPRETER", "0")

Places = tuple[tuple[int, Data, tuple[str, ...]], ...]
"""For each session its number, its data and a path there."""

CAPTURED_AT = "<captured_at>"
"""Triton's scope, inside of that in which a graph is launched, of those in which its kernels were recorded."""


class Recorder:
    """One for a process."""

    def __init__(self) -> None:
        self.sessions: dict[int, Session] = {}
        self._groups: tuple[tuple[str | None, tuple[Session, ...]], ...] = ()
        self._numbers = itertools.count()
        self._timers: dict[tuple[Driver | None, str], LaunchTimer] = {}
        """By the names of the ways."""
        self._asked: dict[tuple[Driver | None, str | None], LaunchTimer] = {}
        """By what sessions ask for."""
        self._by_timer: dict[Driver | None, tuple[tuple[LaunchTimer, tuple[Session, ...]], ...]] = {}
        """The active sessions."""
        self._seeing: list[tuple[LaunchTimer, list[Session]]] | None = None
        """The timers that see others' kernels, and the active sessions of each; None: to be found."""
        self._devices: dict[tuple[Driver, int], Device] = {}
        self._hooks = self.enter_launch, self.leave_launch
        self._since = 0
        self._shifts = False
        """The cost of records is left out of traces."""
        self._lock = threading.RLock()

    # ---- sessions

    def start(self, asked: Asked) -> int:
        """The number of the session of this name, which is active. Raises BadProfile where there is one that was asked
        for otherwise."""
        with self._lock:
            for session in self.sessions.values():
                if session.asked.name == asked.name:
                    if session.asked != asked:
                        raise BadProfile(f"session {asked.name!r} is there already, with other settings: finalize it")
                    self.set_active(session.number, True)
                    return session.number
            made = Session(number := next(self._numbers), asked)
            if asked.regions:
                self._check_one_mode(made)
            self.sessions[number] = made
            flags.profiling_on = True
            self._see_others(made)
            self._regroup()
            return number

    def _see_others(self, session: Session) -> None:
        """Time kernels of other libraries from the start on, where the device's way of timing sees them."""
        try:
            active = active_driver.get_active().implementation
            self._timer(active, session.asked.timer)
        except TritonError:  # no device, or none that can be timed so: a launch will say it
            return

    def place_others(self) -> None:
        """Kernels that others launch from here on in this thread are of where it is, in the sessions that are active
        now."""
        if self._seeing is None:
            self._seeing = [(t, self._sessions_of(t)) for t in list(self._timers.values()) if t.sees_others]
        if not self._seeing:
            return
        stack = current()
        if stack.placed_for is not self._seeing:
            stack.placed, stack.placed_for = {}, self._seeing
        places = stack.placed.get(stack.version)
        if places is None:
            places = [tuple([(s.number, s.data, s.path(stack)) for s in found]) or None for _, found in self._seeing]
            if all(s.asked.context == "shadow" for _, found in self._seeing for s in found):
                stack.placed[stack.version] = places
        for (timer, _), place in zip(self._seeing, places, strict=True):
            timer.at(place)

    def _sessions_of(self, timer: LaunchTimer) -> list[Session]:
        """The active sessions whose launches it times."""
        names = {asked for (_, asked), found in self._asked.items() if found is timer}
        return [session for name, sessions in self._groups if name in names for session in sessions]

    def session(self, number: int) -> Session:
        """Raises UnknownSession."""
        try:
            return self.sessions[number]
        except KeyError:
            raise UnknownSession(f"Session has not been initialized: {number} (or it is finalized)") from None

    def chosen(self, number: int | None) -> list[Session]:
        """One session, or all. Raises UnknownSession."""
        return list(self.sessions.values()) if number is None else [self.session(number)]

    def set_active(self, number: int | None, active: bool) -> None:
        """Of one session, or of all. Raises UnknownSession."""
        with self._lock:
            before = {session: session.active for session in self.chosen(number)}
            try:
                for session in before:
                    if active and session.regions:
                        self._check_one_mode(session)
                    session.active = active
            except BadProfile:
                for session, was in before.items():
                    session.active = was
                raise
            self._regroup()

    def forget(self, number: int) -> None:
        with self._lock:
            del self.sessions[number]
            flags.profiling_on = bool(self.sessions)
            if not self.sessions:
                forget_all()
            self._regroup()

    def abandon(self) -> None:
        """End all sessions and write nothing: in a child of a fork, whose files the parent will write."""
        self._lock = threading.RLock()  # another thread of the parent may have had it
        self.sessions.clear()
        self._timers.clear()  # what they hold is the parent's
        self._seeing = None
        self._asked.clear()
        flags.profiling_on = False
        forget_all()
        HookManager.unregister()
        self._regroup()

    def _regroup(self) -> None:
        """Sessions by the way of timing that they ask for; hooks are there while a session is active."""
        groups: dict[str | None, list[Session]] = {}
        for session in self.sessions.values():
            if session.active:
                groups.setdefault(session.asked.timer, []).append(session)
        self._groups = tuple((name, tuple(found)) for name, found in groups.items())
        self._measure()
        self._devices.clear()  # a session that was not active knows none
        enter, leave = knobs.runtime.launch_enter_hook, knobs.runtime.launch_exit_hook
        if self._groups:
            enter.add(self._hooks[0])
            leave.add(self._hooks[1])
        else:
            enter.remove(self._hooks[0])
            leave.remove(self._hooks[1])
        if not self.sessions:
            self._seeing = None
            self.place_others()
            for timer in self._timers.values():
                timer.close()
            self._timers.clear()
            self._asked.clear()
        self.renew()

    def renew(self) -> None:
        """What launches are counted to, or how, has changed."""
        with self._lock:
            self._by_timer.clear()
            self._seeing = None
            self.place_others()
            sessions = [session for _, group in self._groups for session in group]
            quick, hooks = can_be_quick(sessions), ([self._hooks[0]], [self._hooks[1]])
            choice.quick = QuickLaunches(sessions, hooks, self._lock, self._timed, self._passed) if quick else None

    def hooks_changed(self) -> None:
        """Others may be active."""
        self._measure()
        self.renew()

    def _measure(self) -> None:
        """Launches record their regions where an active session wants it, or a hook while there is one."""
        asked = [session.regions for _, sessions in self._groups for session in sessions if session.regions]
        hooks = [str(h.mode) for h in HookManager.active_hooks if self._groups and isinstance(h, InstrumentationHook)]
        mode = next(iter(asked + hooks), "")
        if not mode:
            InstrumentationHook.host_buffer = None
        flags.instrumentation_on = bool(mode)
        self._shifts = str(Optimize.TIMESHIFT) in mode
        choice.instrument(mode, LISTENER if mode else None)

    def _check_one_mode(self, session: Session) -> None:
        """Raises BadProfile where regions are measured in another mode already."""
        for other in self.sessions.values():
            if other.active and other is not session and other.regions not in ("", session.regions):
                running = f"session {other.asked.name!r} measures regions in another mode"
                raise BadProfile(f"{running}: only one can be active at a time")

    # ---- launches

    def enter_launch(self, data: LazyDict) -> None:
        """In front of a launch."""
        stack = current()
        stack.abandon()
        if data.grid is not None and 0 in data.grid:
            return
        name: str = data.data["name"]
        metrics: dict[str, Value] | None = None
        if HookManager.active_hooks:
            HookManager.enter(data)
            name, metrics = stack.take_description(name)
        driver, stream = data.driver, int(data.data["stream"] or 0)
        index, device = 0, INTERPRETER
        if driver is not None:
            index = driver.current_device() if data.device is None else data.device
            device = self._devices.get((driver, index)) or self._device(driver, index)
        launched: list[Launched] = []
        for timer, sessions in self._by_timer.get(driver) or self._grouped(driver):
            with self._lock:
                records = tuple([s.data.launch(s.place(stack), name, device, stream) for s in sessions])
            measured = tuple([r for r, s in zip(records, sessions, strict=True) if s.regions])
            launched.append(Launched(timer, None, index, stream, records, measured, metrics))
        stack.launched = launched
        for each in launched:
            each.begun = each.timer.begin(index, stream)

    def leave_launch(self, data: LazyDict) -> None:
        """Behind one that did not fail."""
        stack = current()
        launched, stack.launched = stack.launched, []
        for each in reversed(launched):
            each.timer.end(each.begun, each.stream, each.records)
        recorded, stack.recorded = stack.recorded, []
        self._add_regions(recorded, [record for each in launched for record in each.measured], data)
        if not launched:
            return
        if HookManager.active_hooks:
            HookManager.exit(data)
        for each in launched:
            if each.metrics:
                with self._lock:
                    for record in each.records:
                        record.add(each.metrics)
        self._since += 1
        if self._since >= COLLECT_EVERY:
            self._passed(data.driver)

    def _passed(self, driver: Driver | None) -> None:
        """Many launches were made since times were collected; while they are recorded, nothing may ask for them."""
        self._since = 0
        if any(timer.is_due() for timer in list(self._timers.values())):
            if driver is None or not driver.is_recording():
                self.collect(wait=False)

    def _add_regions(self, recorded: Sequence[Recorded], measured: Sequence[Node | Event], data: LazyDict) -> None:
        """Read what a launch has recorded, which waits for it."""
        wanted = InstrumentationHook.enable_host_buffer and flags.instrumentation_on
        if wanted and not recorded:
            InstrumentationHook.host_buffer = host_buffer.without_records()
        for each in recorded:
            if not measured and not wanted:
                each.drop()
                continue
            name, records = str(data.data["name"]), each.read()
            if wanted:
                InstrumentationHook.host_buffer = host_buffer.of_launch(each, records)
            clock = Clock(0.0) if data.driver is None else _clock(data.driver, data.device, shifts=self._shifts)
            with self._lock:
                for known in measured:
                    known.add_regions(records, name, clock)

    def collect(self, *, wait: bool) -> None:
        """Give the times that are known, or with ``wait`` all, to the sessions. Raises CannotWrite in periodic
        flushing."""
        with self._lock:
            self._since = 0
            over = {session: session.phase for session in self.sessions.values()}
            for timer in list(self._timers.values()):
                found = timer.collect(wait=wait)
                for records, start, stop in cast("list[tuple[tuple[Node | Event, ...], int, int]]", found):
                    for record in records:  # what `enter_launch` gave
                        if stop:
                            record.finish(start, stop)
                        else:
                            record.abandon()
            for (driver, _), timer in list(self._timers.items()):
                for kernel in timer.others():
                    self._add_other(kernel, driver, timer)
            known = wait or not any(timer.sees_others for timer in self._timers.values())
            for session, phase in over.items():
                session.settled = phase if known else session.settled
                session.flush_complete()

    def settle(self, session: Session, phase: int) -> None:
        """Collect, so that a phase that is over is complete. How many kernels of others are still to come is not known:
        they are waited for where a timer sees them, unless launches are recorded. Raises CannotWrite."""
        sees = any(timer.sees_others for timer in list(self._timers.values()))
        recording = any(driver is not None and driver.is_recording() for driver, _ in list(self._timers))
        self.collect(wait=sees and not recording and session.settled <= phase < session.phase)

    def _add_other(self, kernel: OtherKernel, driver: Driver | None, timer: LaunchTimer) -> None:
        """A kernel of another library; below the root of the sessions that are active where its thread had no place."""
        assert driver is not None, "the interpreter's timer sees none"
        device = self._devices.get((driver, kernel.device)) or self._device(driver, kernel.device)
        places = cast(Places | None, kernel.place)
        if places is None:
            places = tuple([(s.number, s.data, ()) for s in self._sessions_of(timer)])
        recorded = _recorded_path(kernel)
        known = None if kernel.recorded_at is None else {number for number, *_ in cast(Places, kernel.recorded_at)}
        for number, data, path in places:
            if known is not None and number not in known:  # the session was not active when it was recorded
                continue
            if (session := self.sessions.get(number)) is not None:
                data = session.now(data)
            *scopes, name = (*path, CAPTURED_AT, *recorded) if recorded else (*path, kernel.name)
            place: Any = data.scope(scopes)
            data.launch(place, name, device, kernel.stream).finish(kernel.start, kernel.stop)

    def _timer(self, driver: Driver | None, asked: str | None) -> LaunchTimer:
        """Raises BadProfile where the driver has none of the name, NoTimer where it cannot be used."""
        with self._lock:
            found = self._asked.get((driver, asked))
            if found is None:
                known = {name: timer for (of, name), timer in self._timers.items() if of is driver}
                name, found = ("", known.get("") or ClockTimer()) if driver is None else timer_of(driver, asked, known)
                self._timers[driver, name] = self._asked[driver, asked] = found
                self._seeing = None
            return found

    def _grouped(self, driver: Driver | None) -> tuple[tuple[LaunchTimer, tuple[Session, ...]], ...]:
        """The active sessions by what times launches of the driver. Raises BadProfile, NoTimer."""
        with self._lock:
            found: dict[LaunchTimer, list[Session]] = {}
            for asked, sessions in self._groups:
                found.setdefault(self._timer(driver, asked), []).extend(sessions)
            self._by_timer[driver] = made = tuple((timer, tuple(sessions)) for timer, sessions in found.items())
            return made

    def _timed(self, driver: Driver, index: int) -> tuple[LaunchTimer, Device] | None:
        """What times launches on a device, and the device; None where sessions have several timers."""
        timers = [timer for timer, _ in self._by_timer.get(driver) or self._grouped(driver)]
        return (
            (timers[0], self._devices.get((driver, index)) or self._device(driver, index)) if len(timers) == 1 else None
        )

    def _device(self, driver: Driver, index: int) -> Device:
        found = (driver.current_target(index).backend.upper(), str(index))
        kind, number = found
        for _, sessions in self._groups:
            for session in sessions:
                session.devices.setdefault(kind, {})[number] = described(driver, index)
        self._devices[driver, index] = found
        return found

    # ---- scopes

    def enter_scope(
        self, name: str, metrics: Mapping[str, Value], *, by_call: bool = False, number: int | None = None
    ) -> int:
        """Begin a scope; the number of its entry, which may be given."""
        stack, number = current(), next(NUMBERS) if number is None else number
        stack.push(name, number, by_call)
        now = time.perf_counter_ns()
        with self._lock:
            for _, sessions in self._groups:
                for session in sessions:
                    session.enter(stack, number, now)
            self.place_others()
        try:
            if metrics:
                self.add(number, metrics)
        except MetricMismatch:
            self.leave_scope(number)
            raise
        return number

    def add(self, number: int, metrics: Mapping[str, Value]) -> None:
        """Raises MetricMismatch."""
        with self._lock:
            for session in self.sessions.values():
                session.add(number, metrics)

    def leave_scope(self, number: int) -> None:
        """End a scope, and those inside of it that an error left open."""
        now = time.perf_counter_ns()
        left = current().pop(number)
        with self._lock:
            for session in self.sessions.values():
                for entry in left:
                    session.leave(entry.number, now)
            self.place_others()


class _Listener:
    """Told of launches that record, in their thread."""

    def begins(self) -> None:
        """The launch is timed from here on: memory for what it records was lent before."""
        for each in current().launched:
            each.timer.abandon(each.begun)
            each.begun = each.timer.begin(each.device, each.stream)

    def recorded(self, records: Recorded) -> None:
        current().recorded.append(records)


LISTENER = _Listener()


def _recorded_path(kernel: OtherKernel) -> tuple[str, ...]:
    """The scopes in which a kernel was recorded into a graph, and its name; empty where that is not known."""
    if kernel.recorded is not None:  # what `enter_launch` gave
        return cast("tuple[Node | Event, ...]", kernel.recorded)[0].path
    if kernel.recorded_at is not None:  # what `place_others` gave
        return (*cast(Places, kernel.recorded_at)[0][2], kernel.name)
    return ()


def _clock(driver: Driver, device: int | None, *, shifts: bool) -> Clock:
    """As the driver states it."""
    known = driver.properties(driver.current_device() if device is None else device)
    return Clock(known.get("sm_clock_rate", 0) / 1e6, driver.region_record_ticks if shifts else 0)


def timer_of(driver: Driver, asked: str | None, known: Mapping[str, LaunchTimer]) -> tuple[str, LaunchTimer]:
    """The driver's way to time launches of this name, or the best one that can be used, out of those that are
    ``known`` where it is there already: CUPTI can be had once. Raises BadProfile, NoTimer."""
    ways = driver.launch_timers()
    if asked is not None:
        if asked not in ways:
            raise BadProfile(f"backend {asked!r} is not known to this device; there are {', '.join(map(repr, ways))}")
        return asked, known.get(asked) or ways[asked]()
    reasons: list[str] = []
    for name, make in ways.items():
        try:
            return name, known.get(name) or make()
        except NoTimer as error:
            reasons.append(str(error))
    raise NoTimer("no way to time launches can be used here: " + "; ".join(reasons))


def described(driver: Driver, index: int) -> dict[str, Any]:
    """What a profile says of a device: clocks in kHz, the bus in bits."""
    known = driver.properties(index)
    return {
        "arch": str(driver.current_target(index).arch),
        "bus_width": known.get("mem_bus_width", 0),
        "clock_rate": known.get("sm_clock_rate", 0),
        "memory_clock_rate": known.get("mem_clock_rate", 0),
        "num_sms": known.get("multiprocessor_count", 0),
    }


RECORDER = Recorder()
"""This process's."""

HookManager.listeners.append(RECORDER.hooks_changed)
STATE_LISTENERS.append(RECORDER.place_others)

if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=RECORDER.abandon)
