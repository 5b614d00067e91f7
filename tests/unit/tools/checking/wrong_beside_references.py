"""Kernels that write several arrays, or arrays in other arguments, beside their references. See wrong_kernels.py."""

# pyright: basic

from __future__ import annotations

import numpy as np

import tritonx
import tritonx.language as tl
from tests.unit.tools.checking.wrong_kernels import floats, wrong
from tritonx.tools.tensor_descriptor import TensorDescriptor


def segments():
    ends = np.array([0, 10, 50, 53], np.int32)
    yield (3,), (floats(53), ends, np.empty(53, np.float32)), {"B": 16}


@wrong("wrong", segments, lambda x, starts, y, B: x * 2)
@tritonx.jit
def from_a_loaded_start(x, starts, y, B: tl.constexpr):
    p = tl.program_id(0)
    end = tl.load(starts + p + 1)
    for i in range(tl.load(starts + p), end, B):
        at = i + tl.arange(0, B)
        tl.store(y + at, tl.load(x + at, mask=at < end, other=0) * 3, mask=at < end)  # <-


def two_outputs():
    yield (1,), (floats(16), np.empty(16, np.float32), np.empty(16, np.float32)), {"B": 16}


@wrong("wrong", two_outputs, lambda x, a, b, B: [x + 1, x * 2])
@tritonx.jit
def second_of_a_list(x, a, b, B: tl.constexpr):
    at = tl.arange(0, B)
    v = tl.load(x + at)
    tl.store(a + at, v + 1)
    tl.store(b + at, v * 3)  # <-


def tuples():
    yield (1,), ((floats(16), floats(16)), (np.empty(16, np.float32), np.empty(16, np.float32))), {"B": 16}


@wrong("wrong", tuples, lambda xs, ys, B: (xs[0] + 1, xs[1] * 7))
@tritonx.jit
def into_a_tuple(xs, ys, B: tl.constexpr):
    at = tl.arange(0, B)
    tl.store(ys[0] + at, tl.load(xs[0] + at) + 1)
    tl.store(ys[1] + at, tl.load(xs[1] + at))  # <-


def descriptors():
    x, y = floats(16, 16), np.empty((16, 16), np.float32)
    yield (1,), (TensorDescriptor.from_tensor(x, [16, 16]), TensorDescriptor.from_tensor(y, [16, 16])), {}


@wrong("wrong", descriptors, lambda x, y: x.base * 7)
@tritonx.jit
def through_a_descriptor(x, y):
    y.store([0, 0], x.load([0, 0]) + 1)  # <-
