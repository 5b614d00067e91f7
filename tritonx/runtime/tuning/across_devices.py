"""A search that measures in other processes, one for each device, all at once.

No two devices are equally fast, of one model neither. So times of different devices are not compared: configurations
are shared out as their compiles end, each device has a race of its own, and those that are left at the end of each meet
on the first device, where they are measured by turns.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor

from tritonx.runtime.config import Config
from tritonx.runtime.errors import Foreseen
from tritonx.runtime.tuning.progress import Progress
from tritonx.runtime.tuning.race import RULES, Race, Rules
from tritonx.runtime.tuning.records import Record, Records
from tritonx.runtime.tuning.report import Tried
from tritonx.runtime.tuning.search import Launches, compiled, enter, tried


def search_across_devices(
    devices: Sequence[Launches],
    configs: Sequence[Config],
    rules: Rules = RULES,
    records: Records | None = None,
    progress: Progress | None = None,
) -> tuple[Tried, ...]:
    """As ``search.search``, on several devices, each with its launches; the first one's begin the compiles. Records are
    of one device's times, so of earlier ones only what cannot run is believed."""
    source = _Shared(compiled(devices[0], configs))
    races = [Race(device.times, rules) for device in devices]
    refused: dict[Config, str] = {}
    foreseen: list[Config] = []
    shown = threading.Lock()
    progress = progress or Progress("", len(configs))

    def run(number: int) -> None:
        race = races[number]
        for config in source:
            known = records and records.get(config)
            error = enter(race, devices[number], config, None) if not (known and known.reason) else None
            with shown:
                if error is not None or (known and known.reason):
                    refused[config] = str(error) if error is not None else known.reason if known else ""
                    if isinstance(error, Foreseen):
                        foreseen.append(config)
                    elif records and not known:
                        records.put(config, Record(reason=refused[config]))
                medians = [best.median for each in races if (best := each.best()) is not None]
                progress.step(min(medians, default=None))
        race.rounds()

    try:
        with ThreadPoolExecutor(len(devices), thread_name_prefix="tritonx-measure") as threads:
            for done in [threads.submit(run, number) for number in range(len(devices))]:
                done.result()
        if not any(race.runners for race in races):  # what was foreseen is then seen
            for config in foreseen:
                if enter(races[0], devices[0], config, None) is None:
                    del refused[config]
            races[0].rounds()
    finally:
        progress.close()
    final = _final(devices[0], races, rules)
    return tried(final, configs, refused)


def _final(first: Launches, races: Sequence[Race[Config]], rules: Rules) -> Race[Config]:
    """Who is left on each device, once more on the first one. Of the others the times are those they had."""
    if len(races) == 1:
        return races[0]
    final = Race(first.times, rules)
    for race in races:
        for runner in race.left:
            final.enter(runner.config)
    final.rounds()
    for race in races:
        final.add_losers(race)
    return final


class _Shared:
    """One iterator for several threads."""

    def __init__(self, configs: Iterator[Config]) -> None:
        self._configs = configs
        self._lock = threading.Lock()

    def __iter__(self) -> Iterator[Config]:
        return self

    def __next__(self) -> Config:
        with self._lock:
            return next(self._configs)
