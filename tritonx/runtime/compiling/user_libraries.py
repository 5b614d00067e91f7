"""The option ``extern_libs``: device code of a user's, by name and path, that kernels are linked with."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tritonx.runtime.store.file_digest import file_digest

if TYPE_CHECKING:
    from tritonx.backends.api import Options


def libraries_key(options: Options) -> str:
    """What the files hold, by name: part of the key of a compile, so that a changed file is linked anew."""
    named = options.extern_libs
    return repr([(name, _digest_of(path)) for name, path in named]) if named else ""


def _digest_of(path: str) -> str:
    try:
        return file_digest(path)
    except OSError:
        return ""
