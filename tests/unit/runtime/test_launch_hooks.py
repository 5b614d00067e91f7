"""The hooks around launches: the same calls, in the same order, with the same data, compiled and by lines."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import tritonx.language as tl
from tritonx.interpreter.errors import OutOfBoundsAccess
from tritonx.interpreter.function import interpreted
from tritonx.runtime import knobs
from tritonx.runtime.jit import jit


def described(grid: Any, metadata: Any, args: Any) -> dict[str, Any]:
    return {
        "name": f"{metadata.name} [n={args['n']}]",
        "bytes": args["x"].nbytes + args["n"] * metadata.num_warps,
        "grid": grid,
        "target": metadata.target.backend,
        "shared": metadata.shared,
    }


@jit(launch_metadata=described, repr=lambda wanted: f"filled_{wanted.constants['BLOCK']}")
def filled(x, n, BLOCK: tl.constexpr = 4):
    i = tl.arange(0, BLOCK)
    tl.store(x + i, n + i, mask=i < n)


@jit
def beyond(x):
    tl.store(x + 1000, 1)


@pytest.fixture
def calls() -> Iterator[list[Any]]:
    seen: list[Any] = []
    with knobs.runtime.scope():
        enter, leave = (lambda data: seen.append(("enter", data))), (lambda data: seen.append(("exit", data)))
        knobs.runtime.launch_enter_hook.add(enter)
        knobs.runtime.launch_exit_hook.add(leave)
        yield seen
        knobs.runtime.launch_enter_hook.remove(enter)
        knobs.runtime.launch_exit_hook.remove(leave)


def events(kernel: Any, calls: list[Any], grid: Any, **given: Any) -> list[Any]:
    """What a launch calls, and what the array holds at each call."""
    x = np.zeros(4, np.int32)
    before = lambda *args, **kwargs: calls.append(("before", (args[1], kwargs)))  # noqa: E731
    kernel.add_pre_run_hook(before)
    calls.clear()
    kernel[grid](x, 3, **given)
    kernel.pre_run_hooks.remove(before)
    found: list[Any] = [x.tolist()]
    for name, data in calls:
        found.append((name, data.get() if hasattr(data, "get") else data))
    assert calls[1][1] is calls[2][1]
    return found


@pytest.mark.parametrize("grid", [(2, 1, 1), (0,), lambda meta: (meta["BLOCK"] // 2,)], ids=["two", "none", "function"])
@pytest.mark.parametrize("given", [{}, {"num_warps": 2}, {"BLOCK": 2}], ids=str)
def test_the_same_calls(calls: list[Any], grid: Any, given: dict[str, Any]) -> None:
    compiled, by_lines = (events(k, calls, grid, **given) for k in (filled, interpreted(filled)))
    assert [name for name, _ in compiled[1:]] == ["before", "enter", "exit"]
    function = by_lines[2][1].pop("function")
    assert function is filled.fn and compiled[2][1].pop("function") is not None
    by_lines[3][1].pop("function", None), compiled[3][1].pop("function", None)
    assert by_lines == compiled
    assert compiled[2][1]["name"] == f"filled_{given.get('BLOCK', 4)} [n=3]"
    assert compiled[2][1]["target"] == "cpu"


def test_the_metadata_have_the_options(calls: list[Any]) -> None:
    """Every field of a compiled kernel's metadata that says nothing about its code."""
    seen: list[Any] = []

    @jit(launch_metadata=lambda grid, metadata, args: seen.append(metadata) or {})
    def kernel(x):
        tl.store(x, 1)

    for runs in (kernel, interpreted(kernel)):
        runs[(1,)](np.zeros(1, np.int32), num_warps=8, num_stages=2)
        calls[-1][1].get()
    compiled, by_lines = (metadata._asdict() for metadata in seen)
    code = {
        "hash", "stages", "binary_stages", "source_files", "triton_version", "written", "assertions", "num_threads",
        "foreign", "otherwise", "apart", "compared",
    }  # fmt: skip
    assert {k: v for k, v in compiled.items() if k not in code} == {k: v for k, v in by_lines.items() if k not in code}


def test_lines_between_the_hooks(calls: list[Any]) -> None:
    """What a hook sees of an array is what it held before, and holds after, the lines."""
    held: list[Any] = []
    x = np.zeros(4, np.int32)
    enter, leave = (lambda _: held.append(x.tolist())), (lambda _: held.append(x.tolist()))
    knobs.runtime.launch_enter_hook.add(enter)
    knobs.runtime.launch_exit_hook.add(leave)
    interpreted(filled)[(1,)](x, 4)
    knobs.runtime.launch_enter_hook.remove(enter)
    knobs.runtime.launch_exit_hook.remove(leave)
    assert held == [[0, 0, 0, 0], [4, 5, 6, 7]]


def test_no_exit_where_the_lines_raise(calls: list[Any]) -> None:
    with pytest.raises(OutOfBoundsAccess):
        interpreted(beyond)[(1,)](np.zeros(1, np.int32))
    assert [name for name, _ in calls] == ["enter"]


def test_warmup_calls_none(calls: list[Any]) -> None:
    for runs in (filled, interpreted(filled)):
        runs.warmup(np.zeros(4, np.int32), 3, grid=(1,))
    assert not calls
