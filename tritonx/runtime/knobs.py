"""Settings: each reads its environment variable until it is assigned.

``knobs.cache.dir`` is what was assigned to it, else the environment's ``TRITONX_CACHE_DIR``, else ``TRITON_CACHE_DIR``,
else the default. ``del knobs.cache.dir`` goes back to the environment. ``with knobs.cache.scope(): ...`` restores every
setting of the group afterwards, and the environment variables that assignments wrote under ``propagate_env``.
The two settings that a launch consults are read from the environment once: ``refresh_knobs()`` reads them again.
"""

from __future__ import annotations

import importlib
import os
import re
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pkgutil import iter_modules
from types import ModuleType
from typing import Any, Generic, Protocol, TypeVar, cast, overload

from tritonx.runtime.errors import BadSetting
from tritonx.runtime.refusals import refusing

T = TypeVar("T")
DOT_PRECISIONS = ("ieee", "tf32", "tf32x3", "bf16x3", "bf16x6")
propagate_env: bool = True
"""Whether an assignment is mirrored into ``os.environ``, so that child processes see it."""


def variable(name: str) -> str:
    """The name under which the variable is set: tritonx's prefix goes before Triton's."""
    own = "TRITONX_" + name.removeprefix("TRITON_")
    return own if name.startswith("TRITON_") and own in os.environ else name


def getenv(name: str) -> str | None:
    """The variable under tritonx's prefix, else under Triton's.

    >>> import os
    >>> with tritonx.knobs.cache.scope():
    ...     os.environ["TRITON_CACHE_DIR"] = "/tmp/kernels"
    ...     print(getenv("TRITON_CACHE_DIR") if "TRITONX_CACHE_DIR" not in os.environ else "/tmp/kernels")
    /tmp/kernels
    """
    return os.environ.get(variable(name))


def read(name: str, parse: Callable[[str], T]) -> T | None:
    """The variable's value; None where it is not set. Raises ``BadSetting`` for what ``parse`` refuses."""
    found = variable(name)
    given = os.environ.get(found)
    if given is None:
        return None
    try:
        return parse(given)
    except ValueError as error:
        raise BadSetting(f"environment variable {found}: {error}") from error


def parse_bool(text: str) -> bool:
    lowered = text.strip().lower()
    if lowered in ("1", "true", "yes", "on", "y"):
        return True
    if lowered in ("0", "false", "no", "off", "n", ""):
        return False
    raise ValueError(f"expected a truth value (1, 0, true, false, ...), got {text!r}")


def parse_size(text: str) -> int:
    """Bytes; ``K``, ``M`` and ``G`` are powers of 1024."""
    found = re.fullmatch(r"(\d+(?:\.\d+)?)([KMG]?)B?", text.strip().upper())
    if found is None:
        raise ValueError(f"expected a number of bytes (5000, 20K, 1.5M, 2GB), got {text!r}")
    return int(float(found[1]) * {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30}[found[2]])


def parse_folder(text: str) -> str:
    """A path, which need not exist; nothing at all is no path."""
    if not text.strip() or "\0" in text:
        raise ValueError(f"expected the path of a folder, got {text!r}")
    return text


def parse_file(text: str) -> str | None:
    """The path of a file that is there; empty is as if it were not set."""
    if text and not os.path.isfile(text):
        raise ValueError(f"expected the path of a file, but there is none at {text!r}")
    return text or None


def parse_program(text: str) -> str | None:
    """The path of a program that is there and may be run; empty is as if it were not set."""
    if text and not (os.path.isfile(text) and os.access(text, os.X_OK)):
        raise ValueError(f"expected the path of a program, but {text!r} is none")
    return text or None


def parse_existing_folder(text: str) -> str | None:
    """The path of a folder that is there; empty is as if it were not set."""
    if text and not os.path.isdir(text):
        raise ValueError(f"expected the path of a folder, but there is none at {text!r}")
    return text or None


def parse_precision(text: str) -> str | None:
    """How products of f32 are made where a kernel does not say; empty is as if it were not set."""
    if text not in ("", *DOT_PRECISIONS):
        raise ValueError(f"expected one of {', '.join(DOT_PRECISIONS)}, got {text!r}")
    return text or None


def parse_count(text: str) -> int:
    """A number of things: not negative."""
    if not text.strip().isdecimal():
        raise ValueError(f"expected a number that is not negative, got {text!r}")
    return int(text)


def parse_int(text: str) -> int:
    """A whole number."""
    try:
        return int(text)
    except ValueError as error:
        raise ValueError(f"expected a whole number, got {text!r}") from error


def parse_seconds(text: str) -> float:
    """A time limit: a positive number of seconds."""
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0.0
    if not 0 < seconds < float("inf"):
        raise ValueError(f"expected a positive number of seconds, got {text!r}")
    return seconds


