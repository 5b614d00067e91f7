"""Triton's types of settings, for libraries that have settings of their own.

    class mine(base_knobs):
        x = env_bool("X")

A class derived from one of them may replace ``get()``, what the environment says, and ``transform(value)``, what is
read where ``value`` was assigned.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Protocol, TypedDict

from tritonx.runtime.settings.environment import getenv
from tritonx.runtime.settings.setting import Knob
from tritonx.runtime.settings.setting_texts import import_class, parse_bool, parse_int


class env_base(Knob[str | None]):
    """A setting that is a text.

    >>> class Settings(tritonx.knobs.base_knobs):
    ...     word = tritonx.knobs.env_base("MY_WORD")
    >>> print(Settings().word)
    None
    """

    def __init__(self, key: str) -> None:
        super().__init__(key, None, str)


class env_str(Knob[str]):
    """A text.

    >>> class Settings(tritonx.knobs.base_knobs):
    ...     word = tritonx.knobs.env_str("MY_WORD", "none")
    >>> Settings().word
    'none'
    """

    def __init__(self, key: str, default: str) -> None:
        super().__init__(key, default, str)


class env_str_callable_default(Knob[str]):
    """A text, whose default is made when it is asked for.

    >>> class Settings(tritonx.knobs.base_knobs):
    ...     folder = tritonx.knobs.env_str_callable_default("MY_FOLDER", lambda: "made when asked for")
    >>> Settings().folder
    'made when asked for'
    """

    def __init__(self, key: str, default_factory: Callable[[], str]) -> None:
        super().__init__(key, default_factory, str)


class env_bool(Knob[bool]):
    """A truth value.

    >>> class Settings(tritonx.knobs.base_knobs):
    ...     careful = tritonx.knobs.env_bool("MY_CARE", True)
    >>> Settings().careful
    True
    """

    def __init__(self, key: str, default: bool = False) -> None:
        super().__init__(key, default, parse_bool)


class env_int(Knob[int]):
    """A whole number.

    >>> class Settings(tritonx.knobs.base_knobs):
    ...     count = tritonx.knobs.env_int("MY_COUNT", 7)
    >>> Settings().count
    7
    """

    def __init__(self, key: str, default: int = 0) -> None:
        super().__init__(key, default, parse_int)


class env_opt_str(Knob[str | None]):
    """A text, or None where the variable is not set.

    >>> class Settings(tritonx.knobs.base_knobs):
    ...     word = tritonx.knobs.env_opt_str("MY_WORD")
    >>> print(Settings().word)
    None
    """

    def __init__(self, key: str) -> None:
        super().__init__(key, None, str)


class env_opt_bool(Knob[bool | None]):
    """A truth value, or None where the variable is not set.

    >>> class Settings(tritonx.knobs.base_knobs):
    ...     careful = tritonx.knobs.env_opt_bool("MY_CARE")
    >>> print(Settings().careful)
    None
    """

    def __init__(self, key: str) -> None:
        super().__init__(key, None, parse_bool)


class env_class(Knob[type | None]):
    """A class as ``module:Class``, derived from one that is called ``type``.

    >>> class Settings(tritonx.knobs.base_knobs):
    ...     manager = tritonx.knobs.env_class("MY_MANAGER", "CacheManager")
    >>> settings = Settings()
    >>> with settings.scope():
    ...     settings.manager = "tritonx.runtime.cache:FileCacheManager"
    ...     print(Settings().manager.__name__)
    FileCacheManager
    """

    def __init__(self, key: str, type: str) -> None:  # Triton's name
        self.type = type

        def parse(text: str) -> type:
            found = import_class(text)
            if all(base.__name__ != self.type for base in found.__mro__):
                raise ValueError(f"Unable to use {text!r} from {key}: not of type {self.type!r}")
            return found

        super().__init__(key, None, parse)


def getenv_bool(key: str, default: bool) -> bool:
    """The variable as a truth value.

    >>> getenv_bool("MY_CARE", True)
    True
    """
    given = getenv(key)
    return default if given is None else parse_bool(given)


@dataclass(frozen=True)
class CompileTimes:
    """Microseconds of one compile: the front end, each stage, storing the results.

    >>> CompileTimes(120, [("ttir", 300), ("llir", 500)], 80).total
    1000
    """

    ir_initialization: int
    lowering_stages: list[tuple[str, int]]
    store_results: int

    @property
    def total_lowering(self) -> int:
        """All stages."""
        return sum(duration for _, duration in self.lowering_stages)

    @property
    def total(self) -> int:
        """Everything."""
        return self.ir_initialization + self.total_lowering + self.store_results


class JITHookCompileInfo(TypedDict):
    """What the hooks of a compile get as ``compile``.

    >>> def told(*, compile, **more):
    ...     print(compile["num_warps"], compile["signature"])
    >>> with tritonx.knobs.runtime.scope():
    ...     tritonx.knobs.runtime.jit_cache_hook = told
    ...     compiled = tritonx.jit(double.fn).warmup(np.zeros(8), BLOCK=8, grid=(1,))
    1 {'x': '*fp64', 'BLOCK': 'constexpr'}
    """

    key: str
    signature: dict[str, str]
    device: int
    constants: None
    num_warps: int
    num_ctas: int
    num_stages: int
    enable_fp_fusion: bool
    launch_cooperative_grid: bool
    extern_libs: tuple[tuple[str, str], ...]
    configs: list[dict[tuple[int, ...], list[list[str | int]]]]
    specialization_data: str
    is_warmup: bool


class JITHook(Protocol):
    """``knobs.runtime.jit_cache_hook`` and ``jit_post_compile_hook``.

    >>> def hook(*, key, repr, fn, compile, is_manual_warmup, already_compiled):
    ...     print(repr.partition("[")[0], is_manual_warmup, already_compiled)
    >>> with tritonx.knobs.runtime.scope():
    ...     tritonx.knobs.runtime.jit_post_compile_hook = hook
    ...     compiled = tritonx.jit(double.fn).warmup(np.zeros(8), BLOCK=8, grid=(1,))
    double True False
    """

    def __call__(
        self, *, key: str, repr: str, fn: object, compile: JITHookCompileInfo, is_manual_warmup: bool,
        already_compiled: bool,
    ) -> bool | None: ...  # fmt: skip


class LaunchHook(Protocol):
    """``knobs.runtime.launch_enter_hook`` and ``launch_exit_hook``: ``metadata.get()`` gives the launch's data.

    >>> def hook(metadata):
    ...     print(metadata.get()["name"])
    >>> with tritonx.knobs.runtime.scope():
    ...     tritonx.knobs.runtime.launch_enter_hook = hook
    ...     compiled = double[(1,)](np.zeros(8), BLOCK=8)
    double
    """

    def __call__(self, metadata: object) -> None: ...


class InitHandleHook(Protocol):
    """``knobs.runtime.kernel_load_start_hook`` and ``kernel_load_end_hook``: around the loading of a kernel; and
    ``kernel_unload_hook``, once it cannot be launched any more: its ``module`` is None then.

    >>> def hook(module, function, name, metadata_group, hash):
    ...     print(name)
    >>> with tritonx.knobs.runtime.scope():
    ...     tritonx.knobs.runtime.kernel_load_start_hook.add(hook)
    ...     compiled = tritonx.jit(double.fn)[(1,)](np.zeros(8), BLOCK=8)
    ...     tritonx.knobs.runtime.kernel_load_start_hook.remove(hook)
    double
    """

    def __call__(
        self, module: object, function: object, name: str, metadata_group: Mapping[str, str], hash: str
    ) -> None: ...


class PipelineStagesHook(Protocol):
    """``knobs.runtime.add_stages_inspection_hook``: may change the stages of a compile."""

    def __call__(self, stages: object, options: object, language: object, capability: object) -> object: ...


class BuildImpl(Protocol):
    """``knobs.build.impl``: makes a shared library of C source, in place of the system's compiler."""

    def __call__(
        self,
        name: str,
        src: str,
        srcdir: str,
        library_dirs: list[str],
        include_dirs: list[str],
        libraries: list[str],
        /,
    ) -> str: ...
