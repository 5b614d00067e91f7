"""Launching on a GPU: what a launch may not do, threads without a context, the compiled launcher, several devices."""

from __future__ import annotations

import os
import sys
import threading
from typing import Any

import numpy as np
import pytest

import tritonx
import tritonx.language as tl
from tests.gpu.where import EMULATED
from tritonx.runtime import driver
from tritonx.runtime.arrays import to_device
from tritonx.runtime.devices.drivers import driver_of
from tritonx.runtime.errors import MixedDevices, OutOfResources, ReadOnlyArgument, TritonError, UnsupportedArgument
from tritonx.tools.tensor_descriptor import TensorDescriptor

RNG = np.random.default_rng(int(os.environ["TRITONX_SEED"]))


@tritonx.jit
def scale(x, y, n, factor, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + at, tl.load(x + at, mask=at < n) * factor, mask=at < n)


@tritonx.jit
def look_up(table, index, out, N: tl.constexpr, COUNT: tl.constexpr):
    i = tl.arange(0, COUNT)
    tl.store(out + i, tl.gather(tl.load(table + tl.arange(0, N)), tl.load(index + i), 0))


def numbers(n: int) -> tuple[np.ndarray, Any, Any]:
    x = RNG.standard_normal(n, dtype=np.float32)
    return x, to_device(x), to_device(np.full(n, np.nan, np.float32))


def test_many_launches() -> None:
    x, dx, dy = numbers(1000)
    for i in range(100):
        scale[(8,)](dx, dy, 1000, float(i), BLOCK=128)
        if i in (0, 31, 32, 33, 99):
            np.testing.assert_array_equal(dy.numpy(), x * np.float32(i))


def test_no_launch_after_the_first_loads_or_compiles_anything() -> None:
    _, dx, dy = numbers(1000)
    events: list[str] = []
    watching = [False]
    sys.addaudithook(lambda event, _: events.append(event) if watching[0] else None)  # hooks stay: so this one rests
    scale[(8,)](dx, dy, 1000, 1.0, BLOCK=128)
    watching[0] = True
    for i in range(200):
        scale[(8,)](dx, dy, 1000, float(i), BLOCK=128)
    watching[0] = False
    assert not {"import", "open", "compile", "exec", "mmap.__new__", "ctypes.dlopen"} & set(events), set(events)


def test_a_thread_without_a_context() -> None:
    x, dx, dy = numbers(1000)
    for _ in range(40):
        scale[(8,)](dx, dy, 1000, 2.0, BLOCK=128)
    problems: list[BaseException] = []

    def work() -> None:
        try:
            scale[(8,)](dx, dy, 1000, 3.0, BLOCK=128)
        except BaseException as problem:
            problems.append(problem)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert not problems
    np.testing.assert_array_equal(dy.numpy(), x * np.float32(3))


@pytest.mark.real_gpu
def test_a_host_array_is_refused() -> None:
    x, _, dy = numbers(64)
    with pytest.raises(UnsupportedArgument, match="'x' lives in host memory"):
        scale[(1,)](x, dy, 64, 2.0, BLOCK=64)


def test_too_much_shared_memory_is_refused() -> None:
    table, index, out = (to_device(np.zeros(n, t)) for n, t in ((65536, "f4"), (64, "i4"), (64, "f4")))
    with pytest.raises(OutOfResources, match=r"shared memory.* 262144 bytes for tt\.gather"):
        look_up[(1,)](table, index, out, N=65536, COUNT=64, num_warps=32)


class Fixed:
    """The memory of an array as another library gives it away that forbids to write there."""

    def __init__(self, array: Any) -> None:
        self.array, self.shape, self.dtype = array, array.shape, array.dtype

    @property
    def __cuda_array_interface__(self) -> dict[str, object]:
        data = (self.array.data_ptr(), True)
        return {"shape": self.shape, "typestr": "<f4", "data": data, "version": 3, "strides": None}


class OfTheHost(np.ndarray[Any, Any]):
    """An array that says where it is as tensors do: of it the emulator makes a tensor map."""

    def data_ptr(self) -> int:
        return self.ctypes.data


def fixed(array: Any) -> Any:
    """The same memory, which may not be written to; on the emulator an array is NumPy's."""
    if EMULATED is None:
        return Fixed(array)
    view = array.numpy().view(OfTheHost)
    view.flags.writeable = False
    return view


@tritonx.jit
def copy_described(x, y):
    y.store([0], x.load([0]))


def test_arrays_that_may_not_be_written_to() -> None:
    x, dx, dy = numbers(1000)
    for _ in range(2):
        scale[(8,)](fixed(dx), dy, 1000, 2.0, BLOCK=128)
        np.testing.assert_array_equal(dy.numpy(), x * np.float32(2))
        with pytest.raises(ReadOnlyArgument, match="scale stores through its argument y"):
            scale[(8,)](dx, fixed(dy), 1000, 3.0, BLOCK=128)
        np.testing.assert_array_equal(dy.numpy(), x * np.float32(2))
    described = [TensorDescriptor(each, [1000], [1], [256]) for each in (fixed(dx), dy, fixed(dy))]
    copy_described[(1,)](described[0], described[1])
    np.testing.assert_array_equal(dy.numpy()[:256], x[:256])
    with pytest.raises(ReadOnlyArgument, match="copy_described stores through its argument y"):
        copy_described[(1,)](described[0], described[2])


def test_too_many_threads_are_refused() -> None:
    _, dx, dy = numbers(64)
    with pytest.raises((TritonError, ValueError), match="num_warps"):
        scale[(1,)](dx, dy, 64, 2.0, BLOCK=64, num_warps=64)


def test_a_grid_that_is_too_large_is_an_error_and_nothing_else() -> None:
    x, dx, dy = numbers(64)
    with pytest.raises((TritonError, ValueError)):
        scale[(1, 1 << 20)](dx, dy, 64, 2.0, BLOCK=64)
    scale[(1,)](dx, dy, 64, 2.0, BLOCK=64)
    np.testing.assert_array_equal(dy.numpy(), x * 2)


def test_arguments_decide_the_device() -> None:
    own = driver_of(driver.get_active().backend)
    if own.device_count() < 2:
        pytest.skip("one device")
    x = RNG.standard_normal(1000, dtype=np.float32)
    for _ in range(40):
        for device in (0, 1):
            dx = to_device(x, device=device)
            dy = to_device(np.full(1000, np.nan, np.float32), device=device)
            scale[(8,)](dx, dy, 1000, 5.0, BLOCK=128)
            np.testing.assert_array_equal(dy.numpy(), x * np.float32(5))
    with pytest.raises(MixedDevices):
        scale[(8,)](to_device(x, device=0), to_device(x, device=1), 1000, 5.0, BLOCK=128)


@pytest.mark.real_gpu
def test_code_for_an_earlier_architecture() -> None:
    """What ``arch`` names is compiled, and assembled for the device that is here."""
    x, source, out = numbers(1000)
    kernel: Any = scale
    compiled = kernel[(8,)](source, out, 1000, 3.0, BLOCK=128, arch="sm80")
    assert ".target sm_80" in compiled.asm["ptx"]
    np.testing.assert_array_equal(out.numpy(), x * np.float32(3))
