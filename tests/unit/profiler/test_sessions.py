"""Sessions: what is in a profile, of which threads, hooks, phases and launches."""

from __future__ import annotations

import json
import os
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tritonx
import tritonx.language as tl
import tritonx.profiler as proton
from tritonx.interpreter import interpreted
from tritonx.profiler.errors import BadProfile, CannotWrite, MetricMismatch, UnknownSession
from tritonx.profiler.flags import flags
from tritonx.profiler.hooks import Hook, LaunchHook
from tritonx.profiler.recorder import RECORDER, timer_of
from tritonx.runtime import driver, knobs
from tritonx.runtime.errors import TritonError

N = 64


def described(grid: Any, metadata: Any, args: Any) -> dict[str, Any]:
    return {"name": f"{metadata.name}_{args['n']}", "flops8": 2 * args["n"], "bytes": args["x"].nbytes, "unit": "none"}


@tritonx.jit(launch_metadata=described)
def add(x, n, B: tl.constexpr = N):
    i = tl.arange(0, B)
    tl.store(x + i, tl.load(x + i, mask=i < n) + 1, mask=i < n)


@tritonx.jit
def plain(x, B: tl.constexpr = N):
    tl.store(x + tl.arange(0, B), 1.0)


@pytest.fixture
def x() -> Any:
    return np.zeros(N, np.float32)


def names(node: Any) -> Any:
    """A tree as nested dictionaries of names."""
    return {child["frame"]["name"]: names(child) for child in node["children"]}


def found(node: Any, *path: str) -> Any:
    """The metrics at a path."""
    for name in path:
        [node] = [child for child in node["children"] if child["frame"]["name"] == name]
    return node["metrics"]


def test_scopes_nest_and_launches_add_up(x: Any) -> None:
    session = proton.start("profile")
    for _ in range(3):
        with proton.scope("outer", {"steps": 1}), proton.scope("inner"):
            plain[(1,)](x)
        with proton.scope("outer"):
            plain[(1,)](x)
    plain[(1,)](x)
    with proton.scope("empty"):
        pass
    proton.finalize(session)
    root, devices = json.loads(Path("profile.hatchet").read_text())
    assert names(root) == {"outer": {"inner": {"plain": {}}, "plain": {}}, "plain": {}, "empty": {}}
    assert found(root) == {"steps": 0, "count": 0, "time (ns)": 0}
    assert found(root, "outer") == {"steps": 3}
    counted = [found(root, *path) for path in (("outer", "inner", "plain"), ("outer", "plain"), ("plain",))]
    assert [each["count"] for each in counted] == [3, 3, 1]
    assert all(each["time (ns)"] > 0 and each["device_type"] == "CPU" for each in counted)
    assert devices["CPU"]["0"].keys() == {"arch", "bus_width", "clock_rate", "memory_clock_rate", "num_sms"}


def test_without_a_session_nothing_is_hooked(x: Any) -> None:
    with proton.scope("outer"), proton.cpu_timed_scope("inner"), proton.state("state"):
        plain[(1,)](x)
    assert not knobs.runtime.launch_enter_hook and proton.enter_scope("a") is None and proton.exit_scope() is None
    session = proton.start("profile")
    assert len(knobs.runtime.launch_enter_hook) == 1
    proton.deactivate(session)
    assert not knobs.runtime.launch_enter_hook and flags.profiling_on
    proton.finalize(session)
    assert not flags.profiling_on


def test_metadata_is_asked_for_by_the_hook_alone(x: Any) -> None:
    with_hook = proton.start("with", hook="triton")
    add[(1,)](x, 8)
    add[(1,)](x, 8)
    interpreted(add)[(1,)](x, 3)
    proton.finalize(with_hook)
    without = proton.start("without")
    add[(1,)](x, 8)
    proton.finalize(without)
    root, _ = json.loads(Path("with.hatchet").read_text())
    metrics = found(root, "add_8")
    assert (metrics["flops8"], metrics["bytes"], metrics["count"]) == (32.0, 8 * N, 2)
    assert found(root, "add_3")["device_type"] == "INTERPRETER"
    assert found(root)["bytes"] == 0 and "unit" not in metrics
    root, _ = json.loads(Path("without.hatchet").read_text())
    assert names(root) == {"add": {}} and "bytes" not in found(root, "add")


def test_the_hook_asks_what_it_is_told_to(x: Any) -> None:
    hook = LaunchHook()
    hook.configure(include="pl")
    session = proton.start("profile", hook=hook)
    add[(1,)](x, 8)
    hook.configure(exclude="ad")
    add[(1,)](x, 8)
    hook.configure()
    assert names(proton.data.get(session)[0]) == {"add": {}}


