"""Regions inside of kernels: Triton's ``triton.profiler.language``.

    import tritonx.profiler.language as pl

    with pl.scope("load"):
        x = tl.load(...)

A region is what a warp does between a start and the end of the same name. It is nothing at all unless the compile has
``instrumentation_mode``, which a session with ``start(backend="instrumentation")`` gives to the launches of its
time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from tritonx.language.builtins.builtin import INJECTED, builtin
from tritonx.language.values.constexpr import unwrap
from tritonx.profiler.errors import BadProfile
from tritonx.runtime.refusals import refusing

if TYPE_CHECKING:
    from tritonx.backends.api import Options

__all__ = ["disable_semantic", "enable_semantic", "enter_scope", "exit_scope", "record", "scope"]

_enabled: dict[str, bool] = {"triton": True, "gluon": True}
"""In Triton the first is not: its passes move code out of regions and into them. Here nothing that accesses memory, and
no product of matrices, is moved across a record."""


class Semantic(Protocol):
    """What a code generator hands to a builtin."""

    @property
    def options(self) -> Options: ...

    def record_region(self, name: str, *, starts: bool) -> None:
        """A region starts or ends here."""
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
    if semantic.options.instrumentation_mode and not _enabled["triton"]:
        raise BadProfile("regions of kernels of Triton's language are disabled: enable_semantic('triton')")
    semantic.record_region(name, starts=bool(unwrap(is_start)))


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


_EVENTS = "regions of different warps that overlap are not measured"

if not TYPE_CHECKING:  # a type checker is to find unknown names
    __getattr__ = refusing(
        __name__, dict.fromkeys(("Event", "allocate_event", "end_event", "record_event", "start_event"), _EVENTS)
    )
