"""Global scratch memory of a launch, without a GPU: who is asked for how much, in which order, and what the kernel is
given."""

from __future__ import annotations

import ctypes
from collections.abc import Generator
from contextlib import contextmanager, nullcontext
from types import SimpleNamespace
from typing import Any

import pytest

import tritonx
from tritonx.backends.api import KernelImage, Parameter, Target
from tritonx.backends.nvidia.launch.launcher import Launcher, fastest
from tritonx.backends.nvidia.launch.scratch_memory import PoolProperties, ScratchMemory

TARGET = Target("cuda", 90, 32)
STREAM, CONTEXT = 0x700, 0x4560


class Failed(Exception):
    pass


def check(code: int, call: str) -> None:
    if code:
        raise Failed(f"{call}: {code}")


class Cuda:
    """Writes down what it is called with; memory is taken at ever higher addresses. `codes`: what a call returns."""

    def __init__(self, **codes: int) -> None:
        self.codes = codes
        self.calls: list[tuple[Any, ...]] = []
        self.next = 1 << 40
        self.cuLaunchKernel = self.Launch(self)

    class Launch:
        """Of a kernel with one i32 in front of its scratch memory."""

        argtypes: Any = None

        def __init__(self, cuda: Cuda) -> None:
            self.cuda = cuda

        def __call__(self, function: int, *rest: Any) -> int:
            *shape, stream, block, _ = rest
            return self.cuda.launched(shape[:3], stream, (ctypes.c_void_p * 2).from_address(block))

    def launched(self, grid: Any, stream: int, cells: Any) -> int:
        number = ctypes.c_int32.from_address(cells[0]).value
        scratch = ctypes.c_uint64.from_address(cells[1]).value
        self.calls.append(("launch", tuple(grid), stream, number, scratch))
        return self.codes.get("launch", 0)

    def cuLaunchKernelEx(self, config: Any, function: Any, block: Any, extra: Any) -> int:
        given = config._obj
        return self.launched([given.gx, given.gy, given.gz], given.stream, block)

    def cuCtxGetCurrent(self, out: Any) -> int:
        out._obj.value = CONTEXT
        return 0

    def cuMemPoolCreate(self, out: Any, wanted: Any) -> int:
        out._obj.value = 0x9000
        self.calls.append(("pool", wanted._obj.device))
        return 0

    def cuMemPoolSetAttribute(self, pool: Any, number: Any, value: Any) -> int:
        self.calls.append(("attribute", number.value, value._obj.value))
        return 0

    def cuMemAllocFromPoolAsync(self, out: Any, size: Any, pool: Any, stream: Any) -> int:
        assert pool.value == 0x9000
        self.next += 1 << 20
        out._obj.value = self.next
        self.calls.append(("take", size.value, stream.value))
        return self.codes.get("take", 0)

    def cuMemFreeAsync(self, address: Any, stream: Any) -> int:
        self.calls.append(("give back", address.value, stream.value))
        return 0


def launcher_of(cuda: Any, **metadata: Any) -> Launcher:
    given = {"num_warps": 4, "shared": 0, "global_scratch_size": 384, "global_scratch_align": 128, **metadata}
    image = KernelImage("kernel", b"", (Parameter("n", "i32"),), given, TARGET)
    return Launcher(cuda, image, 1, CONTEXT, check, nullcontext, ScratchMemory(cuda, 3, check))


def test_memory_is_taken_before_a_launch_and_given_back_behind_it() -> None:
    cuda = Cuda()
    launch = fastest(launcher_of(cuda))
    launch(5, 3, 2, STREAM, -7)
    launch(1, 1, 1, STREAM, 8)
    first, second = (1 << 40) + (1 << 20), (1 << 40) + (2 << 20)
    assert cuda.calls == [
        ("pool", 3),
        ("attribute", 4, 2**64 - 1),
        ("take", 5 * 3 * 2 * 384, STREAM),
        ("launch", (5, 3, 2), STREAM, -7, first),
        ("give back", first, STREAM),
        ("take", 384, STREAM),
        ("launch", (1, 1, 1), STREAM, 8, second),
        ("give back", second, STREAM),
    ]


def test_every_block_of_a_cluster_has_its_own() -> None:
    cuda = Cuda()
    launcher_of(cuda, num_ctas=4)(5, 1, 1, STREAM, 0)
    assert ("take", 5 * 4 * 384, STREAM) in cuda.calls
    assert cuda.calls[-2][1] == (20, 1, 1)


def test_a_launch_that_fails_gives_it_back() -> None:
    cuda = Cuda(launch=701)
    with pytest.raises(Failed, match="cuLaunchKernel: 701"):
        launcher_of(cuda)(1, 1, 1, STREAM, 0)
    assert cuda.calls[-1] == ("give back", cuda.next, STREAM)


def test_a_full_device_is_no_launch() -> None:
    cuda = Cuda(take=2)
    with pytest.raises(MemoryError, match="no 768 bytes left"):
        launcher_of(cuda)(2, 1, 1, STREAM, 0)
    assert not [call for call in cuda.calls if call[0] in ("launch", "give back")]


@pytest.mark.parametrize(("wanted", "taken"), [(0, 1), (1, 1), (2, 2), (1000, 1000)])
def test_no_byte_more_than_is_wanted_is_taken(wanted: int, taken: int) -> None:
    cuda = Cuda()
    with ScratchMemory(cuda, 3, check).lent(wanted, 16, STREAM) as address:  # type: ignore[arg-type]  (its calls)
        assert cuda.calls[-1] == ("take", taken, STREAM) and address == cuda.next
    assert cuda.calls[-1] == ("give back", address, STREAM)


@contextmanager
def allocator(function: Any) -> Generator[None]:
    tritonx.set_allocator(function)
    try:
        yield
    finally:
        tritonx.set_allocator(None)


def test_the_allocator_of_the_user_is_asked() -> None:
    cuda = Cuda()
    asked: list[Any] = []

    def provide(size: int, alignment: int, stream: int | None) -> Any:
        asked.append((size, alignment, stream))
        return SimpleNamespace(data_ptr=lambda: 0xABC00)

    with allocator(provide):
        launcher_of(cuda)(2, 2, 1, STREAM, 5)
    assert asked == [(4 * 384, 128, STREAM)]
    assert cuda.calls == [("launch", (2, 2, 1), STREAM, 5, 0xABC00)]


def test_a_kernel_without_any_takes_none() -> None:
    cuda = Cuda()

    def launched(grid: Any, stream: int, cells: Any) -> int:
        cuda.calls.append(("launch", tuple(grid)))
        return 0

    cuda.launched = launched
    launcher_of(cuda, global_scratch_size=0)(2, 1, 1, STREAM, 5)
    assert cuda.calls == [("launch", (2, 1, 1))]


def test_the_properties_are_as_long_as_the_drivers() -> None:
    assert ctypes.sizeof(PoolProperties) == 88  # CUmemPoolProps of CUDA 12 and 13
