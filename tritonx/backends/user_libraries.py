"""Which files of the option ``extern_libs`` a module is linked with, for every backend that links."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from tritonx.conversion.linked_libraries import declared
from tritonx.runtime.errors import MissingLibrary

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tritonx.backends.api import Options


def user_libraries(text: str, options: Options) -> list[str]:
    """The files to link with a module's LLVM text: all of the user's if it calls a function that it does not define,
    else none. Raises MissingLibrary for a file that is not there."""
    named = options.user_libraries
    if not named:
        return []
    if not declared(text):
        return []
    return [_file(name, path) for name, path in named]


def standard_library(name: str, options: Options, installed: Callable[[], Path]) -> str:
    """The file of a vendor's library, which a module calls: the user's if ``extern_libs`` has its name, else the
    installed one. Raises MissingLibrary where it is not there."""
    given = options.given_library(name)
    return str(installed()) if given is None else _file(name, given)


def _file(name: str, path: str) -> str:
    if not os.path.isfile(path):
        raise MissingLibrary(f"the library {name!r} of extern_libs is not at {path}")
    return os.path.abspath(path)
