"""CUDA graphs under CUPTI, with a module in its package's place: kernels of a graph are of the scope that they were
recorded in, inside of that in which the graph is launched. It has not run on a device."""

from __future__ import annotations

import ctypes
import os
import random
import warnings
from contextlib import ExitStack
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import tritonx
import tritonx.language as tl
import tritonx.profiler as proton
from tests.unit.profiler.cupti_package import Cupti, GraphData, counts
from tritonx.runtime.errors import TimesLost

RNG = random.Random(int(os.environ["TRITONX_SEED"]))


@tritonx.jit
def stored(x):
    tl.store(x, 1.0)


@tritonx.jit(launch_metadata=lambda grid, metadata, args: {"name": "described", "bytes": 4})
def described(x):
    tl.store(x, 2.0)


def test_kernels_of_a_graph_are_of_the_scopes_that_recorded_them(cupti: Cupti) -> None:
    """A drawn program of tritonx' launches and others', some of which are recorded; the graph is launched in scopes."""
    x, expected = np.zeros(1, np.float32), dict[str, int]()
    session = proton.start("profile", hook="triton")

    def launches(count: int, *, run: bool = True) -> None:
        for _ in range(count):
            scopes = [RNG.choice("abc") for _ in range(RNG.randrange(3))]
            which = RNG.randrange(3)
            with ExitStack() as stack:
                for scope in scopes:
                    stack.enter_context(proton.scope(scope))
                if which == 2:
                    cupti.kernel("other")
                else:
                    (stored, described)[which][(1,)](x)
            recorded.append("/".join([*scopes, ("stored", "described", "other")[which]]))
            if run:
                expected[recorded[-1]] = expected.get(recorded[-1], 0) + 1

    recorded: list[str] = []
    launches(10)
    recorded = []
    cupti.capturing = []
    launches(15, run=False)
    nodes, cupti.capturing = cupti.capturing, None
    graph = cupti.instantiated(nodes)
    within = list(recorded)
    for round in range(30):
        scope = RNG.choice(["one", "two"])
        with proton.scope(scope):
            cupti.launch_graph(graph)
        for path in within:
            name = f"{scope}/<captured_at>/{path}"
            expected[name] = expected.get(name, 0) + 1
        if round % 7 == 0:
            launches(2)
        if round % 5 == 0:
            proton.data.is_phase_complete(session)  # collects without a wait
        if round == 15:
            assert counts(session) == expected
    assert counts(session) == expected


def test_a_graph_of_before_the_session_is_counted_where_it_is_launched(cupti: Cupti) -> None:
    cupti.capturing = []
    cupti.kernel("early")
    graph = cupti.instantiated(cupti.capturing)
    cupti.capturing = None
    session = proton.start("profile")
    with proton.scope("replay"):
        cupti.launch_graph(graph)
    with pytest.warns(TimesLost, match="it was made before the session began"):
        assert counts(session) == {"replay/early": 1}
    copy = cupti.instantiated(graph)  # of nodes that are unknown
    with proton.scope("replay"):
        cupti.launch_graph(copy)
    with pytest.warns(TimesLost, match="before the session"):
        assert counts(session) == {"replay/early": 2}


def test_sessions_that_are_not_active(cupti: Cupti) -> None:
    session = proton.start("profile")
    cupti.capturing = []
    with proton.scope("kept"):
        cupti.kernel("kept")
    proton.deactivate(session)
    cupti.kernel("left_out")
    proton.activate(session)
    graph = cupti.instantiated(cupti.capturing)
    cupti.capturing = None
    with proton.scope("replay"):
        cupti.launch_graph(graph)
    proton.deactivate(session)
    cupti.launch_graph(graph)
    assert counts(session) == {"replay/<captured_at>/kept/kept": 1}


def test_sessions_have_what_was_recorded_while_they_were_active(cupti: Cupti) -> None:
    first, second = proton.start("first"), proton.start("second")
    cupti.capturing = []
    proton.deactivate(first)
    with proton.scope("left_out"):
        cupti.kernel("left_out")
    proton.activate(first)
    with proton.scope("kept"):
        cupti.kernel("kept")
    graph = cupti.instantiated(cupti.capturing)
    cupti.capturing = None
    with proton.scope("replay"):
        cupti.launch_graph(graph)
    assert counts(first) == {"replay/<captured_at>/kept/kept": 1}
    assert counts(second) == {f"replay/<captured_at>/{each}/{each}": 1 for each in ("left_out", "kept")}


