"""Accesses are checked against the memory of the arguments where a launch has ``debug``: reported as the interpreter
reports them, with nothing outside touched, and the device goes on."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest

import tritonx
import tritonx.language as tl
from tritonx.interpreter import interpreted
from tritonx.interpreter.errors import OutOfBoundsAccess
from tritonx.runtime import driver
from tritonx.runtime.arrays import to_device

GUARD = 4096


@tritonx.jit
def tail(x, y, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + at, tl.load(x + at) + 1)


@tritonx.jit
def counted(x, y, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.atomic_add(y + at * 2 + tl.program_id(0), 1, mask=at < BLOCK - 1)
    tl.atomic_cas(x + at + tl.program_id(0) * 4, at * 0, at)


@tritonx.jit
def blocks(x, y, BLOCK: tl.constexpr):
    rows = tl.make_tensor_descriptor(x, [40, 16], [16, 1], [BLOCK, 16])
    out = tl.make_block_ptr(y, (40, 16), (16, 1), (8 * tl.program_id(1), 0), (BLOCK, 16), (1, 0))
    tl.store(out, rows.load([8 * tl.program_id(1), 0]))


@tritonx.jit
def carried(x, y, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    pointers = x + at
    total = tl.zeros((BLOCK,), tl.int32)
    for step in range(20):
        total += tl.load(pointers)
        pointers += tl.where(step < 12, BLOCK, -BLOCK)
    tl.store(y + at, total)


CASES: dict[str, tuple[Any, tuple[int, ...], tuple[int, int], int]] = {
    "tail": (tail, (4,), (1000, 1024), 256),
    "store": (tail, (4,), (1024, 1000), 256),
    "masked atomic": (counted, (5,), (256, 126), 64),
    "compare and swap": (counted, (5,), (70, 132), 64),
    "descriptor": (blocks, (1, 5), (500, 640), 8),
    "block pointer": (blocks, (1, 5), (640, 500), 8),
    "carried": (carried, (2,), (400, 64), 32),
}


def launched(kernel: Any, grid: tuple[int, ...], arrays: list[Any], block: int) -> str:
    with pytest.raises(OutOfBoundsAccess) as error:
        kernel[grid](*arrays, BLOCK=block, debug=True, sanitize_overflow=False)
    lines = str(error.value).splitlines()
    return "\n".join(line.partition(" at address")[0] + line.partition(", element")[2] for line in lines)


@contextmanager
def on_the_host() -> Generator[None]:
    """Arrays of NumPy are taken, which a GPU does not serve."""
    before = driver.get_active()
    driver.set_active("cpu")
    try:
        yield
    finally:
        driver.set_active(before)


@pytest.mark.parametrize("name", CASES)
def test_a_fault_is_reported_as_the_interpreter_reports_it(name: str) -> None:
    kernel, grid, sizes, block = CASES[name]
    memory = [np.zeros(size + GUARD, np.int32) for size in sizes]
    parts = [part[:size] for part, size in zip(memory, sizes, strict=True)]
    with on_the_host():
        expected = launched(interpreted(kernel), grid, parts, block)
    arrays = [to_device(np.zeros(size, np.int32)) for size in sizes]
    assert launched(kernel, grid, arrays, block) == expected
    assert launched(kernel, grid, arrays, block) == expected, "the device goes on"


def test_what_stays_inside_computes_the_same() -> None:
    x = np.arange(1024, dtype=np.int32)
    out = to_device(np.zeros(1024, np.int32))
    tail[(4,)](to_device(x), out, BLOCK=256, debug=True)
    assert np.array_equal(out.numpy(), x + 1)


def test_views_of_torch_reach_their_storage() -> None:
    torch = pytest.importorskip("torch")
    if not torch.cuda.is_available():
        pytest.skip("PyTorch sees no GPU")
    memory = torch.zeros(4096, dtype=torch.int32, device="cuda")
    part = memory[1024:2048]
    tail[(8,)](part, part, BLOCK=256, debug=True)
    assert int(memory.sum()) == 2048
    with pytest.raises(OutOfBoundsAccess, match="element 4096 of x"):
        tail[(13,)](part, part, BLOCK=256, debug=True)
    torch.cuda.synchronize()


@pytest.mark.real_gpu
def test_a_launch_that_a_graph_records_is_not_checked() -> None:
    torch = pytest.importorskip("torch")
    x, y = (torch.zeros(1024, dtype=torch.int32, device="cuda") for _ in range(2))
    tail[(4,)](x, y, BLOCK=256, debug=True)
    tail[(4,)](x, y, BLOCK=256, debug=True, check_bounds=False)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        tail[(4,)](x, y, BLOCK=256, debug=True)
    x += 1
    graph.replay()
    assert bool((y == 2).all())
