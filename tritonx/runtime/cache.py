"""The cache of compiled kernels on disk.

A compile is found under a key: a digest of everything that decides its result. The key names a directory; in it lie one
file a stage and a *group*, a JSON file ``__grp__<name>`` that lists the files with their sizes and digests. The group
is written last and every file is written under a temporary name and renamed, so that other processes see an entry whole
or not at all, and whichever of two writers comes second replaces equal content by equal content. Whatever does not
match its digest (a truncated, foreign or damaged file) is treated as absent and removed.

A cache that cannot be written (full disk, no permission) is a warning, once, and the program goes on without it. It is
kept below ``knobs.cache.max_bytes``: directories used longest ago go first. ``FileCacheManager`` has Triton's
interface, because libraries derive from it and name the class in ``TRITON_CACHE_MANAGER``.
"""

from __future__ import annotations

import base64
import contextlib
import hashlib
import importlib
import json
import os
import shutil
import threading
import time
import uuid
import warnings
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from tritonx.runtime import knobs
from tritonx.runtime.errors import CorruptCacheEntry
from tritonx.runtime.keys import compiler_key

GROUP_PREFIX = "__grp__"
_TOUCH_SECONDS = 3600.0
"""An entry's time of last use is written at most this often: it only orders entries for eviction."""

_PRUNE_EVERY_BYTES = 64 << 20
"""How much one process writes between two looks at the size of the whole cache."""

_PRUNE_AGAIN_SECONDS = 600.0
"""A first write looks as well, unless some process has in this time: 22,000 entries take 0.6 s."""

_LOOKED = ".looked"
"""A file in the cache's directory; its time is that of the last look."""


class CacheWarning(RuntimeWarning):
    """The cache on disk cannot be used; compiling goes on without it."""


def _make_private(path: str) -> None:
    """A folder that only this user can enter, as are those on the way to it that have to be made: the code in it is
    loaded and run."""
    parent = os.path.dirname(path)
    if parent and not os.path.isdir(parent):
        _make_private(parent)
    with contextlib.suppress(FileExistsError):
        os.mkdir(path, 0o700)


def _base32(key: str) -> str:
    """A hexadecimal digest as a directory name. Raises ValueError for what is none.

    >>> _base32("ab12")
    'VMJA'
    """
    return base64.b32encode(bytes.fromhex(key)).decode().rstrip("=")


def _base64(key: str) -> str:  # pyright: ignore[reportUnusedFunction]  # torch imports it
    return base64.urlsafe_b64encode(bytes.fromhex(key)).decode().rstrip("=")


class CacheManager(ABC):
    """Files under one key. Triton's interface.

    >>> class Shelf(CacheManager):
    ...     files = {}
    ...     def get_file(self, filename):
    ...         return self.files.get(filename)
    ...     def put(self, data, filename, binary=True):
    ...         self.files[filename] = data
    ...         return filename
    ...     def get_group(self, filename):
    ...         return None
    ...     def put_group(self, filename, group):
    ...         return None
    >>> Shelf("ab12").put("text", "note.txt")
    'note.txt'
    """

    def __init__(self, key: str, override: bool = False, dump: bool = False) -> None:
        self.key = key

    @abstractmethod
    def get_file(self, filename: str) -> str | None:
        """The file's path, None if it is not cached."""

    @abstractmethod
    def put(self, data: str | bytes, filename: str, binary: bool = True) -> str:
        """Store; returns the path."""

    @abstractmethod
    def get_group(self, filename: str) -> dict[str, str] | None:
        """The files that were stored together under ``filename``: name → path; None unless all are there and whole."""

    @abstractmethod
    def put_group(self, filename: str, group: dict[str, str]) -> str | None:
        """Make ``group`` (name → path) known as a whole."""


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


