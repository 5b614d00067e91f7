"""What a launch that was seen before calls, form by form. benchmarks/gpu_launch.py measures how long that takes."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import tritonx
import tritonx.language as tl
from tritonx.runtime.errors import ReadOnlyArgument
from tritonx.runtime.launch.arg_spec import ArgSpec
from tritonx.runtime.launch.binder import generate
from tritonx.runtime.launch.specialize import Specializer, watching
from tritonx.tools.tensor_descriptor import TensorDescriptor


@tritonx.jit
def add(x, y, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + at, tl.load(x + at, mask=at < n) + 1, mask=at < n)


@tritonx.jit
def add_pair(pair, n, BLOCK: tl.constexpr):
    add(pair[0], pair[1], n, BLOCK)


@tritonx.jit
def add_described(x, y, BLOCK: tl.constexpr):
    y.store([0, 0], x.load([0, 0]) + 1)


PACKAGE = os.path.dirname(tritonx.__file__)
X, Y = (np.zeros((8, 16), np.float32) for _ in range(2))


def first_time(call: Any, quantiles: Any) -> list[float]:
    call()
    return [1.0, 1.0, 1.0]


computed = tritonx.heuristics({"BLOCK": lambda args: args["n"] // 2})(add)
configs = [tritonx.Config({"BLOCK": block}, num_warps=1) for block in (32, 64)]
tuned = tritonx.autotune(configs, key=["n"], do_bench=first_time)(add)


def pointers() -> None:
    add[(1,)](X, Y, 128, BLOCK=128)


def grid_of_arguments() -> None:
    add[lambda meta: (meta["n"] // meta["BLOCK"],)](X, Y, 128, BLOCK=128)


def pairs() -> None:
    add_pair[(1,)]((X, Y), 128, BLOCK=128)


def heuristics() -> None:
    computed[(2,)](X, Y, 128)


def autotuned() -> None:
    tuned[lambda meta: (meta["n"] // meta["BLOCK"],)](X, Y, 128)


def descriptors() -> None:
    x, y = (TensorDescriptor(each, [8, 16], [16, 1], [8, 16]) for each in (X, Y))
    add_described[(1,)](x, y, BLOCK=8)


def calls_of(launch: Callable[[], object]) -> list[str]:
    """The functions of tritonx, and of the code that it generates, that a call enters."""
    for _ in range(3):
        launch()
    called: list[str] = []

    def note(frame: Any, event: str, argument: Any) -> None:
        file = frame.f_code.co_filename
        if event == "call" and file.startswith((PACKAGE, "<")):
            called.append(frame.f_code.co_name)

    sys.setprofile(note)
    try:
        launch()
    finally:
        sys.setprofile(None)
    return [name for name in called if not name.startswith("<gen")]


@pytest.mark.parametrize(
    ("launch", "most"),
    [(pointers, 3), (grid_of_arguments, 5), (pairs, 7), (heuristics, 7), (autotuned, 9), (descriptors, 24)],
    ids=lambda each: getattr(each, "__name__", ""),
)
def test_a_launch_enters_few_functions(launch: Callable[[], object], most: int) -> None:
    called = calls_of(launch)
    assert len(called) <= most, called
    assert not {"getenv", "variable", "read", "__repr__", "identity"} & set(called), called


def test_an_autotuned_launch_reads_no_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    autotuned()
    with monkeypatch.context() as without:
        without.setattr(os, "environ", None)
        autotuned()


class Tensor:
    """What is like a tensor of PyTorch's: its class says that it has a device."""

    device: Any = None

    def __init__(self, address: int = 4096, dtype: str = "float32") -> None:
        self.address, self.dtype, self.device = address, dtype, SimpleDevice()

    def data_ptr(self) -> int:
        return self.address


class SimpleDevice(SimpleNamespace):
    def __init__(self) -> None:
        super().__init__(type="cuda", index=0)

    def __hash__(self) -> int:
        return 1


VALUES = [
    0, 1, 2, 3, 4, 8, 16, -1, -16, True, False, 2**31 - 1, 2**31, 2**63, -(2**31) - 1, 0.5, np.int64(48), np.float32(2),
    None, (1, 2), Tensor(), Tensor(4100), Tensor(dtype="float16"), np.zeros(3),
]  # fmt: skip


