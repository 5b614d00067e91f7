"""The CUDA driver's devices, contexts, memory and launches against a libcuda that behaves as the driver API says, on
the host's memory: two devices, a context for each, one current in the thread."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Callable
from random import Random
from typing import Any

import numpy as np
import pytest

from tritonx.backends.api import KernelImage, Parameter, Target
from tritonx.backends.nvidia import driver
from tritonx.backends.nvidia.launch.launcher import Launcher, launch_attributes
from tritonx.backends.nvidia.targets import GRID_LIMITS
from tritonx.runtime.errors import NoDevice, StartedBeforeFork, UnsupportedArgument
from tritonx_testing.emulators.simulated_cuda import ATTRIBUTES, NAMED, SimulatedCuda

SEED = int(os.environ["TRITONX_SEED"])


@pytest.fixture
def cuda(monkeypatch: pytest.MonkeyPatch) -> SimulatedCuda:
    simulated = SimulatedCuda()
    monkeypatch.setattr(driver, "library", lambda: simulated)
    return simulated


@pytest.fixture
def own(cuda: SimulatedCuda) -> driver.NvidiaDriver:
    return driver.NvidiaDriver()


def test_the_device_of_a_thread(cuda: SimulatedCuda, own: driver.NvidiaDriver) -> None:
    """That of the current context; 0 where there is none, or it cannot be told."""
    assert own.device_count() == 2
    assert own.thread_device() == own.current_device() == 0
    cuda.current = 501
    assert own.thread_device() == own.current_device() == 1
    cuda.fails["cuCtxGetCurrent"] = 4
    assert own.thread_device() == 0
    del cuda.fails["cuCtxGetCurrent"]
    cuda.fails["cuCtxGetDevice"] = 4
    with pytest.raises(driver.CudaError, match="cuCtxGetDevice"):
        own.thread_device()


def test_properties_and_the_target(cuda: SimulatedCuda, own: driver.NvidiaDriver) -> None:
    for device in (0, 1):
        found = own.properties(device)
        assert found == {n: ATTRIBUTES[a] + (device if a == 16 else 0) for n, a in NAMED.items()}
        assert own.current_target(device) == Target("cuda", 90, 32)
    asked = cuda.calls.count("cuDeviceGetAttribute")
    own.properties(1)
    assert cuda.calls.count("cuDeviceGetAttribute") == asked == 2 * len(NAMED)
    cuda.current = 501
    assert own.current_target() == Target("cuda", 90, 32)
    for call in ("cuDeviceGet", "cuDeviceGetAttribute"):
        cuda.fails = {call: 1}
        with pytest.raises(driver.CudaError, match=call):
            driver.NvidiaDriver().properties(0)


def test_the_target_has_the_minor_version(cuda: SimulatedCuda, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(ATTRIBUTES, 75, 8)
    monkeypatch.setitem(ATTRIBUTES, 76, 6)
    assert driver.NvidiaDriver().current_target(0).arch == 86


def test_contexts(cuda: SimulatedCuda, own: driver.NvidiaDriver) -> None:
    assert own.context(1) == 501 and own.context(0) == 500 and own.context(1) == 501
    assert cuda.calls.count("cuDevicePrimaryCtxRetain") == 2
    own.activate(1)
    assert cuda.current == 501
    with own.on(1):
        assert cuda.current == 501
    with own.on(0):
        assert cuda.current == 500
    assert cuda.current == 501
    with pytest.raises(ZeroDivisionError), own.on(0):
        raise ZeroDivisionError
    assert cuda.current == 501
    cuda.current = 401  # another context of that device stays
    with own.on(1):
        assert cuda.current == 401
    cuda.current = None
    with own.on(1):
        assert cuda.current == 501
    assert cuda.current == 501, "the primary one stays where there was none"


@pytest.mark.parametrize("call", ["cuDeviceGet", "cuDevicePrimaryCtxRetain", "cuCtxSetCurrent", "cuCtxGetCurrent"])
def test_contexts_that_cannot_be_had(cuda: SimulatedCuda, own: driver.NvidiaDriver, call: str) -> None:
    cuda.fails[call] = 101
    with pytest.raises(driver.CudaError, match=call), own.on(1):
        pass


def test_coming_back_that_fails(cuda: SimulatedCuda, own: driver.NvidiaDriver) -> None:
    own.activate(1)
    with pytest.raises(driver.CudaError, match="cuCtxSetCurrent"), own.on(0):
        cuda.fails["cuCtxSetCurrent"] = 1


@pytest.mark.parametrize("readonly", [False, True])
def test_bytes_go_there_and_back(cuda: SimulatedCuda, own: driver.NvidiaDriver, readonly: bool) -> None:
    random = np.random.default_rng(SEED)
    data = random.integers(0, 256, 1001).astype(np.uint8)
    data.flags.writeable = not readonly
    address = own.allocate(data.nbytes, 1)
    own.copy_to_device(address, memoryview(data), 1)
    assert bytes(cuda.memory[address])[: data.nbytes] == data.tobytes(), SEED
    back = np.zeros(1001, np.uint8)
    own.copy_to_host(memoryview(back), address, 1)
    assert (back == data).all(), SEED
    own.free(address, 1)
    assert not cuda.memory
    for name in ("cuMemAlloc_v2", "cuMemcpyHtoD_v2", "cuMemcpyDtoH_v2", "cuMemFree_v2"):
        assert (name, 501) in cuda.where, "in a context of the device"


def test_no_bytes_are_one(cuda: SimulatedCuda, own: driver.NvidiaDriver) -> None:
    assert len(cuda.memory[own.allocate(0, 0)]) == 1


def test_memory_that_fails(cuda: SimulatedCuda, own: driver.NvidiaDriver) -> None:
    address, view = own.allocate(4, 0), memoryview(bytearray(4))
    cuda.fails["cuMemAlloc_v2"] = 2
    with pytest.raises(MemoryError, match="no 4096 bytes"):
        own.allocate(4096, 0)
    tried: dict[str, Callable[[], Any]] = {
        "cuMemAlloc": lambda: own.allocate(4, 0), "cuMemFree": lambda: own.free(address, 0),
        "cuMemcpyHtoD": lambda: own.copy_to_device(address, view, 0),
        "cuMemcpyDtoH": lambda: own.copy_to_host(view, address, 0),
    }  # fmt: skip
    for name, use in tried.items():
        cuda.fails = {f"{name}_v2": 700}
        with pytest.raises(driver.CudaError, match=name) as raised:
            use()
        assert raised.value.code == 700
    cuda.fails = {"cuCtxSynchronize": 719}
    with pytest.raises(driver.CudaError, match="cuCtxSynchronize"):
        own.synchronize()


def test_synchronizing_is_of_a_device(cuda: SimulatedCuda, own: driver.NvidiaDriver) -> None:
    cuda.current = 501
    own.synchronize()
    own.synchronize(0)
    assert [w for n, w in cuda.where if n == "cuCtxSynchronize"] == [501, 500]


@pytest.mark.parametrize("code", [1, 2, 98, 200, 209, 218, 222, 700, 701, 710, 716, 719, 999])
def test_what_a_failure_says(cuda: SimulatedCuda, code: int) -> None:
    """The call, its name, its number, what that means where we know, and how to look for the kernel where one did
    wrong."""
    with pytest.raises(driver.CudaError) as raised:
        driver.check(code, "cuThis")
    said = str(raised.value)
    assert said.startswith(f"cuThis failed with CUDA_ERROR_{code} ({code})")
    assert (": " in said) == (code != 999)
    assert ("compute-sanitizer" in said) == (code in (700, 716, 719))
    assert raised.value.args == (code, "cuThis", f"CUDA_ERROR_{code}")


def test_a_process_that_was_forked_too_late(cuda: SimulatedCuda) -> None:
    driver.check(0, "cuThis")
    with pytest.raises(StartedBeforeFork):
        driver.check(3, "cuThis")


@pytest.mark.parametrize(
    ("fails", "devices", "error", "said"),
    [
        ({}, 1, None, ""),
        ({}, 0, NoDevice, "sees no GPU"),
        ({"cuInit": 3}, 1, StartedBeforeFork, "forked"),
        ({"cuInit": 802}, 1, NoDevice, r"CUDA_ERROR_802 \(802\)"),
        ({"cuInit": 802, "cuGetErrorName": 1}, 1, NoDevice, r"an unknown error \(802\)"),
        (None, 0, NoDevice, "no NVIDIA driver"),
    ],
)
def test_starting(monkeypatch: pytest.MonkeyPatch, fails: Any, devices: int, error: Any, said: str) -> None:
    simulated = SimulatedCuda(devices)
    simulated.fails = fails or {}
    monkeypatch.setattr(driver, "load", lambda names: None if fails is None else simulated)
    start = driver.library.__wrapped__
    if error is None:
        assert start() is simulated
    else:
        with pytest.raises(error, match=said):
            start()


# Launches with attributes ---------------------------------------------------------------------------------------------


def launcher(cuda: SimulatedCuda, own: driver.NvidiaDriver, **metadata: Any) -> Launcher:
    parameters = tuple(Parameter(f"p{i}", t) for i, t in enumerate(("i32", "fp64")))
    image = KernelImage("k", b"", parameters, {"num_warps": 3, "shared": 640, **metadata}, Target("cuda", 90, 32))
    made: Any = Launcher(cuda, image, 0x77, 501, driver.check, lambda: own.on(1))  # type: ignore[arg-type]
    return made


WAYS = [
    ({}, []),
    ({"num_ctas": 4}, [(4, (4, 1, 1))]),
    ({"launch_cooperative_grid": True}, [(2, (1,))]),
    ({"launch_pdl": True}, [(6, (1,))]),
    ({"num_ctas": 2, "launch_pdl": True, "launch_cooperative_grid": True}, [(4, (2, 1, 1)), (2, (1,)), (6, (1,))]),
]
"""CUlaunchAttributeID: 2 cooperative, 4 the cluster's extents, 6 programmatic stream serialization."""


