"""The launch that is explained: how often its loops are executed, beside what the interpreter counts, and what holds
it on the target's chip."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

import tritonx
import tritonx.language as tl
from tritonx.backends.registry import parse_target
from tritonx.explain.launch import integers_of, launch_of
from tritonx.explain.trips import Trips, UnknownTrips, trips_of
from tritonx.runtime.errors import UnsupportedArgument
from tritonx.tools.checking.launches import Launch, innermost
from tritonx.tools.checking.predictions import Predictor
from tritonx.tools.checking.runs import Runs
from tritonx.tools.tensor_descriptor import TensorDescriptor


@tritonx.jit
def steps(n, B: tl.constexpr):
    return tl.cdiv(n, B)


@tritonx.jit
def product(a, b, c, N, K, B: tl.constexpr):
    j = tl.program_id(1) * B + tl.arange(0, B)
    i = tl.program_id(0) * B + tl.arange(0, B)
    total = tl.zeros((B, B), tl.float32)
    for step in range(steps(K, B)):
        k = step * B + tl.arange(0, B)
        left = tl.load(a + i[:, None] * K + k[None, :], mask=k[None, :] < K, other=0)
        total += tl.dot(left, tl.load(b + k[:, None] * N + j[None, :], mask=k[:, None] < K, other=0))
    tl.store(c + i[:, None] * N + j[None, :], total)


@tritonx.jit
def triangle(x, y, n, B: tl.constexpr):
    """An early return, loops bounded by the program and by another loop, and a branch that an argument decides."""
    row = tl.program_id(0)
    if row * B >= n:
        return
    total = tl.zeros((B,), tl.float32)
    for start in range(0, tl.minimum((row + 1) * B, n), B):
        total += tl.load(x + start + tl.arange(0, B))
    if n > 100:
        for _ in range(3):
            total += 1
    for i in range(0, 7, 2):
        for _ in range(i):
            total *= 1.5
    tl.store(y + row * B + tl.arange(0, B), total)


@tritonx.jit
def lengths_of_rows(x, y, lengths, B: tl.constexpr):
    total = tl.zeros((B,), tl.float32)
    for i in range(tl.load(lengths + tl.program_id(0))):
        total += tl.load(x + i * B + tl.arange(0, B))
    tl.store(y + tl.arange(0, B), total)


@tritonx.jit
def blocks_of(d, y, n, B: tl.constexpr):
    """The descriptor's shape is a bound; what is loaded is stored under a branch without results."""
    total = tl.zeros((B,), tl.float32)
    for i in range(0, d.shape[0], B):
        total += tl.sum(d.load([i, 0]), 1)
    for i in range(n):
        if i > 1:
            tl.store(y + i * B + tl.arange(0, B), total)


@tritonx.jit
def halving(x, n, B: tl.constexpr):
    while n > 1:
        n = n // 2
    tl.store(x + tl.arange(0, B), n)


def ours(kernel: Any, grid: tuple[int, int, int], **arguments: object) -> Trips:
    request, _ = kernel.launcher.request((), arguments)
    wanted = request.wanted
    source = tritonx.compiler.ASTSource(kernel, wanted.signature, wanted.constants, wanted.attrs)
    module = source.make_module(request.placement.target, request.options)
    launch = launch_of(grid, arguments)
    return trips_of(module, integers_of(launch, source, module), grid)


def counted(kernel: Any, grid: tuple[int, int, int], **arguments: object) -> Trips:
    return Predictor([], 10.0).trips(Runs(innermost(kernel, Launch(grid, (), arguments)), 10.0))


def f32(*shape: int) -> np.ndarray:
    return np.ones(shape, np.float32)


