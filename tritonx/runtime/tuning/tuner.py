"""The search of ``@autotune``: configurations are pruned, measured and kept, for each key once."""

from __future__ import annotations

import inspect
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

from tritonx import level
from tritonx.kernel.identity import plainly
from tritonx.kernel.interface import KernelInterface, Keywords, runs_as
from tritonx.kernel.meaning import meaning
from tritonx.kernel.pickling import Named
from tritonx.runtime import driver, knobs
from tritonx.runtime.compiling.jit_function import JITFunction
from tritonx.runtime.compiling.keys import compiler_key, environment_key
from tritonx.runtime.config import Config
from tritonx.runtime.launch.computed_arguments import Heuristics
from tritonx.runtime.tuning.held_arrays import copy_of, restore, set_zero
from tritonx.runtime.tuning.pruning import Pruning
from tritonx.runtime.tuning.race import FAILED, QUANTILES, Rules
from tritonx.runtime.tuning.refusals import is_impossible
from tritonx.runtime.tuning.stored_timings import StoredTimings
from tritonx.runtime.tuning.tuning_key import named_key, tuning_key

if TYPE_CHECKING:
    from tritonx.runtime.tuning.launches import TunedLaunches
    from tritonx.runtime.tuning.records import Records
    from tritonx.runtime.tuning.report import Report, Tried
    from tritonx.runtime.tuning.search import Launches


