"""Entries of the cache on disk: what belongs to the cache, and removing it.

An entry is a folder that holds the file `MARK`. The mark lists each file that the cache stored there, a line a file
with its digest and size. It has two uses. A file is handed out only if its content has a digest that the mark lists.
And only what the mark lists is ever removed: a folder without a mark, and any file that the cache did not store, stays.
No symbolic link is followed. A line is written before its file is renamed into place, so that a process that is ended
in between leaves no file without a line.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import stat
from collections.abc import Iterator
from dataclasses import dataclass

from tritonx.runtime import knobs
from tritonx.runtime.store.trusted_files import file_mode, is_plain_name, read

__all__ = [
    "GROUP_PREFIX", "MARK", "TEMPORARY", "Entry", "clear", "clear_unmarked", "digest", "entries", "foreign", "listed",
    "mark", "prune", "remove_entry",
]  # fmt: skip

GROUP_PREFIX = "__grp__"
MARK = ".tritonx-entry"
TEMPORARY = "tmp."
"""How the names of files begin that are yet to be renamed."""

LOOKED = ".looked"
"""A file in the cache's directory; its time is that of the last look at the cache's size."""

_LINE = re.compile(r"tritonx1 ([0-9a-f]{64}) (\d{1,18}) (.+)")
_COMPACT_BYTES = 64 << 10
"""A mark longer than this, of files that are written over and over, is cut down to the last line of each file."""

_KEY = re.compile(r"[A-Z2-7]{52}")
"""The name of an entry: a digest in base 32. Triton's entries have such names as well, and have no mark."""


def digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def listed(folder: str) -> list[tuple[str, str, int]]:
    """(name, digest, bytes) of each line of an entry's mark; lines that are damaged are left out."""
    try:
        text = read(os.path.join(folder, MARK)).decode(errors="replace")
    except OSError:
        return []
    matches = (_LINE.fullmatch(line) for line in text.split("\n"))
    return [(m[3], m[1], int(m[2])) for m in matches if m is not None and is_plain_name(m[3])]


def mark(folder: str, name: str, content: bytes) -> None:
    """List ``content`` as that of the file ``name``. Raises OSError."""
    line = (name, digest(content), len(content))
    lines = listed(folder)
    if line in lines:
        return
    path = os.path.join(folder, MARK)
    if os.path.islink(path):
        os.unlink(path)
    flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
    mode = file_mode()
    descriptor = os.open(path, flags, mode)
    try:
        if mode != 0o600:  # what the umask took away; the file may be another user's
            with contextlib.suppress(OSError):
                os.chmod(path, mode)
        if os.fstat(descriptor).st_size > _COMPACT_BYTES:
            os.ftruncate(descriptor, 0)
            os.write(descriptor, b"".join(_text(*each) for each in {each[0]: each for each in lines}.values()))
        os.write(descriptor, _text(*line))
    finally:
        os.close(descriptor)


def _text(name: str, digest: str, size: int) -> bytes:
    """A line, which begins anew even where the one before it was cut off."""
    return f"\ntritonx1 {digest} {size} {name}\n".encode()


def is_marked(folder: str) -> bool:
    """Whether a folder is an entry."""
    try:
        return stat.S_ISREG(os.lstat(os.path.join(folder, MARK)).st_mode)
    except OSError:
        return False


def remove_entry(folder: str) -> None:
    """Remove the files that an entry's mark lists, and the folder if nothing else is in it. Other files stay, as does
    all that is in folders."""
    if os.path.islink(folder) or not is_marked(folder):
        return
    try:
        there = os.listdir(folder)
    except OSError:
        return
    own = {name for name, _, _ in listed(folder)} | {"lock"}
    for name in there:
        if name in own or name.startswith(TEMPORARY):
            _unlink(os.path.join(folder, name))
    _unlink(os.path.join(folder, MARK))
    with contextlib.suppress(OSError):
        os.rmdir(folder)


def _unlink(path: str) -> None:
    with contextlib.suppress(OSError):  # gone meanwhile, a folder, or not ours to remove
        os.unlink(path)


@dataclass(frozen=True)
class Entry:
    """One key's directory: its total size and the time of its last use (seconds since the epoch)."""

    key: str
    path: str
    bytes: int
    used: float
    names: tuple[str, ...]
    """The groups in it: kernels' names, or the autotuner's."""


def _entry(folder: os.DirEntry[str]) -> Entry | None:
    """The entry that a folder is; None without a mark. Raises OSError for what disappears meanwhile."""
    if not folder.is_dir(follow_symlinks=False):
        return None
    stats = [(f.name, f.stat(follow_symlinks=False)) for f in os.scandir(folder.path)]
    marks = [s for name, s in stats if name == MARK and stat.S_ISREG(s.st_mode)]
    if not marks:
        return None
    size = sum(s.st_size for _, s in stats)
    used = max((s.st_mtime for name, s in stats if name != MARK), default=marks[0].st_mtime)
    groups = sorted(n.removeprefix(GROUP_PREFIX).removesuffix(".json") for n, _ in stats if n.startswith(GROUP_PREFIX))
    return Entry(folder.name, folder.path, size, used, tuple(groups))


def entries(directory: str | None = None) -> Iterator[Entry]:
    """Every entry of the cache, in no order; what disappears meanwhile is skipped."""
    for folder in _scanned(directory or knobs.cache.dir):
        with contextlib.suppress(OSError):
            found = _entry(folder)
            if found is not None:
                yield found


def _scanned(directory: str) -> list[os.DirEntry[str]]:
    try:
        return list(os.scandir(directory))
    except OSError:
        return []


def foreign(directory: str) -> list[str]:
    """The names in a cache's directory that are no entries: what the cache did not make."""
    found: list[str] = []
    for each in _scanned(directory):
        whole = each.is_dir(follow_symlinks=False) and is_marked(each.path)
        if not whole and each.name != LOOKED:
            found.append(each.name)
    return sorted(found)


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
        remove_entry(entry.path)
        total -= entry.bytes
        removed.append(entry)
    return removed


def clear(directory: str | None = None) -> list[Entry]:
    """Remove every entry; returns them. Whatever is not the cache's stays."""
    removed = list(entries(directory))
    for entry in removed:
        remove_entry(entry.path)
    return removed


def clear_unmarked(directory: str) -> list[str]:
    """Remove the folders without a mark that look like entries: those of earlier versions, and Triton's. Returns their
    names. Such a folder is named by a digest and holds plain files, among them a group; all else stays."""
    removed: list[str] = []
    for each in _scanned(directory):
        if _KEY.fullmatch(each.name) and each.is_dir(follow_symlinks=False) and not is_marked(each.path):
            files = _scanned(each.path)
            groups = any(f.name.startswith(GROUP_PREFIX) for f in files)
            if groups and all(f.is_file(follow_symlinks=False) for f in files):
                for file in files:
                    _unlink(file.path)
                with contextlib.suppress(OSError):
                    os.rmdir(each.path)
                removed.append(each.name)
    return removed
