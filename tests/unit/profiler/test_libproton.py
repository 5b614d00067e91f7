"""Triton's ``triton._C.libproton.proton``: what its functions do to profiles."""

from __future__ import annotations

import inspect
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tritonx
import tritonx.language as tl
import tritonx.profiler as proton
from tritonx._C.libproton import proton as lib
from tritonx.profiler.errors import BadProfile, MetricMismatch, UnknownSession
from tritonx.profiler.hooks import HookManager
from tritonx.profiler.profile import select_backend
from tritonx.runtime.driver import choice
from tritonx.runtime.errors import NotOffered

SIGNATURES = {
    "start": "path, contextSourceName, dataName, profilerName, mode=''",
    "activate": "sessionId",
    "deactivate": "sessionId, flushing",
    "deactivate_all": "flushing",
    "finalize": "sessionId, outputFormat",
    "finalize_all": "outputFormat",
    "record_scope": "",
    "enter_scope": "scopeId, name",
    "exit_op": "scopeId, name",
    "init_function_metadata": "functionId, functionName, scopeIdNames, scopeIdParents, metadataPath",
    "enter_instrumented_op": "streamId, functionId, buffer, size",
    "get_data": "sessionId, phase",
    "get_data_msgpack": "sessionId, phase",
    "clear_data": "sessionId, phase, clearUpToPhase=False",
    "advance_data_phase": "sessionId",
    "is_data_phase_complete": "sessionId, phase",
    "select_profiler_from_triton_backend": "tritonBackend",
}


def said(grid: object, metadata: Any, args: dict[str, Any]) -> dict[str, Any]:
    return {"name": "said", "bytes": 8}


@tritonx.jit
def plain(x, B: tl.constexpr = 8):
    tl.store(x + tl.arange(0, B), 1.0)


@tritonx.jit(launch_metadata=said)
def described(x, B: tl.constexpr = 8):
    tl.store(x + tl.arange(0, B), 1.0)


@pytest.fixture
def x() -> np.ndarray[Any, Any]:
    return np.zeros(8, np.float32)


def start(tmp_path: Path, data: str = "tree") -> int:
    return lib.start(str(tmp_path / "profile"), "shadow", data, select_backend())


def tree(session: int) -> Any:
    return json.loads(lib.get_data(session, 0))[0]


def paths(node: Any, before: tuple[str, ...] = ()) -> dict[tuple[str, ...], Any]:
    found: dict[tuple[str, ...], Any] = {}
    for child in node["children"]:
        path = (*before, child["frame"]["name"])
        assert path not in found
        found |= {path: child["metrics"]} | paths(child, path)
    return found


@pytest.mark.parametrize("name", SIGNATURES)
def test_a_call_of_theirs_is_one_of_ours(name: str) -> None:
    parameters = inspect.signature(getattr(lib, name)).parameters.values()
    bare = inspect.Signature([p.replace(annotation=p.empty) for p in parameters])
    assert str(bare) == f"({SIGNATURES[name]})"


def test_scopes_by_number(tmp_path: Path, x: np.ndarray[Any, Any]) -> None:
    session = start(tmp_path)
    outer, inner = lib.record_scope(), lib.record_scope()
    assert inner == outer + 1
    lib.enter_scope(outer, "outer")
    lib.enter_scope(inner, "inner")
    assert lib.get_context_depth(session) == 2
    plain[(1,)](x)
    lib.add_metrics(outer, {"a": 1.5, "v": [1, 2]})
    lib.add_metrics(outer, {"a": 2.0, "v": [3, 4]})
    lib.exit_scope(inner, "inner")
    lib.exit_scope(outer, "outer")
    assert lib.get_context_depth(session) == 0
    found = paths(tree(session))
    assert found.keys() == {("outer",), ("outer", "inner"), ("outer", "inner", "plain")}
    assert found["outer",] == {"a": 3.5, "v": [4, 6]} and found["outer", "inner", "plain"]["count"] == 1
    lib.finalize(session, "hatchet")
    assert paths(json.loads((tmp_path / "profile.hatchet").read_text())[0]).keys() == found.keys()


def test_without_a_session_nothing_is_kept(tmp_path: Path) -> None:
    scope, op = lib.record_scope(), lib.record_scope()
    lib.enter_scope(scope, "scope")
    lib.enter_op(op, "op")
    session = start(tmp_path)
    lib.exit_op(op, "op")
    lib.exit_scope(scope, "scope")
    assert lib.get_context_depth(session) == 0 and tree(session)["children"] == []


def test_an_op_names_the_launches_in_it(tmp_path: Path, x: np.ndarray[Any, Any]) -> None:
    session = start(tmp_path)
    assert choice.quick is not None
    op = lib.record_scope()
    lib.enter_op(op, "op")
    lib.add_metrics(op, {"flops": 10})
    plain[(1,)](x)
    plain[(1,)](x)
    lib.exit_op(op, "op")
    plain[(1,)](x)
    found = paths(tree(session))
    assert found.keys() == {("op",), ("plain",)}
    assert found["op",]["count"] == 2 and found["op",]["flops"] == 10.0 and found["plain",]["count"] == 1
    assert choice.quick is not None and not HookManager.active_hooks


def test_an_op_without_a_launch_is_a_scope(tmp_path: Path) -> None:
    session = start(tmp_path)
    outer, inner = lib.record_scope(), lib.record_scope()
    lib.enter_op(outer, "outer")
    lib.enter_op(inner, "inner")
    lib.add_metrics(outer, {"a": 1})
    lib.exit_op(outer, "outer")
    assert paths(tree(session)) == {("outer",): {"a": 1}, ("inner",): {}} and not HookManager.active_hooks