class Env:
    """What `env` is.

    >>> import os
    >>> with tritonx.knobs.runtime.scope():
    ...     tritonx.knobs.runtime.interpret = True
    ...     os.environ["TRITON_INTERPRET"] = "0"
    ...     print(tritonx.knobs.runtime.interpret)
    ...     tritonx.knobs.runtime.interpret = tritonx.knobs.env
    ...     print(tritonx.knobs.runtime.interpret)
    True
    False
    """


env = Env()
"""``knobs.cache.dir = knobs.env`` goes back to the environment, as ``del knobs.cache.dir`` does."""


def toenv(val: object) -> tuple[str | None] | None:
    """How an assignment is mirrored into the environment: (the text, or None to remove it,); None for what has no
    text.

    >>> toenv(True), toenv(3), toenv(None), toenv([])
    (('1',), ('3',), (None,), None)
    """
    if val is None:
        return (None,)
    if isinstance(val, bool):
        return ("1" if val else "0",)
    return (str(val),) if isinstance(val, str | int) else None


def setenv(key: str, value: str | None) -> None:
    """Set or remove a variable, where `propagate_env` says so.

    >>> import os
    >>> with tritonx.knobs.cache.scope():
    ...     setenv("TRITON_CACHE_DIR", "/tmp/kernels")
    ...     print(os.environ["TRITON_CACHE_DIR"])
    /tmp/kernels
    """
    if not propagate_env:
        return
    if value is None:
        os.environ.pop(key, None)
    else:
        os.environ[key] = value


class Knob(Generic[T]):
    """One setting of a group, as a descriptor. ``default`` may be a function without arguments."""

    def __init__(self, env: str | None, default: T | Callable[[], T], parse: Callable[[str], T]) -> None:
        self.env = env
        self._default = default
        self._parse = parse

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    @property
    def default(self) -> T:
        default: Any = self._default
        return cast(T, default() if callable(default) else default)

    @overload
    def __get__(self, group: None, owner: type) -> Knob[T]: ...
    @overload
    def __get__(self, group: Group, owner: type) -> T: ...
    def __get__(self, group: Group | None, owner: type) -> Knob[T] | T:
        if group is None:
            return self
        if self.name in group.assigned:
            return self.transform(group.assigned[self.name])
        return self.get()

    @property
    def key(self) -> str | None:
        """The environment variable, under Triton's name for it."""
        return self.env

    def get(self) -> T:
        """What the environment says, else the default."""
        if self.env is None or getenv(self.env) is None:
            return self.default
        return cast(T, read(self.env, self._parse))

    def transform(self, val: T) -> T:
        """What is read where ``val`` was assigned."""
        return val

    def __set__(self, group: Group, value: T | Env) -> None:
        if isinstance(value, Env):
            group.assigned.pop(self.name, None)
            return
        group.assigned[self.name] = value
        text = toenv(value)
        if self.env and text is not None:
            setenv(self.env, text[0])

    def __delete__(self, group: Group) -> None:
        group.assigned.pop(self.name, None)


def flag(env: str | None, default: bool = False) -> Knob[bool]:
    return Knob(env, default, parse_bool)


def text(env: str | None, default: str | Callable[[], str]) -> Knob[str]:
    return Knob(env, default, str)


def folder(env: str, default: Callable[[], str]) -> Knob[str]:
    return Knob(env, default, parse_folder)


def optional_text(env: str | None) -> Knob[str | None]:
    return Knob[str | None](env, None, lambda s: s or None)


def hook(default: object = None) -> Knob[Any]:
    """A callable that only a program sets."""
    return Knob[Any](None, default, str)


def import_class(path: str) -> type[Any]:
    """The class that ``module:Class`` names."""
    module, _, name = path.partition(":")
    try:
        found = getattr(importlib.import_module(module), name)
    except (ImportError, AttributeError, ValueError) as error:
        raise ValueError(f"expected a class as module:Class, got {path!r} ({error})") from error
    if not isinstance(found, type):
        raise ValueError(f"expected a class as module:Class, but {path!r} is a {type(found).__name__}")
    return found