def test_kernels_of_launch_metadata_stand_in_their_own_state(x: Any) -> None:
    def asks(grid: Any, metadata: Any, args: Any) -> dict[str, Any]:
        plain[(1,)](x)
        return {"name": "asked", "bytes": 4}

    @tritonx.jit(launch_metadata=asks)
    def asking(y, B: tl.constexpr = N):
        tl.store(y + tl.arange(0, B), 2.0)

    session = proton.start("profile", hook="triton")
    with proton.scope("outer"):
        asking[(1,)](x)
    proton.finalize(session)
    root, _ = json.loads(Path("profile.hatchet").read_text())
    assert names(root) == {"outer": {"__proton_launch_metadata": {"asking": {"plain": {}}}, "asked": {}}}


def test_threads_count_to_what_the_main_thread_has_open(x: Any) -> None:
    session = proton.start("profile")

    def work(name: str) -> None:
        for _ in range(200):
            with proton.scope(name, {"rounds": 1}):
                plain[(1,)](x)

    with proton.scope("main"):
        threads = [threading.Thread(target=work, args=(f"worker{i % 2}",)) for i in range(4)]
        for each in threads:
            each.start()
        for each in threads:
            each.join()
    root, _ = proton.data.get(session)
    for name in ("worker0", "worker1"):
        assert found(root, "main", name) == {"rounds": 400}
        assert found(root, "main", name, "plain")["count"] == 400


def test_an_error_closes_scopes(x: Any) -> None:
    session = proton.start("profile")
    with pytest.raises(ZeroDivisionError), proton.scope("outer"):
        proton.enter_scope("left open")
        raise ZeroDivisionError
    plain[(1,)](x)

    @proton.scope("function")
    def fails() -> None:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fails()
    plain[(1,)](x)
    assert names(proton.data.get(session)[0]) == {"outer": {"left open": {}}, "plain": {}, "function": {}}
    assert proton.context.depth(session) == 0


def test_a_launch_that_fails_is_not_counted(x: Any) -> None:
    @tritonx.jit
    def beyond(y):
        tl.store(y + 1000, 1.0)

    session = proton.start("profile", hook="triton")
    with pytest.raises(TritonError), proton.scope("failed"):
        interpreted(beyond)[(1,)](x)
    plain[(1,)](x)
    plain[(0,)](x)
    root, _ = proton.data.get(session)
    assert found(root, "plain")["count"] == 1 and "count" not in found(root, "failed", "beyond")
    proton.data.advance_phase(session)
    assert proton.data.is_phase_complete(session, 0)


def test_sessions_are_paused_and_go_on_by_themselves(x: Any) -> None:
    one, two = proton.start("one"), proton.start("two")
    with proton.scope("outer"):
        plain[(1,)](x)
        proton.deactivate(one)
        with proton.scope("inner"):
            plain[(1,)](x)
            proton.activate(one)
            plain[(1,)](x)
    proton.deactivate()
    plain[(1,)](x)
    proton.activate()
    counts = [found(proton.data.get(each)[0], "outer", "inner", "plain")["count"] for each in (one, two)]
    assert counts == [1, 2] and found(proton.data.get(one)[0], "outer", "plain")["count"] == 1
    proton.finalize()
    assert sorted(os.listdir()) == ["one.hatchet", "two.hatchet"]


def test_a_session_of_the_same_name_is_the_same(x: Any) -> None:
    one = proton.start("profile")
    proton.deactivate(one)
    assert proton.start("profile") == one and RECORDER.sessions[one or 0].active
    with pytest.raises(BadProfile, match="with other settings"):
        proton.start("profile", data="trace")


def test_finalizing_twice_does_nothing(x: Any) -> None:
    session = proton.start("profile")
    proton.finalize(session)
    os.unlink("profile.hatchet")
    proton.finalize(session)
    proton.finalize()
    assert os.listdir() == []
    for call in (proton.activate, proton.deactivate, proton.data.get, proton.data.advance_phase):
        with pytest.raises(UnknownSession):
            call(session)


@pytest.mark.parametrize(
    ("given", "text"),
    [
        ({"context": "stack"}, "context 'stack' is not known; there are 'shadow' and 'python'"),
        ({"data": "list"}, "data 'list' is not known"),
        ({"backend": "sundial"}, "backend 'sundial' is not known; there are 'clock' and 'instrumentation'"),
        ({"mode": "often"}, "mode 'often' is not known"),
        ({"mode": "pcsampling"}, "unsupported mode: pcsampling"),
        ({"mode": "periodic_flushing:sometimes"}, "'sometimes' is not option=value"),
        ({"hook": "fishing"}, "hook 'fishing' is not known"),
    ],
)
def test_what_does_not_exist_is_refused(given: dict[str, Any], text: str) -> None:
    if driver.get_active().backend.name != "cpu" and "backend" in given:
        pytest.skip("the host's clock is the CPU's")
    with pytest.raises(BadProfile, match=text):
        proton.start("profile", **given)
    assert not RECORDER.sessions


