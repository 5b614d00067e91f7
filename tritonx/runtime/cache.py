"""The cache of compiled kernels on disk.

A compile is found under a key: a digest of everything that decides its result. The key names a directory; in it lie one
file a stage and a *group*, a JSON file ``__grp__<name>`` that lists the files with their sizes and digests. The group
is written last and every file is written under a temporary name and renamed, so that other processes see an entry whole
or not at all, and whichever of two writers comes second replaces equal content by equal content. Whatever does not
match its digest (a truncated, foreign or damaged file) is treated as absent. `cache_entries` says which files are the
cache's own; no other file is ever removed.

Code in the cache is loaded and run. So a folder that others own or can write is not used (`trusted_files`): a warning
names it, once, and kernels are compiled without the cache. So it is with a cache that cannot be written (full disk, no
permission). The cache is kept below ``knobs.cache.max_bytes``: directories used longest ago go first.
``FileCacheManager`` has Triton's interface, because libraries derive from it and name the class in
``TRITON_CACHE_MANAGER``.
"""

from __future__ import annotations

import base64
import contextlib
import hashlib
import importlib
import json
import os
import threading
import time
import uuid
import warnings
from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, Protocol, cast

from tritonx import level
from tritonx.runtime import knobs
from tritonx.runtime.compiling.keys import compiler_key
from tritonx.runtime.errors import BadCacheName, CorruptCacheEntry
from tritonx.runtime.store.cache_entries import GROUP_PREFIX as GROUP_PREFIX
from tritonx.runtime.store.cache_entries import LOOKED, MARK, TEMPORARY, digest, listed, mark, remove_entry
from tritonx.runtime.store.cache_entries import Entry as Entry
from tritonx.runtime.store.cache_entries import clear as clear
from tritonx.runtime.store.cache_entries import entries as entries
from tritonx.runtime.store.cache_entries import prune as prune
from tritonx.runtime.store.trusted_files import (
    UntrustedFile,
    file_mode,
    folder_mode,
    folder_objection,
    is_plain_name,
    path_objection,
    read,
)

_TOUCH_SECONDS = 3600.0
"""An entry's time of last use is written at most this often: it only orders entries for eviction."""

_PRUNE_EVERY_BYTES = 64 << 20
"""How much one process writes between two looks at the size of the whole cache."""

_PRUNE_AGAIN_SECONDS = 600.0
"""A first write looks as well, unless some process has in this time: 22,000 entries take 0.6 s."""


class CacheWarning(RuntimeWarning):
    """The cache on disk cannot be used; compiling goes on without it."""


def _make_folder(path: str) -> None:
    """A folder that only this user can enter, as are those on the way to it that have to be made: the code in it is
    loaded and run. Where the cache is shared, the others can enter as well."""
    parent = os.path.dirname(path)
    if parent and not os.path.isdir(parent):
        _make_folder(parent)
    mode = folder_mode()
    with contextlib.suppress(FileExistsError):
        os.mkdir(path, mode)
        if mode != 0o700:  # what the umask took away
            os.chmod(path, mode)


