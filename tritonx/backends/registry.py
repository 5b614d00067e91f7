"""Which backends are installed: the entry points of the group ``tritonx.backends``.

A backend that cannot be used (it fails to import, was written for another version of the contract or does not say for
which, declares what is no such thing, has another name than its entry point, or that of another backend) is reported
once as a ``BackendWarning`` and listed with the reason; the others go on working. One that raises when it is asked
something that all are asked (`asked`) is warned about, and counts as if it had nothing to say. Of two with one name it
is the first, unless ``TRITONX_BACKEND=distribution:name`` says which.
"""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, fields
from functools import cache
from typing import TYPE_CHECKING, TypeVar, cast

from tritonx.backends.api import API_VERSION, STABLE_VERSION, Backend, Options, Target
from tritonx.runtime import knobs
from tritonx.runtime.errors import NoBackend

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

BACKEND_GROUP = "tritonx.backends"
OWN_DISTRIBUTION = "tritonx"

_T = TypeVar("_T")
_FAULTS = (Exception, SystemExit)
"""What a plug-in may raise without taking the others along."""


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
        try:
            targets = ", ".join(str(t) for t in self.backend.known_targets())
        except _FAULTS as error:  # a defect of one must not hide the others
            targets = f"its targets cannot be told: {type(error).__name__}: {error}"
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
    try:
        problem = _misfit(backend, entry.name)
    except _FAULTS as error:  # attributes may be properties
        problem = f"what it declares cannot be read: {type(error).__name__}: {error}"
    if problem:
        return bad(problem)
    return BackendInfo(entry.name, entry.value, distribution, version, "", cast("Backend", backend))


def _misfit(backend: object, name: str) -> str:
    """Why what an entry point of this name names cannot be used; "" where it can."""
    if inspect.isclass(backend):
        return "the entry point names a class; it must name an instance of it"
    if isinstance(backend, Backend) or hasattr(backend, "api_version"):
        for attribute, modules, here in _VERSIONS:
            written: object = getattr(backend, attribute, None)
            if written is None:
                return f"it does not say for which version of {modules} it was written; now it is {attribute} = {here}"
            if type(written) is not int or written != here:
                return f"it was written for version {written} of {modules}; this is version {here}"
    if not isinstance(backend, Backend):
        return f"the entry point names {object.__repr__(backend)}, not a tritonx.backends.api.Backend"
    own: object = getattr(backend, "name", None)
    if not isinstance(own, str) or not own:
        return "the backend has no name"
    if own != name:
        return f"the entry point is called {name!r} and the backend {own!r}; both must have one name"
    for attribute, (is_one, wanted) in _DECLARED.items():
        declared: object = getattr(backend, attribute, None)
        if not is_one(declared):
            return f"its {attribute} is {declared!r}, and no {wanted}"
    return ""


_VERSIONS = (
    ("api_version", "tritonx.backends.api", API_VERSION),
    ("stable_version", "tritonx.backends.gpu and .tile", STABLE_VERSION),
)


def _is(kind: type | tuple[type, ...], *, many: bool = False) -> Callable[[object], bool]:
    def holds(value: object) -> bool:
        if not many:
            return isinstance(value, kind)
        is_collection = isinstance(value, Collection) and not isinstance(value, str | bytes)
        return is_collection and all(isinstance(one, kind) for one in cast("Collection[object]", value))

    return holds


def _is_families(value: object) -> bool:
    return isinstance(value, Mapping) and all(
        isinstance(name, str) and _is((int, str), many=True)(members)
        for name, members in cast("Mapping[object, object]", value).items()
    )


_TEXTS = (_is(str, many=True), "collection of str")
_DECLARED: Mapping[str, tuple[Callable[[object], bool], str]] = {
    "binary_stage": (_is(str), "str"),
    "options_type": (lambda value: inspect.isclass(value) and issubclass(value, Options), "class derived from Options"),
    "dlpack_device_types": (_is(int, many=True), "collection of int"),
    "torch_device_types": _TEXTS,
    "array_interfaces": _TEXTS,
    "disassemblies": _TEXTS,
    "libraries": _TEXTS,
    "families": (_is_families, "mapping of str to collections of architectures"),
    "language_module": (lambda value: value is None or isinstance(value, str), "name of a module"),
    "triton_name": (_is(str), "str"),
    "visible_devices": (_is(str), "str"),
    "cpp_handles": _TEXTS,
}
"""What everybody reads of every backend → what it has to be."""


def installed() -> BackendList:
    """Every backend that is installed, usable or not; warns once about those that are not."""
    return _installed(_preferred())


def _preferred() -> tuple[str, str] | None:
    """(distribution, name) where ``TRITONX_BACKEND`` is written so; it may be (name, arch) as well."""
    first, colon, second = (knobs.runtime.backend or "").partition(":")
    return (first, second) if colon else None