class FileCacheManager(CacheManager):
    """Files under ``<cache directory>/<key>/``.

    >>> import tempfile
    >>> with tritonx.knobs.cache.scope(), tempfile.TemporaryDirectory() as folder:
    ...     tritonx.knobs.cache.dir = folder
    ...     manager = FileCacheManager("ab12")
    ...     path = manager.put("text", "note.txt", binary=False)
    ...     print(manager.get_file("note.txt") == path, manager.get_file("other.txt"))
    True None
    """

    def __init__(self, key: str, override: bool = False, dump: bool = False) -> None:
        super().__init__(key, override, dump)
        settings = knobs.cache
        base = settings.dump_dir if dump else settings.override_dir if override else settings.dir
        if not base:
            raise RuntimeError("Could not create or locate cache dir")
        self.cache_dir = os.path.join(base, key)
        self.lock_path: str | None = None if dump or override else os.path.join(self.cache_dir, "lock")
        self._bounded = not dump and not override

    def _make_path(self, filename: str) -> str:
        return os.path.join(self.cache_dir, filename)

    def has_file(self, filename: str) -> bool:
        return os.path.isfile(self._make_path(filename))

    def get_file(self, filename: str) -> str | None:
        return self._make_path(filename) if self.has_file(filename) else None

    def put(self, data: str | bytes, filename: str, binary: bool = True) -> str:
        """Write atomically. On a full or read-only disk: a warning, and the path where the file would have been."""
        content = data if isinstance(data, bytes) else data.encode()
        path = self._make_path(filename)
        temporary = os.path.join(self.cache_dir, f"tmp.pid_{os.getpid()}_{uuid.uuid4().hex}")
        try:
            _make_private(self.cache_dir)
            try:
                with open(temporary, "wb") as file:
                    file.write(content)
                os.replace(temporary, path)
            except BaseException:
                with contextlib.suppress(OSError):
                    os.unlink(temporary)
                raise
        except OSError as error:
            _warn_once(self.cache_dir, error)
        else:
            if self._bounded:
                _written(len(content))
        return path

    def get_group(self, filename: str) -> dict[str, str] | None:
        path = self._make_path(GROUP_PREFIX + filename)
        try:
            return self._read_group(path)
        except FileNotFoundError:
            return None
        except (OSError, CorruptCacheEntry):
            self.discard()
            return None

    def _read_group(self, path: str) -> dict[str, str]:
        with open(path, "rb") as file:
            text = file.read()
        try:
            listed = json.loads(text)
            files: dict[str, dict[str, Any]] = listed["files"]
            names = dict(listed["child_paths"])
        except (ValueError, KeyError, TypeError) as error:
            raise CorruptCacheEntry(f"{path} is not a group of the cache") from error
        group: dict[str, str] = {}
        for name in names:
            child = self._make_path(name)
            try:
                with open(child, "rb") as file:
                    content = file.read()
            except OSError as error:
                raise CorruptCacheEntry(f"{child} is missing") from error
            if files.get(name, {}).get("sha256") != _digest(content):
                raise CorruptCacheEntry(f"{child} is not what was stored")
            group[name] = child
        _touch(path)
        return group

    def put_group(self, filename: str, group: dict[str, str]) -> str | None:
        files: dict[str, dict[str, Any]] = {}
        for name, path in group.items():
            try:
                with open(path, "rb") as file:
                    content = file.read()
            except OSError:
                return None  # the disk was full, or someone cleared the cache meanwhile
            files[name] = {"bytes": len(content), "sha256": _digest(content)}
        text = json.dumps({"child_paths": group, "files": files, "created": time.time()})
        return self.put(text, GROUP_PREFIX + filename, binary=False)

    def discard(self) -> None:
        """Remove everything under this key."""
        shutil.rmtree(self.cache_dir, ignore_errors=True)


class RemoteCacheBackend(ABC):
    """Storage of ``RemoteCacheManager``; selected by ``TRITON_REMOTE_CACHE_BACKEND``.

    >>> class Shelf(tritonx.runtime.RemoteCacheBackend):
    ...     files = {}
    ...     def get(self, filenames):
    ...         return {name: self.files[self.key, name] for name in filenames if (self.key, name) in self.files}
    ...     def put(self, filename, data):
    ...         self.files[self.key, filename] = data
    >>> Shelf("abc").put("kernel.ptx", b"...")
    >>> Shelf("abc").get(["kernel.ptx", "kernel.cubin"])
    {'kernel.ptx': b'...'}
    """

    def __init__(self, key: str) -> None:
        self.key = key

    @abstractmethod
    def get(self, filenames: list[str]) -> dict[str, bytes]: ...

    @abstractmethod
    def put(self, filename: str, data: bytes) -> None: ...


