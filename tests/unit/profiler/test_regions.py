"""Regions inside of kernels: what they record, and that without a session they are nothing."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tritonx
import tritonx.language as tl
import tritonx.profiler as proton
import tritonx.profiler.language as pl
from tritonx.backends.api import ClockTimer, Driver
from tritonx.interpreter import interpreted
from tritonx.profiler.errors import BadProfile, RecordsDropped
from tritonx.profiler.mode import MMA, Default, MetricType
from tritonx.runtime.errors import TritonError
from tritonx.runtime.launch.measured_launch import MeasuredLaunch

RNG = np.random.default_rng(int(os.environ["TRITONX_SEED"]))
Node = dict[str, Any]


@tritonx.jit
def doubled(v):
    with pl.scope("doubled"):
        v *= 2
    return v


@tritonx.jit(noinline=True)
def called(x):
    pl.enter_scope("called")
    v = tl.load(x)
    pl.exit_scope("called")
    return v


@tritonx.jit
def kernel(x, y, n, B: tl.constexpr):
    pl.enter_scope("whole")
    i = tl.program_id(0) * B + tl.arange(0, B)
    with pl.scope("load"):
        v = tl.load(x + i, mask=i < n, other=0.0)
    for _ in range(3):
        with pl.scope("step"):
            v = doubled(v)
    tl.store(y + i, v, mask=i < n)
    pl.exit_scope("whole")


def without(x, y, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    v = tl.load(x + i, mask=i < n, other=0.0)
    for _ in range(3):
        v *= 2
    tl.store(y + i, v, mask=i < n)


without.__name__ = without.__qualname__ = "kernel"


def arrays(n: int) -> tuple[Any, Any]:
    return RNG.standard_normal(n, dtype=np.float32), np.full(n, np.nan, np.float32)


def tree(folder: Path, run: Callable[[], object], **given: Any) -> Node:
    """The regions of the only kernel that a run launches, as children by name."""
    session = proton.start(str(folder / "profile"), backend="instrumentation", **given)
    run()
    proton.finalize(session)
    [root, _] = json.loads((folder / "profile.hatchet").read_text())
    [found] = root["children"]
    return found


def regions(node: Node) -> dict[str, Node]:
    return {child["frame"]["name"]: child for child in node["children"]}


def paths(node: Node, above: str = "") -> dict[str, int]:
    """Path of a region → how often it was entered."""
    found: dict[str, int] = {}
    for name, child in regions(node).items():
        found[above + name] = child["metrics"]["entries"]
        found |= paths(child, f"{above}{name}/")
    return found


def interpreting(fn: Any) -> Any:
    return interpreted(fn)


def compiled(fn: Any) -> Any:
    return fn


@pytest.mark.parametrize("how", [compiled, interpreting])
def test_a_tree_has_the_regions_under_the_kernel(tmp_path: Path, how: Callable[[Any], Any]) -> None:
    x, y = arrays(1000)
    run = how(kernel)
    found = tree(tmp_path, lambda: [run[(8,)](x, y, 1000, B=128) for _ in range(2)])
    np.testing.assert_array_equal(y, 8 * x)
    assert found["frame"]["name"] == "kernel" and found["metrics"]["count"] == 2
    assert paths(found) == {"whole": 16, "whole/load": 16, "whole/step": 48, "whole/step/doubled": 48}
    whole = regions(found)["whole"]
    parts = sum(child["metrics"]["cycles"] for child in whole["children"])
    assert 0 < parts <= whole["metrics"]["cycles"]
    assert whole["metrics"]["normalized_cycles"] == pytest.approx(whole["metrics"]["cycles"] / 8)


def test_nanoseconds_are_those_of_the_launch(tmp_path: Path) -> None:
    x, y = arrays(1 << 16)
    mode = Default(metric_type=MetricType.TIME)
    found = tree(tmp_path, lambda: kernel[(1,)](x, y, x.size, B=1 << 16), mode=mode)
    whole = regions(found)["whole"]["metrics"]
    assert 0 < whole["nanoseconds"] <= found["metrics"]["time (ns)"] and "cycles" not in whole


@pytest.mark.parametrize("mode", ["", "default:metric_type=time"])
def test_a_trace_has_a_row_for_each_program(tmp_path: Path, mode: str) -> None:
    x, y = arrays(1000)
    session = proton.start(str(tmp_path / "profile"), backend="instrumentation", data="trace", mode=mode)
    with proton.scope("outer"):
        kernel[(8,)](x, y, 1000, B=128)
    proton.finalize(session)
    events = json.loads((tmp_path / "profile.chrome_trace").read_text())["traceEvents"]
    rows = {event["pid"]: event["tid"] for event in events}
    assert sorted(row.split()[-1] for row in rows) == [f"CTA{block}" for block in range(8)]
    assert all(row.startswith("kernel Core") for row in rows) and set(rows.values()) == {"warp 0 (line 0)"}
    for row in rows:
        own = [event for event in events if event["pid"] == row]
        assert [e["name"] for e in own] == ["whole", "load", *3 * ["step", "doubled"]]
        whole = own[0]
        for event in own:
            args = event["args"]
            assert event["cat"] == "kernel" and event["ph"] == "X" and event["ts"] >= 0
            assert args["call_stack"] == ["ROOT", "outer", "kernel"] and args["Finalization Time (ns)"] == 0
            assert 0 < args["Init Time (ns)"] <= args["Post Final Time (ns)"] and args["Frequency (MHz)"] > 0
            assert event["dur"] == pytest.approx(args["cycles"] / args["Frequency (MHz)"])
        for event in own[1:]:
            assert whole["ts"] <= event["ts"] and event["dur"] >= 0
            assert event["ts"] + event["dur"] <= whole["ts"] + whole["dur"] + 1e-3


@tritonx.jit
def leaving(x, y, n):
    pid = tl.program_id(0)
    pl.enter_scope("all")
    if pid >= n:
        return
    with pl.scope("own"):
        v = called(x + pid)
    tl.store(y + pid, v)
    pl.exit_scope("all")


@pytest.mark.parametrize("how", [compiled, interpreting])
def test_programs_that_return_early_have_no_end(tmp_path: Path, how: Callable[[Any], Any]) -> None:
    x, y = arrays(8)
    found = tree(tmp_path, lambda: how(leaving)[(8,)](x, y, 5))
    assert paths(found) == {"all": 5, "all/own": 5, "all/own/called": 5}
    np.testing.assert_array_equal(y[:5], x[:5])


@tritonx.jit
def breaking(x, y, n):
    v = 0.0
    for i in range(n):
        with pl.scope("turn"):
            w = tl.load(x + i)
            if w < 0:
                break
            if w > 1:
                continue
            v += w
    tl.store(y, v)


@pytest.mark.parametrize("how", [compiled, interpreting])
def test_a_region_that_a_loop_leaves_ends_there(tmp_path: Path, how: Callable[[Any], Any]) -> None:
    x, y = np.array([0.5, 2, 0.25, -1, 4], np.float32), np.full(1, np.nan, np.float32)
    found = tree(tmp_path, lambda: how(breaking)[(1,)](x, y, 5))
    assert y[0] == 0.75 and paths(found) == {"turn": 4}


@tritonx.jit
def turning(x, n):
    with pl.scope("outer"):
        for i in range(n):
            with pl.scope("turn"):
                tl.store(x + i, i)


def test_the_last_records_are_kept(tmp_path: Path) -> None:
    """Of 2 x 20 + 2 records a buffer of 16 has the last 7 whole turns: an end of the eighth has lost its start."""
    x = np.zeros(20, np.int32)
    size = 64 + 16 * 16
    with pytest.warns(RecordsDropped, match=r"turning: 26 records of 1 warps are gone.*a warp keeps 16") as told:
        found = tree(tmp_path, lambda: turning[(1,)](x, 20), mode=Default(buffer_size=size))
    line = Path(__file__).read_text().splitlines()[told[0].lineno - 1]
    assert told[0].filename == __file__ and "turning[(1,)](x, 20)" in line
    assert x.tolist() == list(range(20))
    [outer] = found["children"]
    assert outer["frame"]["name"] == "outer" and "cycles" not in outer["metrics"]
    assert regions(outer)["turn"]["metrics"]["entries"] == 7


def test_other_warps_than_those_sampled_record_nothing(tmp_path: Path) -> None:
    """A program of this target is its warp 0."""
    x = np.zeros(4, np.int32)
    for warps, entries in (("0", 4), ("1,2", 0)):
        mode = f"default:sampling_strategy=selective:sampling_options={warps}"
        found = tree(tmp_path, lambda: turning[(1,)](x, 4), mode=mode)
        assert paths(found) == ({"outer": 1, "outer/turn": entries} if entries else {})


def test_a_kernel_is_what_it_is_without_regions(tmp_path: Path) -> None:
    x, y = arrays(1000)
    ours, plain = (k.warmup(x, y, 1000, B=128, grid=(8,)) for k in (kernel, tritonx.jit(without)))
    ops = [
        [o.partition(" loc(")[0] for o in k.asm["ttir"].splitlines() if not o.startswith("#")] for k in (ours, plain)
    ]
    assert ops[0] == ops[1] and not ours.measures_regions
    session = proton.start(str(tmp_path / "profile"))  # one that measures launches alone
    assert kernel.warmup(x, y, 1000, B=128, grid=(8,)) is ours
    proton.finalize(session)
    session = proton.start(str(tmp_path / "profile"), backend="instrumentation")
    measured = kernel[(8,)](x, y, 1000, B=128)
    assert measured.measures_regions and "proton.record" in measured.asm["ttir"]
    proton.deactivate(session)
    y[:] = np.nan
    assert kernel[(8,)](x, y, 1000, B=128) is ours
    np.testing.assert_array_equal(y, 8 * x)


def test_a_kernel_that_records_runs_without_a_session() -> None:
    x, y = arrays(1000)
    kernel[(8,)](x, y, 1000, B=128, instrumentation_mode="default")
    np.testing.assert_array_equal(y, 8 * x)
    y[:] = np.nan
    made = kernel.warmup(x, y, 1000, B=128, grid=(8,), instrumentation_mode="default")
    made[(8,)](x, y, 1000)
    np.testing.assert_array_equal(y, 8 * x)


def test_accesses_are_checked_as_well(tmp_path: Path) -> None:
    x, y = arrays(1000)
    found = tree(tmp_path, lambda: kernel[(8,)](x, y, 1000, B=128, check_bounds=True))
    assert paths(found)["whole/load"] == 8
    with pytest.raises(TritonError, match="element 1000 of x"):
        tree(tmp_path, lambda: kernel[(9,)](x, y, 1100, B=128, check_bounds=True))


def test_time_shift_takes_the_cost_of_records_out_of_traces(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of two records that are nearer than the cost nothing but their distance is taken."""
    monkeypatch.setattr(Driver, "region_record_ticks", 10**12)

    def cycles(optimizations: str, data: str) -> list[int]:
        name = str(tmp_path / f"{optimizations}{data}")
        mode = f"default:optimizations={optimizations}"
        session = proton.start(name, backend="instrumentation", data=data, mode=mode)
        turning[(1,)](np.zeros(4, np.int32), 4)
        found = proton.data.get(session)
        proton.finalize(session)
        if data == "trace":
            return [event["args"]["cycles"] for event in found["traceEvents"]]
        return [regions(found[0]["children"][0])["outer"]["metrics"]["cycles"]]

    assert cycles("time_shift", "trace") == [0] * 5
    assert min(cycles("clock32", "trace")) > 0 and min(cycles("time_shift", "tree")) > 0
    monkeypatch.setattr(Driver, "region_record_ticks", 1)
    assert min(cycles("time_shift", "trace")) >= 0


