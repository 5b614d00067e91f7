"""Launches that another process measures, on its device."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Executor, Future

from tritonx.runtime.compiling.compile_job import Made
from tritonx.runtime.config import Config
from tritonx.runtime.tuning.case import Case, measure
from tritonx.runtime.tuning.launches import TunedLaunches


class RemoteLaunches:
    """Launches that ``executor``, which has a process with a device, measures. ``here`` starts the compiles."""

    def __init__(self, case: Case, executor: Executor, here: TunedLaunches, configs: Sequence[Config]) -> None:
        """``configs`` are those that pruning leaves, here as there."""
        self._case = case
        self._numbers = {config: number for number, config in enumerate(configs)}
        self._executor = executor
        self._here = here

    @property
    def in_flight(self) -> int:
        return self._here.in_flight

    def begin(self, config: Config) -> Future[Made] | None:
        return self._here.begin(config)

    def on_host(self) -> bool:
        return self._here.on_host()

    def times(self, config: Config, count: int) -> Sequence[float]:
        self._here.finish(config)
        return self._executor.submit(measure, self._case, self._numbers[config], str(config), count).result()

    def refuses(self, config: Config, error: Exception) -> bool:
        return self._here.refuses(config, error)
