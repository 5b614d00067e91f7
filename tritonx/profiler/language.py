"""Regions inside of kernels: Triton's ``triton.profiler.language``.

    import tritonx.profiler.language as pl

    with pl.scope("load"):
        x = tl.load(...)

As in Triton, a region is nothing at all unless a session has kernels instrumented; ``start(backend="instrumentation")``
is refused here, so a kernel with regions is the code that it is without them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tritonx.language.builtins.builtin import INJECTED, builtin
from tritonx.language.values.constexpr import unwrap
from tritonx.profiler.errors import BadProfile
from tritonx.runtime.refusals import refusing

__all__ = ["enter_scope", "exit_scope", "scope"]


class Region:
    """What `scope` gives to a ``with``.

    >>> with Region():
    ...     pass
    """

    def __enter__(self) -> None:
        return None

    def __exit__(self, exc_type: object, exc_value: object, traceback: object) -> None:
        return None


def _checked(name: object) -> None:
    """Raises BadProfile."""
    if not isinstance(unwrap(name), str):
        raise BadProfile("the name of a region is a string that is known while the kernel is compiled")


@builtin
def enter_scope(name: object, _semantic: object = INJECTED) -> None:
    """Begin a region.

    >>> tritonx.profiler.language.enter_scope.__name__
    'enter_scope'
    """
    _checked(name)


@builtin
def exit_scope(name: object, _semantic: object = INJECTED) -> None:
    """End it.

    >>> tritonx.profiler.language.exit_scope.__name__
    'exit_scope'
    """
    _checked(name)


@builtin
def scope(name: object, _semantic: object = INJECTED) -> Region:
    """A region, for ``with``.

    >>> tritonx.profiler.language.scope.__name__
    'scope'
    """
    _checked(name)
    return Region()


_EVENTS = "regions inside of kernels are not recorded, and those that overlap are not taken"

if not TYPE_CHECKING:  # a type checker is to find unknown names
    __getattr__ = refusing(
        __name__,
        dict.fromkeys(("Event", "allocate_event", "end_event", "record", "record_event", "start_event"), _EVENTS)
        | dict.fromkeys(("disable_semantic", "enable_semantic"), "regions inside of kernels are not recorded"),
    )