def test_what_a_kernel_says_goes_before_the_op(tmp_path: Path, x: np.ndarray[Any, Any]) -> None:
    session = proton.start(str(tmp_path / "profile"), hook="triton")
    assert session is not None
    op = lib.record_scope()
    lib.enter_op(op, "op")
    described[(1,)](x)
    plain[(1,)](x)
    lib.exit_op(op, "op")
    found = paths(tree(session))
    assert found.keys() == {("said",), ("op",)} and found["said",]["bytes"] == 8


def test_states_and_the_names_of_metadata(tmp_path: Path, x: np.ndarray[Any, Any]) -> None:
    session = start(tmp_path)
    lib.enter_state(lib.metadata_scope_prefix + "plain")
    plain[(1,)](x)
    lib.exit_state()
    assert lib.metadata_scope_name == "__proton_launch_metadata"
    assert paths(tree(session)).keys() == {
        (lib.metadata_scope_name,),
        (lib.metadata_scope_name, "plain"),
        (lib.metadata_scope_name, "plain", "plain"),
    }


def test_phases(tmp_path: Path, x: np.ndarray[Any, Any]) -> None:
    session = start(tmp_path)
    plain[(1,)](x)
    assert not lib.is_data_phase_complete(session, 0) and lib.advance_data_phase(session) == 1
    lib.deactivate_all(True)
    assert lib.is_data_phase_complete(session, 0)
    msgpack = pytest.importorskip("msgpack")
    assert msgpack.loads(lib.get_data_msgpack(session, 0)) == json.loads(lib.get_data(session, 0))
    lib.clear_data(session, 0)
    with pytest.raises(UnknownSession, match="has no data of phase 0"):
        lib.get_data(session, 0)
    lib.activate_all()
    lib.finalize_all("hatchet")
    with pytest.raises(IndexError, match=f"Session has not been initialized: {session}"):
        lib.activate(session)


def test_names_of_profilers(tmp_path: Path) -> None:
    known = lib.get_available_profilers()
    assert {"cupti", "rocprofiler", "roctracer", "instrumentation", "clock"} <= set(known) and len(set(known)) == len(
        known
    )
    assert [lib.select_profiler_from_triton_backend(name) for name in ("cuda", "hip")] == ["cupti", "rocprofiler"]
    assert select_backend() == lib.select_profiler_from_triton_backend("cpu") == "clock"
    with pytest.raises(ValueError, match="No profiler registered for triton backend abacus"):
        lib.select_profiler_from_triton_backend("abacus")
    for number, name in enumerate(known):
        session = lib.start(str(tmp_path / name), "shadow", "tree", name)
        assert lib.get_context_depth(session) == 0, number
    with pytest.raises(BadProfile, match="'abacus'"):
        lib.start(str(tmp_path / "no"), "shadow", "tree", "abacus")


@pytest.mark.parametrize(
    ("index", "values", "kind"),
    [
        (lib.metric_type_double_index, [1.25], np.float64),
        (lib.metric_type_int64_index, [-7], np.int64),
        (lib.metric_type_vector_double_index, [1.5, 2.5], np.float64),
        (lib.metric_type_vector_int64_index, [3], np.int64),
    ],
)
def test_metrics_in_memory(tmp_path: Path, index: int, values: list[Any], kind: Any) -> None:
    memory = np.array(values, kind)
    metric = lib.TensorMetric(memory.ctypes.data, index, len(values))
    assert (metric.ptr, metric.index, metric.size) == (memory.ctypes.data, index, len(values))
    session = start(tmp_path)
    scope = lib.record_scope()
    lib.enter_scope(scope, "scope")
    lib.add_metrics(scope, {"a": 1}, {"m": metric})
    lib.exit_scope(scope, "scope")
    assert paths(tree(session)) == {("scope",): {"a": 1, "m": values[0] if len(values) == 1 else values}}


def test_metrics_in_memory_that_are_none() -> None:
    with pytest.raises(BadProfile, match="not 3"):
        lib.TensorMetric(8, 3)
    with pytest.raises(BadProfile, match="one number or more"):
        lib.TensorMetric(8, lib.metric_type_double_index, 0)


def test_metrics_that_do_not_fit(tmp_path: Path) -> None:
    start(tmp_path)
    op = lib.record_scope()
    lib.enter_op(op, "op")
    lib.add_metrics(op, {"a": [1, 2]})
    with pytest.raises(MetricMismatch):
        lib.add_metrics(op, {"a": 1})
    lib.exit_op(op, "op")


def test_regions_come_with_their_launches(tmp_path: Path) -> None:
    """Without a session that measures, Triton does nothing either."""
    lib.init_function_metadata(0, "kernel", [(0, "root")], [], "none.json")
    lib.enter_instrumented_op(0, 0, 0, 0)
    lib.exit_instrumented_op(0, 0, 0, 0)
    lib.set_metric_kernels(0, 0, 0, 1, 0, 1, 0)
    lib.destroy_function_metadata(0)
    lib.start(str(tmp_path / "regions"), "shadow", "tree", "instrumentation", "default")
    for call in (lib.enter_instrumented_op, lib.exit_instrumented_op):
        with pytest.raises(NotOffered, match="instrumented_op: launches hand over"):
            call(0, 0, 0, 0)
    with pytest.raises(NotOffered, match="init_function_metadata"):
        lib.init_function_metadata(0, "kernel", [(0, "root")], [], "none.json")