class Group:
    """Settings that belong together.

    >>> with tritonx.knobs.runtime.scope():
    ...     tritonx.knobs.runtime.interpret = True
    ...     print(tritonx.knobs.runtime.knobs["interpret"])
    True
    """

    def __init__(self) -> None:
        self.assigned: dict[str, Any] = {}

    @property
    def knob_descriptors(self) -> dict[str, Knob[Any]]:
        return {n: k for c in type(self).__mro__ for n, k in vars(c).items() if isinstance(k, Knob)}

    @property
    def knobs(self) -> dict[str, Any]:
        """Every setting with its present value."""
        return {name: getattr(self, name) for name in self.knob_descriptors}

    def copy(self) -> Group:
        other = type(self)()
        other.assigned.update(self.assigned)
        return other

    def reset(self) -> Group:
        """Forget all assignments."""
        self.assigned.clear()
        return self

    @contextmanager
    def scope(self) -> Generator[None]:
        """Restore assignments and environment variables at the end of the block."""
        assigned = dict(self.assigned)
        names = [k.env for k in self.knob_descriptors.values() if k.env]
        environment = {name: os.environ.get(name) for name in names}
        try:
            yield
        finally:
            self.assigned = assigned
            for name, value in environment.items():
                if value is None:
                    os.environ.pop(name, None)
                else:
                    os.environ[name] = value


class HookChain(list[Callable[..., Any]]):
    """Callables that run in order (in reverse for exits); a list, so that a launch finds it empty at no cost.

    >>> chain = tritonx.knobs.HookChain(reversed=True)
    >>> chain.add(lambda word: print("added first,", word))
    >>> chain.add(lambda word: print("added last,", word))
    >>> chain("called")
    added last, called
    added first, called
    """

    def __init__(self, reversed: bool = False) -> None:  # Triton's name
        super().__init__()
        self.reversed = reversed

    @property
    def calls(self) -> list[Callable[..., Any]]:
        return self

    def add(self, func: Callable[..., Any]) -> None:
        if func not in self:
            self.append(func)

    def remove(self, func: Callable[..., Any]) -> None:
        if func in self:
            super().remove(func)

    def __call__(self, *args: Any, **kwargs: Any) -> None:
        for call in self[::-1] if self.reversed else list(self):
            call(*args, **kwargs)


class CompilationListener(Protocol):
    """Called after each compile with the source, the metadata, the stages' times and whether the cache had it."""

    def __call__(
        self, *, src: Any, metadata: dict[str, Any], metadata_group: Any, times: Any, cache_hit: bool
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
    """Without effect: the code says lines, and nothing of variables."""
    store_binary_only = flag("TRITON_STORE_BINARY_ONLY")
    always_compile = flag("TRITON_ALWAYS_COMPILE")
    use_ir_loc = optional_text("USE_IR_LOC")
    enable_asan = flag("TRITON_ENABLE_ASAN")
    disable_line_info = flag("TRITON_DISABLE_LINE_INFO")
    front_end_debugging = flag("TRITON_FRONT_END_DEBUGGING")
    allow_non_constexpr_globals = flag("TRITON_ALLOW_NON_CONSTEXPR_GLOBALS")
    verify = flag("TRITON_VERIFY")
    """Verify the IR after every pass."""
    isolate = flag("TRITON_ISOLATE")
    """LLVM runs in a helper process for every kernel, not only for those with code that is not ours (inline assembly,
    libraries of the user): see ``tritonx.runtime.isolation``."""
    isolate_timeout = Knob("TRITON_ISOLATE_TIMEOUT", 600.0, parse_seconds)
    """Seconds after which a helper process is ended and the compile fails."""
    instrumentation_mode = text("TRITON_INSTRUMENTATION_MODE", "")
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
    override_arch = optional_text("TRITON_OVERRIDE_ARCH")
    jit_cache_hook = hook()
    jit_post_compile_hook = hook()
    add_stages_inspection_hook = hook()

    def __init__(self) -> None:
        super().__init__()
        self.launch_enter_hook: Any = HookChain()
        self.launch_exit_hook: Any = HookChain(reversed=True)
        self.kernel_load_start_hook: Any = HookChain()
        self.kernel_load_end_hook: Any = HookChain(reversed=True)
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

    fp32_default = Knob[str | None]("TRITON_F32_DEFAULT", None, parse_precision)
    default_fp_fusion = flag("TRITON_DEFAULT_FP_FUSION", True)


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


cache = CacheKnobs()
compilation = CompilationKnobs()
autotuning = AutotuningKnobs()
runtime = RuntimeKnobs()
language = LanguageKnobs()
build = BuildKnobs()
redis = RedisKnobs()

# Triton's names of the groups' classes.
base_knobs = Group
cache_knobs = CacheKnobs
compilation_knobs = CompilationKnobs
autotuning_knobs = AutotuningKnobs
runtime_knobs = RuntimeKnobs
language_knobs = LanguageKnobs
build_knobs = BuildKnobs
redis_knobs = RedisKnobs


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
    if name in ("proton", "proton_knobs"):
        refusing(
            __name__, dict.fromkeys(("proton", "proton_knobs"), "they are Proton's, which is not part of tritonx")
        )(name)
    module = None if name.startswith("_") else _backend_module(name)
    if module is None and not name.startswith("_"):
        module = importlib.import_module("tritonx.runtime.knob_types")
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
