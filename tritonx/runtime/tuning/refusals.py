"""Which errors say that a configuration cannot run, rather than that the kernel is wrong."""

from __future__ import annotations

from tritonx.runtime.errors import ImpossibleOption, OutOfResources, PTXASError


def is_impossible(error: BaseException) -> bool:
    """Such a configuration is infinitely slow. A kernel may refuse one by ``tl.static_assert``, a backend by options
    (more threads than a block may have), the compiler because a thread would have too long a program."""
    if isinstance(error, OutOfResources | PTXASError | ImpossibleOption) or getattr(error, "too_long", False):
        return True
    return any(kind.__name__ == "CompileTimeAssertionFailure" for kind in type(error).__mro__)
