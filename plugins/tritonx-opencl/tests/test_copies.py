"""A device that does not see the host's memory: launches on copies of what the arguments reach.

Here the device could read the host's memory all the same, so the driver looks at each pointer that a kernel is given:
none may lead anywhere but into memory that was allocated on the device."""

from __future__ import annotations

import mmap
import os
import threading
from collections import namedtuple
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import tritonx
import tritonx.language as tl
from tritonx.backends.api import Driver, Target
from tritonx.runtime import arrays, driver
from tritonx.runtime.errors import ReadOnlyArgument, UnreachableArgument
from tritonx.tools.tensor_descriptor import TensorDescriptor
from tritonx_opencl import OpenCLBackend, opencl
from tritonx_opencl.driver import OpenCLDriver
from tritonx_testing.conformance import Cover, cases, isolated
from tritonx_testing.conformance.arrangement import arranged_names

pytestmark = pytest.mark.usefixtures("device")
SEED = int(os.environ["TRITONX_SEED"])
FULL = os.environ.get("TRITONX_CONFORMANCE") == "full"
PARTS, ARRANGED = (1, 1) if FULL else (15, 150)
"""One case of so many is run."""


class StrictDriver(OpenCLDriver):
    """Notes what is allocated, and refuses a kernel any other pointer. ``meanwhile`` runs while a kernel would."""

    def __init__(self, backend: Any) -> None:
        super().__init__(backend)
        self.live: dict[int, int] = {}
        self.allocations = 0
        self.meanwhile: Any = None
        call = self.cl.call

        def checked(name: str, *arguments: Any) -> None:
            if name == "clSetKernelArgSVMPointer":
                pointer = arguments[2]
                assert any(a <= pointer < a + n for a, n in self.live.items()) or not pointer, hex(pointer)
            if name == "clEnqueueNDRangeKernel" and self.meanwhile is not None:
                self.meanwhile()
            call(name, *arguments)

        self.cl.call = checked

    def allocate(self, nbytes: int, device: int) -> int:
        address = super().allocate(nbytes, device)
        self.live[address] = nbytes
        self.allocations += 1
        return address

    def free(self, address: int, device: int) -> None:
        del self.live[address]
        super().free(address, device)


class CopyingBackend(OpenCLBackend):
    """The plug-in on a device that says that it sees its own memory only."""

    name = "copying"
    targets = {"items": Target("copying", "items", 1)}  # noqa: RUF012  # as the base class has them
    own: StrictDriver | None = None

    def parse_target(self, arch: str) -> Target:
        return super().parse_target(arch or "items")

    def driver(self) -> Driver:
        if self.own is None:
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(opencl, "SVM_FINE_GRAIN_SYSTEM", 1 << 40)
                self.own = StrictDriver(self)
        return self.own


BACKEND = CopyingBackend()