def test_sessions_measure_in_one_mode(tmp_path: Path) -> None:
    first = proton.start(str(tmp_path / "first"), backend="instrumentation")
    second = proton.start(str(tmp_path / "second"), backend="instrumentation", mode="default")
    with pytest.raises(BadProfile, match="only one can be active"):
        proton.start(str(tmp_path / "third"), backend="instrumentation", mode=Default(buffer_size=1 << 12))
    other = proton.start(str(tmp_path / "other"))
    kernel[(8,)](*arrays(1000), 1000, B=128)
    found = [proton.data.get(s)[0]["children"][0] for s in (first, second, other)]
    assert paths(found[0]) == paths(found[1]) != {} and paths(found[2]) == {}


def test_a_name_is_a_string() -> None:
    @tritonx.jit
    def named(x, B: tl.constexpr):
        pl.enter_scope(B)

    with pytest.raises(TritonError, match="the name of a region is a string"):
        named.warmup(np.zeros(8), B=8, grid=(1,))
    with pytest.raises(TritonError, match="has half a character"):
        named.warmup(np.zeros(8), B="\ud800", grid=(1,))


def test_a_language_can_be_excluded() -> None:
    pl.enable_semantic("gluon")
    pl.disable_semantic("triton")
    try:
        kernel.warmup(*arrays(8), 8, B=16, grid=(1,))
        with pytest.raises(TritonError, match=r"enable_semantic\('triton'\)"):
            kernel.warmup(*arrays(8), 8, B=16, grid=(1,), instrumentation_mode="default")
    finally:
        pl.enable_semantic("triton")
    with pytest.raises(BadProfile, match="there are 'triton' and 'gluon'"):
        pl.enable_semantic("cute")


