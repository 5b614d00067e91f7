"""``tl.extra``: ``libdevice``, and by a backend's name the functions that only its targets have.

``tl.extra.<name>`` is the module that the backend of that name gives as ``language_module``; it has a ``libdevice``
of its own only by the table of that backend, so the generic stubs are the same functions.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any


def __getattr__(name: str) -> Any:
    if name == "libdevice":
        return import_module("tritonx.language.extra.libdevice")
    if not name.startswith("_"):
        from tritonx.runtime.targets import language_module

        if (module := language_module(name)) is not None:
            return module
    raise AttributeError(
        f"module 'tritonx.language.extra' has no attribute {name!r}: no backend of that name is installed"
    )