def names_of_group(path: str) -> list[str]:
    """The files that the group at ``path`` lists; none where it cannot be read."""
    try:
        with open(path, "rb") as file:
            return list(json.load(file)["child_paths"])
    except (OSError, ValueError, KeyError, TypeError):
        return []


def get_cache_manager(key: str) -> CacheManager:
    """The manager for a hexadecimal key: the class that ``knobs.cache.manager_class`` names.

    >>> from tritonx.compiler.compiler import get_cache_manager
    >>> import tempfile
    >>> with tritonx.knobs.cache.scope(), tempfile.TemporaryDirectory() as folder:
    ...     tritonx.knobs.cache.dir = folder
    ...     path = get_cache_manager("ab12").put("text", "note.txt", binary=False)
    ...     print(open(path).read())
    text
    """
    return (knobs.cache.manager_class or FileCacheManager)(_base32(key))


def get_override_manager(key: str) -> CacheManager:
    """Where hand-edited stages are looked for under ``TRITON_KERNEL_OVERRIDE=1``, for a hexadecimal key.

    >>> import tempfile
    >>> with tritonx.knobs.cache.scope(), tempfile.TemporaryDirectory() as folder:
    ...     tritonx.knobs.cache.override_dir = folder
    ...     print(get_override_manager("ab12").get_file("double.ttir"))
    None
    """
    return (knobs.cache.manager_class or FileCacheManager)(_base32(key), override=True)


def get_dump_manager(key: str) -> CacheManager:
    """Where stages are written under ``TRITON_KERNEL_DUMP=1``, for a hexadecimal key.

    >>> import os, tempfile
    >>> with tritonx.knobs.cache.scope(), tempfile.TemporaryDirectory() as folder:
    ...     tritonx.knobs.cache.dump_dir = folder
    ...     path = get_dump_manager("ab12").put("text", "note.txt", binary=False)
    ...     print(os.path.relpath(path, folder).split(os.sep)[-1])
    note.txt
    """
    return (knobs.cache.manager_class or FileCacheManager)(_base32(key), dump=True)


# Warnings, times and size --------------------------------------------------------------------------------------------

_state = threading.Lock()
_warned: set[str] = set()
_unseen_bytes: int | None = None
"""Written since the last look; None before the first write."""


def _warn_once(directory: str, error: OSError) -> None:
    base = os.path.dirname(directory)
    with _state:
        if base in _warned:
            return
        _warned.add(base)
    warnings.warn(
        f"the cache of compiled kernels in {base} cannot be written ({error.strerror or error}); "
        f"kernels are compiled again in every process. TRITONX_CACHE_DIR names another place",
        CacheWarning,
        stacklevel=3,
    )


def _age(path: str) -> float:
    """Seconds since a file was written or touched."""
    return time.time() - os.stat(path).st_mtime


def _touch(path: str) -> None:
    with contextlib.suppress(OSError):
        if _age(path) > _TOUCH_SECONDS:
            os.utime(path)


def _written(nbytes: int) -> None:
    global _unseen_bytes
    limit = knobs.cache.max_bytes
    if limit <= 0:
        return
    with _state:
        first = _unseen_bytes is None
        _unseen_bytes = (_unseen_bytes or 0) + nbytes
        if not first and _unseen_bytes < _PRUNE_EVERY_BYTES:
            return
        looked = os.path.join(knobs.cache.dir, _LOOKED)
        if first and _is_recent(looked):
            return
        _unseen_bytes = 0
    with contextlib.suppress(OSError):
        Path(looked).touch()
    prune(limit)


def _is_recent(stamp: str) -> bool:
    """Whether a file's time is less than `_PRUNE_AGAIN_SECONDS` ago; one that is yet to come says nothing."""
    try:
        return 0 <= _age(stamp) < _PRUNE_AGAIN_SECONDS
    except OSError:
        return False


