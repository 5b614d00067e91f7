"""One search: configurations in, their times out."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from typing import Protocol

from tritonx.runtime.compile_job import Made
from tritonx.runtime.config import Config
from tritonx.runtime.errors import Foreseen
from tritonx.runtime.tuning.race import FAILED, RULES, Race, Rules
from tritonx.runtime.tuning.records import Record, Records


class Launches(Protocol):
    """What a search asks about a configuration."""

    in_flight: int
    """As many compiles are begun before anything is measured: the front end is this thread's, as measuring is."""

    def begin(self, config: Config) -> Future[Made] | None:
        """Have it compiled elsewhere; None where there is nothing to wait for."""
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
    launches: Launches, configs: Sequence[Config], rules: Rules = RULES, records: Records | None = None
) -> dict[Config, list[float]]:
    """The times of each configuration (``race.QUANTILES``), in the order of ``configs``; the fastest's are the
    smallest. ``records`` are those of earlier searches, and get this one's. Raises what measuring raises that is not
    about one configuration."""
    race = Race(launches.times, rules)
    refused: dict[Config, Exception | None] = {}
    for config in compiled(launches, configs, records):
        error = _enter(race, launches, config, records)
        if config not in race.runners:
            refused[config] = error
    if not race.runners:  # what was foreseen is then seen
        for config in [config for config, error in refused.items() if isinstance(error, Foreseen)]:
            _enter(race, launches, config, None)
    race.rounds()
    found = race.timings() if race.runners else {}
    return {config: found.get(config) or [*FAILED] for config in configs}


def _enter(race: Race[Config], launches: Launches, config: Config, records: Records | None) -> Exception | None:
    """Why a configuration cannot run, where that was seen now."""
    known = records and records.get(config)
    if known and known.reason:
        return None
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
            if waiting and len(flying) < launches.in_flight:
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
    """``configs``, all begun; on a host all compiled."""
    wanted = [config for config in dict.fromkeys(configs) if records is None or records.get(config) is None]
    flying = [future for config in wanted if (future := launches.begin(config)) is not None]
    if launches.on_host():
        wait(flying)
    return [*configs]
