"""Modules of a package that are there without having been imported.

    __getattr__ = loading(__name__, ("compiler", "errors"))

``import triton`` loads most of Triton, so programs write ``triton.compiler.errors.CompilationError`` with no more
imports than that one; a package of tritonx imports what is asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType


def loading(package: str, names: Iterable[str] | None = None) -> Callable[[str], ModuleType]:
    """A package's ``__getattr__``: its submodules of these names (by default all), else an AttributeError."""
    known = None if names is None else frozenset(names)

    def getattribute(name: str) -> ModuleType:
        if name.startswith("__") or not (find_spec(f"{package}.{name}") if known is None else name in known):
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        return import_module(f"{package}.{name}")

    return getattribute
