"""Which files and folders are trusted to hold code that this process loads: by owner and mode.

The rule is that of OpenSSH's ``StrictModes``. A file or folder is trusted if it belongs to this user or to root and
neither its group nor everybody else can write it. The folders above it, up to the home directory or the root, must be
trusted as well, because who can rename a folder can put another in its place. Three cases are not refused:

* a folder with the sticky bit, as ``/tmp`` has it: only its owner may rename a file there;
* a group that holds this user alone, as most Linux systems make one for each user;
* what ``knobs.cache.shared`` allows: ``group`` trusts the groups that this user is in, ``anyone`` everybody.

Files are opened without following a symbolic link and without waiting, and must be regular. Systems without owners of
the POSIX kind are not checked.
"""

from __future__ import annotations

import contextlib
import os
import re
import stat
from functools import cache

from tritonx.runtime import knobs

__all__ = ["UntrustedFile", "file_mode", "folder_mode", "folder_objection", "is_plain_name", "path_objection", "read"]

_STRICT, _GROUP, _ANYONE = "", "group", "anyone"


class UntrustedFile(OSError):
    """A file whose owner, mode or kind is refused.

    >>> issubclass(UntrustedFile, OSError)
    True
    """


def is_plain_name(name: object) -> bool:
    """Whether ``name`` is that of a file in a folder: text that a path can hold, without a separator.

    >>> [is_plain_name(name) for name in ("a.json", "a/b", "..", "", "a\\0", "\\ud800", 5)]
    [True, False, False, False, False, False, False]
    """
    if not isinstance(name, str) or name in ("", ".", "..") or os.sep in name or (os.altsep and os.altsep in name):
        return False
    return _NO_PATH_HOLDS.search(name) is None


_NO_PATH_HOLDS = re.compile("[\x00-\x1f\ud800-\udfff]")


def folder_mode() -> int:
    """The mode of folders that the cache makes."""
    return {_STRICT: 0o700, _GROUP: 0o2770, _ANYONE: 0o777}.get(knobs.cache.shared, 0o700)


def file_mode() -> int:
    """The mode of files that the cache makes."""
    return folder_mode() & 0o666


def path_objection(path: str) -> str | None:
    """Why the folder ``path`` is refused, with the folder at fault: itself or one above it. None if it is trusted or
    not there."""
    if not hasattr(os, "geteuid") or knobs.cache.shared == _ANYONE:
        return None
    here = os.path.realpath(path)
    home = os.path.realpath(os.path.expanduser("~"))
    asked = here
    while True:
        with contextlib.suppress(FileNotFoundError, NotADirectoryError):
            objection = _objection(os.stat(here), above=here != asked)
            if objection is not None:
                return f"{here} {objection}"
        above = os.path.dirname(here)
        if above == here or here == home:
            return None
        here = above


def folder_objection(path: str) -> str | None:
    """Why the entry ``path`` of a trusted folder is refused; None if it is a trusted folder or not there."""
    try:
        status = os.lstat(path)
    except (FileNotFoundError, NotADirectoryError):
        return None
    if stat.S_ISLNK(status.st_mode):
        return f"{path} is a symbolic link"
    if not stat.S_ISDIR(status.st_mode):
        return f"{path} is not a folder"
    objection = _objection(status)
    return None if objection is None else f"{path} {objection}"


def read(path: str, size: int | None = None) -> bytes:
    """The content of a trusted regular file, of ``size`` bytes where that is known. Raises `UntrustedFile`, and other
    OSErrors."""
    descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | _BINARY)
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise UntrustedFile(f"{path} is not a regular file")
        objection = _objection(status)
        if objection is not None:
            raise UntrustedFile(f"{path} {objection}")
        if size is not None and status.st_size != size:
            raise UntrustedFile(f"{path} has {status.st_size} bytes, not {size}")
        return _content(descriptor, status.st_size)
    finally:
        os.close(descriptor)


def _content(descriptor: int, size: int) -> bytes:
    """All of a file that had ``size`` bytes when it was looked at; some may have been added since."""
    found = os.read(descriptor, size + 1)
    if len(found) == size:
        return found
    pieces = [found]
    while found:
        found = os.read(descriptor, 1 << 20)
        pieces.append(found)
    return b"".join(pieces)


_BINARY = getattr(os, "O_BINARY", 0)


def _objection(status: os.stat_result, above: bool = False) -> str | None:
    """What is wrong with an owner and a mode. ``above``: of a folder on the way to the one that is asked for."""
    sharing = knobs.cache.shared
    if not hasattr(os, "geteuid") or sharing == _ANYONE:
        return None
    mode = stat.S_IMODE(status.st_mode)
    sticky = mode & stat.S_ISVTX and stat.S_ISDIR(status.st_mode)
    if mode & 0o002 and not sticky:
        return f"can be written by everybody (mode {mode:04o})"
    ours = sharing == _GROUP and _is_ours(status.st_gid)
    if mode & 0o020 and not sticky and not ours and not _is_private(status.st_gid):
        return f"can be written by the group {status.st_gid} (mode {mode:04o})"
    if status.st_uid in (0, os.geteuid()) or ours or (above and status.st_uid == _unmapped()):
        return None
    return f"belongs to the user {status.st_uid}"


def _is_ours(group: int) -> bool:
    return group == os.getegid() or group in os.getgroups()


@cache
def _is_private(group: int) -> bool:
    """Whether ``group`` is this user's own, with no other member, or root's without members: containers
    that run under any user give it the group 0 and a home that this group may write."""
    import grp
    import pwd

    try:
        if group == 0:
            return set(grp.getgrgid(0).gr_mem) <= {"root"}
        user, found = pwd.getpwuid(os.geteuid()), grp.getgrgid(group)
    except KeyError:
        return False
    return user.pw_gid == group and found.gr_name == user.pw_name and set(found.gr_mem) <= {user.pw_name}


@cache
def _unmapped() -> int:
    """The owner that a container without root's rights shows for the host's root; -1 outside of one."""
    try:
        with open("/proc/self/uid_map", encoding="ascii") as mapped, open("/proc/sys/kernel/overflowuid") as overflow:
            return -1 if mapped.read().split() == ["0", "0", "4294967295"] else int(overflow.read())
    except (OSError, ValueError):
        return -1
