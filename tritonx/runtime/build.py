"""Compiling C for this process, for libraries that bring a module of their own; tritonx itself compiles none.

The system's compiler is called (``knobs.build.cc``, gcc, clang), or ``knobs.build.impl``. A module is compiled once and
kept in the cache of kernels.
"""

from __future__ import annotations

import hashlib
import importlib.util
import platform
import re
import shutil
import subprocess
import sysconfig
import tempfile
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from types import ModuleType

from tritonx.runtime import knobs
from tritonx.runtime.cache import get_cache_manager
from tritonx.runtime.errors import TritonError

__all__ = ["NoCompiler", "compile_module_from_src", "get_cache_manager", "platform_key"]


class NoCompiler(TritonError, RuntimeError):
    """No C compiler was found, or it refused the source; the message has its words."""


@lru_cache
def platform_key() -> str:
    """What a shared library is tied to, beside its source.

    >>> platform_key() == platform_key()
    True
    """
    return ",".join([platform.machine(), platform.system(), *platform.architecture()])


def _compiler() -> str:
    found = knobs.build.cc or shutil.which("gcc") or shutil.which("clang")
    if found is None:
        raise NoCompiler(
            "Failed to find C compiler. Please specify via CC environment variable or set triton.knobs.build.impl."
        )
    return found


def _library_flag(library: str) -> str:
    is_file = re.search(r"\.so(\.\d+)*$", library) or library.endswith(".a")
    return f"-l:{library}" if is_file else f"-l{library}"


def _build(
    name: str,
    src: str,
    srcdir: str,
    library_dirs: Sequence[str],
    include_dirs: Sequence[str],
    libraries: Sequence[str],
    ccflags: Sequence[str],
) -> str:
    """The path of the shared library made of the file ``src`` in the folder ``srcdir``."""
    if knobs.build.impl is not None:
        return knobs.build.impl(name, src, srcdir, list(library_dirs), list(include_dirs), list(libraries))
    made = str(Path(srcdir) / f"{name}{sysconfig.get_config_var('EXT_SUFFIX')}")
    headers = [*include_dirs, srcdir, sysconfig.get_paths()["include"], *sorted(knobs.build.backend_dirs)]
    command = [_compiler(), src, "-O3", "-shared", "-fPIC", "-Wno-psabi", "-o", made]
    command += [_library_flag(library) for library in libraries]
    command += [f"-L{folder}" for folder in library_dirs] + [f"-I{folder}" for folder in headers if folder]
    try:
        done = subprocess.run([*command, *ccflags], capture_output=True, text=True, check=False)
    except OSError as error:
        raise NoCompiler(f"{command[0]} cannot be run: {error.strerror}") from None
    if done.returncode:
        raise NoCompiler(f"`{' '.join(command)}` failed with exit code {done.returncode}:\n{done.stderr}")
    return made


def _load(name: str, path: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise ImportError(f"{path} is no module of this Python")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def compile_module_from_src(
    src: str,
    name: str,
    library_dirs: list[str] | None = None,
    include_dirs: list[str] | None = None,
    libraries: list[str] | None = None,
    ccflags: list[str] | None = None,
) -> ModuleType:
    """The Python module that the C source ``src`` defines, compiled unless the cache has it. Raises NoCompiler."""
    told = [src, platform_key(), *(library_dirs or ()), *(libraries or ()), *(ccflags or ())]
    manager = get_cache_manager(hashlib.sha256("\0".join(told).encode()).hexdigest())
    file = f"{name}{sysconfig.get_config_var('EXT_SUFFIX')}"
    group = f"{name}.module.json"
    kept = (manager.get_group(group) or {}).get(file)
    if kept is not None:
        try:
            return _load(name, kept)
        except ImportError:  # of another Python: compiled again
            pass
    with tempfile.TemporaryDirectory(prefix="tritonx-") as folder:
        source = Path(folder) / f"{name}.c"
        source.write_text(src)
        made = _build(name, str(source), folder, library_dirs or (), include_dirs or (), libraries or (), ccflags or ())
        manager.put_group(group, {file: manager.put(Path(made).read_bytes(), file, binary=True)})
        kept = (manager.get_group(group) or {}).get(file)
        return _load(name, made if kept is None else kept)  # a cache that cannot be written keeps nothing
