"""The settings, by subject.

``knobs.cache.dir`` is what was assigned to it, else the environment's ``TRITONX_CACHE_DIR``, else ``TRITON_CACHE_DIR``,
else the default. ``del knobs.cache.dir`` goes back to the environment. ``with knobs.cache.scope(): ...`` restores every
setting of the group afterwards, and the environment variables that assignments wrote under ``propagate_env``.
The two settings that a launch consults are read from the environment once: ``refresh_knobs()`` reads them again.
"""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pkgutil import iter_modules
from types import ModuleType
from typing import Any, Protocol

from tritonx import level
from tritonx.runtime.settings import environment
from tritonx.runtime.settings.environment import getenv as getenv
from tritonx.runtime.settings.environment import read
from tritonx.runtime.settings.environment import setenv as setenv
from tritonx.runtime.settings.environment import toenv as toenv
from tritonx.runtime.settings.hook_chain import HookChain as HookChain
from tritonx.runtime.settings.setting import Env as Env
from tritonx.runtime.settings.setting import Fixed, Group, Knob, Refused, flag, folder, hook, optional_text, text
from tritonx.runtime.settings.setting import env as env
from tritonx.runtime.settings.setting_texts import (
    import_class,
    parse_bool,
    parse_count,
    parse_int,
    parse_precision,
    parse_sealed,
    parse_seconds,
    parse_sharing,
    parse_size,
)


class CompilationListener(Protocol):
    """Called after each compile with the source, the metadata, the stages' times and whether the cache had it."""

    def __call__(
        self, *, src: Any, metadata: dict[str, Any], metadata_group: Any, times: Any, cache_hit: bool
    ) -> None: ...


class AutotuneListener(Protocol):
    """Called behind each search of a tuner: `knobs.autotuning.listener`."""

    def __call__(
        self,
        *,
        fn: object,
        key: tuple[object, ...],
        best_config: object,
        configs_timings: dict[object, list[float]],
        duration: float | None,
        cache_hit: bool,
    ) -> None: ...


def _home() -> str:
    return os.path.expanduser("~/")


class CacheKnobs(Group):
    """The cache of compiled kernels on disk.

    >>> with tritonx.knobs.cache.scope():
    ...     tritonx.knobs.cache.dir = "/tmp/kernels"
    ...     print(tritonx.knobs.cache.dir)
    /tmp/kernels
    """

    home_dir = folder("TRITON_HOME", _home)
    dir = folder("TRITON_CACHE_DIR", lambda: cache.get_triton_dir("cache"))
    dump_dir = folder("TRITON_DUMP_DIR", lambda: cache.get_triton_dir("dump"))
    override_dir = folder("TRITON_OVERRIDE_DIR", lambda: cache.get_triton_dir("override"))
    max_bytes = Knob("TRITON_CACHE_MAX_BYTES", 2 << 30, parse_size)
    """The cache is pruned, least recently used first, when it grows beyond this; 0 is no bound."""
    shared = Knob("TRITON_CACHE_SHARED", "", parse_sharing)
    """Who else may write the cache's folders: no one, ``group`` (the groups that this user is in) or ``anyone``. The
    code in a cache is run, so that whoever can write it can run code as this user."""
    manager_class = Knob[Any]("TRITON_CACHE_MANAGER", None, import_class)
    remote_manager_class = Knob[Any]("TRITON_REMOTE_CACHE_BACKEND", None, import_class)

    def get_triton_dir(self, dirname: str) -> str:
        """A folder of this program's in ``home_dir``; `dir` and its like are there by default."""
        return os.path.join(self.home_dir, ".tritonx", dirname)


class CompilationKnobs(Group):
    """How a kernel becomes code.

    >>> with tritonx.knobs.compilation.scope():
    ...     tritonx.knobs.compilation.always_compile = True
    ...     compiled = double.warmup(np.zeros(8), BLOCK=8, grid=(1,))
    >>> compiled.name
    'double'
    """

    override = flag("TRITON_KERNEL_OVERRIDE")
    dump_ir = flag("TRITON_KERNEL_DUMP")
    dump_ir_extract_di_local_variables = flag("LLVM_EXTRACT_DI_LOCAL_VARIABLES")
    """Without effect: code says lines where it is asked to (`disable_line_info`), and nothing of variables."""
    store_binary_only = flag("TRITON_STORE_BINARY_ONLY")
    always_compile = flag("TRITON_ALWAYS_COMPILE")
    use_ir_loc = optional_text("USE_IR_LOC")
    """Without effect: places are those of the source."""
    enable_asan = Refused[bool](
        "TRITON_ENABLE_ASAN",
        False,
        parse_bool,
        "run the vendor's memory checker, or the kernel on a CPU",
    )
    disable_line_info = flag("TRITON_DISABLE_LINE_INFO", True)
    """Code says nothing of the lines of its source: lines cost compile time (docs/history/measurements.md). ``0`` has
    it say them, for profilers and sanitizers."""
    front_end_debugging = flag("TRITON_FRONT_END_DEBUGGING")
    allow_non_constexpr_globals = flag("TRITON_ALLOW_NON_CONSTEXPR_GLOBALS")
    verify = flag("TRITON_VERIFY")
    """Verify the IR after every pass."""
    sealed = Knob[str | None]("TRITON_SEALED", None, parse_sealed)
    """Nothing is compiled: kernels come from this folder, which ``tritonx seal`` wrote, or with 1 from the cache."""
    isolate = flag("TRITON_ISOLATE")
    """LLVM runs in a helper process for every kernel, not only for those with code that is not ours (inline assembly,
    libraries of the user): see ``tritonx.runtime.isolation``."""
    isolate_timeout = Knob("TRITON_ISOLATE_TIMEOUT", 600.0, parse_seconds)
    """Seconds after which a helper process is ended and the compile fails."""
    instrumentation_mode = Refused[str](
        "TRITON_INSTRUMENTATION_MODE", "", str, "start a session with backend='instrumentation'"
    )
    listener = hook()


