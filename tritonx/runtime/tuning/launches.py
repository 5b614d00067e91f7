"""A tuned kernel's launches, as a search sees them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor, Future

from tritonx.runtime import knobs
from tritonx.runtime.async_compile import FutureKernel
from tritonx.runtime.compiling.compile_job import Made
from tritonx.runtime.config import Config
from tritonx.runtime.devices.drivers import find_backend
from tritonx.runtime.tuning.ahead import Ahead
from tritonx.runtime.tuning.clock import Clock
from tritonx.runtime.tuning.dry_run import DryRun, dry_runs
from tritonx.runtime.tuning.refusals import is_impossible
from tritonx.runtime.tuning.workers import CompileWorkers, compile_workers, usable_cores

WORTH_WORKERS = 4
"""Configurations from which processes are started for compiling."""

_EACH = 2
"""Compiles started for each worker before anything is measured."""

_HOST = 1
"""DLDeviceType of the processor."""


class TunedLaunches:
    """``run(*args, **options)`` launches what is below the tuner; ``call(config)`` is the launch with everything that
    the tuner does around it; ``arguments`` are those of the kernel by name."""

    def __init__(
        self,
        run: Callable[..., object],
        call: Callable[[Config], Callable[[], object]],
        args: tuple[object, ...],
        options: Mapping[str, object],
        arguments: Mapping[str, object],
        count: int,
    ) -> None:
        self._run = run
        self._call = call
        self._args = args
        self._options = options
        self._arguments = arguments
        self._clock = Clock()
        self._host = False
        self._ahead = Ahead(self._choose) if compiles_ahead(count) else None
        self._promised: dict[Config, FutureKernel] = {}
        self.in_flight = count

    def begin(self, config: Config) -> Future[Made] | None:
        if self._ahead is None:
            return None
        future = self._ahead.start(self._run, self._args, self._given(config))
        if future is not None and self._ahead.promised is not None:
            self._promised[config] = self._ahead.promised
        return future

    def dry_runs(self, config: Config) -> tuple[DryRun, ...]:
        """What a launch with it would compile. Raises what that launch raises for what does not fit."""
        return dry_runs(self._run, self._args, self._given(config))

    def _given(self, config: Config) -> dict[str, object]:
        options = {**self._options, **config.all_kwargs()}
        if config.pre_hook is not None and any(hasattr(value, "block_shape") for value in self._arguments.values()):
            config.pre_hook({**self._arguments, **options})  # it may say what a descriptor describes
        return options

    def finish(self, config: Config) -> None:
        """Have what a worker compiled in the cache, for another process that measures. Raises what the compile did."""
        promised = self._promised.pop(config, None)
        if promised is not None:
            promised.result()

    def on_host(self) -> bool:
        return self._host

    def times(self, config: Config, count: int) -> Sequence[float]:
        return self._clock.times(self._call(config), count)

    def refuses(self, config: Config, error: Exception) -> bool:
        if is_impossible(error):
            if knobs.autotuning.print:
                print(f"Autotuning failed with {error}")
            return True
        return False

    def _choose(self, backend: str) -> Executor | None:
        self._host = _HOST in find_backend(backend).dlpack_device_types
        given: Executor | None = knobs.autotuning.executor
        if given is not None:
            return given
        workers = _own(self._host)
        self.in_flight = _EACH * workers.count
        workers.warm_up(backend)
        return workers


def compiles_ahead(count: int) -> bool:
    """Whether it is worth while for so many configurations."""
    if knobs.autotuning.executor is not None:
        return count > 1
    return count >= WORTH_WORKERS and knobs.autotuning.workers != 0


def _own(host: bool) -> CompileWorkers:
    """One for each core; a device is fed by one of them."""
    wanted = knobs.autotuning.workers
    return compile_workers(wanted or max(1, usable_cores() - (0 if host else 1)))
