"""What decides the result of a compile, as digests: the compiler, the environment, and the whole key of an entry."""

from __future__ import annotations

import hashlib
import os
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

from tritonx import level
from tritonx.backends.api import Backend, Options, Target
from tritonx.runtime import knobs
from tritonx.runtime.compiling.user_libraries import libraries_key
from tritonx.runtime.settings.environment import variable

_NOT_COMPILER = ("testing", "tools", "interpreter")
_LIBRARIES = ("xdsl", "llvmlite")

_ENVIRONMENT: tuple[tuple[Any, str], ...] = (
    (knobs.compilation, "disable_line_info"),
    (knobs.compilation, "use_ir_loc"),
    (knobs.compilation, "enable_asan"),
    (knobs.compilation, "instrumentation_mode"),
    (knobs.compilation, "allow_non_constexpr_globals"),
    (knobs.language, "fp32_default"),
    (knobs.language, "default_fp_fusion"),
)
"""Settings that change the code."""


def _sources(root: Path, skipped: tuple[str, ...] = ()) -> Iterator[str]:
    """The paths of the Python files below ``root``, in one order; ``skipped`` are folders of its first level."""
    for folder, folders, files in os.walk(root):
        top = Path(folder) == root
        folders[:] = sorted(f for f in folders if f != "__pycache__" and not (top and f in skipped))
        yield from (os.path.join(folder, name) for name in sorted(files) if name.endswith(".py"))


def _add_sources(digest: Any, root: Path, skipped: tuple[str, ...] = ()) -> None:
    """The Python files below ``root``, by path and content."""
    for path in _sources(root, skipped):
        digest.update(os.path.relpath(path, root).encode())
        with open(path, "rb") as file:
            digest.update(file.read())


def _libraries() -> bytes:
    """The versions of xDSL, llvmlite and Python's grammar."""
    from importlib.metadata import PackageNotFoundError, version

    found = ""
    for library in _LIBRARIES:
        try:
            found += f"{library} {version(library)}"
        except PackageNotFoundError:
            found += f"{library} absent"
    return f"{found}{sys.version_info[:2]}".encode()


def _root() -> Path:
    return Path(__file__).resolve().parents[2]


@cache
def sources_stamp() -> str:
    """Digest of where tritonx's own sources are, of their sizes and times, and of the libraries' versions: a quarter of
    the time of `compiler_key`. An edit that it does not tell is one that Python itself would not compile again."""
    digest = hashlib.sha256(os.fsencode(_root()))
    for path in _sources(_root(), _NOT_COMPILER):
        status = os.stat(path)
        digest.update(f"{path} {status.st_size} {status.st_mtime_ns} ".encode(errors="surrogateescape"))
    digest.update(_libraries())
    return digest.hexdigest()


_recorded: dict[str, str] = {}


def record_compiler_key(stamp: str, key: str) -> None:
    """``key`` is what `compiler_key` was where `sources_stamp` was ``stamp``: no file is read where it still is. In a
    process that has read them, this does nothing."""
    if not compiler_key.cache_info().currsize:
        _recorded[stamp] = key


@cache
def compiler_key() -> str:
    """Digest of tritonx's own sources that can change code, and of the versions of xDSL, llvmlite and Python's grammar.

    Reads about 800 files once a process (20 to 40 ms), unless it was recorded.
    """
    recorded = _recorded.get(sources_stamp()) if _recorded else None
    if recorded is not None:
        return recorded
    digest = hashlib.sha256()
    _add_sources(digest, _root(), _NOT_COMPILER)
    digest.update(_libraries())
    return digest.hexdigest()


@cache
def backend_key(kind: type[Backend]) -> str:
    """Digest of a backend's own package, where it is not part of tritonx: its author's edits make other code."""
    module = sys.modules.get(kind.__module__)
    file = getattr(module, "__file__", None)
    if file is None or kind.__module__.startswith("tritonx."):
        return ""
    digest = hashlib.sha256()
    if getattr(module, "__package__", ""):
        _add_sources(digest, Path(file).resolve().parent)
    else:
        digest.update(Path(file).read_bytes())
    return digest.hexdigest()


def environment_key() -> str:
    """The level, and the settings that change code, by value."""
    return repr([("level", level.active().name), *[(name, getattr(group, name)) for group, name in _ENVIRONMENT]])


Settings = tuple[tuple[str, str, object], ...]


def assigned_settings() -> Settings:
    """The settings that change code: group, name and value."""
    return tuple((_group_name(group), name, getattr(group, name)) for group, name in _ENVIRONMENT)


def _group_name(group: object) -> str:
    return next(name for name, found in vars(knobs).items() if found is group)


def get_cache_invalidating_env_vars() -> dict[str, str]:
    """Those of the variables of these settings that are set, under the names under which they are: name → text.

    >>> all(isinstance(text, str) for text in get_cache_invalidating_env_vars().values())
    True
    """
    names = {level.VARIABLE, *[variable(group.knob_descriptors[name].env) for group, name in _ENVIRONMENT]}
    return {name: os.environ[name] for name in sorted(names) if name in os.environ}


def options_key(options: Options) -> str:
    """The options by name and value, in the order of their names."""
    return repr(sorted(vars(options).items()))


def compile_key(source_hash: str, backend: Backend, target: Target, options: Options) -> str:
    """The key of a compile on disk: hexadecimal SHA-256."""
    parts = (
        compiler_key(),
        source_hash,
        f"{type(backend).__module__}.{type(backend).__qualname__}",
        backend.name,
        backend.version_key(),
        backend_key(type(backend)),
        repr(target),
        options_key(options),
        libraries_key(options),
        environment_key(),
    )
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()