class AutotuningKnobs(Group):
    """How configurations are searched: see ``tritonx.runtime.tuning``.

    >>> with tritonx.knobs.autotuning.scope():
    ...     tritonx.knobs.autotuning.cache = True
    ...     print(tritonx.knobs.autotuning.cache)
    True
    """

    cache = flag("TRITON_CACHE_AUTOTUNING")
    print = flag("TRITON_PRINT_AUTOTUNING")
    workers = Knob[int | None]("TRITON_TUNING_WORKERS", None, parse_count)
    """Processes that compile configurations; 0 compiles in this one. By default one for each core but that of the
    measuring thread."""
    early = flag("TRITON_TUNING_EARLY", True)
    """Measuring of configurations that are clearly slower stops early."""
    hints = flag("TRITON_TUNING_HINTS", True)
    """A backend says which configurations are the same code, cannot run or are not worth measuring."""
    progress = flag("TRITON_TUNING_PROGRESS", True)
    """A search that takes longer shows on a terminal how far it is."""
    listener = hook()
    """Called behind each search with ``fn``, ``key``, ``best_config``, ``configs_timings`` (lists of milliseconds by
    configuration), ``duration`` in seconds, which is None where the disk had the timings, and ``cache_hit``."""
    executor = hook()
    """A ``concurrent.futures.Executor`` that compiles in the place of those processes."""


class RuntimeKnobs(Group):
    """Where and how kernels run.

    >>> with tritonx.knobs.runtime.scope():
    ...     tritonx.knobs.runtime.interpret = True
    ...     kernel = tritonx.jit(double.fn)
    >>> type(kernel).__name__
    'InterpretedFunction'
    """

    interpret = flag("TRITON_INTERPRET")
    backend = optional_text("TRITON_BACKEND")
    """The backend for every launch, whatever its arguments: ``name``, or ``distribution:name`` where two packages bring
    one of that name; ``tritonx.runtime.driver.reset_active`` reads it again."""
    default_backend = optional_text("TRITON_DEFAULT_BACKEND")
    """The backend, or its vendor, whose device is the best one where the arguments of a launch do not say."""
    override_arch = optional_text("TRITON_OVERRIDE_ARCH")
    jit_cache_hook = hook()
    jit_post_compile_hook = hook()
    add_stages_inspection_hook = Refused[object](
        None, None, str, "a compile's stages are lists of passes: see `tritonx-opt`, or derive a backend"
    )

    def __init__(self) -> None:
        super().__init__()
        self.launch_enter_hook: Any = HookChain()
        self.launch_exit_hook: Any = HookChain(reversed=True)
        self.kernel_load_start_hook: Any = HookChain()
        self.kernel_load_end_hook: Any = HookChain(reversed=True)
        self.kernel_unload_hook: HookChain = HookChain()
        self.debug: bool = False
        """Device assertions on. Read from ``TRITON_DEBUG`` at import and by ``refresh_knobs``, not at each launch."""
        self.refresh()

    def refresh(self) -> None:
        self.debug = read("TRITON_DEBUG", parse_bool) or False

    @contextmanager
    def scope(self) -> Generator[None]:
        debug, hooks = self.debug, {n: getattr(self, n) for n in vars(self) if n.endswith("_hook")}
        with super().scope():
            try:
                yield
            finally:
                self.debug = debug
                for name, value in hooks.items():
                    setattr(self, name, value)


class LanguageKnobs(Group):
    """What the language does where a kernel does not say.

    >>> with tritonx.knobs.language.scope():
    ...     tritonx.knobs.language.fp32_default = "ieee"
    ...     print(tritonx.knobs.language.fp32_default)
    ieee
    """

    level = Fixed(level.VARIABLE, lambda: level.active().name)
    """The release of Triton that programs mean: see `tritonx.level`."""
    fp32_default = Knob[str | None]("TRITON_F32_DEFAULT", None, parse_precision)
    default_fp_fusion = flag("TRITON_DEFAULT_FP_FUSION", True)
    force_disable_fp_fusion = flag("TRITON_FORCE_DISABLE_FP_FUSION")

    def fp_fusion_enabled(self, requested: bool | None) -> bool:
        """Whether a launch that asks for fusing of products and sums (None: does not say) gets it."""
        wanted = self.default_fp_fusion if requested is None else requested
        return wanted and not self.force_disable_fp_fusion


