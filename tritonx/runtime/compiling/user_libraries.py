"""The option ``extern_libs``: device code of a user's, by name and path, that kernels are linked with."""

from __future__ import annotations

import hashlib
import os
from functools import lru_cache
from typing import TYPE_CHECKING

from tritonx.runtime.errors import MissingLibrary

if TYPE_CHECKING:
    from tritonx.backends.api import Options


def user_libraries(text: str, options: Options) -> list[str]:
    """The files to link with a module's LLVM text: all of the user's if it calls a function that it does not define,
    else none. Raises MissingLibrary for a file that is not there."""
    named = options.user_libraries
    if not named:
        return []
    from tritonx.conversion.linked_libraries import declared

    if not declared(text):
        return []
    for name, path in named:
        if not os.path.isfile(path):
            raise MissingLibrary(f"the library {name!r} of extern_libs is not at {path}")
    return [os.path.abspath(path) for _, path in named]


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
