"""Compiling C and C++ for this process, for libraries that bring a module of their own; tritonx itself compiles none.

The system's compiler is called (``knobs.build.cc``, gcc, clang), or ``knobs.build.impl``. A module is compiled once and
kept in the cache of kernels.
"""

from __future__ import annotations

import atexit
import hashlib
import importlib.util
import os
import platform
import re
import shutil
import subprocess
import sysconfig
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from types import ModuleType

from tritonx.runtime import knobs
from tritonx.runtime.cache import get_cache_manager
from tritonx.runtime.errors import TritonError

__all__ = [
    "NoCompiler",
    "compile_module_from_file",
    "compile_module_from_src",
    "compile_so_from_file",
    "compile_so_from_src",
    "get_cache_manager",
    "platform_key",
]


class NoCompiler(TritonError, RuntimeError):
    """No C compiler was found, or it refused the source; the message has its words."""


@lru_cache
def platform_key() -> str:
    """What a shared library is tied to, beside its source.

    >>> platform_key() == platform_key()
    True
    """
    return ",".join([platform.machine(), platform.system(), *platform.architecture()])


def _compiler(language: str) -> str:
    if language == "c++":
        found = os.environ.get("CXX") or shutil.which("g++") or shutil.which("clang++")
    else:
        found = knobs.build.cc or shutil.which("gcc") or shutil.which("clang")
    if found is None:
        raise NoCompiler(
            f"Failed to find {language.upper()} compiler. Please specify via {'CC' if language == 'c' else 'CXX'}"
            " environment variable or set triton.knobs.build.impl."
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
    language: str,
) -> str:
    """The path of the shared library made of the file ``src`` in the folder ``srcdir``."""
    if knobs.build.impl is not None:
        return knobs.build.impl(name, src, srcdir, list(library_dirs), list(include_dirs), list(libraries))
    made = str(Path(srcdir) / f"{name}{sysconfig.get_config_var('EXT_SUFFIX')}")
    headers = [*include_dirs, srcdir, sysconfig.get_paths()["include"], *sorted(knobs.build.backend_dirs)]
    command = [_compiler(language), src, "-O3", "-shared", "-fPIC", "-Wno-psabi", "-o", made]
    command += ["-std=c++17"] if language == "c++" else []
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


@dataclass(frozen=True)
class _Source:
    """A source in C or C++, and how it is built."""

    text: bytes
    language: str
    name: str
    library_dirs: Sequence[str]
    include_dirs: Sequence[str]
    libraries: Sequence[str]
    ccflags: Sequence[str]

    @staticmethod
    def of(
        text: bytes,
        language: str,
        name: str,
        library_dirs: Sequence[str] | None,
        include_dirs: Sequence[str] | None,
        libraries: Sequence[str] | None,
        ccflags: Sequence[str] | None,
    ) -> _Source:
        if language not in _SUFFIXES:
            raise ValueError(f"{language!r} is no language of a source: {' or '.join(_SUFFIXES)}")
        lists = (library_dirs or (), include_dirs or (), libraries or (), ccflags or ())
        return _Source(text, language, name, *lists)

    @property
    def file(self) -> str:
        return f"{self.name}{sysconfig.get_config_var('EXT_SUFFIX')}"

    @property
    def key(self) -> str:
        lists = (self.library_dirs, self.libraries, self.ccflags)
        told = [self.language, platform_key(), *(word for each in lists for word in (*each, ""))]
        return hashlib.sha256(b"\0".join([self.text, *(word.encode() for word in told)])).hexdigest()

    def kept(self) -> str | None:
        """Where the cache has the library."""
        return (get_cache_manager(self.key).get_group(f"{self.name}.module.json") or {}).get(self.file)

    def compiled(self) -> str:
        """Compile it. The library is in the cache, or in a folder of this process if that keeps nothing."""
        folder = tempfile.mkdtemp(prefix="tritonx-")
        try:
            source = Path(folder) / f"{self.name}{_SUFFIXES[self.language]}"
            source.write_bytes(self.text)
            lists = (self.library_dirs, self.include_dirs, self.libraries, self.ccflags)
            made = _build(self.name, str(source), folder, *lists, self.language)
            manager = get_cache_manager(self.key)
            content = Path(made).read_bytes()
            manager.put_group(f"{self.name}.module.json", {self.file: manager.put(content, self.file, binary=True)})
            found = self.kept()
        except BaseException:
            shutil.rmtree(folder, ignore_errors=True)
            raise
        if found is None:
            atexit.register(shutil.rmtree, folder, ignore_errors=True)
            return made
        shutil.rmtree(folder, ignore_errors=True)
        return found

    def module(self) -> ModuleType:
        kept = self.kept()
        if kept is not None:
            try:
                return _load(self.name, kept)
            except ImportError:  # of another Python: compiled again
                pass
        return _load(self.name, self.compiled())


_SUFFIXES = {"c": ".c", "c++": ".cpp"}
"""Of the files of each language."""


def _language_of(path: str) -> str:
    for language, suffixes in (("c", (".c",)), ("c++", (".cpp", ".cc", ".cxx"))):
        if Path(path).suffix in suffixes:
            return language
    raise ValueError(f"Unrecognized file extension: {path}")


def compile_module_from_src(
    src: str,
    name: str,
    library_dirs: list[str] | None = None,
    include_dirs: list[str] | None = None,
    libraries: list[str] | None = None,
    ccflags: list[str] | None = None,
    language: str = "c",
) -> ModuleType:
    """The Python module that the source ``src`` in ``language`` (c, c++) defines, compiled unless the cache has it.
    Raises NoCompiler."""
    lists = (library_dirs, include_dirs, libraries, ccflags)
    return _Source.of(src.encode(), language, name, *lists).module()


def compile_so_from_src(
    src: str,
    name: str,
    library_dirs: list[str] | None = None,
    include_dirs: list[str] | None = None,
    libraries: list[str] | None = None,
    ccflags: list[str] | None = None,
    language: str = "c",
) -> str:
    """The path of the shared library of a source, which is compiled unless the cache has it. Raises NoCompiler."""
    source = _Source.of(src.encode(), language, name, library_dirs, include_dirs, libraries, ccflags)
    return source.kept() or source.compiled()


def compile_module_from_file(
    src_path: str,
    name: str,
    library_dirs: list[str] | None = None,
    include_dirs: list[str] | None = None,
    libraries: list[str] | None = None,
    ccflags: list[str] | None = None,
) -> ModuleType:
    """`compile_module_from_src` of a file, whose name says the language."""
    text, language = Path(src_path).read_bytes(), _language_of(src_path)
    return _Source.of(text, language, name, library_dirs, include_dirs, libraries, ccflags).module()


def compile_so_from_file(
    src_path: str,
    name: str,
    library_dirs: list[str] | None = None,
    include_dirs: list[str] | None = None,
    libraries: list[str] | None = None,
    ccflags: list[str] | None = None,
) -> str:
    """`compile_so_from_src` of a file, whose name says the language."""
    text, language = Path(src_path).read_bytes(), _language_of(src_path)
    source = _Source.of(text, language, name, library_dirs, include_dirs, libraries, ccflags)
    return source.kept() or source.compiled()
