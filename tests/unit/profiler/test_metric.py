"""Metrics: which add up, and which a device has."""

from __future__ import annotations

import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import tritonx
import tritonx.language as tl
import tritonx.profiler as proton
from tritonx.profiler.errors import BadProfile, MetricMismatch
from tritonx.profiler.metric import transform_tensor_metrics
from tritonx.runtime.devices.host_driver import HostDriver
from tritonx.runtime.errors import TimesLost


def test_the_last_value_of_a_property_counts(tmp_path: Path) -> None:
    session = proton.start(str(tmp_path / "a"))
    for value in (1.0, 3.0, 2.5):
        with proton.scope("scope", {"a (pty)": value, "b (exc)": value, "c": value, "v (pty)": [value, 1]}):
            pass
    root = proton.data.get(session)[0]
    assert root["metrics"] == {"c": 0}, "only what adds up is the root's"
    assert root["children"][0]["metrics"] == {"a": 2.5, "b": 6.5, "c": 6.5, "v": [2.5, 1]}


@pytest.mark.parametrize("name", ["a", "a (pty)", "a (exc)"])
def test_a_metric_stays_an_integer_or_a_float(tmp_path: Path, name: str) -> None:
    """The error is at the second scope, which is not open behind it; what was added before it stays."""
    session = proton.start(str(tmp_path / "a"))
    for first, second, said in ((1.0, 2, "current=double, new=int64_t"), (1, 2.0, "current=int64_t, new=double")):
        with proton.scope(said, {"b": 1, name: first}):
            pass
        with pytest.raises(MetricMismatch, match=rf"for valueId 1 \({re.escape(name)}\): {said}$"):
            proton.enter_scope(said, metrics={"b": 5, name: second})
        assert proton.context.depth(session) == 0
    for child, value in zip(proton.data.get(session)[0]["children"], (1.0, 1), strict=True):
        assert child["metrics"] == {"b": 1, "a": value} and type(child["metrics"]["a"]) is type(value)
    proton.finalize(session)


class OnDevice:
    """A tensor whose reading would end the recording of a graph."""

    device = SimpleNamespace(type="cuda")

    def data_ptr(self) -> int:
        return 1 << 32

    def tolist(self) -> Any:
        raise RuntimeError("Cannot copy between CPU and CUDA tensors during CUDA graph capture")

    item = tolist


@tritonx.jit(launch_metadata=lambda grid, metadata, args: {"name": "told", "flops": OnDevice(), "bytes": 8})
def told(x):
    tl.store(x, 1.0)


def test_a_recording_is_not_ended_by_a_metric(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    x = np.zeros(1, np.float32)
    session = proton.start(str(tmp_path / "a"), hook="triton")
    with pytest.raises(RuntimeError, match="graph capture"):
        proton.enter_scope("outside", metrics={"a": OnDevice()})
    monkeypatch.setattr(HostDriver, "is_recording", lambda _: True)
    with pytest.warns(TimesLost, match="metric 'a' .* while a graph is recorded"):
        proton.enter_scope("inside", metrics={"a": OnDevice(), "b": 2})
    with pytest.warns(TimesLost, match="metric 'flops'"):
        told[(1,)](x)
    with pytest.warns(TimesLost, match="metric 'c'"):
        proton.exit_scope(metrics={"c": OnDevice()})
    monkeypatch.undo()
    [scope] = proton.data.get(session)[0]["children"]
    assert scope["metrics"] == {"b": 2} and scope["children"][0]["metrics"]["bytes"] == 8


def test_metrics_of_a_fixed_type_are_given_as_either(tmp_path: Path) -> None:
    session = proton.start(str(tmp_path / "a"))
    for value in (1.0, 2, True):
        with proton.scope("scope", {"flops8": value, "bytes": value}):
            pass
    assert proton.data.get(session)[0]["children"][0]["metrics"] == {"flops8": 4.0, "bytes": 4}
    proton.finalize(session)


class _Device:
    type = "remote"


class _Remote:
    """What is asked of an array in a device's memory, here in this process's."""

    def __init__(self, values: Any) -> None:
        self.values = np.asarray(values)
        self.device = _Device()

    def is_floating_point(self) -> bool:
        return self.values.dtype.kind == "f"

    def double(self) -> _Remote:
        return _Remote(self.values.astype(np.float64))

    def long(self) -> _Remote:
        return _Remote(self.values.astype(np.int64))

    def contiguous(self) -> _Remote:
        return self

    def data_ptr(self) -> int:
        return self.values.ctypes.data

    def numel(self) -> int:
        return self.values.size


def test_metrics_of_a_device_stay_there() -> None:
    given = {
        "flops": _Remote([3]),
        "bytes": _Remote([2.0, 4.0]),
        "mine": _Remote(np.float32([0.5])),
        "n": _Remote([7, 8]),
        "a": 1,
    }
    numbers, remote = transform_tensor_metrics(given)
    assert numbers == {"a": 1}
    found = {name: (each.index, each.size, each.read()) for name, each in remote.items()}
    assert found == {"flops": (2, 1, 3.0), "bytes": (5, 2, [2, 4]), "mine": (2, 1, 0.5), "n": (5, 2, [7, 8])}
    assert type(found["flops"][2]) is float


def test_other_metrics_are_numbers() -> None:
    numbers, remote = transform_tensor_metrics({"flops8": np.int64(3), "bytes": np.array([1.0, 2.0]), "x": [True, 2]})
    assert numbers == {"flops8": 3.0, "bytes": [1, 2], "x": [1, 2]} and not remote
    with pytest.raises(BadProfile, match="metrics are numbers"):
        transform_tensor_metrics({"a": "text"})
