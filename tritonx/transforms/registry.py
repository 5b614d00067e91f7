"""Finds passes by name.

A pass says itself where it is: ``insert-barriers`` is the class of that ``name`` in ``insert_barriers.py`` of one of
`PACKAGES`, or of the package ``passes`` of a backend, here or outside, that `tritonx.backends` (the entry-point group)
names: ``copy-blocks`` is in ``tritonx/backends/nvidia/passes/copy_blocks.py``. No table repeats it, and finding one
pass of `PACKAGES` imports that one. Other packages may also name passes, by entries of the group
``tritonx.passes``: a ``ModulePass`` subclass under the pass's name.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from importlib.util import find_spec
from pkgutil import iter_modules
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from xdsl.passes import ModulePass

PACKAGES = (
    "tritonx.transforms.tile",
    "tritonx.transforms.gpu",
    "tritonx.transforms.pipelining",
    "tritonx.transforms.gluon",
    "tritonx.conversion.tile_to_gpu",
)
"""Where the passes are that several backends may run."""

BACKENDS = "tritonx.backends"
OF_A_BACKEND = "passes"
"""The package, in a backend's, where its own passes are."""

ENTRY_POINTS = "tritonx.passes"
OWN_PACKAGE = "tritonx"


class UnknownPass(Exception):
    """No pass has this name; the message names the closest ones."""

    def __init__(self, name: str) -> None:
        from difflib import get_close_matches

        close = get_close_matches(name, pass_names(), 3)
        meant = f"; did you mean {' or '.join(repr(c) for c in close)}?" if close else ""
        super().__init__(f"unknown pass {name!r}{meant}")
        self.pass_name = name


class UnusablePass(UnknownPass):
    """An entry point names the pass, and leads to none."""

    def __init__(self, entry: EntryPoint, reason: str) -> None:
        origin = "" if entry.dist is None else f" from {entry.dist.name}"
        Exception.__init__(self, f"pass '{entry.name}' ({entry.value}{origin}) cannot be used: {reason}")
        self.pass_name, self.reason = entry.name, reason


@cache
def _modules() -> dict[str, str]:
    """Name → module, of every pass here and of what lies beside them."""
    return {name: module for package in PACKAGES for name, module in _modules_in(package)}


@cache
def _of_backends() -> dict[str, str]:
    """Name → module, of what lies in the packages of backends' own passes; those of this package first."""
    entries = sorted(entry_points(group=BACKENDS), key=lambda entry: entry.module.split(".")[0] != OWN_PACKAGE)
    found: dict[str, str] = {}
    for entry in entries:
        try:
            modules = list(_modules_in(f"{entry.module}.{OF_A_BACKEND}"))
        except Exception:  # whatever a plug-in does when it is imported: `tritonx.backends()` says so
            continue
        for name, module in modules:
            found.setdefault(name, module)
    return found


def _modules_in(package: str) -> Iterator[tuple[str, str]]:
    """Name and module, of what lies in a package; nothing where there is none."""
    spec = find_spec(package)
    paths = None if spec is None else spec.submodule_search_locations
    for module in iter_modules(paths) if paths is not None else ():
        yield module.name.replace("_", "-"), f"{package}.{module.name}"


@cache
def _plugins() -> dict[str, EntryPoint]:
    """What this package's backends bring, no other replaces."""
    found = sorted(entry_points(group=ENTRY_POINTS), key=lambda entry: entry.module.split(".")[0] == OWN_PACKAGE)
    return {entry.name: entry for entry in found}


def _here(name: str) -> type[ModulePass] | None:
    """The pass of this name in `PACKAGES`; None where there is none, or its module holds something else."""
    module = _modules().get(name)
    return None if module is None else _in_module(module, name)


def _of_backend(name: str) -> type[ModulePass] | None:
    """The same in a backend's package of passes."""
    module = _of_backends().get(name)
    return None if module is None else _in_module(module, name)


def _in_module(module: str, name: str) -> type[ModulePass] | None:
    classes = [c for c in vars(import_module(module)).values() if isinstance(c, type) and c.__module__ == module]
    return next((cast("type[ModulePass]", c) for c in classes if getattr(c, "name", None) == name), None)


def pass_names() -> tuple[str, ...]:
    """The names of all passes, those here and those of backends and plug-ins, sorted. Imports those here."""
    here = {name for name in _modules() if _here(name) is not None}
    return tuple(sorted({*here, *(name for name in _of_backends() if _is_brought(name)), *_plugins()}))


def _is_brought(name: str) -> bool:
    """Whether a module of a backend's passes holds this one, or cannot be imported, which `find_pass` says."""
    try:
        return _of_backend(name) is not None
    except Exception:
        return True


def entry_of(name: str) -> EntryPoint | None:
    """The entry point that brings the pass, or would bring one of a backend; None of one that is here."""
    if _here(name) is not None:
        return None
    return EntryPoint(name, _of_backends()[name], ENTRY_POINTS) if _is_brought(name) else _plugins().get(name)


def find_pass(name: str) -> type[ModulePass]:
    """The class of the pass called ``name``. ``UnknownPass`` where there is none, of which an ``UnusablePass`` says why
    what an entry point names is none."""
    found = _here(name)
    if found is not None:
        return found
    entry = entry_of(name)
    if entry is None:
        raise UnknownPass(name)
    from xdsl.passes import ModulePass

    try:
        if (of_backend := _of_backend(name)) is not None:
            return of_backend
        brought: object = entry.load()
    except Exception as error:  # whatever a plug-in does when it is imported
        raise UnusablePass(entry, f"{type(error).__name__}: {error}") from error
    if not isinstance(brought, type) or not issubclass(brought, ModulePass):
        raise UnusablePass(entry, f"it is {brought!r}, and no class derived from ModulePass")
    return brought