@pytest.mark.parametrize("_", range(4))
def test_loops_are_executed_as_often_as_in_the_interpreter(_: int) -> None:
    m, n, k = (random.randrange(1, 9) * 16 for _ in range(3))
    k -= random.randrange(16)
    grid = (m // 16, n // 16, 1)
    found = ours(product, grid, a=f32(m, k), b=f32(k, n), c=f32(m, n), N=n, K=k, B=16)
    assert found == counted(product, grid, a=f32(m, k), b=f32(k, n), c=f32(m, n), N=n, K=k, B=16)
    assert list(found.values()) == [-(-k // 16)]


@pytest.mark.parametrize("_", range(4))
def test_bounds_follow_the_program_branches_and_other_loops(_: int) -> None:
    n = random.randrange(1, 20) * 16
    grid = (n // 16 + random.randrange(3), 1, 1)
    arguments = {"x": f32(n), "y": f32(n), "n": n, "B": 16}
    assert ours(triangle, grid, **arguments) == pytest.approx(counted(triangle, grid, **arguments))


@tritonx.jit
def copy(x, y, n, B: tl.constexpr):
    at = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(y + at, tl.load(x + at, mask=at < n), mask=at < n)


@tritonx.jit
def summed(x, n, B: tl.constexpr):
    total = tl.zeros((B,), tl.float32)
    for i in range(n):
        total += tl.load(x + i * B + tl.arange(0, B))
    return tl.sum(total)


@tritonx.jit
def twice(x, y, few, many, SMALL: tl.constexpr, LARGE: tl.constexpr):
    tl.store(y, summed(x, many, SMALL) + summed(x, few, LARGE))


def test_a_helpers_loop_has_the_iterations_of_its_call() -> None:
    """A thousand of a small body and two of a large one are not a thousand of the large one, by any integer's class."""
    x, y = np.empty(1 << 16, np.float32), f32(1)
    found = [
        twice.explain(x, y, few, many, SMALL=32, LARGE=4096, grid=(2000,), target="cuda:90").facts.launch
        for few, many in ((2, 1000), (np.int64(2), np.int32(1000)), (2, 2))
    ]
    seconds = [each.device_seconds for each in found if each is not None and each.bound]
    assert len(seconds) == 3 and seconds[0] == seconds[1]
    other = twice.explain(x, y, 1000, 2, SMALL=32, LARGE=4096, grid=(2000,), target="cuda:90").facts.launch
    assert other is not None and other.device_seconds > 3 * seconds[0] > 3 * seconds[2]


def test_a_check_tells_the_calls_of_a_helper_apart() -> None:
    """The helper's loop has another body for each call, and the larger one has not the smaller one's iterations."""
    x, y = np.ones(1 << 16, np.float32), f32(1)
    few, many = random.randrange(2, 5), random.randrange(1000, 1500)
    arguments = {"x": x, "y": y, "few": few, "many": many, "SMALL": 32, "LARGE": 4096}
    assert sorted(counted(twice, (3, 1, 1), **arguments).values()) == [few, many]
    assert counted(twice, (3, 1, 1), **arguments) == ours(twice, (3, 1, 1), **arguments)
    runs = Runs(innermost(twice, Launch((2000, 1, 1), (), arguments)), 10.0)
    (one,), _ = Predictor([parse_target("cuda:90")[1]], 10.0).of(runs, "")
    launch = twice.explain(*arguments.values(), grid=(2000,), target="cuda:90").facts.launch
    assert launch is not None and one.device_seconds == pytest.approx(launch.device_seconds)


@pytest.mark.parametrize(
    ("target", "grid", "most"),
    [
        ("cuda:90", (1, 65536, 1), "2147483647 x 65535 x 65535 blocks"),
        ("cuda:80", (2, 2, 65536), "2147483647 x 65535 x 65535 blocks"),
        ("hip:gfx942", (2**24, 1, 1), "4294967295 threads in x"),
    ],
)
def test_no_time_is_told_of_a_grid_that_no_launch_takes(target: str, grid: tuple[int, int, int], most: str) -> None:
    """One program less in that dimension is launched; nothing below runs so many."""
    n, B = 100, 128
    x = f32(n)
    less = tuple(each if each < 100 else each - 1 for each in grid)
    for extents, taken in ((grid, False), (less, True)):
        launch = copy.explain(x, x, n, B=B, grid=extents, target=target).facts.launch
        assert launch is not None and (launch.bound != "") == taken and (most in launch.text) == (not taken)
        runs = Runs(innermost(copy, Launch(extents, (x, f32(n), n), {"B": B})), 10.0, keep=False)
        found, why = Predictor([parse_target(target)[1]], 10.0).of(runs, "n=100")
        assert len(found) == taken and (f"is too large: {launch.chip or ''}" in why) == (not taken)
    with pytest.raises(UnsupportedArgument, match="below 2\\^31"):
        Runs(innermost(copy, Launch((2**31,), (x, f32(n), n), {"B": B})), 10.0, keep=False)


def test_a_grid_that_is_computed_of_a_dtype_is_refused() -> None:
    with pytest.raises(UnsupportedArgument, match=r"the grid's function raises TypeError: .*; of y, n only the dtype"):
        copy.explain(f32(8), np.float32, np.int32, B=8, grid=lambda meta: (meta["n"] // 8,), target="cuda:90")
    with pytest.raises(UnsupportedArgument, match=r"raises AttributeError: .*; of x only the dtype"):
        copy.explain(np.float32, f32(8), 8, B=8, grid=lambda meta: (meta["x"].size,), target="cuda:90")
    known = copy.explain(np.float32, f32(8), 8, B=8, grid=lambda meta: (meta["n"] // 8,), target="cuda:90")
    assert known.facts.launch is not None and known.facts.launch.grid == (1, 1, 1)


def test_a_descriptor_has_numbers_too() -> None:
    rows, n = random.randrange(1, 9) * 16 - random.randrange(4), random.randrange(1, 5)
    d = TensorDescriptor.from_tensor(f32(rows, 32), [16, 32])
    arguments = {"d": d, "y": f32(n, 16), "n": n, "B": 16}
    found = ours(blocks_of, (1, 1, 1), **arguments)
    assert found == counted(blocks_of, (1, 1, 1), **arguments) and set(found.values()) == {-(-rows // 16), n}
    facts = blocks_of.explain(**arguments, grid=(1,), target="cuda:90").facts
    assert facts.launch is not None and facts.launch.bound and facts.registers


def test_bounds_in_memory_are_unknown() -> None:
    rows = {"x": f32(64), "y": f32(8), "lengths": np.array([2, 3], np.int32), "B": 8}
    for kernel, arguments in ((lengths_of_rows, rows), (halving, {"x": f32(8), "n": 9, "B": 8})):
        with pytest.raises(UnknownTrips):
            ours(kernel, (2, 1, 1), **arguments)
        launch = kernel.explain(**arguments, grid=(2,), target="cuda:90").facts.launch
        assert launch is not None and not launch.bound and launch.place >= 0
        assert launch.text == "the bounds of a loop are no numbers that follow from the launch's arguments"


def test_what_holds_a_launch_is_told() -> None:
    n = 2**26
    large, small = np.empty(n, np.int8), np.empty(100, np.int8)

    @tritonx.jit
    def copy(x, y, n, B: tl.constexpr):
        at = tl.program_id(0) * B + tl.arange(0, B)
        tl.store(y + at, tl.load(x + at, at < n), at < n)

    grid = lambda meta: (tritonx.cdiv(meta["n"], meta["B"]),)  # noqa: E731  # as kernels are launched
    found = copy.explain(large, large.copy(), n, B=1024, grid=grid, target="cuda:90").facts.launch
    assert found is not None and (found.bound, found.grid, found.chip) == ("memory", (n // 1024, 1, 1), "H200")
    assert found.seconds == pytest.approx(2 * n / 4.8e12)
    found = copy.explain(small, small, 100, B=128, grid=grid, target="cuda:90").facts.launch
    assert (
        found is not None
        and found.bound == "the launch"
        and found.text.startswith("held by the launch, about 5.3 µs: 1 ")
    )
    found = copy.explain(small, small, 100, B=128, grid=(0,), target="cuda:90").facts.launch
    assert found is not None and (found.bound, found.text) == ("", "an empty grid does nothing")
    found = copy.explain(small, small, 100, B=128, grid=grid).facts.launch
    assert found is not None and (found.bound, found.text) == (
        "",
        "no time is predicted: the figures of no chip of cpu are known",
    )


def test_only_the_target_is_compiled_for() -> None:
    """The hook of compiles for launches is not called, and a host that lacks what the kernel needs is none."""

    @tritonx.jit
    def bulk(x, B: tl.constexpr):
        at = tl.arange(0, B)
        tl.store(
            x + at, tl.inline_asm_elementwise("ex2.approx.f32 $0, $1;", "=f,f", [tl.load(x + at)], tl.float32, True, 1)
        )

    assert bulk.explain(f32(128), B=128, grid=(1,), target="cuda:80").facts.target == "cuda:80"
    for wrong in (5, b"cuda:90", ["cuda:90"]):
        with pytest.raises(UnsupportedArgument, match="a target is the name of a backend"):
            bulk.explain(f32(128), B=128, grid=(1,), target=wrong)