@pytest.mark.parametrize("annotation", [None, "i32", "i64", "fp32", "u1", tl.pointer_type(tl.int8)])
@pytest.mark.parametrize("first", [5, 0.25, Tensor(), np.zeros(3)], ids=["int", "float", "tensor", "array"])
def test_arguments_are_specialised_alike_whatever_came_first(first: object, annotation: Any) -> None:
    """The first launch decides which classes of arguments are looked at without a call."""

    def kernel(x, n): ...

    if annotation is not None:
        kernel.__annotations__["n"] = annotation
    params = tritonx.jit(kernel).params
    seen: list[tuple[object, ArgSpec, object]] = []

    def compile_(key: object, specs: tuple[ArgSpec, ...], bound: Any, options: Any) -> Any:
        seen.append((key, specs[1], None))
        return None, lambda *args: seen.append((key, specs[1], args[-1])), lambda device: 0, 0, (), ()

    names = {
        "kernels": {}, "compile": compile_, "three": None, "choice": SimpleNamespace(token=None), "hooks": [],
        "settings": SimpleNamespace(debug=False, launch_enter_hook=None, launch_exit_hook=None),
        "refused": lambda error, bound: error,
    }  # fmt: skip
    binder = generate(params, "kernel", "kernel", frozenset(), names)

    def outcome(function: Callable[..., Any], value: object) -> object:
        try:
            return function((1, 1, 1), 7, value)
        except Exception as error:
            return type(error), str(error)

    outcome(binder.bind, first)
    binder.write(binder.expect({"x": int, "n": type(first)}), ())
    is_inlined = binder.prefix + "i1" in binder.launch.__globals__
    assert is_inlined or (type(first) is int and annotation in ("i32", "i64", "u1")), (
        "the first is found without a call"
    )
    for value in [first, *VALUES]:
        bound = outcome(binder.bind, value)
        seen.clear()
        launched = outcome(binder.launch, value)
        if launched is None:
            assert isinstance(bound, tuple)
            key, specs, _, _, values = bound
            assert seen[-1][0] == key and seen[-1][1] is specs[1]
            assert seen[-1][2] is values[1] or seen[-1][2] == values[1]
        else:
            assert launched == bound


def test_tensors_that_may_not_be_written_to_are_asked_at_every_launch(monkeypatch: pytest.MonkeyPatch) -> None:
    """Those of a protocol that tells are never found without a call."""
    monkeypatch.setattr("tritonx.runtime.launch.specialize._VARIANTS", {})
    monkeypatch.setattr("tritonx.runtime.launch.arguments._is_jax", lambda base: base is Tensor)
    plain = Specializer(False, True, True, "")
    handlers = watching(plain)
    spec = handlers(Tensor())[0]
    assert spec.read_only and handlers(Tensor())[0] is spec and not handlers.tensors[Tensor]
    assert not plain(Tensor())[0].read_only and plain.tensors[Tensor]


@tritonx.jit
def by_kind(x, out, KIND: tl.constexpr, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    if KIND == "reads":
        tl.store(out, tl.sum(tl.load(x + at), axis=0))
    elif KIND == "moves":
        tl.store(out + at, tl.load(x + at) + 1)
    else:
        tl.store(x + at, 0.0)


def test_arrays_are_looked_at_from_the_first_kernel_on_that_needs_it() -> None:
    """The launch is written for arrays that are not read, and again when a kernel writes to one or compares two."""
    one, memory = np.zeros(1, np.float32), np.arange(33, dtype=np.float32)
    fixed = np.ones(32, np.float32)
    fixed.flags.writeable = False
    for _ in range(3):
        by_kind[(1,)](fixed, one, KIND="reads", BLOCK=32)
    assert one[0] == 32
    for _ in range(3):
        before = memory.copy()
        by_kind[(1,)](memory[:32], memory[1:], KIND="moves", BLOCK=32)
        np.testing.assert_array_equal(memory[1:], before[:32] + 1)
    for _ in range(3):
        by_kind[(1,)](memory[:32], one, KIND="writes", BLOCK=32)
        with pytest.raises(ReadOnlyArgument):
            by_kind[(1,)](fixed, one, KIND="writes", BLOCK=32)
        by_kind[(1,)](fixed, one, KIND="reads", BLOCK=32)
    assert fixed.tolist() == [1] * 32 and memory[:32].tolist() == [0] * 32
