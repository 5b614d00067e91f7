"""Launches of kernels that record when their regions begin and end (``tritonx.ir.region_records``).

The launch lends the kernel memory, and hands it on to who listens, as `RecordsOfLaunch`: to be read when the kernel is
over, which reading waits for. Without a listener the records are dropped. A launch that a graph records can neither
allocate nor wait: it runs the kernel without records."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import prod
from typing import TYPE_CHECKING, Protocol

import numpy as np
from numpy.typing import NDArray

from tritonx.backends.api import Driver
from tritonx.ir.region_records import BEGIN_NANOSECONDS, END_NANOSECONDS, HEADER, PROCESSOR, WORDS, Measured, Recording
from tritonx.runtime.devices.drivers import driver_of, find_backend
from tritonx.runtime.devices.host_driver import HostDriver
from tritonx.runtime.driver import choice

if TYPE_CHECKING:
    from tritonx.runtime.compiling.compiled_kernel import CompiledKernel, RawLaunch

Words = NDArray[np.uint64]


@dataclass(frozen=True)
class Records:
    """What the warps of a launch have recorded, of those that ran; a row of each array is one of them.

    ``headers``: begin in nanoseconds, begin, processor (-1: unknown), end in nanoseconds, end; 0 where the warp did not
    come to its end. ``slots``: the records that are kept, as (number, region, is end, clock), in no order; a number of
    0 is an empty slot."""

    regions: tuple[str, ...]
    nanoseconds: bool
    blocks: NDArray[np.int64]
    warps: NDArray[np.int64]
    headers: NDArray[np.int64]
    slots: NDArray[np.int64]
    events: frozenset[int] = frozenset()
    """The numbers of the regions that are asynchronous events."""

    @property
    def units(self) -> int:
        return len(self.blocks)


class _Memory(Protocol):
    """Zeros, for one launch."""

    address: int

    def read(self) -> Words:
        """What is there when the launch is over; to be called once."""
        ...

    def free(self) -> None: ...


@dataclass(frozen=True)
class RecordsOfLaunch:
    """Records in the memory of a device, which ``read`` gives back."""

    kernel: CompiledKernel
    recording: Recording
    grid: tuple[int, int, int]
    memory: _Memory

    def read(self) -> Records:
        """Waits for the kernel; to be called once."""
        words, metadata = self.memory.read(), self.kernel.metadata
        warps = self.recording.warps
        blocks = prod(self.grid) * int(metadata.num_ctas)
        count, size = blocks * len(warps), self.recording.warp_bytes // 8
        units = words[: count * size].reshape(count, size)
        found = records_of(units, blocks, warps, tuple(metadata.regions), nanoseconds=self.recording.nanoseconds)
        return replace(found, events=frozenset(metadata.region_events))

    def drop(self) -> None:
        """In place of ``read``."""
        driver_of(find_backend(self.kernel.target.backend)).synchronize()
        self.memory.free()


@dataclass(frozen=True)
class RecordsOfLines:
    """What the interpreter has noted, which needs no reading: program, region, whether it starts, nanoseconds. A
    program is one warp, which keeps all of its records."""

    noted: tuple[tuple[int, Measured, bool, int], ...]

    def read(self) -> Records:
        regions = tuple(dict.fromkeys(region for _, region, _, _ in self.noted))
        programs: dict[int, list[tuple[int, int, int, int]]] = {}
        for program, region, starts, time in self.noted:
            of_program = programs.setdefault(program, [])
            of_program.append((len(of_program) + 1, regions.index(region), int(not starts), time))
        longest = max(map(len, programs.values()), default=0)
        headers = np.full((len(programs), HEADER), -1, np.int64)
        slots = np.zeros((len(programs), longest, 4), np.int64)
        for row, records in enumerate(programs.values()):
            slots[row, : len(records)] = records
            headers[row, BEGIN_NANOSECONDS : BEGIN_NANOSECONDS + 2] = records[0][3]
            headers[row, END_NANOSECONDS : END_NANOSECONDS + 2] = records[-1][3]
        warps = np.zeros(len(programs), np.int64)
        names = tuple(each.name for each in regions)
        events = frozenset(number for number, each in enumerate(regions) if each.event is not None)
        return Records(names, False, np.array([*programs], np.int64), warps, headers, slots, events)

    def drop(self) -> None:
        """As of others."""


Recorded = RecordsOfLaunch | RecordsOfLines


class Listener(Protocol):
    """Who is told of launches that record, in the thread that launches."""

    def begins(self) -> None:
        """Memory has been lent; the kernel itself is launched now."""
        ...

    def recorded(self, records: Recorded) -> None:
        """The kernel has been launched."""
        ...


def records_of(
    units: Words, blocks: int, warps: Sequence[int], regions: tuple[str, ...], *, nanoseconds: bool
) -> Records:
    """What the words of all warps say, a row for each, without slots that no warp has filled."""
    of_block = np.repeat(np.arange(blocks), len(warps))
    of_warp = np.tile(np.array(warps, np.int64), blocks)
    headers = units[:, :HEADER].astype(np.int64)
    headers[:, PROCESSOR] -= 1
    began = headers[:, BEGIN_NANOSECONDS] != 0
    slots = units[:, HEADER:].reshape(len(units), (units.shape[1] - HEADER) // WORDS, WORDS)
    filled = int((slots[..., 0] >> np.uint64(32)).max(initial=0))
    slots = slots[:, :filled]
    key, clock = slots[..., 0], slots[..., 1].astype(np.int64)
    which = (key & np.uint64(0xFFFFFFFF)).astype(np.int64)
    found = np.stack([(key >> np.uint64(32)).astype(np.int64), which >> 1, which & 1, clock], axis=-1)
    return Records(regions, nanoseconds, of_block[began], of_warp[began], headers[began], found[began])


@dataclass(frozen=True)
class MeasuredLaunch:
    """The launcher of a kernel that records."""

    kernel: CompiledKernel
    launch: RawLaunch
    driver: Driver
    device: int

    def __call__(self, x: int, y: int, z: int, stream: int, *values: object) -> None:
        if self.driver.is_recording():
            self.kernel.unmeasured().load(self.device)[1](x, y, z, stream, *values)
            return
        metadata = self.kernel.metadata
        warps = tuple(metadata.region_warps)
        recording = Recording(warps, int(metadata.region_slots), metadata.region_clock == "nanoseconds")
        nbytes = max(x * y * z * int(metadata.num_ctas) * recording.block_bytes, 8)
        memory = self._lent(nbytes)
        if choice.listener is not None:
            choice.listener.begins()
        try:
            self.launch(x, y, z, stream, *values, memory.address)
        except BaseException:
            memory.free()
            raise
        if choice.listener is None:
            self.driver.synchronize(self.device)
            memory.free()
        else:
            choice.listener.recorded(RecordsOfLaunch(self.kernel, recording, (x, y, z), memory))

    def _lent(self, nbytes: int) -> _Memory:
        """Raises MemoryError."""
        try:
            return (_HostMemory if isinstance(self.driver, HostDriver) else _DeviceMemory)(nbytes, self)
        except MemoryError as error:
            fewer = "a smaller buffer_size or sampling_options take fewer"
            raise MemoryError(f"{self.kernel.name} records its regions in {nbytes} bytes: {fewer} ({error})") from error


class _HostMemory:
    def __init__(self, nbytes: int, launch: MeasuredLaunch) -> None:
        self._words = np.zeros(nbytes // 8 + 8, np.uint64)
        skipped = -(self._words.ctypes.data % -64) // 8
        self._words = self._words[skipped : skipped + nbytes // 8]
        self.address = self._words.ctypes.data

    def read(self) -> Words:
        return self._words

    def free(self) -> None:
        return None


class _DeviceMemory:
    def __init__(self, nbytes: int, launch: MeasuredLaunch) -> None:
        self._nbytes, self._device, self._driver = nbytes, launch.device, launch.driver
        self.address = self._driver.allocate(nbytes, self._device)
        zeros = np.zeros(nbytes // 8, np.uint64)
        self._driver.copy_to_device(self.address, zeros.data.cast("B"), self._device)
        self._driver.synchronize(self._device)

    def read(self) -> Words:
        found = np.empty(self._nbytes // 8, np.uint64)
        try:
            self._driver.synchronize(self._device)
            self._driver.copy_to_host(found.data.cast("B"), self.address, self._device)
        finally:
            self.free()
        return found

    def free(self) -> None:
        self._driver.free(self.address, self._device)
