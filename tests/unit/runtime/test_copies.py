"""Launches on copies: what is copied, what goes back; and through a driver that takes spans, on the host's own code."""

from __future__ import annotations

import ctypes
import itertools
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tritonx
import tritonx.language as tl
from tritonx.backends.api import Driver, KernelImage, LoadedKernel, Parameter, Target
from tritonx.backends.cpu import CpuBackend
from tritonx.backends.cpu.driver import CpuDriver
from tritonx.backends.gpu import on_copies
from tritonx.runtime import driver
from tritonx.runtime.errors import ReadOnlyArgument, UnreachableArgument
from tritonx.runtime.launch.copies import regions_of
from tritonx.runtime.launch.spans import Span, span_of


class FarDriver(CpuDriver):
    """The host, as a device that sees what it has allocated only."""

    takes_spans = True

    def __init__(self) -> None:
        super().__init__()
        self.sizes: dict[int, int] = {}
        self.given: list[object] = []

    def current_target(self, device: int | None = None) -> Target:
        return Target("far")

    def allocate(self, nbytes: int, device: int) -> int:
        address = super().allocate(nbytes, device)
        self.sizes[address] = nbytes
        return address

    def free(self, address: int, device: int) -> None:
        del self.sizes[address]
        super().free(address, device)

    def holds(self, address: int) -> bool:
        return any(start <= address < start + nbytes for start, nbytes in self.sizes.items())

    def make_launcher(self, image: KernelImage, kernel: LoadedKernel) -> Callable[..., None]:
        launch = super().make_launcher(image, kernel)

        def launcher(x: int, y: int, z: int, stream: int, *args: object) -> None:
            self.given = list(args)
            with on_copies(self, image, args) as reachable:
                for parameter, value in zip(image.parameters, reachable, strict=True):
                    address = getattr(value, "base", value)
                    assert not parameter.type.startswith(("*", "tensordesc")) or self.holds(address) or address == 0
                launch(x, y, z, stream, *reachable)

        return launcher


class FarBackend(CpuBackend):
    name = "far"
    made: FarDriver | None = None

    def parse_target(self, arch: str) -> Target:
        return Target("far", arch)

    def driver(self) -> Driver:
        self.made = self.made or FarDriver()
        return self.made


FAR = FarBackend()


