"""What the driver does with HIP, as the library of ``hip_stub.c`` saw it. ``test_driver.py`` runs these tests in a
process of their own, whose libamdhip64.so is that library."""

from __future__ import annotations

import ctypes
import gc
import os
import struct
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import tritonx
import tritonx.language as tl
import tritonx.profiler as proton
from tests.unit.backends.amd.shared_kernels import matmul
from tritonx.backends.amd import BACKEND
from tritonx.backends.amd.driver import HipError, library
from tritonx.backends.api import Target
from tritonx.runtime import driver
from tritonx.runtime.arrays import DeviceArray, empty, to_device
from tritonx.runtime.devices.drivers import driver_of
from tritonx.runtime.errors import MixedDevices, NoDevice, OutOfResources, UnsupportedArgument
from tritonx_testing.emulators.amd.emulator import CodeObject

RNG = np.random.default_rng(int(os.environ["TRITONX_SEED"]))

INVALID_VALUE, INVALID_IMAGE, LAUNCH_FAILURE, COOPERATIVE_TOO_LARGE, UNKNOWN = 1, 200, 719, 720, 9999


@tritonx.jit
def scale(x, y, n, factor, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + at, tl.load(x + at, mask=at < n) * factor, mask=at < n)


@tritonx.jit
def mixture(
    x, flag: tl.int1, byte: tl.int8, single, half: tl.float16, wide, brain: tl.bfloat16, y, double: tl.float64,
    N: tl.constexpr,
):  # fmt: skip
    at = tl.arange(0, N)
    total = tl.load(x + at) + byte + single + half.to(tl.float32) + wide + brain.to(tl.float32) + double.to(tl.float32)
    tl.store(y + at, tl.where(flag, total, 0.0))


@tritonx.jit
def positions(x):
    at = tl.program_id(0) + tl.program_id(1) * 10 + tl.program_id(2) * 100
    tl.store(x + at, at)


@tritonx.jit
def nothing():
    pass


class Launch(ctypes.Structure):
    """What the stub has recorded of a launch."""

    _fields_ = (
        ("name", ctypes.c_char_p),
        ("image", ctypes.c_void_p),
        ("grid", ctypes.c_uint * 3),
        ("block", ctypes.c_uint * 3),
        ("shared", ctypes.c_uint),
        ("stream", ctypes.c_void_p),
        ("device", ctypes.c_int),
        ("size", ctypes.c_size_t),
        ("parameters", ctypes.c_char * 256),
        ("cooperative", ctypes.c_int),
    )

    @property
    def bytes(self) -> bytes:
        return ctypes.string_at(ctypes.addressof(self) + Launch.parameters.offset, self.size)


@dataclass(frozen=True)
class Stub:
    """The functions of ``hip_stub.c`` that are for tests."""

    handle: Any

    @property
    def launches(self) -> list[Launch]:
        self.handle.stub_launch.restype = ctypes.POINTER(Launch)
        return [self.handle.stub_launch(i).contents for i in range(self.handle.stub_launched())]

    def fail(self, function: str, error: int) -> None:
        """The next call of ``function`` fails."""
        self.handle.stub_fail(ctypes.c_char_p(function.encode()), error)

    def device_of(self, address: int) -> int:
        return self.handle.stub_device_of(ctypes.c_void_p(address))


@pytest.fixture(scope="module")
def stub() -> Stub:
    library()
    return Stub(ctypes.CDLL(os.environ["HIP_STUB"]))


@pytest.fixture
def own(stub: Stub) -> Iterator[Any]:
    driver.set_active("hip")
    yield driver_of(BACKEND)
    assert library().hipGetDevice() == (0, 0), "the thread's device is as it was"
    driver.reset_active()


def numbers(n: int, device: int | None = None) -> tuple[DeviceArray, DeviceArray]:
    x = RNG.standard_normal(n, dtype=np.float32)
    return to_device(x, device=device), to_device(np.zeros(n, np.float32), device=device)


def in_a_thread(run: Callable[[], object]) -> None:
    problems: list[BaseException] = []

    def guarded() -> None:
        try:
            run()
        except BaseException as problem:
            problems.append(problem)

    thread = threading.Thread(target=guarded)
    thread.start()
    thread.join()
    if problems:
        raise problems[0]


# ---- devices


