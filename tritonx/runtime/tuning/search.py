"""One search: configurations in, their times out."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from dataclasses import replace
from typing import Protocol

from tritonx.runtime.compiling.compile_job import Made
from tritonx.runtime.config import Config
from tritonx.runtime.errors import Foreseen, TritonError
from tritonx.runtime.tuning.progress import Progress
from tritonx.runtime.tuning.race import FAILED, RULES, Race, Rules
from tritonx.runtime.tuning.records import Record, Records
from tritonx.runtime.tuning.report import FASTEST, IMPOSSIBLE, MERGED, SLOWER, Tried, short


class Known(TritonError):
    """A configuration cannot run, as an earlier search has seen."""


class Launches(Protocol):
    """What a search asks about a configuration."""

    @property
    def in_flight(self) -> int:
        """As many compiles are started before anything is measured: the front end is this thread's, as measuring is."""
        ...

    def begin(self, config: Config) -> Future[Made] | None:
        """Have it compiled by a worker; None where there is nothing to wait for."""
        ...

    def on_host(self) -> bool:
        """Whether it runs on the cores that compile: then all is compiled before the first is measured."""
        ...

    def times(self, config: Config, count: int) -> Sequence[float]:
        """Milliseconds of each of ``count`` runs, compiling it here if need be."""
        ...

    def refuses(self, config: Config, error: Exception) -> bool:
        """Whether the error says that this configuration cannot run, and not that the kernel is wrong."""
        ...


def search(
    launches: Launches,
    configs: Sequence[Config],
    rules: Rules = RULES,
    records: Records | None = None,
    progress: Progress | None = None,
) -> tuple[Tried, ...]:
    """What became of each configuration, in the order of ``configs``; the fastest's times are the smallest.
    ``records`` are those of earlier searches, and get this one's. Raises what measuring raises that is not about one
    configuration."""
    race = Race(launches.times, rules)
    progress = progress or Progress("", len(configs))
    refused: dict[Config, str] = {}
    foreseen: list[Config] = []
    try:
        for config in compiled(launches, configs, records):
            error = enter(race, launches, config, records)
            if error is not None:
                refused[config] = str(error)
            if isinstance(error, Foreseen):
                foreseen.append(config)
            best = race.best()
            progress.step(None if best is None else best.median)
        for config in [] if race.runners else foreseen:  # what was foreseen is then seen
            if enter(race, launches, config, None) is None:
                del refused[config]
        race.rounds(progress.rounds)
    finally:
        progress.close()
    return tried(race, configs, refused)


def tried(race: Race[Config], configs: Sequence[Config], refused: Mapping[Config, str]) -> tuple[Tried, ...]:
    """How a race ended. ``refused``: why a configuration cannot run."""
    times = race.timings() if race.runners else {}
    winner = race.winner() if race.runners else None
    return tuple(
        Tried(config, FAILED, 0, IMPOSSIBLE, refused[config])
        if config in refused
        else Tried(config, tuple(times[config]), race.runners[config].runs, FASTEST if config == winner else SLOWER)
        for config in configs
    )


def enter(race: Race[Config], launches: Launches, config: Config, records: Records | None) -> Exception | None:
    """Why a configuration cannot run, where it cannot."""
    known = records and records.get(config)
    if known and known.reason:
        return Known(known.reason)
    try:
        runner = race.enter(config, known.times if known else ())
    except Exception as error:
        if not launches.refuses(config, error):
            raise
        if records and not isinstance(error, Foreseen):
            records.put(config, Record(reason=str(error) or type(error).__name__))
        return error
    if records and not known:
        records.put(config, Record(tuple(runner.entered)))
    return None


def compiled(launches: Launches, configs: Sequence[Config], records: Records | None = None) -> Iterator[Config]:
    """Each configuration once, when it can be measured without waiting for others. Of what has a record nothing is
    compiled: few of them will be measured again."""
    waiting, flying = deque(dict.fromkeys(configs)), dict[Future[Made], Config]()
    held: list[Config] = []
    try:
        while waiting or flying:
            config: Config | None = None
            if waiting and (not flying or len(flying) < launches.in_flight):
                config = waiting.popleft()
                future = launches.begin(config) if records is None or records.get(config) is None else None
                if future is not None:
                    flying[future], config = config, None
            else:
                done = next((f for f in flying if f.done()), None)
                config = flying.pop(done or wait(flying, return_when=FIRST_COMPLETED).done.pop())
            if config is not None:
                if launches.on_host():
                    held.append(config)
                else:
                    yield config
        yield from held
    finally:
        for future in flying:
            future.cancel()


def benched(bench: Callable[[Config], list[float]], config: Config, records: Records | None = None) -> list[float]:
    """The times that the user's own way of measuring gives, or gave an earlier search."""
    known = records and records.get(config)
    if known:
        return [*known.times] or [*FAILED]
    times = bench(config)
    if records and hasattr(times, "__len__"):  # a user may give one number
        impossible = any(map(math.isinf, times))
        records.put(config, Record(reason="impossible") if impossible else Record(tuple(times)))
    return times


def compiled_in_order(launches: Launches, configs: Sequence[Config], records: Records | None = None) -> list[Config]:
    """Start the compiles of all ``configs``; on a host, finish them."""
    wanted = [config for config in dict.fromkeys(configs) if records is None or records.get(config) is None]
    flying = [future for config in wanted if (future := launches.begin(config)) is not None]
    if launches.on_host():
        wait(flying)
    return [*configs]


def as_stored(times: Mapping[Config, Sequence[float]]) -> tuple[Tried, ...]:
    """What an earlier search found. The same code has the same times, to the last digit."""
    first: dict[tuple[float, ...], Config] = {}
    merged: dict[Config, Config] = {}
    for config, each in times.items():
        before = first.setdefault(tuple(each), config)
        if before is not config and math.isfinite(each[0]):
            merged[config] = before
    found = as_tried({config: list(each) for config, each in times.items()})
    return tuple(
        replace(each, runs=0, fate=MERGED, reason=f"the same code as {short(same)}", same_as=same)
        if (same := merged.get(each.config)) is not None
        else replace(each, runs=0)
        for each in found
    )


def as_tried(times: Mapping[Config, list[float] | float]) -> tuple[Tried, ...]:
    """What the user's own way of measuring found: quantiles, or one number."""
    listed = {c: (float(each),) if isinstance(each, int | float) else tuple(each) for c, each in times.items()}
    best = min(listed, key=lambda c: listed[c], default=None)
    fates = {c: IMPOSSIBLE if math.isinf(each[0]) else FASTEST if c == best else SLOWER for c, each in listed.items()}
    return tuple(Tried(c, each, 1, fates[c]) for c, each in listed.items())
