"""A launch formats no argument: the text of an array on a device waits for the device, and takes milliseconds."""

from __future__ import annotations

from typing import Any, NamedTuple, NoReturn

import numpy as np
import pytest

import tritonx
import tritonx.language as tl
from tritonx.tools.tensor_descriptor import TensorDescriptor


class Formatted(Exception):
    pass


class Silent(np.ndarray):
    """An array that may not be turned into text."""

    def __repr__(self) -> NoReturn:
        raise Formatted

    __str__ = __repr__

    def __format__(self, spec: str) -> NoReturn:
        raise Formatted


def silent(*shape: int) -> Any:
    return np.zeros(shape, np.float32).view(Silent)


class Pair(NamedTuple):
    x: Any
    y: Any


@tritonx.jit
def through_pointers(x, y, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + at, tl.load(x + at, mask=at < n) + 1, mask=at < n)


@tritonx.jit
def through_pair(pair, n, BLOCK: tl.constexpr):
    through_pointers(pair.x, pair.y, n, BLOCK)


@tritonx.jit
def through_descriptors(x, y, BLOCK: tl.constexpr):
    row = tl.program_id(0) * BLOCK
    y.store([row, 0], x.load([row, 0]) + 1)


def launch_pointers(x: Any, y: Any) -> None:
    through_pointers[(x.size // 32,)](x, y, x.size, BLOCK=32)


def launch_keywords(x: Any, y: Any) -> None:
    through_pointers[lambda meta: (tritonx.cdiv(meta["n"], meta["BLOCK"]),)](BLOCK=32, n=x.size, y=y, x=x)


def launch_pair(x: Any, y: Any) -> None:
    through_pair[(x.size // 32,)](Pair(x, y), x.size, 32)


def launch_descriptors(x: Any, y: Any) -> None:
    both = [TensorDescriptor.from_tensor(each, [8, 16]) for each in (x, y)]
    through_descriptors[(x.shape[0] // 8,)](*both, BLOCK=8)


def launch_computed(x: Any, y: Any) -> None:
    computed = tritonx.heuristics({"BLOCK": lambda args: 2 * args["x"].shape[1]})(through_pointers)
    computed[(x.size // 32,)](x, y, x.size)


def launch_tuned(x: Any, y: Any) -> None:
    configs = [tritonx.Config({"BLOCK": block}) for block in (16, 32)]

    def measured(call: Any, quantiles: Any) -> list[float]:
        call()
        return [1.0, 1.0, 1.0]

    tuned = tritonx.autotune(configs, key=["n"], do_bench=measured)
    tuned(through_pointers)[lambda meta: (tritonx.cdiv(x.size, meta["BLOCK"]),)](x, y, x.size)


@pytest.mark.parametrize(
    "launch",
    [launch_pointers, launch_keywords, launch_pair, launch_descriptors, launch_computed, launch_tuned],
    ids=lambda launch: launch.__name__,
)
def test_launches_format_no_argument(launch: Any) -> None:
    for _ in range(2):  # the one that compiles, and the one that finds the kernel
        x, y = silent(64, 16), silent(64, 16)
        launch(x, y)
        assert (np.asarray(y) == 1).all()


def test_the_text_of_a_mistake_may_show_the_array() -> None:
    with pytest.raises(ValueError, match="rank mismatch"):
        TensorDescriptor(np.zeros((8, 16), np.float32), [8, 16], [16, 1], [8])