class Tuner(Named, KernelInterface[Any]):
    """A kernel with configurations, as far as they are measured: pruning, what is tried and how, what of it is kept.

    Libraries derive from ``Autotuner``, which launches as well, and read what Triton has on it, so the names are
    Triton's. The attributes are described there."""

    def __init__(
        self,
        fn: Any,
        arg_names: Sequence[str],
        configs: Sequence[Config],
        key: Sequence[str],
        reset_to_zero: Sequence[str] | None,
        restore_value: Sequence[str] | None,
        pre_hook: Callable[..., Any] | None = None,
        post_hook: Callable[..., Any] | None = None,
        prune_configs_by: Mapping[str, Any] | None = None,
        warmup: int | None = None,
        rep: int | None = None,
        use_cuda_graph: bool = False,
        do_bench: Callable[..., Any] | None = None,
        cache_results: bool = False,
        propose: bool = False,
    ) -> None:
        self.configs: list[Config] = list(configs) if configs else [Config({})]
        self.fn = fn
        self.keys = list(key)
        self.arg_names = list(arg_names)
        self.cache: dict[tuple[object, ...], Config] = {}
        self.best_config: Config | None = None
        self.bench_time: float | None = None
        self.configs_timings: dict[Config, list[float]] | None = None
        self._searched: tuple[object, ...] = ()
        self._proposes = propose
        self._remote: Callable[[TunedLaunches, Sequence[Config]], Sequence[Launches]] | None = None
        self._is_fresh = self._is_stored = False
        self._report: tuple[tuple[object, ...], tuple[Tried, ...]] | None = None
        self.cache_results = cache_results or knobs.autotuning.cache
        self.reset_to_zero = list(reset_to_zero or ())
        self.restore_value = list(restore_value or ())
        self.restore_copies: dict[str, Any] = {}
        self.user_defined_pre_hook = pre_hook is not None
        self.user_defined_post_hook = post_hook is not None
        self.pre_hook: Callable[..., Any] = pre_hook or self._default_pre_hook
        self.post_hook: Callable[..., Any] = post_hook or self._default_post_hook
        prune = prune_configs_by or {}
        self.perf_model: Callable[..., float] | None = prune.get("perf_model")
        self.configs_top_k: float | int = prune.get("top_k", 1.0)
        self.early_config_prune: Callable[..., Sequence[Config]] | None = prune.get("early_config_prune")
        self.base_fn: Any = fn
        while not inspect.isfunction(self.base_fn) and hasattr(self.base_fn, "fn"):
            self.base_fn = self.base_fn.fn
        self.num_warmups = warmup
        self.num_reps = rep
        self.use_cuda_graph = use_cuda_graph
        self._do_bench = do_bench
        if warmup is not None or rep is not None or use_cuda_graph:
            warnings.warn(
                "autotune's own ways to measure (warmup=, rep=, graphs) are deprecated: hand in do_bench=",
                DeprecationWarning,
                stacklevel=2,
            )
        self.__name__ = getattr(self.base_fn, "__name__", "kernel")
        self.__doc__ = getattr(self.base_fn, "__doc__", None)
        self._check_names()

    def _check_names(self) -> None:
        unknown = [name for name in self.keys if name not in self.arg_names]
        if unknown and level.active().checks_tuner_names:
            raise ValueError(f"key names {', '.join(unknown)}, which are not kernel arguments of {self.__name__}")
        for what, names in (("reset_to_zero", self.reset_to_zero), ("restore_value", self.restore_value)):
            unknown = [name for name in names if name not in self.arg_names]
            if unknown:
                raise ValueError(f"{what} names {', '.join(unknown)}, which {self.__name__} does not have")

    def _lasting(self) -> dict[str, object]:
        """Without what one launch is in the middle of, and without hooks that are its own."""
        state = super()._lasting()
        state |= {"_args": None, "_nargs": None, "restore_copies": {}, "_remote": None, "cache": dict(self.cache)}
        own = [n for n in ("pre_hook", "post_hook") if getattr(state[n], "__self__", None) is self]
        return {name: value for name, value in state.items() if name not in own}

    def _made_again(self, state: Mapping[str, object]) -> None:
        super()._made_again({"pre_hook": self._default_pre_hook, "post_hook": self._default_post_hook, **state})

    _args: tuple[object, ...] | None = None
    _nargs: Keywords | None = None

    @property
    def nargs(self) -> Keywords | None:
        """While it launches, the arguments given by position, by name; None else. May be set."""
        if self._nargs is None and self._args is not None:
            self._nargs = dict(zip(self.arg_names, self._args, strict=False))
        return self._nargs

    @nargs.setter
    def nargs(self, value: Keywords | None) -> None:
        self._args, self._nargs = None, value

    # Hooks around a run --------------------------------------------------------------------------------------------

    def _default_pre_hook(self, kwargs: dict[str, Any], reset_only: bool = False) -> None:
        for name in self.reset_to_zero:
            if kwargs[name] is not None:
                set_zero(kwargs[name])
        if not reset_only:
            given = [name for name in self.restore_value if kwargs[name] is not None]
            self.restore_copies = {name: copy_of(kwargs[name]) for name in given}

    def _default_post_hook(self, kwargs: dict[str, Any], exception: BaseException | None) -> None:
        for name, value in self.restore_copies.items():
            restore(kwargs[name], value)
        self.restore_copies = {}

    @property
    def do_bench(self) -> Callable[..., Any]:
        """(kernel call, quantiles=) → times in milliseconds."""
        if self._do_bench is not None:
            return self._do_bench
        from tritonx import testing

        timed = testing.do_bench_cudagraph if self.use_cuda_graph else testing.do_bench
        given: dict[str, Any] = {"rep": self.num_reps} if self.num_reps is not None else {}
        if self.num_warmups is not None and not self.use_cuda_graph:
            given["warmup"] = self.num_warmups

        def bench(call: Callable[[], object], quantiles: Sequence[float]) -> object:
            return timed(call, quantiles=quantiles, **given)

        return bench

    # Searching -----------------------------------------------------------------------------------------------------

    def _call(self, config: Config, args: tuple[object, ...], meta: dict[str, object]) -> Callable[[], object]:
        """A launch with one configuration and the hooks around it, which measuring repeats."""
        conflicts = meta.keys() & config.kwargs.keys()
        if conflicts:
            raise ValueError(
                f"Conflicting meta-parameters: {', '.join(sorted(conflicts))}. Make sure that you don't re-define "
                f"auto-tuned symbols."
            )
        current = {**meta, **config.all_kwargs()}
        full = {**(self.nargs or {}), **current}

        def call() -> object:
            if config.pre_hook is not None:
                config.pre_hook(full)
            self.pre_hook(full)
            try:
                launched = self.fn.run(*args, **current)
            except Exception as error:
                try:
                    self.post_hook(full, exception=error)
                finally:
                    raise
            self.post_hook(full, exception=None)
            return launched

        return call

    def _bench(self, *args: object, config: Config, **meta: object) -> list[float]:
        """The times of one configuration by ``do_bench``, infinite where it cannot run."""
        if knobs.autotuning.print:
            print(f"Autotuning kernel {self.__name__} with config {config}")
        call = self._call(config, args, meta)
        try:
            return self.do_bench(call, quantiles=QUANTILES)
        except Exception as error:
            if not is_impossible(error):
                raise
            if knobs.autotuning.print:
                print(f"Autotuning failed with {error}")
            return list(FAILED)

    def _races(self) -> bool:
        """Whether losers may stop early: not where the user, or a library, says how to measure."""
        measured_here = self._do_bench is None and type(self)._bench is Tuner._bench
        return measured_here and knobs.autotuning.early and not self.use_cuda_graph

    def _hears(self) -> bool:
        """Whether the backend is asked about configurations: not where a library says what measuring one is, and not
        through wrappers of others, which may do more than tell what they would launch."""
        if not knobs.autotuning.hints or type(self)._bench is not Tuner._bench:
            return False
        kernel = self.fn
        while runs_as(Heuristics, kernel):
            kernel = kernel.fn
        return runs_as(JITFunction, kernel)

    def _tried(
        self, configs: Sequence[Config], args: tuple[object, ...], kwargs: dict[str, object]
    ) -> tuple[Tried, ...]:
        if not self._hears():
            return self._measured(configs, configs, args, kwargs)
        from tritonx.runtime.tuning.hints import planned

        plan = planned(self.__name__, self._launches(args, kwargs, 0).dry_runs, configs)
        return plan.tried(lambda some: self._measured(some, configs, args, kwargs))

    def _measured(
        self,
        configs: Sequence[Config],
        listed: Sequence[Config],
        args: tuple[object, ...],
        kwargs: dict[str, object],
    ) -> tuple[Tried, ...]:
        """What became of ``configs``, which are some of those ``listed``."""
        from tritonx.runtime.tuning.progress import Progress
        from tritonx.runtime.tuning.search import as_tried, benched, compiled_in_order, search

        launches = self._launches(args, kwargs, len(configs))
        if self._races():
            rules = Rules() if self.num_reps is None else Rules(budget=float(self.num_reps))
            progress = Progress(self.__name__, len(configs))
            found = self._records(configs)
            if self._remote is None:
                return search(launches, configs, rules, found, progress)
            from tritonx.runtime.tuning.across_devices import search_across_devices

            return search_across_devices(self._remote(launches, listed), configs, rules, found, progress)
        records = self._records(configs)
        ready = compiled_in_order(launches, configs, records)
        times = {config: benched(lambda c: self._bench(*args, config=c, **kwargs), config, records) for config in ready}
        return as_tried(times)

    def _launches(self, args: tuple[object, ...], kwargs: dict[str, object], count: int) -> TunedLaunches:
        from tritonx.runtime.tuning.launches import TunedLaunches

        arguments = {**(self.nargs or {}), **kwargs}
        count = count if isinstance(self._kernel(), JITFunction) else 0
        return TunedLaunches(
            self.fn.run, lambda config: self._call(config, args, kwargs), args, kwargs, arguments, count
        )

    def prepared(
        self, grid: object, args: tuple[object, ...], kwargs: Mapping[str, object]
    ) -> tuple[TunedLaunches, list[Config]]:
        """A launch that is to be tuned, and the configurations that pruning leaves of it: for who measures it."""
        self.nargs = dict(zip(self.arg_names, args, strict=False))
        options = {**kwargs, "grid": grid, "warmup": False}
        return self._launches(args, options, 0), self.prune_configs(options)

    def tune(
        self,
        grid: object,
        args: tuple[object, ...],
        kwargs: Mapping[str, object],
        remote: Callable[[TunedLaunches, Sequence[Config]], Sequence[Launches]] | None = None,
        *,
        fresh: bool = False,
    ) -> Report | None:
        """Search for the key of this launch, or take what the disk has, if not ``fresh``; what was tried. ``remote``
        gives those who measure, in the place of this process."""
        self.nargs = dict(zip(self.arg_names, args, strict=False))
        options = {**kwargs, "grid": grid, "warmup": False}
        key = tuning_key(self.keys, self.arg_names, args, options)
        self._remote, self._is_fresh = remote, fresh
        try:
            if self._search(key, args, options, one_too=True):
                from tritonx.runtime.tuning.search import as_stored

                self._report, self.bench_time = (key, as_stored(self.configs_timings or {})), 0.0
                self._is_stored = True
        finally:
            self._remote, self.nargs, self._is_fresh = None, None, False
        self.best_config = self.cache[key]
        return self.report

    @property
    def report(self) -> Report | None:
        """What the last search of this process tried, as a ``table()`` and drawn by ``svg()`` or ``html()``."""
        from tritonx.runtime.tuning.report import Report

        if self._report is None:
            return None
        key, tried = self._report
        return Report(self.__name__, str(plainly(key)), self.bench_time or 0.0, tried, self._is_stored)

    def _records(self, configs: Sequence[Config]) -> Records | None:
        """Where this search's measurements are kept; None where they are this process's only."""
        if not self.cache_results or knobs.runtime.interpret or any(config.pre_hook is not None for config in configs):
            return None
        from tritonx.runtime.tuning.records import Records

        parts = (*self._decisive(self._searched), "race" if self._races() else "do_bench")
        return Records(self.__name__, parts, is_fresh=self._is_fresh)

    def _decisive(self, tuning_key: tuple[object, ...]) -> tuple[str, ...]:
        """What decides times, beside the configuration."""
        active = driver.get_active()
        where = (active.backend.name, active.backend.version_key(), str(active.get_current_target()))
        return (compiler_key(), environment_key(), self._kernel().cache_key, *where, meaning(plainly(tuning_key)))

    def _kernel(self) -> Any:
        """The kernel below heuristics and wrappers."""
        kernel = self.fn
        while not isinstance(kernel, JITFunction) and hasattr(kernel, "fn"):
            kernel = kernel.fn
        return cast("JITFunction", kernel)

    def check_disk_cache(
        self, tuning_key: tuple[object, ...], configs: Sequence[Config], bench_fn: Callable[[], None]
    ) -> bool:
        """Take the timings of an earlier process, or ``bench_fn()`` and keep what it measured; whether there were
        any."""
        if not tuning_key or any(config.pre_hook is not None for config in configs):
            bench_fn()  # a hook may depend on anything, so its timings belong to this process
            return False
        parts = (*self._decisive(tuning_key), f"hints {knobs.autotuning.hints}")
        stored = StoredTimings(self.__name__, parts, configs)
        timings = None if self._is_fresh else stored.read()
        if timings is not None:
            self.cache[tuning_key] = min(timings, key=lambda c: timings[c])
            self.configs_timings = timings
            return True
        bench_fn()
        stored.write(tuning_key, self.configs_timings or {})
        return False

    def _search(
        self, key: tuple[object, ...], args: tuple[object, ...], kwargs: dict[str, Any], *, one_too: bool = False
    ) -> bool:
        """Fill ``cache[key]``; whether the timings came from the disk. A single configuration is measured ``one_too``
        only: a launch needs no time of it."""
        if knobs.compilation.sealed is not None and (sealed := self._of_sealed_package(key, args, kwargs)) is not None:
            self.cache[key], self.configs_timings = sealed, {}
            return True
        pruned = self.prune_configs(kwargs)
        self._searched = key
        if len(pruned) == 1 and not one_too:
            self.cache[key], self.configs_timings = pruned[0], {}
            return True

        from tritonx.runtime.tuning.report import LEFT_OUT

        def bench() -> None:
            start = time.time()
            tried = self._tried(pruned, args, kwargs)
            self.bench_time = time.time() - start
            self._report, self._is_stored = (key, tried), False
            timings = {each.config: [*each.times] for each in tried if each.fate != LEFT_OUT}
            self.cache[key] = min(timings, key=lambda c: timings[c])
            self.configs_timings = timings

        if self.cache_results:
            used_cache = self.check_disk_cache(key, pruned, bench)
        else:
            bench()
            used_cache = False
        full = {**(self.nargs or {}), **kwargs, **self.cache[key].all_kwargs()}
        self.pre_hook(full, reset_only=True)
        self._tell(key, used_cache)
        return used_cache

    def _of_sealed_package(
        self, key: tuple[object, ...], args: tuple[object, ...], kwargs: Mapping[str, object]
    ) -> Config | None:
        from tritonx.runtime.tuning.sealed_winners import of_sealed_package

        values, dtypes = named_key(key, self.keys, self.arg_names, args, kwargs)

        def target() -> str:
            return str(driver.get_active().get_current_target())

        return of_sealed_package(self._kernel(), self.configs, values, dtypes, target)

    def _tell(self, key: tuple[object, ...], used_cache: bool) -> None:
        """What ``knobs.autotuning.listener`` hears of a search, or of its timings that the disk had."""
        if knobs.autotuning.listener is not None:
            knobs.autotuning.listener(
                fn=self._kernel(),
                key=key,
                best_config=self.cache[key],
                configs_timings=self.configs_timings,
                duration=None if used_cache else self.bench_time,
                cache_hit=used_cache,
            )

    def prune_configs(self, kwargs: dict[str, Any]) -> list[Config]:
        """What is left for measuring: by ``early_config_prune``, then the ``top_k`` best of ``perf_model``."""
        listed = self.configs + self._proposed(kwargs)
        rules = Pruning(self.early_config_prune, self.perf_model, self.configs_top_k)
        return rules.left(listed, self.nargs or {}, kwargs)

    def _proposed(self, kwargs: Mapping[str, object]) -> list[Config]:
        """What the backend would have listed as well, where the user asks for it."""
        if not self._proposes or not self._hears():
            return []
        from tritonx.runtime.tuning.hints import proposed

        given = {**(self.nargs or {}), **kwargs}
        return proposed(self.__name__, self._launches((), given, 0).dry_runs, self.configs)
