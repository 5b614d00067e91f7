"""The option ``extern_libs``: device code of a user's, by name and path, that kernels are linked with."""

from __future__ import annotations

import hashlib
import os
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tritonx.backends.api import Options


def libraries_key(options: Options) -> str:
    """What the files hold, by name: part of the key of a compile, so that a changed file is linked anew."""
    named = options.user_libraries
    return repr([(name, _digest_of(path)) for name, path in named]) if named else ""


def _digest_of(path: str) -> str:
    try:
        found = os.stat(path)
    except OSError:
        return ""
    return _digest(path, found.st_size, found.st_mtime_ns)


@lru_cache(maxsize=64)
def _digest(path: str, size: int, changed: int) -> str:
    try:
        with open(path, "rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError:
        return ""
