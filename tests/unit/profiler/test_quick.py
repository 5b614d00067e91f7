"""Launches that are timed without hooks are counted as the others are, and only while no other hook is there."""

from __future__ import annotations

import contextlib
import os
import random
import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tritonx
import tritonx.language as tl
import tritonx.profiler as proton
from tritonx.backends.api import ClockTimer
from tritonx.profiler.errors import MetricMismatch
from tritonx.profiler.hooks import Hook, LaunchHook
from tritonx.profiler.quick import QuickLaunches
from tritonx.profiler.recorder import RECORDER
from tritonx.runtime import knobs
from tritonx.runtime.devices.host_driver import HostDriver
from tritonx.runtime.driver import choice

RNG = random.Random(int(os.environ["TRITONX_SEED"]))


@tritonx.jit
def one(x):
    tl.store(x, 1.0)


@tritonx.jit(launch_metadata=lambda grid, metadata, args: {"name": "described", "bytes": 4})
def two(x):
    tl.store(x, 2.0)


@tritonx.jit
def failing(x, n):
    for i in range(n):
        tl.device_assert(i < 3)
        tl.store(x + i, 1.0)


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The kernels of launches that were timed so."""
    seen: list[str] = []

    def noting(begin: Callable[..., Any]) -> Callable[..., Any]:
        def noted(self: Any, kernel: Any, *given: Any) -> Any:
            found = begin(self, kernel, *given)
            if found is not None:
                seen.append(kernel.name)
            return found

        return noted

    for name in ("begin", "begin_described"):
        monkeypatch.setattr(QuickLaunches, name, noting(getattr(QuickLaunches, name)))
    return seen


def counts(node: Any, above: str = "") -> dict[str, int]:
    found: dict[str, int] = {}
    for child in node["children"]:
        path = f"{above}{child['frame']['name']}"
        if "count" in child["metrics"]:
            found[path] = child["metrics"]["count"]
        found |= counts(child, f"{path}/")
    return found


def random_program(kernels: dict[str, Any], x: Any, steps: int) -> tuple[dict[str, int], list[Callable[[], object]]]:
    """What is counted, by paths, and the steps of a program of scopes, states and launches."""
    expected: dict[str, int] = {}
    program: list[Callable[[], object]] = []
    scopes: list[str] = []
    for _ in range(steps):
        act = RNG.random()
        if act < 0.2 and len(scopes) < 4:
            scopes.append(name := RNG.choice("abc"))
            program.append(lambda name=name: proton.enter_scope(name))
        elif act < 0.4 and scopes:
            scopes.pop()
            program.append(lambda: proton.exit_scope())
        else:
            name = RNG.choice([*kernels])
            path = "/".join([*scopes, name])
            expected[path] = expected.get(path, 0) + 1
            program.append(lambda kernel=kernels[name]: kernel[(1,)](x))
    return expected, program + [lambda: proton.exit_scope()] * len(scopes)


@pytest.mark.parametrize("data", ["tree", "trace"])
def test_random_programs_are_counted(quick: list[str], data: str) -> None:
    x = np.zeros(1, np.float32)
    expected, program = random_program({"one": one, "described": two}, x, 300)
    session = proton.start("profile", data=data, hook="triton")
    for step in program:
        step()
    literal = proton.data.get(session)
    if data == "tree":
        found = counts(literal[0])
    else:
        events = [e for e in literal["traceEvents"] if e.get("cat") == "kernel"]
        found = {}
        for event in events:
            path = "/".join(event["args"]["call_stack"][1:])
            found[path] = found.get(path, 0) + 1
    assert found == expected
    assert quick.count("one") + quick.count("two") == len(quick) == sum(expected.values())


def test_who_else_asks_is_asked(quick: list[str]) -> None:
    x, seen = np.zeros(1, np.float32), list[str]()

    def hook(metadata: Any) -> None:
        seen.append(metadata.get()["name"])

    class Counting(Hook):
        def init_handle(self, *_: object) -> None: ...

        def enter(self, metadata: Any) -> None:
            seen.append("entered")

        def exit(self, metadata: Any) -> None:
            seen.append("left")

        def activate(self) -> None: ...

        def deactivate(self) -> None: ...

    session = proton.start("profile")
    one[(1,)](x)
    knobs.runtime.launch_enter_hook.add(hook)
    one[(1,)](x)
    knobs.runtime.launch_enter_hook.remove(hook)
    knobs.runtime.launch_exit_hook.add(hook)
    one[(1,)](x)
    knobs.runtime.launch_exit_hook.remove(hook)
    assert seen == ["one", "one"] and quick == ["one"]
    other = proton.start("other", hook=Counting())
    one[(1,)](x)
    assert seen[2:] == ["entered", "left"] and quick == ["one"]
    proton.finalize(other)
    one[(1,)](x)
    one[(0,)](x)
    two[(1,)](x)
    assert quick == ["one", "one", "two"] and counts(proton.data.get(session)[0]) == {"one": 5, "two": 1}
    proton.deactivate(session)
    one[(1,)](x)
    assert choice.quick is None and counts(proton.data.get(session)[0])["one"] == 5
    proton.activate(session)
    before = choice.quick
    with_hook = proton.start("profile")  # the same session
    assert with_hook == session and choice.quick is not before
    two[(1,)](x)
    assert counts(proton.data.get(session)[0]) == {"one": 5, "two": 2}


def test_a_launch_that_fails_is_not_waited_for(quick: list[str]) -> None:
    x = np.zeros(8, np.float32)
    session = proton.start("profile")
    failing[(1,)](x, 2, debug=True)
    with pytest.raises(Exception, match="device-side assert"):
        failing[(1,)](x, 8, debug=True)
    failing[(1,)](x, 3, debug=True)
    proton.data.advance_phase(session)
    assert proton.data.is_phase_complete(session, 0) and quick == ["failing"] * 3
    assert counts(proton.data.get(session)[0]) == {"failing": 2}


def test_phases_and_threads(quick: list[str]) -> None:
    x, threads, rounds = np.zeros(4, np.float32), 4, 200
    session = proton.start("profile", hook=LaunchHook())

    def work(i: int) -> None:
        with proton.scope(f"thread{i}"):
            for _ in range(rounds):
                one[(1,)](x[i:])

    workers = [threading.Thread(target=work, args=(i,)) for i in range(threads)]
    for each in workers:
        each.start()
    numbers = [proton.data.advance_phase(session) for _ in range(20)]
    for each in workers:
        each.join()
    last = numbers[-1]
    assert last is not None
    found = [counts(proton.data.get(session, phase)[0]) for phase in range(last + 1)]
    for i in range(threads):
        assert sum(each.get(f"thread{i}/one", 0) for each in found) == rounds
    proton.data.advance_phase(session)
    assert all(proton.data.is_phase_complete(session, phase) for phase in range(last + 1))
    assert len(quick) == threads * rounds


def test_times_are_collected_from_time_to_time(quick: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    x, seen = np.zeros(1, np.float32), list[bool]()
    collect = RECORDER.collect
    monkeypatch.setattr(RECORDER, "collect", lambda *, wait: [seen.append(wait), collect(wait=wait)][1])
    session = proton.start("profile")
    for _ in range(2100):
        one[(1,)](x)
    assert seen == [False, False]
    assert counts(proton.data.get(session)[0]) == {"one": 2100}


def named(grid: Any, metadata: Any, args: Any) -> dict[str, Any]:
    """Another name for each length; launches a kernel of its own for some."""
    if args["n"] == 3:
        one[(1,)](args["x"])
    name = {} if args["n"] == 2 else {"name": f"{metadata.name}_{args['n']}"}
    return {**name, "bytes": 4 * args["n"], "flops": args["n"], "share": 0.5, "grid": grid[0], "text": "no metric"}


@tritonx.jit(launch_metadata=named)
def three(x, n):
    tl.store(x, 3.0)


def metrics(node: Any, above: str = "") -> dict[str, dict[str, float]]:
    found: dict[str, dict[str, float]] = {}
    for child in node["children"]:
        path = f"{above}{child['frame']['name']}"
        found[path] = {k: v for k, v in child["metrics"].items() if k != "time (ns)"}
        found |= metrics(child, f"{path}/")
    return found


@pytest.mark.parametrize("data", [("tree",), ("trace",), ("tree", "trace"), ("tree", "tree", "tree")])
def test_what_kernels_say_is_counted_as_by_the_hooks(
    quick: list[str], data: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A drawn program, in sessions of these data, past the hooks and through them."""
    x, steps = np.zeros(1, np.float32), [(RNG.choice(["a", "b", None]), RNG.randrange(5)) for _ in range(60)]
    found: list[list[Any]] = []
    for past in (True, False):
        quick.clear()
        sessions = [proton.start(f"profile{i}{past}", data=each, hook="triton") for i, each in enumerate(data)]
        LaunchHook().configure(exclude="three_4")
        if not past:
            monkeypatch.setattr(choice, "quick", None)
        for scope, n in steps:
            with contextlib.ExitStack() as stack:
                if scope is not None:
                    stack.enter_context(proton.scope(scope))
                three[(n + 1,)](x, n)
        assert bool(quick) is past
        literals: list[Any] = [proton.data.get(session) for session in sessions]
        found.append(
            [metrics(each[0]) if kind == "tree" else drawn(each) for each, kind in zip(literals, data, strict=True)]
        )
        proton.finalize()
        LaunchHook().configure()
    assert found[0] == found[1]
    trees = [each for each, kind in zip(found[0], data, strict=True) if kind == "tree"]
    assert all(any(path.endswith("three_1") for path in each) for each in trees)


