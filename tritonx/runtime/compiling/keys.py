"""What decides the result of a compile, as digests: the compiler, the environment, and the whole key of an entry."""

from __future__ import annotations

import hashlib
import os
import sys
from functools import cache
from pathlib import Path
from typing import Any

from tritonx import level
from tritonx.backends.api import Backend, Options, Target
from tritonx.runtime import knobs
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


def _add_sources(digest: Any, root: Path, skipped: tuple[str, ...] = ()) -> None:
    """The Python files below ``root``, by path and content; ``skipped`` are folders of its first level."""
    for folder, folders, files in os.walk(root):
        top = Path(folder) == root
        folders[:] = sorted(f for f in folders if f != "__pycache__" and not (top and f in skipped))
        for name in sorted(files):
            if name.endswith(".py"):
                path = os.path.join(folder, name)
                digest.update(os.path.relpath(path, root).encode())
                with open(path, "rb") as file:
                    digest.update(file.read())


@cache
def compiler_key() -> str:
    """Digest of tritonx's own sources that can change code, and of the versions of xDSL, llvmlite and Python's grammar.

    Reads about 200 files once a process: some milliseconds.
    """
    from importlib.metadata import PackageNotFoundError, version

    digest = hashlib.sha256()
    _add_sources(digest, Path(__file__).resolve().parents[2], _NOT_COMPILER)
    for library in _LIBRARIES:
        try:
            digest.update(f"{library} {version(library)}".encode())
        except PackageNotFoundError:
            digest.update(f"{library} absent".encode())
    digest.update(str(sys.version_info[:2]).encode())
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
    return repr(sorted(vars(options).items(), key=lambda item: item[0]))


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
        environment_key(),
    )
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()
