"""What the CUDA driver is asked for when a kernel is loaded and when it is timed, without a GPU: a libcuda that records
its calls and answers them."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from types import SimpleNamespace
from typing import Any

import pytest

from tritonx.backends.api import KernelImage, Target
from tritonx.backends.nvidia import driver
from tritonx.runtime.devices.loaded_modules import UnusedModules
from tritonx.runtime.errors import OutOfResources

MAX_THREADS, STATIC_SHARED, LOCAL, REGISTERS = 0, 1, 3, 4  # CUfunction_attribute
DYNAMIC_SHARED, CARVEOUT, NON_PORTABLE = 8, 9, 14


class RecordingCuda:
    """``calls`` has (function, arguments), with numbers in place of ctypes objects; ``functions`` answers
    cuFuncGetAttribute. Handles are numbered in the order in which they are made."""

    def __init__(self) -> None:
        self.calls: list[tuple[Any, ...]] = []
        self.functions = {MAX_THREADS: 1024, STATIC_SHARED: 0, LOCAL: 0, REGISTERS: 40}
        self.handles = 0

    def __getattr__(self, name: str) -> Callable[..., int]:
        def call(*arguments: Any) -> int:
            out = [a._obj for a in arguments if hasattr(a, "_obj")]
            if name == "cuFuncGetAttribute":
                out[0].value = self.functions[arguments[1]]
            elif name == "cuEventElapsedTime_v2":
                out[0].value = arguments[2].value - arguments[1].value
            elif name != "cuCtxGetCurrent":
                for handle in out:
                    self.handles += 1
                    handle.value = self.handles
            self.calls.append((name, *(getattr(a, "value", a) for a in arguments)))
            return 0

        return call

    def named(self, name: str) -> list[list[Any]]:
        return [rest for called, *rest in self.calls if called == name]


@pytest.fixture
def cuda(monkeypatch: pytest.MonkeyPatch) -> RecordingCuda:
    recorded = RecordingCuda()
    monkeypatch.setattr(driver, "library", lambda: recorded)
    monkeypatch.setattr(driver, "Launcher", lambda *arguments: arguments)
    monkeypatch.setattr(driver, "fastest", lambda launcher: launcher)
    return recorded


def loaded(**metadata: Any) -> driver.NvidiaKernel:
    given = {"num_warps": 4, "num_ctas": 1, "shared": 0, **metadata}
    image = KernelImage("k", b"cubin", (), given, Target("cuda", "90", 32))
    device: Any = SimpleNamespace(
        properties=lambda device: {"max_shared_mem": 232448},
        context=lambda device: 1,
        on=lambda device: nullcontext(),
        scratch=lambda device: None,
        unused=UnusedModules(),
    )
    return driver.NvidiaKernel(device, image, 0)


@pytest.mark.parametrize(
    ("metadata", "attributes"),
    [
        ({}, []),
        ({"shared": 49152}, []),
        ({"shared": 49153}, [[DYNAMIC_SHARED, 49153], [CARVEOUT, 100]]),
        ({"num_ctas": 8}, []),
        ({"num_ctas": 16}, [[NON_PORTABLE, 1]]),
        ({"shared": 232448, "num_ctas": 16}, [[DYNAMIC_SHARED, 232448], [CARVEOUT, 100], [NON_PORTABLE, 1]]),
    ],
)
def test_a_kernel_opts_in_to_what_it_needs(cuda: RecordingCuda, metadata: Any, attributes: Any) -> None:
    kernel = loaded(**metadata)
    assert [list(rest) for _, *rest in cuda.named("cuFuncSetAttribute")] == attributes
    assert (kernel.n_regs, kernel.n_spills, kernel.n_max_threads) == (40, 0, 1024)


def test_a_kernel_that_needs_more_than_there_is(cuda: RecordingCuda) -> None:
    cuda.functions.update({STATIC_SHARED: 1024, MAX_THREADS: 128, LOCAL: 12})
    assert loaded(shared=232448 - 1024).n_spills == 3
    with pytest.raises(OutOfResources, match="shared memory"):
        loaded(shared=232448 - 1023)
    with pytest.raises(OutOfResources, match=r"threads.*Use fewer warps"):
        loaded(num_warps=8)


class OneDevice(driver.NvidiaDriver):
    """Device 0 with a level-2 cache of 3 MiB, and a stream."""

    def current_device(self) -> int:
        return 0

    def current_stream(self, device: int) -> int:
        return 77

    def properties(self, device: int) -> Any:
        return {"l2_cache_size": 3 << 20}


@pytest.mark.parametrize("flush", [True, False])
def test_each_run_is_timed_alone(cuda: RecordingCuda, flush: bool) -> None:
    """Two events of the default kind (0: they keep the time) around each run, the cache overwritten before the first
    of them; all of them are freed."""
    times = OneDevice().time(lambda: cuda.calls.append(("run",)), 3, flush_cache=flush)
    created = [pointer._obj.value for pointer, _ in cuda.named("cuEventCreate")]
    assert [flags for _, flags in cuda.named("cuEventCreate")] == [0] * 6
    assert times == [1.0] * 3  # a pair has neighbouring numbers, and the time is their difference
    steps = [c for c in cuda.calls if c[0] in ("cuMemsetD32Async", "cuEventRecord", "run", "cuCtxSynchronize")]
    clear = [("cuMemsetD32Async", cuda.named("cuMemsetD32Async")[0][0], 0, (6 << 20) // 4, 77)] if flush else []
    expected: list[tuple[Any, ...]] = []
    for start, stop in zip(created[::2], created[1::2], strict=True):
        expected += [*clear, ("cuEventRecord", start, 77), ("run",), ("cuEventRecord", stop, 77)]
    assert steps == [*expected, ("cuCtxSynchronize",)]
    assert sorted(c[0] for c in cuda.named("cuEventDestroy_v2")) == sorted(created)
    assert len(cuda.named("cuMemFree_v2")) == len(cuda.named("cuMemAlloc_v2")) == flush


@pytest.mark.parametrize(("arch", "code"), [(80, b"ptx\0"), (90, b"cubin"), (100, b"cubin")])
def test_the_driver_assembles_for_a_later_device(cuda: RecordingCuda, arch: int, code: bytes) -> None:
    """A cubin is for one major compute capability."""
    given = {"num_warps": 4, "num_ctas": 1, "shared": 0}
    image = KernelImage("k", b"cubin", (), given, Target("cuda", arch, 32), lambda: "ptx")
    device: Any = SimpleNamespace(properties=lambda device: {"capability_major": 9})
    assert driver._code(device, image, 0) == code
