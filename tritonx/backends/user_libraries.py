"""Which files of the option ``extern_libs`` a module is linked with, for every backend that links."""

from __future__ import annotations

import os

from tritonx.backends.api import Options
from tritonx.conversion.linked_libraries import declared
from tritonx.runtime.errors import MissingLibrary


def user_libraries(text: str, options: Options) -> list[str]:
    """The files to link with a module's LLVM text: all of the user's if it calls a function that it does not define,
    else none. Raises MissingLibrary for a file that is not there."""
    named = options.user_libraries
    if not named:
        return []
    if not declared(text):
        return []
    for name, path in named:
        if not os.path.isfile(path):
            raise MissingLibrary(f"the library {name!r} of extern_libs is not at {path}")
    return [os.path.abspath(path) for _, path in named]