@pytest.mark.parametrize(
    ("mode", "text"),
    [
        ("default:granularity=cta", "granularity 'cta' is not offered"),
        ("mma:buffer_strategy=flush", "'flush' is not offered"),
        ("default:sampling_strategy=selective", "no numbers of warps"),
        ("default:sampling_strategy=selective:sampling_options=0,x", "no numbers of warps"),
        ("default:sampling_options=0", "where sampling_strategy is 'selective'"),
        ("default:buffer_size=many", "is a number of bytes"),
        ("default:colour=red", "has no option 'colour'"),
        ("default:granularity", "is not option=value"),
        ("default:granularity=block", "Unknown granularity: block"),
        ("periodic_flushing", "none of backend 'instrumentation'"),
        ("pcsampling", "none of backend 'instrumentation'"),
        ("fast", "mode 'fast' is not known"),
    ],
)
def test_modes_that_are_not_offered(mode: str, text: str) -> None:
    with pytest.raises(BadProfile, match=text):
        proton.start("profile", backend="instrumentation", mode=mode)


def test_a_buffer_that_is_too_small_is_refused_at_the_record(tmp_path: Path) -> None:
    with pytest.raises(TritonError, match="buffer_size=64 holds no record"):
        tree(tmp_path, lambda: turning[(1,)](np.zeros(4, np.int32), 4), mode="default:buffer_size=64")