@pytest.fixture
def far(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[FarDriver]:
    monkeypatch.setenv("TRITONX_CACHE_DIR", str(tmp_path / "cache"))
    driver.set_active(FAR)
    own = FAR.driver()
    assert isinstance(own, FarDriver)
    yield own
    driver.reset_active()
    assert not own.sizes


SPANS = st.lists(st.tuples(st.integers(0, 60), st.integers(0, 12)), max_size=8)


@given(SPANS)
def test_regions_are_apart_and_hold_all(drawn: list[tuple[int, int]]) -> None:
    arguments = [(str(i), Span(start, start, nbytes)) for i, (start, nbytes) in enumerate(drawn)]
    regions = regions_of(arguments)
    assert sorted(a for region in regions for a, _ in region.arguments) == sorted(a for a, _ in arguments)
    for region in regions:
        assert all(region.start <= span.start and span.end <= region.end for _, span in region.arguments)
        covered = {at for _, span in region.arguments for at in range(span.start, span.end)}
        assert covered == set(range(region.start, region.end)), "nothing that no argument reaches"
    for first, second in itertools.pairwise(regions):
        assert first.end <= second.start and first.start < second.start


VIEWS = st.lists(
    st.tuples(st.integers(0, 40), st.integers(1, 24), st.sampled_from([-3, -1, 1, 2])), min_size=1, max_size=5
)


@given(VIEWS, st.data())
def test_writes_through_copies_are_those_on_the_host(views: list[tuple[int, int, int]], data: st.DataObject) -> None:
    """Bytes written through drawn pointers in a drawn order, on the copies and on the host."""
    memories = [np.arange(64, dtype=np.uint8) for _ in range(2)]

    def cut(memory: Any) -> list[Any]:
        return [memory[start : start + n][::step] for start, n, step in views]

    writes = data.draw(st.lists(st.tuples(st.integers(0, len(views) - 1), st.integers(0, 7), st.integers(0, 255))))
    own, far_views = FarDriver(), cut(memories[0])
    image = KernelImage("k", b"", tuple(Parameter(f"a{i}", "*u8") for i in range(len(views))), {}, Target("far"))
    with on_copies(own, image, [span_of(view) for view in far_views]) as pointers:
        for view, pointer in zip(far_views, pointers, strict=True):
            assert isinstance(pointer, int) and pointer % 128 == view.__array_interface__["data"][0] % 128
        for which, at, value in writes:
            size, step = len(far_views[which]), views[which][2]
            ctypes.c_uint8.from_address(int(pointers[which]) + (at % size) * step).value = value  # pyright: ignore[reportArgumentType]  # an address
        assert (memories[0] == np.arange(64)).all(), "nothing is on the host before the end"
    for view in cut(memories[1]):
        assert len(view)
    for which, at, value in writes:
        view = cut(memories[1])[which]
        view[at % len(view)] = value
    assert (memories[0] == memories[1]).all() and not own.sizes


def test_large_memory_is_compared_in_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    from tritonx.runtime.launch import copies

    monkeypatch.setattr(copies, "_AT_ONCE", 10)
    host, own = np.zeros(64, np.uint8), FarDriver()
    fixed = host[20:30]
    fixed.flags.writeable = False
    image = KernelImage("k", b"", (Parameter("x", "*u8"), Parameter("y", "*u8")), {}, Target("far"))
    with on_copies(own, image, [span_of(host), span_of(fixed)]) as (x, _):
        ctypes.memset(int(x), 7, 64)  # pyright: ignore[reportArgumentType]  # an address
        host[5] = 9
    assert (host == 7).all(), "x may be written to, whatever y says"
    only = np.zeros(64, np.uint8)
    only.flags.writeable = False
    with (
        pytest.raises(ReadOnlyArgument, match="k stores through its argument x"),
        on_copies(own, image, [span_of(only), span_of(host)]) as (x, y),
    ):
        ctypes.memset(int(x) + 33, 7, 1)  # pyright: ignore[reportArgumentType]  # an address
        ctypes.memset(int(y), 8, 64)  # pyright: ignore[reportArgumentType]  # an address
    assert not only.any() and (host == 8).all()


def test_a_null_pointer_stays_one() -> None:
    """Of a torch tensor without elements, cut from one that has some, the address is 0, and the storage is not."""
    host, own = np.zeros(64, np.uint8), FarDriver()
    image = KernelImage("k", b"", (Parameter("x", "*u8"), Parameter("y", "*u8")), {}, Target("far"))
    start = host.ctypes.data
    for empty in (Span(0, start, 64), Span(0, 0, 0)):
        with on_copies(own, image, [empty, span_of(host)]) as (x, y):
            assert x == 0 and y != 0


def test_what_a_stopped_launch_began_has_ended_before_its_memory_is_free() -> None:
    done: list[str] = []

    class Noting(FarDriver):
        def synchronize(self, device: int | None = None) -> None:
            done.append("synchronized")

        def free(self, address: int, device: int) -> None:
            done.append("freed")
            super().free(address, device)

    host, own = np.zeros(64, np.uint8), Noting()
    image = KernelImage("k", b"", (Parameter("x", "*u8"),), {}, Target("far"))
    with pytest.raises(KeyboardInterrupt), on_copies(own, image, [span_of(host)]):
        raise KeyboardInterrupt
    assert done == ["synchronized", "freed"]


@tritonx.jit
def moved(x, out, n, BACK: tl.constexpr, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(out + i, tl.load(x + i - BACK, mask=i < n) + 1, mask=i < n)


@tritonx.jit
def summed(given, scale, block, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(given[1][0] + i, tl.load(given[0] + i) * scale + tl.sum(block.load([0, 0])))


@pytest.mark.usefixtures("far")
def test_a_launch_on_copies() -> None:
    x, out = np.arange(64, dtype=np.int32), np.zeros(40, np.int32)
    for back in (3, 3, 9):
        out[:] = 0
        moved[(1,)](x[back:][:4], out[4:], 32, BACK=back, N=32)
        assert (out[4:36] == x[:32] + 1).all() and not out[:4].any() and not out[36:].any()
    compiled = moved[(1,)](x, out, 32, BACK=0, N=32)
    compiled[(1,)](x[::-1][::-1], out[8:], 16)
    assert (out[8:24] == x[:16] + 1).all()
    with pytest.raises(UnreachableArgument, match=r"argument 'x' of moved\(\) is \d+: an address does not tell"):
        compiled[(1,)](x.ctypes.data, out, 16)
    with pytest.raises(ReadOnlyArgument, match="moved stores through its argument out"):
        fixed = out.view()
        fixed.flags.writeable = False
        moved[(1,)](x, fixed, 32, BACK=0, N=32)


@pytest.mark.usefixtures("far")
def test_arrays_in_tuples_and_descriptors() -> None:
    from tritonx.tools.tensor_descriptor import TensorDescriptor

    x, out, block = np.arange(16.0), np.zeros(32), np.ones((4, 8), np.float64)
    summed[(1,)]((x, (out[16:],)), 3, TensorDescriptor(block[2:], [2, 8], [8, 1], [2, 4]), N=16)
    assert (out[16:] == x * 3 + 8).all() and not out[:16].any()


def test_launches_elsewhere_stay_as_they_are(far: FarDriver) -> None:
    """The kernel's entry for the host is found by its key, with addresses; the one for this device is never."""
    x, out = np.arange(32, dtype=np.int32), np.zeros(32, np.int32)
    launcher: Any = moved.launcher
    for backend in ("cpu", FAR, "cpu", FAR):
        driver.set_active(backend)
        far.given, out[:] = [], 0
        moved[(1,)](x, out, 31, BACK=0, N=32)
        assert (out[:31] == x[:31] + 1).all() and out[31] == 0
        assert [type(a) for a in far.given] == ([Span, Span, int] if backend is FAR else [])
    found_by_key = {entry[0].target.backend for entry in launcher._kernels.values()}
    assert found_by_key == {"cpu"}, "an entry by key is launched with addresses"
    assert {kernel.target.backend for kernel in moved.device_caches[0][0].values()} == {"cpu", "far"}
