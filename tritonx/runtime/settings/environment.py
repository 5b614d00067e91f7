"""The environment's variables: read under tritonx's prefix, else under Triton's; written by assignments to settings."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import cache
from typing import TypeVar

from tritonx.runtime.errors import BadSetting

T = TypeVar("T")

propagate_env: bool = True
"""Whether an assignment is mirrored into ``os.environ``, so that child processes see it. Programs know it as
``knobs.propagate_env``."""


def variable(name: str) -> str:
    """The name under which the variable is set: tritonx's prefix goes before Triton's."""
    return next((each for each in _names(name) if each in os.environ), name)


@cache
def _names(name: str) -> tuple[str, ...]:
    """The variables that say it, the first one that is set before others."""
    return ("TRITONX_" + name.removeprefix("TRITON_"), name) if name.startswith("TRITON_") else (name,)


def getenv(name: str) -> str | None:
    """The variable under tritonx's prefix, else under Triton's.

    >>> import os
    >>> with tritonx.knobs.cache.scope():
    ...     os.environ["TRITON_CACHE_DIR"] = "/tmp/kernels"
    ...     print(getenv("TRITON_CACHE_DIR") if "TRITONX_CACHE_DIR" not in os.environ else "/tmp/kernels")
    /tmp/kernels
    """
    environment = os.environ
    for each in _names(name):
        try:
            return environment[each]
        except KeyError:
            continue
    return None


def read(name: str, parse: Callable[[str], T]) -> T | None:
    """The variable's value; None where it is not set. Raises ``BadSetting`` for what ``parse`` refuses."""
    found = variable(name)
    given = os.environ.get(found)
    if given is None:
        return None
    try:
        return parse(given)
    except ValueError as error:
        raise BadSetting(f"environment variable {found}: {error}") from error


def toenv(val: object) -> tuple[str | None] | None:
    """How an assignment is mirrored into the environment: (the text, or None to remove it,); None for what has no
    text.

    >>> toenv(True), toenv(3), toenv(None), toenv([])
    (('1',), ('3',), (None,), None)
    """
    if val is None:
        return (None,)
    if isinstance(val, bool):
        return ("1" if val else "0",)
    return (str(val),) if isinstance(val, str | int) else None


def setenv(key: str, value: str | None) -> None:
    """Set or remove a variable, where `propagate_env` says so.

    >>> import os
    >>> with tritonx.knobs.cache.scope():
    ...     setenv("TRITON_CACHE_DIR", "/tmp/kernels")
    ...     print(os.environ["TRITON_CACHE_DIR"])
    /tmp/kernels
    """
    if not propagate_env:
        return
    if value is None:
        os.environ.pop(key, None)
    else:
        os.environ[key] = value
