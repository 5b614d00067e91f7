"""What neighbouring elements are apart, mostly: by hand, and as numbers say."""

# pyright: reportArgumentType=false, reportOperatorIssue=false, reportUnknownMemberType=false
# pyright: reportUnknownVariableType=false -- kernels are the language's, not Python's

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tritonx
import tritonx.language as tl
from tritonx.analysis.axis_info import analyze_axes
from tritonx.analysis.neighbour_steps import Multiple, NeighbourSteps, Step
from tritonx.backends.registry import parse_target
from tritonx.dialects.tile import LoadOp, StoreOp
from tritonx.interpreter.ir_launch import bind

SIZE = 32


@tritonx.jit
def kernel(x, o, n, index: tl.constexpr, SIZE: tl.constexpr):
    r = tl.arange(0, SIZE)
    tl.store(o + r, tl.load(x + index(r, n)))


@tritonx.jit
def within_a_row(r, n):
    return r // n % 5 * n + r % n


@tritonx.jit
def of_blocks(r, n):
    first = tl.program_id(0) * 32 + r
    return first // n * 640 + first % n


@tritonx.jit
def scaled(r, n):
    return (3 * r + n) * 2


@tritonx.jit
def by_an_argument(r, n):
    return r * n


@tritonx.jit
def by_arguments_and_numbers(r, n):
    return -3 * (r * (4 * n)) * (n + 1)


@tritonx.jit
def by_two_numbers_of_blocks(r, n):
    return r * 6 * n + r * tl.num_programs(0) - 5 * r


@tritonx.jit
def by_what_ranges_over_them(r, n):
    return r * (n + r)


@tritonx.jit
def downwards(r, n):
    return n - r


@tritonx.jit
def halved(r, n):
    return r * 6 // 2


@tritonx.jit
def clamped(r, n):
    return tl.minimum(tl.maximum(r, 1), n)


@tritonx.jit
def chosen(r, n):
    return tl.where(r < n, r, 0)


@tritonx.jit
def squared(r, n):
    return r * r


@tritonx.jit
def everywhere_the_same(r, n):
    return (r * 0 + n) // 2


@tritonx.jit
def widened(r, n):
    return (r.to(tl.int64) + n).to(tl.int32)


CASES: list[tuple[Any, Step, Callable[[Any, int], Any]]] = [
    (within_a_row, 1, lambda r, n: r // n % 5 * n + r % n),
    (of_blocks, 1, lambda r, n: r // n * 640 + r % n),
    (scaled, 6, lambda r, n: (3 * r + n) * 2),
    (by_an_argument, Multiple(1, 1, -3), lambda r, n: r * n),
    (by_arguments_and_numbers, Multiple(2, 12), lambda r, n: -12 * r * n * (n + 1)),
    (by_two_numbers_of_blocks, Multiple(1, 6, -3), lambda r, n: r * 6 * n),
    (by_what_ranges_over_them, None, lambda r, n: r * (n + r)),
    (downwards, -1, lambda r, n: n - r),
    (halved, 3, lambda r, n: r * 6 // 2),
    (clamped, 1, lambda r, n: np.minimum(np.maximum(r, 1), n)),
    (chosen, 1, lambda r, n: np.where(r < n, r, 0)),
    (squared, None, lambda r, n: r * r),
    (everywhere_the_same, 0, lambda r, n: r * 0 + n // 2),
    (widened, 1, lambda r, n: r + n),
]


def module_of(fn: Any, args: tuple[Any, ...], constants: dict[str, Any]) -> Any:
    backend, target = parse_target("cuda:90")
    return bind(fn, args, constants, backend.parse_options(target, {}), target).module


@pytest.mark.parametrize(("index", "step", "numbers"), CASES, ids=lambda x: getattr(x, "__name__", ""))
def test_a_step_is_what_most_neighbours_are_apart(index: Any, step: Step, numbers: Any) -> None:
    x = np.zeros(4096, np.float32)
    module = module_of(kernel, (x, x, 27), {"index": index, "SIZE": SIZE})
    (load,) = (op for op in module.walk() if isinstance(op, LoadOp))
    assert NeighbourSteps(analyze_axes(module)).of(load.ptr) == (step,)
    steps = np.diff(numbers(np.arange(SIZE), 27))
    if isinstance(step, Multiple):
        assert not np.any(steps % step.times)
    elif step is not None:
        assert np.median(steps) == step, steps


@tritonx.jit
def in_two_dims(x, o, rows, n, stride, N: tl.constexpr):
    i = tl.arange(0, N)
    loaded = tl.load(rows + i)
    tile = x + (i // n * stride + i % n)[:, None] + i[None, :] * stride
    turned = tl.trans(tile)
    for _ in range(n):
        value = tl.load(turned)
        tl.store(o + loaded[:, None] * stride + i[None, :] * 2, value)
        turned += stride


def test_dims_of_tiles_that_are_turned_and_go_round_loops() -> None:
    """Of what is loaded nothing is known; of an argument, what divides it."""
    x = np.zeros(4096, np.float32)
    module = module_of(in_two_dims, (x, x, np.zeros(16, np.int32), 5, 40), {"N": 16})
    steps = NeighbourSteps(analyze_axes(module))
    loads = [op for op in module.walk() if isinstance(op, LoadOp)]
    (store,) = (op for op in module.walk() if isinstance(op, StoreOp))
    assert [steps.of(load.ptr) for load in loads] == [(1,), (Multiple(1, 8, -5), 1)]
    assert steps.of(store.ptr) == (None, 2)
