"""Functions of f64 of our own on a GPU without libdevice: the bits of the same functions on the host."""

from __future__ import annotations

import os
from random import Random

import numpy as np
import pytest

import tritonx
import tritonx.language as tl
from tests.gpu.where import draws
from tests.unit.conversion.mathlib.host_functions import applied as on_the_host
from tritonx.backends.nvidia.libdevice import device_library
from tritonx.conversion.mathlib.doubles.table import FUNCTIONS
from tritonx.runtime.arrays import to_device
from tritonx.runtime.driver import get_active

SEED = int(os.environ["TRITONX_SEED"])
COUNT = 256
NAMES = [*sorted(name for name, (_, arity, _) in FUNCTIONS.items() if arity == 1), "atan2", "fmod", "hypot", "pow"]
SPECIAL = [0.0, -0.0, 1.0, -1.0, 5e-324, 1e-310, 1.7e308, np.inf, -np.inf, np.nan, 2.5, 1e22, -1e300, 710.0, 0.5, -0.5]


@tritonx.jit
def one(x_ptr, y_ptr, out_ptr, F: tl.constexpr, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(out_ptr + i, F(tl.load(x_ptr + i)))


@tritonx.jit
def two(x_ptr, y_ptr, out_ptr, F: tl.constexpr, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(out_ptr + i, F(tl.load(x_ptr + i), tl.load(y_ptr + i)))


def numbers(rng: np.random.Generator) -> np.ndarray:
    near, far = rng.uniform(-8, 8, COUNT), np.exp2(rng.uniform(-1070, 1020, COUNT)) * rng.choice([-1, 1], COUNT)
    made = np.where(rng.random(COUNT) < 0.7, near, far)
    made[: len(SPECIAL)] = rng.permutation(SPECIAL)
    return made


@pytest.mark.parametrize("name", Random(SEED).sample(NAMES, min(draws(len(NAMES)) * 2, len(NAMES))))
def test_the_bits_are_those_of_the_host(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(device_library, "_search", lambda given: None)
    assert get_active().backend.name == "cuda"
    rng = np.random.default_rng(SEED)
    x, y = numbers(rng), numbers(rng)
    arrays = [to_device(a) for a in (x, y, np.zeros(COUNT))]
    arity = FUNCTIONS[name][1]
    (one if arity == 1 else two)[(1,)](*arrays, F=getattr(tl.extra.libdevice, name), N=COUNT)
    found, wanted = arrays[2].numpy(), on_the_host(name, *(x, y)[:arity])
    same = (found.view(np.uint64) == wanted.view(np.uint64)) | (np.isnan(found) & np.isnan(wanted))
    assert same.all(), [
        (float(x[k]), float(y[k]), float(found[k]), float(wanted[k])) for k in np.flatnonzero(~same)[:5]
    ]