@pytest.mark.parametrize(("metadata", "expected"), WAYS)
@pytest.mark.parametrize("current", [501, 500, None])
def test_launches(
    cuda: SimulatedCuda, own: driver.NvidiaDriver, metadata: Any, expected: Any, current: int | None
) -> None:
    launch = launcher(cuda, own, **metadata)
    cuda.current = current
    random = Random(SEED)
    x, y, z, stream = (random.randrange(1, 1000) for _ in range(4))
    launch(x, y, z, stream, -7, 0.5)
    name = "cuLaunchKernelEx" if expected else "cuLaunchKernel"
    assert [w for n, w in cuda.where if n == name] == [501], "in the kernel's context"
    assert cuda.current == (current or 501)
    (made,) = cuda.launched
    if not expected:
        function, *shape = made[:9]
        assert (function, shape) == (0x77, [x, y, z, 96, 1, 1, 640, stream]) and made[10] is None
        return
    config, function, block = made
    count = metadata.get("num_ctas", 1)
    fields = ("gx", "gy", "gz", "bx", "by", "bz", "shared", "stream", "count")
    assert function == 0x77
    assert [getattr(config, f) for f in fields] == [x * count, y, z, 96, 1, 1, 640, stream, len(expected)], SEED
    found = [config.attributes[i] for i in range(config.count)]
    assert [(a.id, tuple(a.value[: len(v)])) for a, (_, v) in zip(found, expected, strict=True)] == expected
    assert all(not any(a.value[len(v) :]) for a, (_, v) in zip(found, expected, strict=True))
    assert ctypes.c_int32.from_address(block[0]).value == -7
    assert ctypes.c_double.from_address(block[1]).value == 0.5