def test_other_threads_launch_where_the_main_thread_is(cupti: Cupti) -> None:
    session, expected = proton.start("profile"), dict[str, int]()
    for _ in range(60):
        scope = RNG.choice(["forward", "backward", ""])
        with ExitStack() as stack:
            if scope:
                stack.enter_context(proton.scope(scope))
            for _ in range(RNG.randrange(3)):
                cupti.kernel_of_another_thread("gradient")
                path = f"{scope}/gradient" if scope else "gradient"
                expected[path] = expected.get(path, 0) + 1
        if RNG.random() < 0.2:
            proton.deactivate(session)
            cupti.kernel_of_another_thread("left_out")
            proton.activate(session)
        if RNG.random() < 0.2:
            proton.data.is_phase_complete(session)  # collects without a wait
    assert counts(session) == expected


def test_states_are_of_other_kernels_too(cupti: Cupti) -> None:
    """And a state in which nothing was launched is not in the profile."""

    def asks(grid: Any, metadata: Any, args: Any) -> dict[str, Any]:
        cupti.kernel("reduce")
        return {"name": "asked", "bytes": 4}

    @tritonx.jit(launch_metadata=asks)
    def asking(x):
        tl.store(x, 2.0)

    session = proton.start("profile", hook="triton")
    with proton.scope("outer"):
        asking[(1,)](np.zeros(1, np.float32))
        with proton.state("busy"):
            cupti.kernel("other")
            with proton.scope("inner", {"a": 1.0}):
                pass
        cupti.kernel("other")
    assert counts(session) == {
        "outer/__proton_launch_metadata/asking/reduce": 1,
        "outer/asked": 1,
        "outer/busy/other": 1,
        "outer/other": 1,
    }
    [outer] = proton.data.get(session)[0]["children"]
    assert {child["frame"]["name"] for child in outer["children"]} == {
        "__proton_launch_metadata", "asked", "busy", "other", "inner",
    }  # fmt: skip


def test_where_another_profiler_has_subscribed(cupti: Cupti) -> None:
    cupti.others_subscribed = True
    x = np.zeros(1, np.float32)
    session = proton.start("profile")
    cupti.capturing = []
    stored[(1,)](x)
    graph = cupti.instantiated(cupti.capturing)
    cupti.capturing = None
    stored[(1,)](x)
    with proton.scope("replay"):
        cupti.launch_graph(graph)
    with pytest.warns(TimesLost, match="MULTIPLE_SUBSCRIBERS"):
        assert counts(session) == {"stored": 1, "replay/on_device": 1}


@pytest.mark.parametrize("what", ["descriptor", "node", "record", "push"])
def test_what_goes_wrong_in_a_callback_breaks_no_launch(
    cupti: Cupti, what: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Warnings are errors meanwhile, and are given where the times are waited for."""
    x = np.zeros(1, np.float32)
    session = proton.start("profile")
    with monkeypatch.context() as wrong, warnings.catch_warnings():
        warnings.simplefilter("error")
        if what == "descriptor":
            wrong.setattr(GraphData, "from_ptr", lambda ptr: None)
        if what == "node":
            wrong.setattr(cupti, "get_graph_node_id", lambda node: {}[node])
        if what == "record":
            cupti.library.deliver([SimpleNamespace(kind=99), SimpleNamespace(kind=10)])
        if what == "push":
            wrong.setattr(cupti, "activity_pop_external_correlation_id", lambda kind: "text")
            wrong.setattr(cupti, "activity_push_external_correlation_id", lambda kind, number: number + 1)
        cupti.capturing = []
        if what == "push":
            cupti.kernel("recorded")
        else:
            stored[(1,)](x)
        cupti.capturing = None
    stored[(1,)](x)
    with pytest.warns(TimesLost, match="could not be read|were dropped"):
        assert counts(session) == {"stored": 1}


def test_the_subscriber_ends_with_the_sessions(cupti: Cupti) -> None:
    session = proton.start("profile")
    assert cupti.callback is not None and cupti.enabled == {(3, 13), (3, 20)}
    proton.finalize(session)
    assert cupti.callback is None


def test_structures_are_those_of_the_package() -> None:
    package = pytest.importorskip("cupti.cupti", reason="cupti-python is not installed")
    data, resource = package.GraphData(), package.ResourceData()
    data.node, data.original_node = 5, 7
    resource.resource_descriptor = data.ptr
    found = GraphData.from_ptr(resource.resource_descriptor)
    assert (
        (found.node, found.original_node)
        == (5, 7)
        == (
            package.GraphData.from_ptr(data.ptr).node,
            package.GraphData.from_ptr(data.ptr).original_node,
        )
    )
    assert ctypes.sizeof(GraphData) == package.graph_data_dtype.itemsize
    assert int(package.CallbackIdResource.GRAPHNODE_CREATED) == 13 and int(package.CallbackDomain.RESOURCE) == 3
    assert int(package.CallbackIdResource.GRAPHNODE_CLONED) == 20
    assert all(callable(getattr(package, each)) for each in ("subscribe", "unsubscribe", "enable_callback"))