def test_states_stand_between_scopes_and_launches(x: Any) -> None:
    session = proton.start("profile")
    with proton.scope("outer"), proton.state("one"):
        plain[(1,)](x)
        with proton.state("two"), proton.scope("inner"):
            plain[(1,)](x)

    @proton.state("three")
    def called() -> None:
        plain[(1,)](x)

    called()
    proton.enter_state("four")
    plain[(1,)](x)
    proton.exit_state()
    plain[(1,)](x)
    assert names(proton.data.get(session)[0]) == {
        "outer": {"one": {"plain": {}}, "inner": {"two": {"plain": {}}}},
        "three": {"plain": {}},
        "four": {"plain": {}},
        "plain": {},
    }


def test_metrics(x: Any) -> None:
    session = proton.start("profile")
    for _ in range(2):
        with proton.cpu_timed_scope("timed", {"flops": 3, "bytes": np.int64(5), "counts": np.array([1, 2])}):
            pass
    proton.enter_scope("entered", metrics={"a": 1})
    proton.exit_scope("entered", metrics={"b": 2.5})
    root, _ = proton.data.get(session)
    timed = found(root, "timed")
    assert timed.pop("cpu_time (ns)") > 0
    assert timed == {"flops": 6.0, "bytes": 10, "counts": [2, 4]} and isinstance(timed["flops"], float)
    assert found(root, "entered") == {"a": 1, "b": 2.5}
    assert found(root) == {"a": 0, "b": 0, "bytes": 0, "flops": 0}
    with pytest.raises(MetricMismatch, match="'counts' was a list of 2 in this scope and is a number now"):
        proton.scope("timed", {"counts": 1}).__enter__()
    with pytest.raises(BadProfile, match="'a' is a str"):
        proton.scope("timed", {"a": "1"}).__enter__()
    with pytest.raises(BadProfile, match="reserved"):
        proton.cpu_timed_scope("timed", {"cpu_time": 1})
    proton.enter_scope("a")
    with pytest.raises(BadProfile, match="b != a"):
        proton.exit_scope("b")
    assert proton.exit_scope("a") is not None
    with pytest.raises(BadProfile, match="entered no scope"):
        proton.exit_scope()


def test_phases(x: Any) -> None:
    session = proton.start("profile")
    plain[(1,)](x)
    assert not proton.data.is_phase_complete(session, 0)
    assert proton.data.advance_phase(session) == 1 and proton.data.is_phase_complete(session, 0)
    with proton.scope("second"):
        plain[(1,)](x)
        proton.data.advance_phase(session)
        plain[(1,)](x)
    assert names(proton.data.get(session, 1)[0]) == names(proton.data.get(session, 2)[0]) == {"second": {"plain": {}}}
    proton.data.clear(session, 1)
    with pytest.raises(UnknownSession):
        proton.data.get(session, 1)
    proton.data.clear(session, 2)
    assert names(proton.data.get(session, 2)[0]) == {}
    proton.finalize(session)
    assert sorted(os.listdir()) == ["profile.part_0.hatchet", "profile.part_2.hatchet"]


def test_periodic_flushing_writes_phases_that_are_over(x: Any) -> None:
    session = proton.start("profile", mode="periodic_flushing:format=chrome_trace", data="trace")
    plain[(1,)](x)
    proton.data.advance_phase(session)
    assert os.listdir() == ["profile.part_0.chrome_trace"]
    plain[(1,)](x)
    proton.finalize(session)
    for part in (0, 1):
        text = Path(f"profile.part_{part}.chrome_trace").read_text()
        assert [e["name"] for e in json.loads(text)["traceEvents"] if e["ph"] == "X"] == ["plain"]


def test_the_call_stack_is_a_context(x: Any) -> None:
    session = proton.start("profile", context="python")

    def here() -> int | None:
        plain[(1,)](x)
        return proton.context.depth(session)

    with proton.scope("not shown"):
        depth = here()
    node, path = proton.data.get(session)[0], []
    while node["children"]:
        node = node["children"][-1]
        path.append(node["frame"]["name"])
    assert path[-1] == "plain" and path[-2].startswith(f"{__file__}:") and path[-2].endswith("@here")
    assert path[-3].endswith("@test_the_call_stack_is_a_context") and depth == len(path) - 1
    assert not any(os.path.dirname(tritonx.__file__) + os.sep in name for name in path)