class BuildKnobs(Group):
    """How ``tritonx.runtime.build`` calls the system's C compiler, for libraries that compile modules of their own.

    >>> with tritonx.knobs.build.scope():
    ...     tritonx.knobs.build.cc = "/usr/bin/gcc"
    ...     print(tritonx.knobs.build.cc)
    /usr/bin/gcc
    """

    cc = optional_text("CC")
    cudacrt_path = optional_text("TRITON_CUDACRT_PATH")
    cudart_path = optional_text("TRITON_CUDART_PATH")
    impl = hook()
    """(name, source, folder, library folders, include folders, libraries) → the path of the shared library, in place
    of calling a compiler."""

    @property
    def backend_dirs(self) -> set[str]:
        """Folders of headers that a backend's settings name."""
        return {path for path in (self.cudacrt_path, self.cudart_path) if path is not None}


class RedisKnobs(Group):
    """The server of `tritonx.runtime.cache.RedisRemoteCacheBackend`.

    >>> tritonx.knobs.redis.key_format
    'triton:{key}:{filename}'
    """

    key_format = text("TRITON_REDIS_KEY_FORMAT", "triton:{key}:{filename}")
    host = text("TRITON_REDIS_HOST", "localhost")
    port = Knob("TRITON_REDIS_PORT", 6379, parse_int)


class ProtonKnobs(Group):
    """The profiler: see `tritonx.profiler`.

    >>> with tritonx.knobs.proton.scope():
    ...     tritonx.knobs.proton.disable = True
    ...     print(tritonx.profiler.start("example"))
    None
    """

    disable = flag("TRITON_PROTON_DISABLE")
    """``start`` begins no session."""
    cupti_lib_dir = Refused[str](
        "TRITON_CUPTI_LIB_PATH", "", str, "the package `cupti-python` finds the library that it is made for"
    )
    enable_nvtx = Refused[bool]("TRITON_ENABLE_NVTX", False, parse_bool, "scopes are in the profile's own file")


cache = CacheKnobs()
compilation = CompilationKnobs()
autotuning = AutotuningKnobs()
runtime = RuntimeKnobs()
language = LanguageKnobs()
build = BuildKnobs()
redis = RedisKnobs()
proton = ProtonKnobs()

# Triton's names of the groups' classes.
base_knobs = Group
cache_knobs = CacheKnobs
compilation_knobs = CompilationKnobs
autotuning_knobs = AutotuningKnobs
runtime_knobs = RuntimeKnobs
language_knobs = LanguageKnobs
build_knobs = BuildKnobs
redis_knobs = RedisKnobs
proton_knobs = ProtonKnobs


def _backend_module(name: str) -> ModuleType | None:
    """The settings of the backend whose name is in ``name``."""
    for backend in iter_modules([os.path.join(os.path.dirname(__file__), os.pardir, "backends")]):
        if backend.ispkg and backend.name in name.lower():
            try:
                return importlib.import_module(f"tritonx.backends.{backend.name}.knobs")
            except ModuleNotFoundError as error:
                if error.name is None or not error.name.startswith("tritonx.backends"):
                    raise
    return None


def __getattr__(name: str) -> Any:
    """A backend's own group by the backend's name, its class and the types of its settings by names that have the
    backend's in them; Triton's types of settings (`knob_types`)."""
    module = None if name.startswith("_") else _backend_module(name)
    if module is None and not name.startswith("_"):
        module = importlib.import_module("tritonx.runtime.settings.knob_types")
    names = {} if module is None else vars(module)
    if module is not None and module.__name__ == f"tritonx.backends.{name}.knobs":
        return names["knobs"]
    if name not in names:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return names[name]


def refresh_knobs() -> None:
    """Read again the settings that are read from the environment only once.

    >>> import os
    >>> with tritonx.knobs.runtime.scope(), tritonx.knobs.cache.scope():
    ...     tritonx.knobs.setenv("TRITON_DEBUG", "1")
    ...     tritonx.knobs.refresh_knobs()
    ...     print(tritonx.knobs.runtime.debug)
    ...     tritonx.knobs.setenv("TRITON_DEBUG", None)
    True
    """
    runtime.refresh()


class _Module(ModuleType):
    """This module, of which a name is assigned that others read."""

    @property
    def propagate_env(self) -> bool:
        """Whether an assignment is mirrored into ``os.environ``, so that child processes see it."""
        return environment.propagate_env

    @propagate_env.setter
    def propagate_env(self, on: bool) -> None:
        environment.propagate_env = on


sys.modules[__name__].__class__ = _Module
