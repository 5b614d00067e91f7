"""The files of a folder that ``tritonx seal`` wrote, as a launch reads them.

Each member has a folder of its own, as an entry of the cache has. ``members.txt`` has a line for each: the key of its
compile, and what the member's group and metadata hold. A launch that has it opens one file, the code.
"""

from __future__ import annotations

import base64
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import TypedDict

from tritonx.runtime import knobs
from tritonx.runtime.cache import GROUP_PREFIX, FileCacheManager, members_of_group
from tritonx.runtime.errors import CorruptCacheEntry
from tritonx.runtime.store.cache_entries import digest
from tritonx.runtime.store.trusted_files import folder_objection, path_objection, read

INDEX = "members.txt"


class SealedFolder(FileCacheManager):
    """The files of one hexadecimal key in a folder that was sealed."""

    def __init__(self, key: str, folder: str) -> None:
        self._sealed = folder
        self._hexadecimal = key
        super().__init__(base64.b32encode(bytes.fromhex(key)).decode().rstrip("="))
        self.lock_path = None

    def _folder_of(self, override: bool, dump: bool) -> str:
        return self._sealed

    def _is_usable(self) -> bool:
        """Without the cache's warning, which says that kernels are compiled: the refusal says what is wrong."""
        return self.objection() is None

    def objection(self) -> str | None:
        """Why the files are not trusted; None where they are, or are not there."""
        try:
            return self._objection()
        except OSError as error:
            return f"{self.cache_dir} cannot be entered ({error.strerror or error})"

    def _objection(self) -> str | None:
        """As of any cache. What is above the folder is looked at once, and again when the folder is another."""
        seen = _seen(self._base)
        if seen is None:
            return super()._objection()
        return _objection_above(self._base, seen, knobs.cache.shared) or folder_objection(self.cache_dir)

    def discard(self) -> None:
        """Nothing: what is damaged stays, so that it can be looked at."""

    def member(self, metadata: str, code: str) -> SealedMember | None:
        """The member whose files have these names, with its code; None where it is not there or not as it was
        written."""
        if not self._is_usable():
            return None
        try:
            indexed = self._indexed() or self._listed(metadata)
            files = indexed["files"]
            binary = SealedFile(self._make_path(code), *files[code]).content()
            return SealedMember(self.cache_dir, files, indexed["metadata"], binary)
        except (OSError, ValueError, LookupError, TypeError, AttributeError, CorruptCacheEntry):
            return None

    def _indexed(self) -> Indexed | None:
        """What the folder's index says of the key, if it has it."""
        seen = _seen(self._base)
        found = b"" if seen is None else _index(self._base, seen)
        head = f"\n{self._hexadecimal} ".encode()
        start = found.find(head)
        end = found.find(b"\n", start + 1)
        return json.loads(found[start + len(head) : end]) if 0 <= start < end else None

    def _listed(self, metadata: str) -> Indexed:
        """The same of the member's own files. Raises CorruptCacheEntry, OSError, LookupError, ValueError."""
        path = self._make_path(GROUP_PREFIX + metadata)
        files = members_of_group(read(path), path)
        text = SealedFile(self._make_path(metadata), *files[metadata]).content()
        return Indexed(files=files, metadata=json.loads(text))

    def line(self, metadata: str) -> bytes:
        """What the index says of the member. Raises as `_listed`."""
        return f"{self._hexadecimal} {json.dumps(self._listed(metadata))}\n".encode()


class Indexed(TypedDict):
    """A member in the index: name of a file → its digest and size, and the metadata."""

    files: Mapping[str, tuple[str, int]]
    metadata: dict[str, object]


def read_index(folder: str) -> None:
    """Have the folder's index at hand."""
    seen = _seen(folder)
    if seen is not None and _objection_above(folder, seen, knobs.cache.shared) is None:
        _index(folder, seen)


def _seen(folder: str) -> tuple[int, ...] | None:
    """What differs when the folder, its mode or the names in it are others."""
    try:
        status = os.stat(folder)
    except OSError:
        return None
    return status.st_dev, status.st_ino, status.st_ctime_ns


@lru_cache(maxsize=16)
def _objection_above(folder: str, seen: tuple[int, ...], sharing: str) -> str | None:
    """`path_objection` of a folder that was ``seen``, while ``sharing`` says who is trusted."""
    return path_objection(folder)


@lru_cache(maxsize=8)
def _index(folder: str, seen: tuple[int, ...]) -> bytes:
    """The text of the index, with an end of line in front; empty where no trusted one is there."""
    try:
        return b"\n" + read(os.path.join(folder, INDEX))
    except OSError:
        return b""


@dataclass(frozen=True)
class SealedFile:
    """A file of a member, as it was written."""

    path: str
    digest: str
    size: int

    def content(self) -> bytes:
        """What it holds. Raises CorruptCacheEntry for another content, OSError."""
        content = read(self.path, self.size)
        if digest(content) != self.digest:
            raise CorruptCacheEntry(f"{self.path} is not what was sealed")
        return content


@dataclass(frozen=True)
class SealedMember:
    """A member: its folder, its files' digests and sizes by name, its metadata, and its code."""

    folder: str
    files: Mapping[str, tuple[str, int]]
    metadata: dict[str, object]
    code: bytes

    @property
    def paths(self) -> dict[str, str]:
        return {name: os.path.join(self.folder, name) for name in self.files}

    def file(self, name: str) -> SealedFile:
        return SealedFile(os.path.join(self.folder, name), *self.files[name])
