"""Regions inside of kernels: Triton's ``triton.profiler.language``.

    import tritonx.profiler.language as pl

    with pl.scope("load"):
        x = tl.load(...)

A region is what a warp does between a start and the end of the same name. It is nothing at all unless the compile has
``instrumentation_mode``, which a session with ``start(backend="instrumentation")`` gives to the launches of its
time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from tritonx.language.builtins.builtin import INJECTED, builtin
from tritonx.language.values.constexpr import constexpr, unwrap
from tritonx.profiler.errors import BadProfile

if TYPE_CHECKING:
    from tritonx.backends.api import Options

__all__ = [
    "Event",
    "allocate_event",
    "disable_semantic",
    "enable_semantic",
    "end_event",
    "enter_scope",
    "exit_scope",
    "record",
    "record_event",
    "scope",
    "start_event",
]

_enabled: dict[str, bool] = {"triton": True, "gluon": True}
"""In Triton the first is not: its passes move code out of regions and into them. Here nothing that accesses memory, and
no product of matrices, is moved across a record."""


class Semantic(Protocol):
    """What a code generator hands to a builtin."""

    @property
    def options(self) -> Options: ...

    def record_region(self, name: str, *, starts: bool, event: int | None = None) -> None:
        """A region, or an event, starts or ends here."""
        ...

    def new_event(self) -> int:
        """A number that no event of the compile has yet."""
        ...


class Region:
    """What `scope` gives to a ``with``.

    >>> with Region("step", None):
    ...     pass
    """

    def __init__(self, name: str, semantic: Semantic | None) -> None:
        self._name, self._semantic = name, semantic

    def __enter__(self) -> None:
        if self._semantic is not None:
            record(True, self._name, self._semantic)

    def __exit__(self, exc_type: object, exc_value: object, traceback: object) -> None:
        if self._semantic is not None:
            record(False, self._name, self._semantic)


def _checked(name: object) -> str:
    """Raises BadProfile."""
    found = unwrap(name)
    if not isinstance(found, str) or not found:
        raise BadProfile("the name of a region is a string that is known while the kernel is compiled")
    try:
        found.encode()
    except UnicodeEncodeError:
        raise BadProfile(f"the name of a region is text, which {found!r} is not: it has half a character") from None
    return found


def _language(name: str) -> str:
    """Raises BadProfile."""
    if name not in _enabled:
        raise BadProfile(f"semantic {name!r} is not known; there are 'triton' and 'gluon'")
    return name


def enable_semantic(semantic_name: str) -> None:
    """Kernels of this language, "triton" or "gluon", may have regions; they do by default. Raises BadProfile.

    >>> tritonx.profiler.language.enable_semantic("triton")
    """
    _enabled[_language(semantic_name)] = True


def disable_semantic(semantic_name: str) -> None:
    """A kernel of this language that would record a region is refused. Raises BadProfile.

    >>> tritonx.profiler.language.disable_semantic("gluon")
    >>> tritonx.profiler.language.enable_semantic("gluon")
    """
    _enabled[_language(semantic_name)] = False


def record(is_start: object, scope_name: object, semantic: Semantic) -> None:
    """A region starts, or ends, where the code generator is. For builtins of other libraries. Raises BadProfile.

    >>> tritonx.profiler.language.record.__name__
    'record'
    """
    name = _checked(scope_name)
    _check_enabled(semantic)
    semantic.record_region(name, starts=bool(unwrap(is_start)))


def _check_enabled(semantic: Semantic) -> None:
    """Raises BadProfile."""
    if semantic.options.instrumentation_mode and not _enabled["triton"]:
        raise BadProfile("regions of kernels of Triton's language are disabled: enable_semantic('triton')")


@builtin
def enter_scope(name: object, _semantic: Semantic = INJECTED) -> None:
    """Begin a region.

    >>> tritonx.profiler.language.enter_scope.__name__
    'enter_scope'
    """
    record(True, name, _semantic)


@builtin
def exit_scope(name: object, _semantic: Semantic = INJECTED) -> None:
    """End it.

    >>> tritonx.profiler.language.exit_scope.__name__
    'exit_scope'
    """
    record(False, name, _semantic)


@builtin
def scope(name: object, _semantic: Semantic = INJECTED) -> Region:
    """A region, for ``with``.

    >>> tritonx.profiler.language.scope.__name__
    'scope'
    """
    return Region(_checked(name), _semantic)


@dataclass(frozen=True)
class Event:
    """An asynchronous event of a kernel: what is between a start and the next end of the same event, which overlaps
    with anything. `allocate_event` makes it.

    >>> Event("copy", 1).name
    'copy'
    """

    name: str
    number: int


def record_event(event: object, is_start: object, _semantic: Semantic) -> None:
    """An event starts, or ends, where the code generator is. For builtins of other libraries. Raises BadProfile.

    >>> tritonx.profiler.language.record_event.__name__
    'record_event'
    """
    found = unwrap(event)
    if not isinstance(found, Event):
        raise BadProfile("expected an event of allocate_event")
    _check_enabled(_semantic)
    _semantic.record_region(found.name, starts=bool(unwrap(is_start)), event=found.number)


@builtin
def allocate_event(name: object, _semantic: Semantic = INJECTED) -> constexpr:
    """An event, which is known while the kernel is compiled: functions take it, and loops do not change it. Two calls
    make two events, also where their names are the same.

    >>> tritonx.profiler.language.allocate_event.__name__
    'allocate_event'
    """
    return constexpr(Event(_checked(name), _semantic.new_event()))


@builtin
def start_event(event: object, _semantic: Semantic = INJECTED) -> None:
    """Begin an event.

    >>> tritonx.profiler.language.start_event.__name__
    'start_event'
    """
    record_event(event, True, _semantic)


@builtin
def end_event(event: object, _semantic: Semantic = INJECTED) -> None:
    """End it. An end on another warp than the start's is in traces alone, with an arrow from the start.

    >>> tritonx.profiler.language.end_event.__name__
    'end_event'
    """
    record_event(event, False, _semantic)
