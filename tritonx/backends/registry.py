"""Which backends are installed: the entry points of the group ``tritonx.backends``.

A backend that cannot be used (it fails to import, was written for another version of the contract, or has the name of
another) is reported once as a ``BackendWarning`` and listed with the reason; the others go on working.
"""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from tritonx.backends.api import API_VERSION, Backend, Target
from tritonx.runtime.errors import NoBackend

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

BACKEND_GROUP = "tritonx.backends"
OWN_DISTRIBUTION = "tritonx"


class BackendWarning(UserWarning):
    """An installed backend cannot be used."""


@dataclass(frozen=True)
class BackendInfo:
    """One entry point and what became of it. ``problem`` is "" for a backend that can be used."""

    name: str
    entry_point: str
    distribution: str
    version: str
    problem: str = ""
    backend: Backend | None = None

    @property
    def usable(self) -> bool:
        return self.backend is not None

    def __str__(self) -> str:
        origin = f"{self.entry_point} from {self.distribution} {self.version}"
        if self.backend is None:
            return f"{self.name}: not usable: {self.problem} ({origin})"
        targets = ", ".join(str(t) for t in self.backend.known_targets())
        return f"{self.name}: {targets} ({origin})"


class BackendList(tuple[BackendInfo, ...]):
    """What is installed, in order of precedence; prints one backend a line."""

    __slots__ = ()

    def __str__(self) -> str:
        return "\n".join(str(info) for info in self) or "no backend is installed"

    __repr__ = __str__

    @property
    def names(self) -> tuple[str, ...]:
        """The names that can be used."""
        return tuple(info.name for info in self if info.usable)


def _distribution(entry: EntryPoint) -> tuple[str, str]:
    dist = entry.dist
    return (dist.name, dist.version) if dist is not None else ("an unknown distribution", "")


def _entry_points(group: str) -> list[EntryPoint]:
    """tritonx's own first, then by distribution and name, so that precedence does not depend on the path's order."""
    from importlib.metadata import entry_points

    unique = {(e.name, e.value, *_distribution(e)): e for e in entry_points(group=group)}
    return sorted(unique.values(), key=lambda e: (_distribution(e)[0] != OWN_DISTRIBUTION, *_distribution(e), e.name))


def _load(entry: EntryPoint) -> BackendInfo:
    distribution, version = _distribution(entry)

    def bad(problem: str, name: str = entry.name) -> BackendInfo:
        return BackendInfo(name, entry.value, distribution, version, problem)

    try:
        backend: object = entry.load()
    except BaseException as error:  # a plug-in may fail in any way, even by sys.exit, and must not take tritonx along
        if isinstance(error, KeyboardInterrupt):
            raise
        return bad(f"importing it failed: {type(error).__name__}: {error}")
    if inspect.isclass(backend):
        return bad("the entry point names a class; it must name an instance of it")
    required = getattr(backend, "api_version", None)
    if required != API_VERSION:
        return bad(f"it was written for version {required} of tritonx.backends.api; this is version {API_VERSION}")
    if not isinstance(backend, Backend):
        return bad(f"the entry point names {object.__repr__(backend)}, not a tritonx.backends.api.Backend")
    name: object = getattr(backend, "name", None)
    if not isinstance(name, str) or not name:
        return bad("the backend has no name")
    return BackendInfo(name, entry.value, distribution, version, "", backend)


@cache
def installed() -> BackendList:
    """Every backend that is installed, usable or not; warns once about those that are not."""
    found: list[BackendInfo] = []
    taken: dict[str, BackendInfo] = {}
    for entry in _entry_points(BACKEND_GROUP):
        info = _load(entry)
        if info.usable and info.name in taken:
            first = taken[info.name]
            problem = f"the name is taken by {first.entry_point} from {first.distribution}, which comes first"
            info = BackendInfo(info.name, info.entry_point, info.distribution, info.version, problem)
        elif info.usable:
            taken[info.name] = info
        if info.problem:
            warnings.warn(f"tritonx backend {info}", BackendWarning, stacklevel=2)
        found.append(info)
    return BackendList(found)


@cache
def available() -> Mapping[str, Backend]:
    """name → backend, in order of precedence."""
    return {info.name: info.backend for info in installed() if info.backend is not None}


def get_backend(name: str) -> Backend:
    """Raises NoBackend with what is installed."""
    try:
        return available()[name]
    except KeyError:
        broken = next((info for info in installed() if info.name == name), None)
        reason = f": {broken.problem}" if broken else ""
        raise NoBackend(
            f"no backend named {name!r} can be used{reason}; there are {', '.join(available()) or 'none'}"
        ) from None


def parse_target(text: str) -> tuple[Backend, Target]:
    """``name:arch`` or ``name`` → the backend and its target."""
    name, _, arch = text.partition(":")
    backend = get_backend(name)
    return backend, backend.parse_target(arch)


def serving(location: tuple[str, object, int]) -> tuple[str, ...]:
    """Names of the backends that run where arrays at ``location`` live."""
    return tuple(name for name, backend in available().items() if backend.serves(location))


def refresh() -> None:
    """Look again; after packages were installed or removed in this process."""
    installed.cache_clear()
    available.cache_clear()
