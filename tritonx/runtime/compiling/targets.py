"""What the language asks of the backend that serves a target: its device library, its own language module, its
families; and which target a compile is for where its options or a knob name one.

An installed backend may lack for a target (that of the interpreter, or a foreign one that is only printed); then
nothing is known.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tritonx.backends.api import Backend, Target


def backend_named(name: str) -> Backend | None:
    """The installed backend of that name, or None."""
    from tritonx.backends.registry import available

    return available().get(name)


def extern_functions(target: Target) -> Mapping[str, Any]:
    """The backend's table of library functions, empty where there is none."""
    backend = backend_named(target.backend)
    return {} if backend is None else backend.extern_functions(target)


def language_module(name: str) -> ModuleType | None:
    """The module of functions that only targets of the backend ``name`` have (its ``language_module``), or None."""
    from importlib import import_module

    backend = backend_named(name)
    return None if backend is None or backend.language_module is None else import_module(backend.language_module)


def in_family(target: Target, family: str) -> bool:
    """Whether the target's backend counts its architecture to ``family`` (its mapping ``families``)."""
    backend = backend_named(target.backend)
    return backend is not None and target.arch in backend.families.get(family, ())


def target_named(backend: Backend, target: Target, given: Mapping[str, object]) -> Target:
    """The target that the option ``arch`` names instead of ``target``, or the knob ``runtime.override_arch``
    (``sm80``, ``gfx942``), for a backend with that option. Raises ``ValueError`` for an architecture that is none.

    >>> from tritonx.backends.registry import parse_target
    >>> backend, target = parse_target("cuda:90")
    >>> print(target_named(backend, target, {"arch": "sm80"}))
    cuda:80
    """
    from tritonx.runtime.knobs import runtime

    arch = given.get("arch") or runtime.override_arch
    if not arch or "arch" not in {f.name for f in fields(backend.options_type)}:
        return target
    return backend.parse_target(str(arch))