def test_a_tuner_inside_a_scope(x: Any) -> None:
    configs = [tritonx.Config({"B": b}) for b in (16, 32)]

    @tritonx.autotune(configs, key=["n"])
    @tritonx.jit(launch_metadata=described)
    def tuned(x, n, B: tl.constexpr):
        i = tl.arange(0, B)
        tl.store(x + i, 1.0, mask=i < n)

    session = proton.start("profile", hook="triton")
    with proton.scope("tuning"):
        tuned[(1,)](x, 16)
    root, _ = proton.data.get(session)
    before = found(root, "tuning", "tuned_16")["count"]
    with proton.scope("after"):
        tuned[(1,)](x, 16)
    assert before > 2 and found(proton.data.get(session)[0], "after", "tuned_16")["count"] == 1


def test_a_hook_of_the_users(x: Any) -> None:
    calls: list[str] = []

    class Counting(Hook):
        def init_handle(self, module: Any, function: Any, name: str, metadata_group: Any, hash: str) -> None:
            calls.append(f"loaded {name}")

        def enter(self, metadata: Any) -> None:
            calls.append("enter")

        def exit(self, metadata: Any) -> None:
            calls.append("exit")

        def activate(self) -> None:
            calls.append("activate")

        def deactivate(self) -> None:
            calls.append("deactivate")

    @tritonx.jit
    def loaded(x):
        tl.store(x, 3.0)

    hook = Counting()
    one, two = proton.start("one", hook=hook), proton.start("two", hook=hook)
    loaded[(1,)](x)
    proton.deactivate(one)
    plain[(1,)](x)
    proton.deactivate(two)
    plain[(1,)](x)
    assert calls == ["activate", "loaded loaded", "enter", "exit", "enter", "exit", "deactivate"]


@pytest.mark.parametrize("data", ["tree", "trace"])
def test_a_file_that_cannot_be_written(x: Any, tmp_path: Path, data: str) -> None:
    name = str(tmp_path / "later" / "profile")
    session = proton.start(name, data=data)
    plain[(1,)](x)
    with pytest.raises(CannotWrite, match="No such file or directory") as caught:
        proton.finalize(session)
    assert isinstance(caught.value, OSError) and str(caught.value.filename).startswith(name)
    (tmp_path / "later").mkdir()
    proton.finalize(session)
    assert [each.name.partition(".")[0] for each in (tmp_path / "later").iterdir()] == ["profile"]


def test_a_disk_that_is_full(x: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    Path("profile.hatchet").write_text("before")
    session = proton.start("profile")
    plain[(1,)](x)
    if not os.path.exists("/dev/full"):
        pytest.skip("no device that is always full")
    real = os.open
    with monkeypatch.context() as patch:
        patch.setattr("tempfile._os.open", lambda path, *rest: real("/dev/full", os.O_RDWR))
        with pytest.raises(CannotWrite, match="No space left on device"):
            proton.finalize(session)
    assert os.listdir() == ["profile.hatchet"] and Path("profile.hatchet").read_text() == "before"
    proton.finalize(session)
    assert json.loads(Path("profile.hatchet").read_text())


def test_formats(x: Any) -> None:
    tree, trace = proton.start("tree"), proton.start("trace", data="trace")
    with pytest.raises(BadProfile, match="output format 'pdf' is not known"):
        proton.finalize(tree, "pdf")
    with pytest.raises(BadProfile, match="of a tree"):
        proton.finalize(tree, "chrome_trace")
    with pytest.raises(BadProfile, match="of a trace"):
        proton.finalize(trace, "hatchet")
    proton.finalize(trace, "chrome_trace")
    msgpack = pytest.importorskip("msgpack")
    plain[(1,)](x)
    expected = proton.data.get(tree)
    assert msgpack.unpackb(proton.data.get_msgpack(tree)) == expected
    proton.finalize(tree, "hatchet_msgpack")
    assert msgpack.unpackb(Path("tree.hatchet_msgpack").read_bytes()) == expected


def test_the_decorator_pauses_its_session(x: Any) -> None:
    @proton.profile(name="profile")
    def step(fails: bool) -> None:
        plain[(1,)](x)
        if fails:
            raise ZeroDivisionError

    step(False)
    plain[(1,)](x)
    with pytest.raises(ZeroDivisionError):
        step(True)
    plain[(1,)](x)
    [session] = RECORDER.sessions
    assert found(proton.data.get(session)[0], "plain")["count"] == 2

    @proton.profile
    def bare() -> int:
        return 7

    assert bare() == 7


def test_drivers_say_how_they_time(x: Any) -> None:
    session = proton.start("profile", backend=next(iter(driver.get_active().implementation.launch_timers())))
    plain[(1,)](x)
    assert found(proton.data.get(session)[0], "plain")["count"] == 1
    with pytest.raises(BadProfile, match="backend 'sundial' is not known"):
        timer_of(driver.get_active().implementation, "sundial", {})


def test_it_is_switched_off() -> None:
    with knobs.proton.scope():
        knobs.proton.disable = True
        assert proton.start("profile") is None
    assert proton.data.get(None) is None and not proton.data.is_phase_complete(None)
