"""Asynchronous events that one warp starts and another one of its block ends, as where a kernel is warp-specialized.

Of the warps that have starts of an event without an end of their own, the first is matched with the first one that has
ends without a start, and so on; the first start with the first end. More warps that end than start, as where one warp
loads for many, are matched in turns. Nothing is known of warps whose first records are gone."""

from __future__ import annotations

import itertools
from collections.abc import Container, Iterator, Sequence
from typing import TYPE_CHECKING

from tritonx.profiler.regions import (
    BEGIN,
    BEGIN_NANOSECONDS,
    END_NANOSECONDS,
    PROCESSOR,
    Clock,
    Drawn,
    alike,
    ordered,
    rate_of,
)

if TYPE_CHECKING:
    from tritonx.runtime.launch.measured_launch import Records

NUMBERS = itertools.count(1)
"""Of links, each once in a process."""

Ends = dict[int, tuple[list[int], list[int]]]
"""An event → the positions of starts without an end, and of ends without a start."""


def handed_on(records: Records, clock: Clock) -> Iterator[Drawn]:
    """Both ends of each, which have one link."""
    if not records.events or not records.slots.size:
        return
    keys, clocks, gone = ordered(records, clock.record)
    waiting: dict[tuple[int, int], tuple[list[tuple[int, list[int]]], list[tuple[int, list[int]]]]] = {}
    for same, recorded, is_cut in alike(keys, gone):
        known: Ends = {} if is_cut else _alone(recorded, records.events)
        for event, ends in known.items():
            for unit in same:
                sides = waiting.setdefault((int(records.blocks[unit]), event), ([], []))
                for side, positions in zip(sides, ends, strict=True):
                    if positions:
                        side.append((unit, clocks[unit, positions].tolist()))
    rate, first = rate_of(records, clock.nominal), int(records.headers[:, BEGIN_NANOSECONDS].min())
    for (_, event), (starters, enders) in waiting.items():
        starters.sort(key=lambda each: records.warps[each[0]])
        enders.sort(key=lambda each: records.warps[each[0]])
        for (unit, starts), (other, stops) in zip(itertools.cycle(starters), enders, strict=False):
            for start, stop in zip(starts, stops, strict=False):
                link, name = next(NUMBERS), records.regions[event]
                header = records.headers[unit]  # a block's warps are of one processor, and have one clock
                for tick, warp in ((start, unit), (stop, other)):
                    at = int(header[BEGIN_NANOSECONDS]) - first + (tick - int(header[BEGIN])) / rate
                    yield _end(records, warp, name, at, rate, link, starts=tick is start)


def _end(records: Records, unit: int, name: str, at: float, rate: float, link: int, *, starts: bool) -> Drawn:
    header = records.headers[unit]
    block, warp, processor = int(records.blocks[unit]), int(records.warps[unit]), int(header[PROCESSOR])
    began, ended = int(header[BEGIN_NANOSECONDS]), int(header[END_NANOSECONDS])
    return Drawn((name,), block, warp, processor, at, 0.0, 0, began, ended, rate, link, starts)


def _alone(keys: Sequence[int], events: Container[int]) -> Ends:
    """What a warp starts and does not end, or the other way round."""
    found: Ends = {}
    for position, key in enumerate(keys):
        if key >> 1 in events:
            starts, stops = found.setdefault(key >> 1, ([], []))
            if not key & 1:
                starts.append(position)
            elif starts:
                starts.pop()
            else:
                stops.append(position)
    return found
