"""Choosing among configurations by measuring them: ``@autotune``, ``@heuristics``, ``Config``.

The interface is Triton's whole, because libraries derive from ``Autotuner`` and read its attributes. A configuration is
measured once for each key: the values of the arguments named in ``key`` and the dtypes of all array arguments.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from tritonx.kernel.interface import Grid, KernelInterface, Keywords
from tritonx.runtime import driver as driver
from tritonx.runtime import knobs
from tritonx.runtime.cache import get_cache_manager as get_cache_manager
from tritonx.runtime.cache import triton_key as triton_key
from tritonx.runtime.compiling.jit_function import JITFunction as JITFunction
from tritonx.runtime.compiling.keys import get_cache_invalidating_env_vars as get_cache_invalidating_env_vars
from tritonx.runtime.config import Config
from tritonx.runtime.errors import AutotunerError, OutOfResources, PTXASError, TritonError
from tritonx.runtime.launch.computed_arguments import Heuristics, heuristics
from tritonx.runtime.tracebacks import without_frames
from tritonx.runtime.tuning.tuner import Tuner
from tritonx.runtime.tuning.tuning_key import tuning_key

if TYPE_CHECKING:
    from tritonx.explain import Report

__all__ = [
    "Autotuner",
    "AutotunerError",
    "Config",
    "Heuristics",
    "OutOfResources",
    "PTXASError",
    "autotune",
    "heuristics",
]


class Autotuner(Tuner):
    """A kernel with configurations.

    ``cache``: key → the best Config; ``best_config``: the last one used; ``bench_time``: seconds that the last search
    took; ``configs_timings``: Config → [median, 20 %, 80 % quantile] of its last search, milliseconds.

    >>> tuned = tritonx.autotune([tritonx.Config({"BLOCK": 4}), tritonx.Config({"BLOCK": 8})], key=[])(double)
    >>> isinstance(tuned, tritonx.runtime.Autotuner), [config.kwargs for config in tuned.configs]
    (True, [{'BLOCK': 4}, {'BLOCK': 8}])
    >>> [compiled.name for compiled in tuned.warmup(np.zeros(8), grid=(1,))]
    ['double', 'double']
    """

    def run(self, *args: Any, **kwargs: Any) -> Any:
        """Launch with the best configuration for these arguments, searching for it the first time."""
        self._args, self._nargs = args, None
        config = self._chosen(args, kwargs) or self._found(args, kwargs)
        if config.pre_hook is not None:
            config.pre_hook({**(self.nargs or {}), **kwargs, **config.all_kwargs()})
        try:
            return self.fn.run(*args, **kwargs, **config.all_kwargs())
        finally:
            self._args = self._nargs = None

    def launch_with(self, grid: Grid, args: tuple[object, ...], keywords: Keywords) -> object:
        return self._launch(grid, *args, **keywords)

    def __getitem__(self, grid: Grid) -> Callable[..., Any]:
        return partial(self._launch, grid)

    def _launch(self, grid: Grid, /, *args: object, **keywords: object) -> object:
        if type(self).run is not _RUN or "run" in self.__dict__:
            return super().launch_with(grid, args, keywords)
        self._args, self._nargs = args, None
        config = self._chosen(args, keywords)
        if config is None or config.pre_hook is not None:
            options = {**keywords, "grid": grid, "warmup": False}
            config = config or self._found(args, options)
            if config.pre_hook is not None:
                config.pre_hook({**(self.nargs or {}), **options, **config.all_kwargs()})
        own = config.all_kwargs()
        given = {**keywords, **own}
        try:
            if len(given) < len(keywords) + len(own):
                return self.fn.run(*args, grid=grid, warmup=False, **keywords, **own)  # which Python refuses
            if isinstance(self.fn, KernelInterface):
                return self.fn.launch_with(grid, args, given)  # pyright: ignore[reportUnknownMemberType]  # whatever it launches
            return self.fn.run(*args, grid=grid, warmup=False, **given)
        finally:
            self._args = self._nargs = None

    def _chosen(self, args: tuple[object, ...], kwargs: Mapping[str, object]) -> Config | None:
        """What is known to be the best for these arguments, and now is ``best_config``; None where that is not."""
        if len(self.configs) > 1 or self._proposes:
            key = tuning_key(self.keys, self.arg_names, args, kwargs)
            if key not in self.cache:
                return None
            config = self.cache[key]
        else:
            config = self.configs[0]
        self.best_config = config
        return config

    def _found(self, args: tuple[object, ...], kwargs: Keywords) -> Config:
        """What a search finds, or the disk has, for a key that is new."""
        key = tuning_key(self.keys, self.arg_names, args, kwargs)
        try:
            used_cache = self._search(key, args, kwargs)
        except TritonError as error:
            raise without_frames(error) from error.__cause__
        if knobs.autotuning.print and not used_cache:
            print(
                f"Triton autotuning for function {self.__name__},\nwith key as {key},\n"
                f"finished after {self.bench_time or 0.0:.2f}s,\nbest config selected: {self.cache[key]};"
            )
        self.best_config = self.cache[key]
        return self.best_config

    def warmup(self, *args: Any, **kwargs: Any) -> list[Any]:
        """Compile every configuration that pruning leaves; the CompiledKernels."""
        self.nargs = dict(zip(self.arg_names, args, strict=False))
        try:
            return [self.fn.warmup(*args, **kwargs, **c.all_kwargs()) for c in self.prune_configs(kwargs)]
        finally:
            self.nargs = None

    def explain(self, /, *args: object, grid: Grid, target: str | None = None, **kwargs: object) -> Report:
        """What the compiler makes of a launch (`JITFunction.explain`) with the configuration that is known to be the
        best for these arguments, else the first that pruning leaves. Nothing is measured.

        >>> tuned = tritonx.autotune([tritonx.Config({"BLOCK": 8}, num_warps=2)], key=[])(double)
        >>> tuned.explain(np.zeros(8), grid=(1,), target="cuda:90").facts.threads
        64
        """
        self.nargs = dict(zip(self.arg_names, args, strict=False))
        try:
            config = self._chosen(args, kwargs) or self.prune_configs(kwargs)[0]
            return self.fn.explain(*args, grid=grid, target=target, **kwargs, **config.all_kwargs())
        finally:
            self.nargs = None


_RUN = Autotuner.run


def autotune(
    configs: Sequence[Config],
    key: Sequence[str],
    prune_configs_by: Mapping[str, Any] | None = None,
    reset_to_zero: Sequence[str] | None = None,
    restore_value: Sequence[str] | None = None,
    pre_hook: Callable[..., Any] | None = None,
    post_hook: Callable[..., Any] | None = None,
    warmup: int | None = None,
    rep: int | None = None,
    use_cuda_graph: bool = False,
    do_bench: Callable[..., Any] | None = None,
    cache_results: bool = False,
    propose: bool = False,
) -> Callable[[Any], Autotuner]:
    """Measure ``configs`` whenever the values of the arguments named in ``key`` are new, and launch with the best.

    ``prune_configs_by``: ``early_config_prune(configs, named_args, **kwargs)`` → configs; ``perf_model(**all)`` →
    estimated time, of which ``top_k`` (a share or a number) are measured. ``reset_to_zero`` and ``restore_value`` name
    arrays that are zeroed before, or restored after, each measured run. ``warmup`` and ``rep`` are milliseconds for
    ``do_bench``. ``propose`` has the backend list further ones, which then are as if ``configs`` had them.

    >>> @tritonx.autotune([tritonx.Config({"BLOCK": 2}), tritonx.Config({"BLOCK": 4})], key=[], restore_value=["x"])
    ... @tritonx.jit
    ... def tuned(x, BLOCK: tl.constexpr):
    ...     at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    ...     tl.store(x + at, tl.load(x + at) + 1)
    >>> x = np.zeros(8, np.float32)
    >>> compiled = tuned[lambda meta: (tritonx.cdiv(8, meta["BLOCK"]),)](x)
    >>> x.tolist()
    [1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0]
    >>> tuned.best_config in tuned.configs
    True
    """

    def decorate(fn: Any) -> Autotuner:
        return Autotuner(
            fn,
            fn.arg_names,
            configs,
            key,
            reset_to_zero,
            restore_value,
            pre_hook=pre_hook,
            post_hook=post_hook,
            prune_configs_by=prune_configs_by,
            warmup=warmup,
            rep=rep,
            use_cuda_graph=use_cuda_graph,
            do_bench=do_bench,
            cache_results=cache_results,
            propose=propose,
        )

    return decorate