def test_memory_for_records_is_lent_before_the_launch_is_timed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    said: list[str] = []
    lent, begin, end = MeasuredLaunch._lent, ClockTimer.begin, ClockTimer.end  # pyright: ignore[reportPrivateUsage]  # its order
    monkeypatch.setattr(MeasuredLaunch, "_lent", lambda *given: [said.append("lent"), lent(*given)][1])
    monkeypatch.setattr(ClockTimer, "begin", lambda *given: [said.append("begin"), begin(*given)][1])
    monkeypatch.setattr(ClockTimer, "end", lambda *given: [said.append("end"), end(*given)][1])
    tree(tmp_path, lambda: turning[(1,)](np.zeros(4, np.int32), 4))
    assert "".join(said).endswith("lentbeginend") and said.count("end") == 1


@pytest.mark.parametrize("size", [1 << 31, 10**23, "9" * 5000, "x"])
def test_the_size_of_a_buffer_is_told_at_the_record(size: object) -> None:
    with pytest.raises(TritonError, match=r"is no number of bytes up to 1073741824") as told:
        turning[(1,)](np.zeros(4, np.int32), 4, instrumentation_mode=f"default:buffer_size={size}")
    assert 'pl.scope("outer")' in str(told.value)


def test_modes_are_of_the_backend() -> None:
    for mode in (Default(), MMA(), "default"):
        with pytest.raises(BadProfile, match="backend='instrumentation'"):
            proton.start("profile", mode=mode)


@pytest.mark.parametrize("mode", [MMA(), "default:optimizations=clock32,sched_stores", "mma:buffer_type=global"])
def test_modes_that_measure_the_same(tmp_path: Path, mode: Any) -> None:
    found = tree(tmp_path, lambda: turning[(1,)](np.zeros(4, np.int32), 4), mode=mode)
    assert paths(found) == {"outer": 1, "outer/turn": 4}