@pytest.mark.parametrize("call", ["cuLaunchKernel", "cuLaunchKernelEx", "cuCtxGetCurrent"])
def test_a_launch_that_fails(cuda: SimulatedCuda, own: driver.NvidiaDriver, call: str) -> None:
    launch = launcher(cuda, own, num_ctas=2 if call.endswith("Ex") else 1)
    cuda.fails[call] = 701
    with pytest.raises(driver.CudaError, match=f"{call} failed"):
        launch(1, 1, 1, 0, 1, 1.0)


@pytest.mark.parametrize("axis", range(3))
@pytest.mark.parametrize("cluster", [1, 4])
def test_grids_at_their_limits(cuda: SimulatedCuda, own: driver.NvidiaDriver, axis: int, cluster: int) -> None:
    launch = launcher(cuda, own, num_ctas=cluster)
    grid = [1, 1, 1]
    grid[axis] = GRID_LIMITS[axis] // (cluster if axis == 0 else 1)
    launch(*grid, 0, 1, 1.0)
    grid[axis] += 1
    with pytest.raises(UnsupportedArgument, match="too large") as raised:
        launch(*grid, 0, 1, 1.0)
    assert (f"of {cluster} blocks each" in str(raised.value)) == (cluster > 1)
    assert len(cuda.launched) == 1


def test_no_attributes_no_array() -> None:
    assert len(launch_attributes({"num_ctas": 1})) == 0