def drawn(trace: Any) -> list[str]:
    kernels = [event for event in trace["traceEvents"] if event.get("cat") == "kernel"]
    return sorted(str((event["name"], event["args"]["call_stack"], event["args"].get("metrics"))) for event in kernels)


def test_a_description_is_asked_once_and_may_fail(quick: list[str]) -> None:
    x, asked = np.zeros(1, np.float32), list[int]()

    def said(grid: Any, metadata: Any, args: Any) -> dict[str, Any]:
        asked.append(args["n"])
        if args["n"] == 5:
            raise ZeroDivisionError("not mine")
        return {"value": 1.5 if args["n"] == 6 else 1}

    kernel = tritonx.jit(three.fn, launch_metadata=said)
    session = proton.start("profile", hook="triton")
    for n in (0, 1, 2):
        kernel[(1,)](x, n)
    with pytest.raises(ZeroDivisionError, match="not mine"):
        kernel[(1,)](x, 5)
    with pytest.raises(MetricMismatch, match="current=int64_t, new=double"):
        kernel[(1,)](x, 6)
    kernel[(1,)](x, 7)
    assert asked == [0, 1, 2, 5, 6, 7] and quick == ["three"] * 5
    found = metrics(proton.data.get(session)[0])["three"]
    assert found["count"] == 5 and found["value"] == 4, "the launch whose metric does not fit is counted without it"
    proton.data.advance_phase(session)
    assert proton.data.is_phase_complete(session, 0)
    assert proton.context.depth(session) == 0


def test_sessions_that_are_timed_in_different_ways_go_through_the_hooks(
    quick: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    x = np.zeros(1, np.float32)
    monkeypatch.setattr(HostDriver, "launch_timers", lambda _: {"clock": ClockTimer, "other": ClockTimer})
    sessions = [proton.start("first"), proton.start("second", backend="other")]
    for _ in range(3):
        one[(1,)](x)
    assert [counts(proton.data.get(session)[0]) for session in sessions] == [{"one": 3}] * 2 and not quick
    proton.deactivate(sessions[0])
    one[(1,)](x)
    assert [counts(proton.data.get(session)[0])["one"] for session in sessions] == [3, 4] and quick == ["one"]
