"""The launch path without a GPU: a driver of two functions records what it is called with."""

from __future__ import annotations

import ctypes
import math
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest

from tritonx.backends.api import KernelImage, Parameter, Target
from tritonx.backends.nvidia.launcher import BUILTIN_AFTER, GRID_LIMITS, Launcher, can_build
from tritonx.runtime.errors import TritonError, UnsupportedArgument

FUNCTION, CONTEXT, OTHER = 0x1230, 0x4560, 0x7890
SHAPES = {"i32": ctypes.c_int32, "i64": ctypes.c_int64, "u8": ctypes.c_uint8, "fp32": ctypes.c_float,
          "*fp32": ctypes.c_uint64, "bf16": ctypes.c_uint16, "fp16": ctypes.c_uint16}  # fmt: skip
LAUNCH = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, *[ctypes.c_uint] * 7, ctypes.c_void_p, ctypes.c_void_p,
                          ctypes.c_void_p)  # fmt: skip
CURRENT = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(ctypes.c_void_p))


class RecordingDriver:
    """``launches`` has (shape, stream, values); a launch outside CONTEXT, or the next one after ``fail``, fails."""

    def __init__(self, types: list[str]) -> None:
        self.types = types
        self.context: int | None = CONTEXT
        self.code = 0
        self.launches: list[tuple[tuple[int, ...], int | None, list[Any]]] = []
        self.wrong_context = 0
        self.cuLaunchKernel = LAUNCH(self._launch)
        self.cuCtxGetCurrent = CURRENT(self._current)

    def _current(self, out: Any) -> int:
        out[0] = self.context
        return 0

    def _launch(self, function: int, *rest: Any) -> int:
        *shape, stream, block, extra = rest
        assert function == FUNCTION
        assert extra is None
        if self.context != CONTEXT:
            self.wrong_context += 1
            return 201
        cells = (ctypes.c_void_p * len(self.types)).from_address(block)
        values = [SHAPES[t].from_address(cell or 0).value for t, cell in zip(self.types, cells, strict=True)]
        self.launches.append((tuple(shape), stream, values))
        return self.code

    @contextmanager
    def on_device(self) -> Any:
        before, self.context = self.context, CONTEXT
        yield
        self.context = before


class Failed(TritonError):
    pass


def check(code: int, call: str) -> None:
    if code:
        raise Failed(f"{call}: {code}")


def launcher_of(types: list[str]) -> tuple[RecordingDriver, Launcher]:
    driver = RecordingDriver(types)
    parameters = tuple(Parameter(f"p{i}", t) for i, t in enumerate(types))
    image = KernelImage("kernel", b"", parameters, {"num_warps": 4, "shared": 512}, Target("cuda", 90, 32))
    cuda: Any = driver
    return driver, Launcher(cuda, image, FUNCTION, CONTEXT, check, driver.on_device)


class Array:
    def __init__(self, address: int) -> None:
        self.address = address

    def data_ptr(self) -> int:
        return self.address


BOTH = pytest.mark.parametrize("warm", [0, BUILTIN_AFTER], ids=["first path", "builtin"])


def warmed(types: list[str], args: tuple[Any, ...], times: int) -> tuple[RecordingDriver, Launcher]:
    driver, launcher = launcher_of(types)
    for _ in range(times):
        launcher(1, 1, 1, 0, *args)
    assert (launcher.builtin is not None) == (times >= BUILTIN_AFTER and can_build())
    driver.launches.clear()
    return driver, launcher


@BOTH
def test_arguments_reach_the_driver(warm: int) -> None:
    types = ["*fp32", "*fp32", "*fp32", "i32", "i64", "u8", "fp32", "bf16"]
    args = (Array(1 << 40), 1 << 41, None, -5, -(1 << 62), 200, 0.1, 1.0)
    driver, launcher = warmed(types, args, warm)
    launcher(7, 8, 9, 99, *args)
    (shape, stream, values) = driver.launches.pop()
    assert shape == (7, 8, 9, 128, 1, 1, 512)
    assert stream == 99
    assert values == [1 << 40, 1 << 41, 0, -5, -(1 << 62), 200, ctypes.c_float(0.1).value, 0x3F80]


@BOTH
@pytest.mark.parametrize(
    "value", [1 / 3, -1.00390625, 1.01171875, 3.3e38, 65519.0, 1e-7, 0.0, float("inf"), float("nan")]
)
def test_halves_are_rounded_to_nearest_even(warm: int, value: float) -> None:
    driver, launcher = warmed(["bf16", "fp16"], (1.0, 1.0), warm)
    fits = abs(value) < 65520 or math.isinf(value) or math.isnan(value)
    launcher(1, 1, 1, 0, value, value if fits else 0.0)
    bfloat, half = (np.uint16(v) for v in driver.launches[0][2])
    single = np.array([bfloat.astype(np.uint32) << 16], np.uint32).view(np.float32)[0]
    if math.isnan(value):
        assert np.isnan(single) and np.isnan(half.view(np.float16))
    elif math.isinf(value):
        assert np.isinf(single) and np.isinf(half.view(np.float16))
    else:
        steps = np.array([int(bfloat) - 1, int(bfloat), int(bfloat) + 1], np.int64).astype(np.uint32) << 16
        distances = abs(steps.view(np.float32).astype(np.float64) - np.float64(np.float32(value)))
        assert distances[1] == distances[~np.isnan(distances)].min()
        assert half.view(np.float16) == np.float16(value if fits else 0.0)


@BOTH
@pytest.mark.parametrize("context", [None, OTHER])
def test_another_context_is_changed_before_the_launch(warm: int, context: int | None) -> None:
    driver, launcher = warmed(["i32"], (1,), warm)
    driver.context = context
    launcher(2, 1, 1, 0, 3)
    assert driver.launches == [((2, 1, 1, 128, 1, 1, 512), None, [3])]
    assert driver.context == context
    assert not driver.wrong_context


@BOTH
def test_largest_grids(warm: int) -> None:
    driver, launcher = warmed(["i32"], (1,), warm)
    launcher(*GRID_LIMITS, 0, 3)
    assert driver.launches[0][0][:3] == GRID_LIMITS
    for axis, limit in enumerate(GRID_LIMITS):
        grid = [1, 1, 1]
        grid[axis] = limit + 1
        with pytest.raises(UnsupportedArgument, match=rf"the grid \({grid[0]}, {grid[1]}, {grid[2]}\) is too large"):
            launcher(*grid, 0, 3)
    assert len(driver.launches) == 1


@BOTH
def test_a_failed_launch_is_raised(warm: int) -> None:
    driver, launcher = warmed(["i32"], (1,), warm)
    driver.code = 701
    with pytest.raises(Failed, match="cuLaunchKernel: 701"):
        launcher(1, 1, 1, 0, 3)


@BOTH
def test_an_argument_of_another_kind_is_an_error(warm: int) -> None:
    driver, launcher = warmed(["*fp32", "fp32"], (0, 1.0), warm)
    with pytest.raises(Exception, match=r"real number|float"):
        launcher(1, 1, 1, 0, 0, "1.0")
    with pytest.raises((TypeError, AttributeError)):
        launcher(1, 1, 1, 0, object(), 1.0)
    assert not driver.launches