def _write_file(path: str, content: bytes) -> None:
    """Write under a temporary name, and rename. Raises OSError."""
    temporary = os.path.join(os.path.dirname(path), f"{TEMPORARY}pid_{os.getpid()}_{uuid.uuid4().hex}")
    mode = file_mode()
    try:
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), mode)
        with open(descriptor, "wb") as file:
            if mode != 0o600:  # what the umask took away
                os.chmod(temporary, mode)
            file.write(content)
        os.replace(temporary, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise


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
        base = self._folder_of(override, dump)
        if not base:
            raise RuntimeError("Could not create or locate cache dir")
        if not is_plain_name(key):
            raise BadCacheName("the key", key)
        self._base = base
        self.cache_dir = os.path.join(base, key)
        self.lock_path: str | None = None if dump or override else os.path.join(self.cache_dir, "lock")
        self._is_cache = not dump and not override
        self._is_loaded = not dump

    def _folder_of(self, override: bool, dump: bool) -> str:
        settings = knobs.cache
        return settings.dump_dir if dump else settings.override_dir if override else settings.dir

    def _make_path(self, filename: str) -> str:
        return os.path.join(self.cache_dir, filename)

    def _objection(self) -> str | None:
        """Why the folder is refused; of one that nothing is loaded from, only that it is a link to another."""
        if not self._is_loaded:
            return f"{self.cache_dir} is a symbolic link" if os.path.islink(self.cache_dir) else None
        return path_objection(self._base) or folder_objection(self.cache_dir)

    def _is_usable(self) -> bool:
        """Whether the folder is trusted. If not: a warning."""
        try:
            objection = self._objection()
        except OSError:  # a folder on the way that may not be entered
            return False
        if objection is not None:
            _warn_untrusted(self._base, objection)
        return objection is None

    def has_file(self, filename: str) -> bool:
        return is_plain_name(filename) and os.path.isfile(self._make_path(filename))

    def get_file(self, filename: str) -> str | None:
        """The file's path, if its content is what was stored; None otherwise. A file that a user put in the place of a
        stage has the right owner and mode."""
        if not self.has_file(filename) or not self._is_usable():
            return None
        path = self._make_path(filename)
        try:
            content = read(path)
        except UntrustedFile as error:
            _warn_untrusted(self._base, str(error))
            return None
        except OSError:
            return None
        if self._is_cache and (filename, digest(content), len(content)) not in listed(self.cache_dir):
            return None
        return path

    def put(self, data: str | bytes, filename: str, binary: bool = True) -> str:
        """Write atomically. On a full or read-only disk: a warning, and the path where the file would have been. Raises
        BadCacheName."""
        if not is_plain_name(filename):
            raise BadCacheName("the file name", filename)
        path = self._make_path(filename)
        self._store(data if isinstance(data, bytes) else data.encode(), path)
        return path

    def _store(self, content: bytes, path: str) -> bool:
        """Whether it was written. If not: a warning, once."""
        try:
            objection = self._objection()
            if objection is not None:
                _warn_untrusted(self._base, objection)
                return False
            _make_folder(self.cache_dir)
            self._list(path, content)
            _write_file(path, content)
            if self._is_cache and not os.path.lexists(self._make_path(MARK)):  # the entry was removed meanwhile
                self._list(path, content)
        except OSError as error:
            _warn_once(self._base, error)
            return False
        if self._is_cache:
            _written(len(content))
        return True

    def _list(self, path: str, content: bytes) -> None:
        if self._is_cache:
            mark(self.cache_dir, os.path.basename(path), content)

    def get_group(self, filename: str) -> dict[str, str] | None:
        if not is_plain_name(filename) or not self._is_usable():
            return None
        path = self._make_path(GROUP_PREFIX + filename)
        try:
            return self._read_group(path)
        except FileNotFoundError:
            return None
        except (OSError, CorruptCacheEntry):
            self.discard()
            return None

    def _read_group(self, path: str) -> dict[str, str]:
        """The group's files. Raises FileNotFoundError where there is no group, OSError and CorruptCacheEntry."""
        group: dict[str, str] = {}
        for name, (known, size) in members_of_group(read(path), path).items():
            child = self._make_path(name)
            try:
                content = read(child, size)
            except OSError as error:
                raise CorruptCacheEntry(f"{child} cannot be read ({error})") from error
            if known != digest(content):
                raise CorruptCacheEntry(f"{child} is not what was stored")
            group[name] = child
        _touch(path)
        return group

    def put_group(self, filename: str, group: dict[str, str]) -> str | None:
        """The path of the group's file; None where it could not be stored."""
        files: dict[str, dict[str, Any]] = {}
        for name, path in group.items():
            try:
                content = read(path)
            except OSError:
                return None  # the disk was full, or the cache was cleared meanwhile
            files[name] = {"bytes": len(content), "sha256": digest(content)}
        text = json.dumps({"child_paths": group, "files": files, "created": time.time()})
        path = self.put(text, GROUP_PREFIX + filename, binary=False)
        return path if os.path.isfile(path) else None

    def discard(self) -> None:
        """Remove what the cache stored under this key."""
        remove_entry(self.cache_dir)


def members_of_group(text: bytes, path: str) -> dict[str, tuple[str, int]]:
    """The files that the group ``text`` lists: name → digest, bytes. Raises CorruptCacheEntry for what is no group."""
    try:
        stored = json.loads(text)
        names, files = list(stored["child_paths"]), stored["files"]
        found = {name: (files[name]["sha256"], files[name]["bytes"]) for name in names}
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError, MemoryError) as error:
        raise CorruptCacheEntry(f"{path} is not a group of the cache") from error
    for name, (known, size) in found.items():
        if not is_plain_name(name) or type(known) is not str or type(size) is not int:
            raise CorruptCacheEntry(f"{path} lists {name!r}, which is no file of the cache")
    return cast("dict[str, tuple[str, int]]", found)


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


def _warn_once(base: str, error: OSError) -> None:
    _warn(
        base,
        f"the cache of compiled kernels in {base} cannot be written ({error.strerror or error}); "
        f"kernels are compiled again in every process. TRITONX_CACHE_DIR names another place",
    )


def _warn_untrusted(base: str, objection: str) -> None:
    sharing = "group trusts the groups that you are in" if "by the group" in objection else "anyone trusts all users"
    _warn(
        objection,
        f"code in {base} is not loaded, and none is stored there, because {objection}; kernels are compiled again. "
        f"Only you and root may own and write such a folder and those above it. TRITONX_CACHE_DIR names another place, "
        f"TRITONX_CACHE_SHARED={sharing} (docs/guide.md)",
    )


def _warn(subject: str, message: str) -> None:
    """Warn, once of each subject."""
    with _state:
        if subject in _warned:
            return
        _warned.add(subject)
    warnings.warn(message, CacheWarning, stacklevel=4)


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
        looked = os.path.join(knobs.cache.dir, LOOKED)
        if first and _is_recent(looked):
            return
        _unseen_bytes = 0
    with contextlib.suppress(OSError):
        flags = os.O_WRONLY | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
        os.close(os.open(looked, flags, file_mode()))
        os.utime(looked)
    prune(limit)


def _is_recent(stamp: str) -> bool:
    """Whether a file's time is less than `_PRUNE_AGAIN_SECONDS` ago; one that is yet to come says nothing."""
    try:
        return 0 <= _age(stamp) < _PRUNE_AGAIN_SECONDS
    except OSError:
        return False


def triton_key() -> str:
    """Digest of the compiler itself, its sources and the versions of what it is built on, and the process's level.

    >>> triton_key().partition("-")[2] == tritonx.knobs.language.level
    True
    """
    return f"{compiler_key()}-{level.active().name}"


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
    return getattr(importlib.import_module("tritonx.runtime.store.remote_cache"), name)