@dataclass(frozen=True)
class Entry:
    """One key's directory: its total size and the time of its last use (seconds since the epoch)."""

    key: str
    path: str
    bytes: int
    used: float
    names: tuple[str, ...]
    """The groups in it: kernels' names, or the autotuner's."""


def entries(directory: str | None = None) -> Iterator[Entry]:
    """Every entry of the cache, in no order; what disappears meanwhile is skipped."""
    base = directory or knobs.cache.dir
    try:
        found = list(os.scandir(base))
    except OSError:
        return
    for key in found:
        with contextlib.suppress(OSError):
            if not key.is_dir(follow_symlinks=False):
                continue
            stats = [(f.name, f.stat(follow_symlinks=False)) for f in os.scandir(key.path)]
            size = sum(s.st_size for _, s in stats)
            used = max((s.st_mtime for _, s in stats), default=key.stat().st_mtime)
            groups = sorted(
                n.removeprefix(GROUP_PREFIX).removesuffix(".json") for n, _ in stats if n.startswith(GROUP_PREFIX)
            )
            yield Entry(key.name, key.path, size, used, tuple(groups))


def prune(max_bytes: int, directory: str | None = None) -> list[Entry]:
    """Remove the entries used longest ago until the cache is at most nine tenths of ``max_bytes``; returns them.

    Does nothing while the cache is within ``max_bytes``. Safe while other processes read and write: a reader that loses
    an entry compiles again.
    """
    every = sorted(entries(directory), key=lambda e: e.used)
    total = sum(e.bytes for e in every)
    removed: list[Entry] = []
    if total <= max_bytes:
        return removed
    for entry in every:
        if total <= max_bytes * 0.9:
            break
        shutil.rmtree(entry.path, ignore_errors=True)
        total -= entry.bytes
        removed.append(entry)
    return removed


def clear(directory: str | None = None) -> list[Entry]:
    """Remove every entry; returns them. Files that are not the cache's stay."""
    removed = list(entries(directory))
    for entry in removed:
        shutil.rmtree(entry.path, ignore_errors=True)
    return removed


def triton_key() -> str:
    """Digest of the compiler itself: its sources and the versions of what it is built on.

    >>> triton_key() == triton_key()
    True
    """
    return compiler_key()


class Hashed(Protocol):
    """What has a digest."""

    def hash(self) -> str: ...


def get_cache_key(src: Hashed, backend: Hashed, backend_options: Hashed, env_vars: Mapping[str, str]) -> str:
    """What decides a compile, as one text: for keys of libraries. tritonx's own key is `keys.compile_key`.

    >>> class Hashed:
    ...     def hash(self):
    ...         return "abc"
    >>> tritonx.compiler.get_cache_key(Hashed(), Hashed(), Hashed(), {"A": "1"}).endswith("-abc-abc-abc-[('A', '1')]")
    True
    """
    return f"{triton_key()}-{src.hash()}-{backend.hash()}-{backend_options.hash()}-{sorted(env_vars.items())}"


def make_so_cache_key(
    version_hash: str, signature: Mapping[object, str], constants: object, ids: object, **kwargs: object
) -> str:
    """A directory name for a shared library that a library compiles for a kernel: pointers are all one type to it.

    >>> key = make_so_cache_key("3.6", {0: "*fp32", 1: "i32"}, {}, {})
    >>> [key == make_so_cache_key("3.6", {0: "*fp16", 1: kind}, {}, {}) for kind in ("i32", "i64")]
    [True, False]
    """
    types = "".join("ptr" if ty.startswith("*") else ty for ty in signature.values())
    parts = [version_hash, types, str(constants), str(ids), *map(str, kwargs.values())]
    return _base32(hashlib.sha256("-".join(parts).encode()).hexdigest())


def __getattr__(name: str) -> object:
    """The caches on servers, which few use."""
    if name not in ("RemoteCacheManager", "RedisRemoteCacheBackend"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module("tritonx.runtime.remote_cache"), name)