def test_devices(own: Any) -> None:
    assert own.device_count() == 2
    assert own.current_device() == 0
    assert own.current_target() == Target("hip", "gfx942", 64)
    assert own.current_target(1) == Target("hip", "gfx1100", 32)
    assert own.properties(0) == {
        "multiprocessor_count": 304, "max_shared_mem": 65536, "max_num_regs": 65536, "max_threads_per_block": 1024,
        "warpSize": 64, "sm_clock_rate": 2100000, "mem_clock_rate": 1300000, "mem_bus_width": 8192,
        "l2_cache_size": 4 << 20,
    }  # fmt: skip
    assert own.properties(1)["multiprocessor_count"] == 96


def test_a_device_that_is_not_there(own: Any) -> None:
    with pytest.raises(NoDevice, match="there is no device 2"):
        empty(4, device=2)
    with pytest.raises(HipError, match="hipErrorInvalidDevice"):
        own.properties(2)


def test_a_device_that_is_no_target(own: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    own.properties(0)
    monkeypatch.setitem(own._names, 0, "gfx803")
    with pytest.raises(NoDevice, match=r"HIP's device 0 .*'gfx803'; known are hip:gfx90a"):
        own.current_target(0)


# ---- memory


@pytest.mark.parametrize("device", [0, 1])
def test_memory(own: Any, stub: Stub, device: int) -> None:
    x = np.arange(1000, dtype=np.int32)
    array = to_device(x, device=device)
    assert stub.device_of(array.address) == device
    np.testing.assert_array_equal(array.numpy(), x)
    fixed = x[::-1].copy()
    fixed.flags.writeable = False
    np.testing.assert_array_equal(array.copy_from(fixed).numpy(), fixed)
    address = array.address
    del array
    gc.collect()
    assert stub.device_of(address) == -1, "freed"


def test_no_memory_left(own: Any, stub: Stub) -> None:
    with pytest.raises(MemoryError, match=f"device 1 has no {1 << 34} bytes left"):
        empty(1 << 32, device=1)
    assert stub.handle.stub_last_error() == 0, "PyTorch asks for the last error after its own launches"


def test_a_wrong_address(own: Any) -> None:
    with pytest.raises(HipError, match="hipMemcpy failed with hipErrorInvalidValue: an argument is invalid"):
        own.copy_to_host(memoryview(bytearray(4)), 256, 0)
    with pytest.raises(HipError, match="hipFree"):
        own.free(256, 0)


# ---- launches


def explicit_arguments(binary: bytes, name: str) -> list[tuple[int, int]]:
    """(offset, size) of what a launch passes, by the code object's own notes."""
    arguments = CodeObject(binary, name).kernel[".args"]
    return [(a[".offset"], a[".size"]) for a in arguments if not a[".value_kind"].startswith("hidden")]


def test_a_launch(own: Any, stub: Stub) -> None:
    x, y = numbers(1000)
    made = scale[(8,)](x, y, 1000, 2.5, BLOCK=128)
    launch = stub.launches[-1]
    assert launch.name == b"scale"
    assert ctypes.string_at(launch.image, 4) == b"\x7fELF"
    assert (list(launch.grid), list(launch.block)) == ([8, 1, 1], [256, 1, 1])
    assert (launch.shared, launch.stream, launch.device) == (0, None, 0)
    assert launch.bytes == struct.pack("<QQif", x.address, y.address, 1000, 2.5)
    assert explicit_arguments(made.asm["hsaco"], "scale") == [(0, 8), (8, 8), (16, 4), (20, 4)]


def test_parameters_of_many_types(own: Any, stub: Stub) -> None:
    x, y = numbers(64)
    brain = ml_dtypes.bfloat16(3.140625)
    made = mixture[(1,)](x, True, -5, 7.25, 1.5, 1 << 40, float(brain), y, 1e300, N=64)
    block = stub.launches[-1].bytes
    at = explicit_arguments(made.asm["hsaco"], "mixture")
    assert [size for _, size in at] == [8, 1, 1, 4, 2, 8, 2, 8, 8]
    assert len(block) == at[-1][0] + at[-1][1]
    found = [block[offset : offset + size] for offset, size in at]
    assert found == [
        x.address.to_bytes(8, "little"), b"\x01", b"\xfb", np.float32(7.25).tobytes(), np.float16(1.5).tobytes(),
        (1 << 40).to_bytes(8, "little"), brain.tobytes(), y.address.to_bytes(8, "little"), np.float64(1e300).tobytes(),
    ]  # fmt: skip


def test_a_cooperative_launch(own: Any, stub: Stub) -> None:
    """Each parameter by its own address: HIP takes no block here."""
    x, y = numbers(64)
    sizes = (ctypes.c_size_t * 9)(8, 1, 1, 4, 2, 8, 2, 8, 8)
    stub.handle.stub_parameters(9, sizes)
    arguments = (x, True, -5, 7.25, 1.5, 1 << 40, 3.0, y, 1e300)
    mixture[(3, 2)](*arguments, N=64, launch_cooperative_grid=True)
    launch = stub.launches[-1]
    assert launch.cooperative and list(launch.grid) == [3, 2, 1] and launch.shared == 0
    assert launch.bytes == struct.pack("<Q?bfeqHQd", x.address, True, -5, 7.25, 1.5, 1 << 40, 0x4040, y.address, 1e300)
    mixture[(1,)](*arguments, N=64)
    assert not stub.launches[-1].cooperative


def test_a_cooperative_grid_that_is_too_large(own: Any, stub: Stub) -> None:
    x, y = numbers(64)
    stub.handle.stub_parameters(4, (ctypes.c_size_t * 4)(8, 8, 4, 4))
    stub.fail("hipModuleLaunchCooperativeKernel", COOPERATIVE_TOO_LARGE)
    with pytest.raises(HipError, match="do not all run at once"):
        scale[(8,)](x, y, 64, 2.5, BLOCK=64, launch_cooperative_grid=True)


def test_a_kernel_without_parameters(own: Any, stub: Stub) -> None:
    nothing[(3,)]()
    assert stub.launches[-1].bytes == b""


def test_a_grid_of_three_extents(own: Any, stub: Stub) -> None:
    positions[(2, 3, 4)](to_device(np.zeros(1000, np.int32)))
    assert list(stub.launches[-1].grid) == [2, 3, 4]


def test_an_empty_grid_is_no_launch(own: Any, stub: Stub) -> None:
    before = len(stub.launches)
    nothing[(0,)]()
    assert len(stub.launches) == before


def test_a_stream(own: Any, stub: Stub, monkeypatch: pytest.MonkeyPatch) -> None:
    x, y = numbers(64)
    monkeypatch.setattr(type(own), "current_stream", lambda self, device: 0x7F00DEADBEE0)
    tritonx.jit(scale.fn)[(1,)](x, y, 64, 2.5, BLOCK=64)
    assert stub.launches[-1].stream == 0x7F00DEADBEE0


def test_arguments_decide_the_device(own: Any, stub: Stub) -> None:
    for _ in range(3):
        for device, wave in ((0, 64), (1, 32)):
            x, y = numbers(64, device)
            scale[(1,)](x, y, 64, 2.5, BLOCK=64)
            launch = stub.launches[-1]
            assert (launch.device, launch.block[0]) == (device, 4 * wave)
    with pytest.raises(MixedDevices):
        scale[(1,)](numbers(64, 0)[0], numbers(64, 1)[1], 64, 2.5, BLOCK=64)


def test_another_thread(own: Any, stub: Stub) -> None:
    """Its current device is 0 at first, whatever another thread has chosen."""
    first, second = numbers(64, 0), numbers(64, 1)

    def work() -> None:
        for device, arrays in enumerate((first, second)):
            scale[(1,)](*arrays, 64, float(device + 3), BLOCK=64)
            assert stub.launches[-1].device == device
            assert struct.unpack_from("<f", stub.launches[-1].bytes, 20) == (device + 3,)
        assert library().hipGetDevice() == (0, 0)

    in_a_thread(work)


def test_a_launch_asks_for_the_device_and_nothing_else(own: Any, stub: Stub) -> None:
    x, y = numbers(64)
    scale[(1,)](x, y, 64, 2.5, BLOCK=64)
    counters = stub.handle.stub_calls_of_set_device, stub.handle.stub_calls_of_properties
    before = [counter() for counter in counters]
    for _ in range(10):
        scale[(1,)](x, y, 64, 2.5, BLOCK=64)
    assert [counter() for counter in counters] == before


# ---- what a launch may not do


def test_a_grid_that_is_too_large(own: Any, stub: Stub) -> None:
    before = len(stub.launches)
    with pytest.raises(UnsupportedArgument, match=r"grid \(16777216, 1, 1\) is too large: .* 2\^32 threads in x"):
        nothing[(1 << 24,)]()
    nothing[(1 << 24) - 1, 1, 1]()
    assert len(stub.launches) == before + 1


def test_too_much_lds(own: Any) -> None:
    a, b, c = (to_device(np.zeros((64, 64), np.float16), device=1) for _ in range(3))
    with pytest.raises(OutOfResources, match=r"shared memory, Required: \d+, Hardware limit: 1024"):
        matmul[(1,)](a, b, c, M=64, N=64, K=64)


def test_too_many_threads(own: Any) -> None:
    x, y = numbers(1024, device=1)
    with pytest.raises(OutOfResources, match=r"threads, Required: 1024, Hardware limit: 512\. Use fewer warps"):
        scale[(1,)](x, y, 1024, 2.5, BLOCK=1024, num_warps=32)


def test_a_host_array_is_refused(own: Any) -> None:
    x, y = numbers(64)
    with pytest.raises(UnsupportedArgument, match="'x' lives in host memory"):
        scale[(1,)](x.numpy(), y, 64, 2.5, BLOCK=64)


def test_a_launch_that_fails(own: Any, stub: Stub) -> None:
    x, y = numbers(64)
    stub.fail("hipModuleLaunchKernel", INVALID_VALUE)
    with pytest.raises(HipError, match="hipModuleLaunchKernel failed with hipErrorInvalidValue"):
        scale[(1,)](x, y, 64, 2.5, BLOCK=64)
    assert stub.handle.stub_last_error() == 0
    scale[(1,)](x, y, 64, 2.5, BLOCK=64)


def test_a_kernel_that_failed(own: Any, stub: Stub) -> None:
    x, _ = numbers(64)
    stub.fail("hipDeviceSynchronize", LAUNCH_FAILURE)
    with pytest.raises(HipError, match=r"hipErrorLaunchFailure: an earlier kernel failed \(run with TRITONX_DEBUG=1"):
        x.numpy()


def test_an_error_without_a_name(own: Any, stub: Stub) -> None:
    stub.fail("hipDeviceSynchronize", UNKNOWN)
    with pytest.raises(HipError, match="hipDeviceSynchronize failed with 9999"):
        own.synchronize()


def test_a_code_object_that_is_none(own: Any, stub: Stub) -> None:
    x, y = numbers(64)
    kernel = tritonx.jit(scale.fn)  # in a block that no other case has: one from the cache would be compiled again
    stub.fail("hipModuleLoadData", INVALID_IMAGE)
    with pytest.raises(HipError, match="hipModuleLoadData failed with hipErrorInvalidImage: the code object"):
        kernel[(1,)](x, y, 64, 2.5, BLOCK=2048)


# ---- time


@pytest.mark.parametrize("flush", [True, False])
def test_time(own: Any, stub: Stub, flush: bool) -> None:
    """A launch takes the stub 1 ms, a memset 100 ms."""
    x, y = numbers(64)
    assert own.time(lambda: scale[(1,)](x, y, 64, 2.5, BLOCK=64), 5, flush_cache=flush) == [1.0] * 5
    assert stub.handle.stub_events() == 0


def test_events_are_freed_where_a_run_fails(own: Any, stub: Stub) -> None:
    with pytest.raises(ZeroDivisionError):
        own.time(lambda: 1 // 0, 5)
    stub.fail("hipEventCreate", INVALID_VALUE)
    with pytest.raises(HipError, match="hipEventCreate"):
        own.time(lambda: None, 5)
    assert stub.handle.stub_events() == 0


def test_launches_are_timed_while_they_are_profiled(own: Any, stub: Stub, tmp_path: Path) -> None:
    """A launch takes the stub 1 ms."""
    x, y = numbers(64)
    session = proton.start(str(tmp_path / "profile"))
    for _ in range(3):
        scale[(1,)](x, y, 64, 2.5, BLOCK=64)
    [kernel] = proton.data.get(session)[0]["children"]
    assert kernel["metrics"] == {"count": 3, "time (ns)": 3_000_000, "device_id": "0", "device_type": "HIP"}
    proton.finalize(session)
    assert stub.handle.stub_events() == 0


# ---- unloading


def test_a_module_is_unloaded_when_the_next_one_is_loaded(own: Any, stub: Stub) -> None:
    """Unless it was launched on another stream than the default one, or something runs."""
    count, busy = (ctypes.c_int.in_dll(stub.handle, name) for name in ("unloaded_modules", "busy"))
    x, y = numbers(64)

    def launched(stream: int = 0) -> Any:
        kernel = tritonx.jit(scale.fn)
        kernel[(1,)](x, y, 64, 2.5, BLOCK=64).load()[1](1, 1, 1, stream, x.data_ptr(), y.data_ptr(), 64, 2.5)
        return kernel

    gc.collect()
    own.unused.found.clear()
    before, kept = count.value, [launched()]
    busy.value = 1
    kept[0] = launched()
    gc.collect()
    kept.append(launched())
    assert count.value == before
    busy.value = 0
    kept.append(launched(stream=0x55))
    assert count.value == before + 1
    kept.clear()
    gc.collect()
    launched()
    assert count.value == before + 3
