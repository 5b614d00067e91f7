"""One search: configurations in, their times out."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from typing import Protocol

from tritonx.runtime.compile_job import Made
from tritonx.runtime.config import Config
from tritonx.runtime.tuning.race import FAILED, RULES, Race, Rules


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


def search(launches: Launches, configs: Sequence[Config], rules: Rules = RULES) -> dict[Config, list[float]]:
    """The times of each configuration (``race.QUANTILES``), in the order of ``configs``; the fastest's are the
    smallest. Raises what measuring raises that is not about one configuration."""
    race = Race(launches.times, rules)
    failed: set[Config] = set()
    for config in compiled(launches, configs):
        try:
            race.enter(config)
        except Exception as error:
            if not launches.refuses(config, error):
                raise
            failed.add(config)
    race.rounds()
    found = race.timings() if race.runners else {}
    return {config: [*FAILED] if config in failed else found[config] for config in configs}


def compiled(launches: Launches, configs: Sequence[Config]) -> Iterator[Config]:
    """Each configuration once, when it can be measured without waiting for others."""
    waiting, flying = deque(dict.fromkeys(configs)), dict[Future[Made], Config]()
    held: list[Config] = []
    try:
        while waiting or flying:
            config: Config | None = None
            if waiting and len(flying) < launches.in_flight:
                config = waiting.popleft()
                future = launches.begin(config)
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


def compiled_in_order(launches: Launches, configs: Sequence[Config]) -> list[Config]:
    """``configs``, all begun; on a host all compiled."""
    flying = [future for config in dict.fromkeys(configs) if (future := launches.begin(config)) is not None]
    if launches.on_host():
        wait(flying)
    return [*configs]