@cache
def _installed(preferred: tuple[str, str] | None) -> BackendList:
    found = {entry: _load(entry) for entry in _entry_points(BACKEND_GROUP)}
    taken: dict[str, BackendInfo] = {}
    for info in sorted(found.values(), key=lambda info: (info.distribution, info.name) != preferred):
        if info.usable:
            taken.setdefault(info.name, info)
    winners = {id(info) for info in taken.values()}
    listed = [_shadowed(i, taken) if i.usable and id(i) not in winners else i for i in found.values()]
    for info in listed:
        if info.problem:
            warnings.warn(f"tritonx backend {info}", BackendWarning, stacklevel=4)
    return BackendList(listed)


def _shadowed(info: BackendInfo, taken: Mapping[str, BackendInfo]) -> BackendInfo:
    """A backend that could be used if another had not its name."""
    first = taken[info.name]
    problem = f"the name is taken by {first.entry_point} from {first.distribution}, which comes first"
    problem += f" (TRITONX_BACKEND={info.distribution}:{info.name} takes this one)"
    return BackendInfo(info.name, info.entry_point, info.distribution, info.version, problem)


def available() -> Mapping[str, Backend]:
    """name → backend, in order of precedence."""
    return _available(_preferred())


@cache
def _available(preferred: tuple[str, str] | None) -> Mapping[str, Backend]:
    return {info.name: info.backend for info in _installed(preferred) if info.backend is not None}


def asked(backend: Backend, what: str, ask: Callable[[], _T], otherwise: _T) -> _T:
    """What a backend answers where all are asked; ``otherwise``, and a ``BackendWarning``, where it raises."""
    try:
        return ask()
    except _FAULTS as error:
        warnings.warn(f"tritonx backend {backend.name}: {what} cannot be told: {error!r}", BackendWarning, 3)
        return otherwise


def known_targets(backend: Backend) -> tuple[Target, ...]:
    """The backend's own list; none, and a ``BackendWarning``, where it cannot tell."""
    return asked(backend, "its targets", lambda: tuple(backend.known_targets()), ())


def serves(backend: Backend, location: tuple[str, object, int]) -> bool:
    """Whether a backend runs where arrays at ``location`` live; one that cannot tell does not."""
    return asked(backend, f"whether it runs at {location}", lambda: backend.serves(location), otherwise=False)


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


def portable_options() -> frozenset[str]:
    """Names of the options that kernels pass wherever they run, though not every backend has them."""
    return frozenset[str]().union(*(backend.options_type.PORTABLE for backend in available().values()))


def parse_options(backend: Backend, target: Target, given: Mapping[str, object]) -> Options:
    """The backend's options with ``given`` applied, of which it has what it knows and no `portable_options` that are
    others'. Raises ``KeyError`` for any other that it does not know, ``ValueError`` for an impossible value."""
    known = _names_of(backend.options_type)
    if not known.issuperset(given):
        foreign = portable_options() - known
        given = {name: value for name, value in given.items() if name not in foreign}
    return backend.parse_options(target, given)


@cache
def _names_of(options: type[Options]) -> frozenset[str]:
    return frozenset(field.name for field in fields(options))


def launch_options(backend: Backend, target: Target, given: Mapping[str, object]) -> Options:
    """As `parse_options`, for a kernel that the backend's own launcher runs."""
    stated = {name: value for name, value in given.items() if value is not None}
    return parse_options(backend, target, {**backend.launch_options(target), **stated})


def parse_target(text: str) -> tuple[Backend, Target]:
    """``name:arch`` or ``name`` → the backend and its target. Raises NoBackend, and ``ValueError`` for an architecture
    that is none, with ``text`` in front."""
    name, _, arch = text.partition(":")
    try:
        backend = get_backend(name)
    except NoBackend as error:
        full = next(
            (f"{n}:{text}" for n, b in available().items() for t in b.known_targets() if str(t.arch) == text), ""
        )
        raise NoBackend(f"{error}; the target is {full}") from None if full else error
    try:
        return backend, backend.parse_target(arch)
    except ValueError as error:
        raise ValueError(f"{text}: {error}") from None


def chosen(text: str) -> Backend:
    """The backend of what ``TRITONX_BACKEND`` holds: ``name``, ``name:arch`` or ``distribution:name``. Raises
    NoBackend, and ``ValueError`` for an architecture that is none."""
    distribution, _, name = text.partition(":")
    if any((info.distribution, info.name) == (distribution, name) for info in installed()):
        return get_backend(name)
    return parse_target(text)[0]


def serving(location: tuple[str, object, int]) -> tuple[str, ...]:
    """Names of the backends that run where arrays at ``location`` live."""
    return tuple(name for name, backend in available().items() if serves(backend, location))


def refresh() -> None:
    """Look again; after packages were installed or removed in this process."""
    _installed.cache_clear()
    _available.cache_clear()
