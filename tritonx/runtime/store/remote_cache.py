"""A cache of compiled kernels on a server, which processes on several machines share.

``TRITON_CACHE_MANAGER=tritonx.runtime.cache:RemoteCacheManager`` with ``TRITON_REMOTE_CACHE_BACKEND=module:Class``; the
class derives from ``RemoteCacheBackend``. What is fetched goes into the cache on disk, from which kernels are loaded.
The server keeps a digest of each file beside it: a file that does not match its digest is absent.
"""

from __future__ import annotations

import importlib

from tritonx.runtime import knobs
from tritonx.runtime.cache import (
    GROUP_PREFIX,
    CacheManager,
    FileCacheManager,
    RemoteCacheBackend,
    members_of_group,
)
from tritonx.runtime.errors import BadSetting, CorruptCacheEntry
from tritonx.runtime.store.cache_entries import digest
from tritonx.runtime.store.trusted_files import is_plain_name, read

DIGEST_PREFIX = "__sha256__"
"""Before a file's name: its digest on the server."""


class RedisRemoteCacheBackend(RemoteCacheBackend):
    """Files on a Redis server (``knobs.redis``); needs the package ``redis``."""

    def __init__(self, key: str) -> None:
        super().__init__(key)
        self._client = importlib.import_module("redis").Redis(host=knobs.redis.host, port=knobs.redis.port)

    def _name(self, filename: str) -> str:
        return knobs.redis.key_format.format(key=self.key, filename=filename)

    def get(self, filenames: list[str]) -> dict[str, bytes]:
        found = self._client.mget([self._name(filename) for filename in filenames])
        return {name: data for name, data in zip(filenames, found, strict=True) if data is not None}

    def put(self, filename: str, data: bytes) -> None:
        self._client.set(self._name(filename), data)


class RemoteCacheManager(CacheManager):
    """Files under one key, on the server and in the cache on disk. Raises BadSetting where no server is named."""

    def __init__(self, key: str, override: bool = False, dump: bool = False) -> None:
        super().__init__(key, override, dump)
        backend = knobs.cache.remote_manager_class
        if backend is None:
            raise BadSetting(
                "Unable to instantiate RemoteCacheManager, TRITON_REMOTE_CACHE_BACKEND doesn't point to a valid class"
            )
        self._server: RemoteCacheBackend | None = None if override or dump else backend(key)
        self._disk = FileCacheManager(key, override=override, dump=dump)

    def get_file(self, filename: str) -> str | None:
        if self._server is None:
            return self._disk.get_file(filename)
        data = self._fetched([filename]).get(filename)
        if data is None:
            return None
        self._disk.put(data, filename, binary=True)
        return self._disk.get_file(filename)

    def _fetched(self, names: list[str]) -> dict[str, bytes]:
        """What the server has of these files, whole."""
        assert self._server is not None
        wanted = [name for name in names if is_plain_name(name)]
        found = self._server.get([*wanted, *(DIGEST_PREFIX + name for name in wanted)])
        return {
            name: found[name]
            for name in wanted
            if name in found and found.get(DIGEST_PREFIX + name) == digest(found[name]).encode()
        }

    def _send(self, filename: str, data: bytes) -> None:
        if self._server is not None:
            self._server.put(filename, data)
            self._server.put(DIGEST_PREFIX + filename, digest(data).encode())

    def put(self, data: str | bytes, filename: str, binary: bool = True) -> str:
        self._send(filename, data if isinstance(data, bytes) else data.encode())
        return self._disk.put(data, filename, binary=binary)

    def get_group(self, filename: str) -> dict[str, str] | None:
        listed = self.get_file(GROUP_PREFIX + filename)
        if listed is None:
            return None
        if self._server is not None:
            try:
                names = list(members_of_group(read(listed), listed))
            except (OSError, CorruptCacheEntry):
                return None
            fetched = self._fetched(names)
            if len(fetched) < len(names):
                return None
            for name, data in fetched.items():
                self._disk.put(data, name, binary=True)
        return self._disk.get_group(filename)

    def put_group(self, filename: str, group: dict[str, str]) -> str | None:
        listed = self._disk.put_group(filename, group)
        if listed is not None:
            self._send(GROUP_PREFIX + filename, read(listed))
        return listed