@pytest.fixture(autouse=True)
def strict(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[StrictDriver]:
    monkeypatch.setenv("TRITONX_OPENCL_TARGET", "items")
    monkeypatch.setenv("TRITONX_CACHE_DIR", str(tmp_path / "cache"))
    driver.set_active(BACKEND)
    own = BACKEND.driver()
    assert isinstance(own, StrictDriver) and own.takes_spans
    yield own
    driver.reset_active()
    own.meanwhile = None
    assert not own.live, "what a launch allocates is freed"


@tritonx.jit
def plus(x, y, n, BACK: tl.constexpr, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(y + i, tl.load(x + i - BACK, mask=i < n) + 1, mask=i < n)


@tritonx.jit
def strided(x, y, sx, sy, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(y + i * sy, tl.load(x + i * sx) * 2)


@tritonx.jit
def through_both(x, y, out, N: tl.constexpr):
    """Each word is written through one argument and read through the other."""
    i = tl.arange(0, N)
    tl.store(x + i, i * 3)
    tl.debug_barrier()
    tl.store(out + i, tl.load(y + i))


@tritonx.jit
def counting(a, b, N: tl.constexpr):
    place = tl.arange(0, N) % 4
    tl.atomic_add(a + place, 1)
    tl.atomic_add(b + place, 10)


@tritonx.jit
def in_parts(pair, record, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(record.out + i, tl.load(pair[0] + i) + tl.load(pair[1][0] + i) * record.scale)


@tritonx.jit
def block(given, out, M: tl.constexpr, N: tl.constexpr):
    out.store([0, 0], given.load([1, 2]) + 1)


@pytest.mark.parametrize("dtype", ["float32", "int8", "float64", "int16"])
def test_a_view_reaches_what_it_was_cut_from(dtype: str) -> None:
    x, y = np.arange(64).astype(dtype), np.zeros(67, dtype)
    plus[(1,)](x[9:][:3], y[3:], 32, BACK=9, N=32)
    assert (y[3:35] == x[:32] + 1).all() and not y[:3].any() and not y[35:].any()


def test_strides_of_any_sign() -> None:
    x, y = np.arange(64, dtype=np.float32), np.zeros(64, np.float32)
    strided[(1,)](x[::-2], y[63::-1], -2, -1, N=32)
    assert (y[:31:-1] == x[::-2] * 2).all() and not y[:32].any()
    z = np.zeros((8, 8), np.float32)
    strided[(1,)](np.broadcast_to(np.float32(7), (8,)), z[:, 3], 0, 8, N=8)
    assert (z[:, 3] == 14).all() and z.sum() == 14 * 8


@pytest.mark.parametrize("given", ["one array twice", "overlapping views", "a view and its base"])
def test_what_arguments_share_is_shared(given: str) -> None:
    memory, out = np.zeros(64, np.int32), np.zeros(32, np.int32)
    x, y = {
        "one array twice": (memory[:32], memory[:32]),
        "overlapping views": (memory[8:40], memory[8:]),
        "a view and its base": (memory[:32], memory),
    }[given]
    through_both[(1,)](x, y, out, N=32)
    assert (out == np.arange(32) * 3).all() and (x == out).all()


def test_memory_of_one_buffer_in_two_arrays() -> None:
    buffer, out = bytearray(256), np.zeros(16, np.int32)
    x, y = np.frombuffer(buffer, np.int32, 16, 64), np.frombuffer(buffer, np.int32, 16, 64)
    through_both[(1,)](x, y, out, N=16)
    assert (out == np.arange(16) * 3).all() and (x == out).all()


def test_atomics_across_arguments() -> None:
    memory = np.zeros(4, np.int32)
    counting[(6,)](memory, memory, N=64)
    assert (memory == 11 * 6 * 16).all()


def test_threads_on_one_array() -> None:
    memory, rounds = np.zeros(4, np.int32), 5
    counting[(2,)](memory.copy(), memory.copy(), N=64)

    def work() -> None:
        for _ in range(rounds):
            counting[(2,)](memory, memory, N=64)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (memory == 11 * 2 * 16 * 4 * rounds).all()


def test_what_the_kernel_leaves_alone_is_not_written(strict: StrictDriver) -> None:
    x, y = np.arange(32, dtype=np.int32), np.zeros(64, np.int32)

    def meanwhile() -> None:
        x[5], y[40] = 99, 77

    strict.meanwhile = meanwhile
    plus[(1,)](x, y, 32, BACK=0, N=32)
    assert (x[5], y[40]) == (99, 77) and (y[:32] == np.arange(32) + 1).all()


def test_arrays_that_may_not_be_written_to(tmp_path: Path) -> None:
    (file := tmp_path / "numbers").write_bytes(np.arange(32, dtype=np.int32).tobytes())
    with file.open("rb") as opened, mmap.mmap(opened.fileno(), 0, access=mmap.ACCESS_READ) as mapped:
        x, y = np.frombuffer(mapped, np.int32), np.zeros(32, np.int32)
        plus[(1,)](x, y, 32, BACK=0, N=32)
        assert (y == np.arange(32) + 1).all()
        with pytest.raises(ReadOnlyArgument, match="plus stores through its argument y"):
            plus[(1,)](y, x, 32, BACK=0, N=32)
        assert (x == np.arange(32)).all()
        del x


def test_a_view_that_may_not_be_written_to_of_an_array_that_may() -> None:
    memory, out = np.zeros(32, np.int32), np.zeros(32, np.int32)
    fixed = memory[:]
    fixed.flags.writeable = False
    through_both[(1,)](memory, fixed, out, N=32)
    assert (out == np.arange(32) * 3).all() and (memory == out).all()
    memory[:] = 5
    with pytest.raises(ReadOnlyArgument, match="through_both stores through its argument x"):
        through_both[(1,)](fixed, memory, out, N=32)
    assert (memory == 5).all()


class Bare:
    """An array that has the methods and attributes of one protocol only."""

    def __init__(self, array: Any, names: tuple[str, ...]) -> None:
        for name in names:
            setattr(type(self), name, property(lambda self, name=name: getattr(self.array, name)))
        self.array = array


class Interface(Bare):
    pass


class Dlpack(Bare):
    pass


def test_every_protocol() -> None:
    x = np.arange(64, dtype=np.float32)
    y, z = np.zeros(64, np.float32), np.zeros(64, np.float32)
    strided[(1,)](
        Interface(x[::2], ("__array_interface__",)), Dlpack(y, ("__dlpack__", "__dlpack_device__")), 2, 1, N=32
    )
    strided[(1,)](
        Dlpack(x[::-2], ("__dlpack__", "__dlpack_device__")), Interface(z[40:], ("__array_interface__",)), -2, 1, N=16
    )
    assert (y[:32] == x[::2] * 2).all() and not y[32:].any()
    assert (z[40:56] == x[:31:-2] * 2).all() and z.sum() == z[40:56].sum()
    bits = np.full(16, 0x4000, np.uint16)
    strided[(1,)](tritonx.reinterpret(bits, tl.float16), tritonx.reinterpret(bits, tl.float16), 1, 1, N=16)
    assert (bits.view(np.float16) == 4).all()
    half = np.arange(16).astype(ml_dtypes.bfloat16)
    strided[(1,)](half, half, 1, 1, N=16)
    assert (half == np.arange(16) * 2).all()


def test_tensors() -> None:
    torch = pytest.importorskip("torch")
    x, y = torch.arange(64, dtype=torch.bfloat16), torch.zeros(8, 8, dtype=torch.bfloat16)
    strided[(1,)](x[9:][:2], y.t()[3], 1, 8, N=8)
    assert (y[:, 3] == x[9:17] * 2).all() and y.sum() == y[:, 3].sum()
    plus[(1,)](x[9:], x.numpy() if x.dtype == torch.float32 else x, 32, BACK=9, N=32)
    assert x[:32].tolist() == [i + 1 for i in range(32)]
    shared = torch.zeros(32, dtype=torch.int32)
    out = np.zeros(16, np.int32)
    through_both[(1,)](shared[16:], shared.numpy()[16:], out, N=16)
    assert (out == np.arange(16) * 3).all()


@dataclass(frozen=True)
class Record:
    out: Any
    scale: float


Pair = namedtuple("Pair", "first second")


def test_arrays_in_tuples_and_records() -> None:
    x, y, out = (np.arange(16, dtype=np.float32) for _ in range(3))
    in_parts[(1,)](Pair(x, (y[::-1][::-1],)), Record(out[::1], 2.5), N=16)
    assert (out == x * 3.5).all()
    fixed = out * 2
    fixed.flags.writeable = False
    with pytest.raises(ReadOnlyArgument, match="in_parts stores through its argument"):
        in_parts[(1,)](Pair(x, (y,)), Record(fixed, 2.5), N=16)


def test_descriptors() -> None:
    x, out = np.arange(256, dtype=np.float32).reshape(16, 16), np.zeros((8, 8), np.float32)
    given = TensorDescriptor(x[4:, 4:], [12, 12], [16, 1], [4, 8])
    block[(1,)](given, TensorDescriptor(out, [8, 8], [8, 1], [4, 8]), M=4, N=8)
    assert (out[:4] == x[5:9, 6:14] + 1).all() and not out[4:].any()


def test_memory_of_the_device_is_not_copied(strict: StrictDriver) -> None:
    x, y = arrays.to_device(np.arange(32, dtype=np.int32)), arrays.zeros(32, "int32")
    before = strict.allocations
    plus[(1,)](x, y, 32, BACK=0, N=32)
    host = np.zeros(32, np.int32)
    assert strict.allocations == before
    plus[(1,)](y.reshape(4, 8), host, 32, BACK=0, N=32)
    assert (y.numpy() == np.arange(32) + 1).all() and (host == np.arange(32) + 2).all()
    assert strict.allocations == before + 1
    del x, y


def test_nothing_and_no_elements() -> None:
    plus[(1,)](np.zeros(0, np.int32), np.zeros(0, np.int32), 0, BACK=0, N=16)
    plus[(0,)](np.zeros(4, np.int32), np.zeros(4, np.int32), 4, BACK=0, N=16)


def test_compiled_kernels_and_addresses() -> None:
    x, y = np.arange(32, dtype=np.int32), np.zeros(32, np.int32)
    compiled = plus.warmup(x, y, 32, BACK=0, N=32, grid=(1,))
    compiled[(1,)](x[::-1][::-1], y, 32)
    assert (y == x + 1).all()
    with pytest.raises(UnreachableArgument, match=r"argument 'x' of plus\(\) is \d+: an address does not tell"):
        compiled[(1,)](x.ctypes.data, y, 32)


class Opaque:
    """A tensor that says no more than where it is."""

    dtype, device = "int32", "cpu"

    def __init__(self, array: Any) -> None:
        self.array = array

    def data_ptr(self) -> int:
        return self.array.ctypes.data


def test_a_tensor_that_does_not_tell_its_size() -> None:
    x = np.zeros(32, np.int32)
    with pytest.raises(UnreachableArgument, match="argument 'x': Opaque does not tell how large it is"):
        plus[(1,)](Opaque(x), x, 32, BACK=0, N=32)


def test_a_failed_launch_frees_its_copies(strict: StrictDriver) -> None:
    def fail() -> None:
        raise RuntimeError("no queue")

    x, y = np.arange(32, dtype=np.int32), np.zeros(32, np.int32)
    strict.meanwhile = fail
    with pytest.raises(RuntimeError, match="no queue"):
        plus[(1,)](x, y, 32, BACK=0, N=32)
    strict.meanwhile = None
    plus[(1,)](x, y, 32, BACK=0, N=32)
    assert (y == x + 1).all()


def test_other_backends_launch_as_ever() -> None:
    """A kernel's launches on the host find their entry by their key; those on this device are bound each time."""
    x, y = np.arange(32, dtype=np.int32), np.zeros(32, np.int32)
    for backend in (BACKEND, "cpu", BACKEND, "opencl", "cpu"):
        driver.set_active(backend)
        y[:] = 0
        plus[(1,)](x, y, 32, BACK=0, N=32)
        assert (y == x + 1).all()
    caches = plus.device_caches[0][0]
    assert {kernel.target.backend for kernel in caches.values()} >= {"copying", "cpu", "opencl"}


def check(names: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRITONX_OPENCL_COPIES", "1")
    failures = [result for result in isolated.run("opencl", names, SEED) if result.failed]
    shown = "\n".join(f"{r.kind} {r.name}: {r.message[:1000]}" for r in failures)
    command = "TRITONX_OPENCL_COPIES=1 TRITONX_OPENCL_TARGET=items python -m tritonx_testing.conformance opencl"
    assert not failures, f"{len(failures)} of {len(names)} cases; {command} --seed {SEED} -k NAME\n{shown}"


def test_conformance(monkeypatch: pytest.MonkeyPatch) -> None:
    check([case.name for case in cases()][SEED % PARTS :: PARTS], monkeypatch)


def test_conformance_arranged(monkeypatch: pytest.MonkeyPatch) -> None:
    check(arranged_names(list(cases()), SEED, Cover.from_environment())[SEED % ARRANGED :: ARRANGED], monkeypatch)
