"""Who accessed each element of memory last: finds accesses that nothing orders.

`Shadow` follows plain and atomic accesses of one memory range while the programs of a grid run one after another. Two
accesses of one element conflict if one of them writes, not both are atomic, and nothing orders them:

* Between programs atomic operations that are not relaxed order: what a program did before it released an address comes
  before what another program does after it acquired the address, with all that the first one had seen (`Programs`).
* Within a program a barrier orders, and so does an op that moves values between lanes (`epoch`). Between two of those,
  an element that one lane stores and another lane accesses is a conflict. A scalar is loaded by all lanes (`ALL`) and
  stored by the first one.

A store that leaves the value as it is conflicts with nothing: no order of the programs shows it. Of an element only the
last accesses of each sort by two programs are kept, so that a conflict with an earlier one may be missed; what is
reported is one.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from tritonx.interpreter.values import Array

MOST_SYNCHRONISING = 64
"""Lanes of an atomic operation that orders programs; one with more lanes counts as relaxed."""

ALL = -1
"""The lane of an access that every lane makes."""


_ALWAYS = np.iinfo(np.int32).max
"""The time until which the accesses of the running program itself come before its next one."""


@dataclass(frozen=True, eq=False)
class _Release:
    """A program's, at a time; `known`: what it had seen of the others, None for nothing."""

    program: int
    time: int
    known: Array | None


@dataclass
class Programs:
    """What comes before the accesses of the running program: of the program number n, from 1, those with a time of at
    most `seen[n]`; 0 is no program. `time` goes on with each atomic operation that orders."""

    count: int
    current: int = 0
    epoch: int = 1
    time: int = 1
    seen: Array = field(init=False)
    _released: dict[int, _Release] = field(default_factory=dict[int, "_Release"])
    """By address."""
    _known: Array | None = None
    """`seen` as releases share it; None where nothing of others has been seen."""

    def __post_init__(self) -> None:
        self.begin(0)

    def begin(self, number: int) -> None:
        """From now on the program of this number runs."""
        self.current = number
        self.epoch += 1
        self.seen = np.zeros(self.count + 1, np.int32)
        self.seen[[0, number]] = _ALWAYS
        self._known = None

    def acquire(self, addresses: Array) -> None:
        """The running program reads these addresses atomically."""
        if addresses.size > MOST_SYNCHRONISING:
            return
        found = {self._released[address] for address in addresses.tolist() if address in self._released}
        new = [release for release in found if self.seen[release.program] < release.time]
        for release in new:
            if release.known is not None:
                np.maximum(self.seen, release.known, out=self.seen)
            self.seen[release.program] = release.time
        if new:
            self._known = self.seen.copy()
            self._known[self.current] = 0

    def release(self, addresses: Array) -> None:
        """The running program writes these addresses atomically. `time` is to go on behind that."""
        if addresses.size <= MOST_SYNCHRONISING:
            made = _Release(self.current, self.time, self._known)
            self._released.update(dict.fromkeys(addresses.tolist(), made))


@dataclass(frozen=True)
class Access:
    """An access of the running program: its op's number, its `lanes` as numbers in a tile of `shape`."""

    op: int
    lanes: Array
    atomic: bool


@dataclass(frozen=True)
class Conflict:
    """The access at `index` (of those passed) conflicts with one of `op`, by the program of number `program`; `writes`
    if that one wrote. Within one program, `program` is the running one."""

    index: int
    op: int
    program: int
    writes: bool


class _Last:
    """Of each element the last access of one sort: its program, op, lane, epoch, time, and whether it was atomic."""

    def __init__(self, count: int) -> None:
        self.program, self.op, self.lane, self.epoch, self.time = (np.zeros(count, np.int32) for _ in range(5))
        self.atomic = np.zeros(count, np.bool_)
        self.before: _Last | None = None
        """The last access by another program than that of the last."""

    def remember(self, count: int) -> None:
        """Keep the last access by another program as well."""
        self.before = _Last(count)

    def set(self, at: Array, access: Access, programs: Programs) -> None:
        if self.before is not None:
            self._move(at[(self.program[at] != programs.current) & (self.program[at] != 0)], self.before)
        self.program[at] = programs.current
        self.op[at], self.lane[at], self.epoch[at] = access.op, access.lanes, programs.epoch
        self.time[at], self.atomic[at] = programs.time, access.atomic

    def _move(self, at: Array, to: _Last) -> None:
        for name in ("program", "op", "lane", "epoch", "time", "atomic"):
            getattr(to, name)[at] = getattr(self, name)[at]

    def conflicts(self, at: Array, access: Access, programs: Programs, *, writes: bool) -> Iterator[Conflict]:
        by = self.program[at]
        unordered = self.time[at] > programs.seen[by]
        if access.atomic:
            unordered &= ~self.atomic[at]
        else:
            own = (by == programs.current) & (self.epoch[at] == programs.epoch)
            first_of_all = (self.lane[at] == ALL) & (access.lanes == 0)  # what it has loaded it may store
            unordered |= own & (self.lane[at] != access.lanes) & ~first_of_all & (by != 0)
        for index in np.flatnonzero(unordered)[:1].tolist():
            yield Conflict(index, int(self.op[at[index]]), int(by[index]), writes)
        if self.before is not None:
            yield from self.before.conflicts(at, access, programs, writes=writes)


class Shadow:
    """The accesses to one range of memory that begins at `base` and has elements of `size` bytes."""

    def __init__(self, base: int, nbytes: int, size: int) -> None:
        self.base, self.nbytes, self.size = base, nbytes, size
        count = nbytes // size + 1
        self._reads, self._writes = _Last(count), _Last(count)
        self._reads.remember(count)

    def read(self, addresses: Array, access: Access, programs: Programs) -> Iterator[Conflict]:
        """Note a load; the conflicts that it has."""
        at = (addresses - self.base) // self.size
        yield from self._writes.conflicts(at, access, programs, writes=True)
        self._reads.set(at, access, programs)

    def write(self, addresses: Array, access: Access, programs: Programs, changes: Array) -> Iterator[Conflict]:
        """Note a store, which changes the elements where `changes` is set; the conflicts that it has."""
        at = (addresses - self.base) // self.size
        for last, writes in ((self._writes, True), (self._reads, False)):
            for found in last.conflicts(at[changes], _chosen(access, changes), programs, writes=writes):
                index = int(np.flatnonzero(changes)[found.index])
                yield Conflict(index, found.op, found.program, found.writes)
        self._writes.set(at, access, programs)

    def writer(self, address: int) -> int | None:
        """The number of the op that wrote the element last."""
        at = (address - self.base) // self.size
        return int(self._writes.op[at]) if self._writes.program[at] else None


def _chosen(access: Access, lanes: Array) -> Access:
    return Access(access.op, access.lanes[lanes], access.atomic)


def repeated(addresses: Array, values: Array) -> int | None:
    """The index of a lane that stores another value than a lane before it at the same address."""
    if addresses.size < 2 or bool((np.diff(addresses) > 0).all()):
        return None
    order = np.argsort(addresses, kind="stable")
    raw = np.ascontiguousarray(values).view(f"V{values.dtype.itemsize}")
    same = addresses[order][1:] == addresses[order][:-1]
    differs = np.flatnonzero(same)[(raw[order][1:] != raw[order][:-1])[same]]
    return int(order[differs[0] + 1]) if differs.size else None
