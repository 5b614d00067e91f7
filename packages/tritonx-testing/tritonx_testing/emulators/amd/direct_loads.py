"""Loads of CDNA that write the LDS past the registers, and the waits that they are over by.

The emulator makes every access at once, and takes waits for nothing. Here a load to the LDS is drawn to arrive when it
is issued, or as late as it may: when S_WAITCNT lets no more than so many later accesses of its wave be under way
(CDNA 3 ISA, 4.4 and 9.1.9). Other accesses count, and are made at once."""

from __future__ import annotations

import ctypes
from random import Random
from typing import Any

import numpy as np

from tritonx_testing.emulators.amd.memory_access import BufferAccess, GlobalFields
from tritonx_testing.emulators.amd.register_files import active, file_of, step

LDS = 3
"""Place of the LDS among an instruction's buffers."""
M0 = 124
ACCESSES = ("GLOBAL_LOAD", "GLOBAL_STORE", "GLOBAL_ATOMIC", "BUFFER_LOAD", "BUFFER_STORE", "SCRATCH_", "FLAT_")
"""Instructions that S_WAITCNT counts as vector memory accesses."""

Written = list[tuple[int, bytes]]
"""Addresses in the LDS, and what is written there."""


class UnderWay:
    """The vector memory accesses of each wave, in order: what a load to the LDS has yet to write."""

    def __init__(self) -> None:
        self.waves: dict[int, list[Written]] = {}
        self.random = Random("before the first kernel")

    def start(self, seed: str) -> None:
        """Of the next kernel."""
        self.waves, self.random = {}, Random(seed)

    def issue(self, scalars: Any, written: Written) -> None:
        self.waves.setdefault(scalars.value, []).append(written)

    def wait(self, scalars: Any, left: int) -> None:
        """Until no more than so many are under way."""
        queue = self.waves.setdefault(scalars.value, [])
        arrived, queue[:] = queue[: max(0, len(queue) - left)], queue[max(0, len(queue) - left) :]
        for written in arrived:
            put(written)


def put(written: Written) -> None:
    for address, data in written:
        ctypes.memmove(address, data, len(data))


class Waiting:
    """S_WAITCNT: the counter of vector memory is in two fields."""

    def __init__(self, under_way: UnderWay, word: int) -> None:
        self.under_way, self.left = under_way, word & 15 | word >> 14 << 4 & 0x30

    def fxn(self, scalars: Any) -> None:
        self.under_way.wait(scalars, self.left)
        step(scalars, 4)


class Counted:
    """An access that is made at once."""

    def __init__(self, under_way: UnderWay, inner: Any, argument: int) -> None:
        self.under_way, self.inner, self.argument = under_way, inner, argument

    def fxn(self, *buffers: Any) -> None:
        self.inner(*buffers)
        self.under_way.issue(buffers[self.argument], [])


class DirectLoad:
    """A load whose lanes write the LDS, each behind the one before, from M0 and the instruction's offset on."""

    def __init__(self, under_way: UnderWay, source: BufferAccess | GlobalFields, nbytes: int, lanes: int) -> None:
        self.under_way, self.source, self.nbytes, self.lanes = under_way, source, nbytes, lanes

    def fxn(self, scalars: Any, vectors: Any, lds: Any) -> None:
        base = (ctypes.c_uint32).from_address(scalars.value + 4 * M0).value + self.source.offset
        assert base % 4 == 0 and self.source.offset >= 0
        written: Written = []
        for lane, place, inside in self._accessed(scalars, vectors):
            data = ctypes.string_at(place, self.nbytes) if inside else bytes(self.nbytes)
            written.append((lds.value + base + lane * self.nbytes, data))
        if self.under_way.random.random() < 0.5:
            put(written)
            written = []
        self.under_way.issue(scalars, written)
        step(scalars, self.source.size)

    def _accessed(self, scalars: Any, vectors: Any) -> Any:
        if isinstance(self.source, BufferAccess):
            return self.source.accessed(scalars, vectors)
        addresses = self.source.addresses(scalars, file_of(vectors, self.lanes))
        return ((int(lane), int(addresses[lane]), True) for lane in np.flatnonzero(active(scalars, self.lanes)))
