"""What the warps of a launch did in its regions, out of what they have recorded.

A region is a start and the next end of the same name that has no later start. Regions are inside of those that are
open when they start; an asynchronous event has none inside of it. Where a warp has made more records than it keeps, the
first are gone: a region whose start is gone is not measured, and those inside of it are still inside. Nor is a region
measured that has no end, as where a program returns from it.

Warps that have made the same records in the same order are matched once for all of them."""

from __future__ import annotations

import warnings
from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tritonx.profiler.errors import RecordsDropped
from tritonx.profiler.stack import program_level

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from tritonx.runtime.launch.measured_launch import Records

    Integers = NDArray[np.int64]

BEGIN_NANOSECONDS, BEGIN, PROCESSOR, END_NANOSECONDS, END = range(5)
"""Of a header."""
_LONG = 100_000
"""Nanoseconds of all warps that tell the clock's rate."""


@dataclass(frozen=True)
class Matched:
    """One region of some warps: its path, the warps as rows of the records, and their clocks at its two ends."""

    path: tuple[str, ...]
    units: Integers
    starts: Integers
    stops: Integers


def matched(records: Records, kernel: str, cost: int = 0) -> Iterator[Matched]:
    """All regions, in the order of each warp's ends, without ``cost`` ticks of each record in front, as far as two
    records of a warp are so far apart. Warns where records are gone."""
    import numpy as np

    if not records.slots.size:
        return
    keys, clocks, gone = ordered(records, cost)
    if gone.any():
        text = f"{kernel}: {int(gone.sum())} records of {int((gone > 0).sum())} warps are gone, of each the first: "
        warnings.warn(f"{text}a warp keeps {keys.shape[1]} (buffer_size)", RecordsDropped, stacklevel=program_level())
    for same, recorded, is_cut in alike(keys, gone):
        units = np.array(same)
        for path, start, stop in _pairs(recorded, records.events, is_cut=is_cut):
            names = tuple(records.regions[each] for each in path)
            yield Matched(names, units, clocks[units, start], clocks[units, stop])


def ordered(records: Records, cost: int) -> tuple[Integers, Integers, Integers]:
    """For each warp its records in their order, as twice the region and whether it ends (-1: none), their clocks
    without ``cost``, and how many are gone."""
    import numpy as np

    number, region, is_end, clock = (records.slots[..., i] for i in range(4))
    order = np.argsort(np.where(number == 0, np.iinfo(np.int64).max, number), axis=1, kind="stable")
    kept = np.take_along_axis(number, order, 1) != 0
    keys = np.where(kept, np.take_along_axis(2 * region + is_end, order, 1), -1)
    clocks = np.take_along_axis(clock, order, 1)
    if cost and clocks.shape[1] > 1:
        taken = np.minimum(np.maximum(np.diff(clocks, axis=1), 0), cost)
        clocks[:, 1:] -= np.cumsum(np.where(kept[:, 1:], taken, 0), axis=1)
    return keys, clocks, number.max(axis=1) - kept.sum(axis=1)


def alike(keys: Integers, gone: Integers) -> Iterator[tuple[list[int], list[int], bool]]:
    """Warps that have made the same records in the same order, these, and whether the first are gone."""
    found: dict[tuple[bytes, bool], list[int]] = {}
    for unit, sequence in enumerate(keys):
        found.setdefault((sequence.tobytes(), bool(gone[unit])), []).append(unit)
    for (_, is_cut), same in found.items():
        yield same, [key for key in keys[same[0]].tolist() if key >= 0], is_cut


@dataclass
class _Open:
    """A region that has started. `contains`: those that start now are in it."""

    region: int
    start: int
    path: tuple[int, ...]
    contains: bool = True


def _pairs(keys: Sequence[int], events: Container[int], *, is_cut: bool) -> list[tuple[tuple[int, ...], int, int]]:
    """Paths of regions, by their numbers, and the positions of their two ends. Where the first records are gone
    (``is_cut``), an end without a start ends a region that all before it is in."""
    opened: list[_Open] = []
    found: list[tuple[tuple[int, ...], int, int]] = []
    unmatched: list[tuple[int, int]] = []
    for position, key in enumerate(keys):
        region = key >> 1
        if not key & 1:
            path = (*(each.region for each in opened if each.contains), region)
            opened.append(_Open(region, position, path, region not in events))
            continue
        at = next((i for i in reversed(range(len(opened))) if opened[i].region == region), None)
        if at is None:
            if region not in events:
                unmatched.append((region, position))
            continue
        ended = opened.pop(at)
        found.append((ended.path, ended.start, position))
        if region not in events:
            for inside in opened[at:]:  # that go on, or have no end
                inside.contains = False
    if not is_cut:
        return found
    return [
        ((*(each for each, ended in reversed(unmatched) if ended > stop), *path), start, stop)
        for path, start, stop in found
    ]


@dataclass(frozen=True)
class Clock:
    """Of a device: its ticks in a nanosecond, as it states them (0: it does not), and the ticks that a record takes,
    which traces leave out."""

    nominal: float
    record: int = 0


def rate_of(records: Records, nominal: float) -> float:
    """Ticks of the records' clock in a nanosecond: as the warps have seen it, or ``nominal`` where they did not run
    long enough to tell."""
    if records.nanoseconds or not records.units:
        return 1.0
    headers = records.headers
    ended = headers[:, END_NANOSECONDS] > headers[:, BEGIN_NANOSECONDS]
    time = int((headers[ended, END_NANOSECONDS] - headers[ended, BEGIN_NANOSECONDS]).sum())
    if time < _LONG and nominal:
        return nominal
    ticks = int((headers[ended, END] - headers[ended, BEGIN]).sum())
    return ticks / time if ticks > 0 and time > 0 else nominal or 1.0


@dataclass(frozen=True)
class Drawn:
    """A region of one warp: nanoseconds after the launch's first warp began, and its ticks."""

    path: tuple[str, ...]
    block: int
    warp: int
    processor: int
    start: float
    duration: float
    ticks: int
    began: int
    """When the warp began and ended, by the device's clock of nanoseconds."""
    ended: int
    rate: float
    """Ticks in a nanosecond."""
    link: int | None = None
    """The same at both ends of an event that other warps end than start; an end of it has no duration."""
    starts: bool = False


def drawn(records: Records, kernel: str, clock: Clock) -> Iterator[Drawn]:
    """All regions of all warps."""
    rate, headers = rate_of(records, clock.nominal), records.headers
    first = int(headers[:, BEGIN_NANOSECONDS].min()) if records.units else 0
    for each in matched(records, kernel, clock.record):
        for unit, start, stop in zip(each.units.tolist(), each.starts.tolist(), each.stops.tolist(), strict=True):
            begin = int(headers[unit, BEGIN_NANOSECONDS]) - first + (start - int(headers[unit, BEGIN])) / rate
            block, warp = int(records.blocks[unit]), int(records.warps[unit])
            processor, ticks = int(headers[unit, PROCESSOR]), stop - start
            times = int(headers[unit, BEGIN_NANOSECONDS]), int(headers[unit, END_NANOSECONDS])
            yield Drawn(each.path, block, warp, processor, begin, ticks / rate, ticks, *times, rate)
