"""What makes a function a builtin of the kernel language."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar, cast

from tritonx.kernel import active

TRITON_BUILTIN = "__triton_builtin__"
"""The attribute that marks a builtin; code generators of libraries look for it."""

INJECTED: Any = None
"""The default of ``_semantic``: the code generator passes its semantics, or `builtin` the interpreter's."""

T = TypeVar("T")
F = TypeVar("F", bound=Callable[..., Any])


def builtin(function: F) -> F:
    """Mark a function with a keyword ``_semantic`` as a builtin; without the keyword it runs with the interpreter's."""

    @wraps(function)
    def wrapper(*args: object, **kwargs: object) -> Any:
        if kwargs.get("_semantic") is None:
            kwargs["_semantic"] = active.current(function.__name__)
        return function(*args, **kwargs)

    setattr(wrapper, TRITON_BUILTIN, True)
    return cast(F, wrapper)


TENSOR_METHOD = "__tensor_method__"


def tensor_method(function: T) -> T:
    """Let a function of the language be a method of its first argument, a tensor, too: ``x.sum()``."""
    setattr(function, TENSOR_METHOD, True)
    return function


def extern(function: F) -> F:
    """Mark a function that calls ``extern_elementwise``, as wrappers of device libraries are."""
    return builtin(function)


def is_builtin(function: object) -> bool:
    """Whether ``function`` is a builtin of the kernel language."""
    return bool(getattr(function, TRITON_BUILTIN, False))


def must_use_result(marked: Any, message: Any = True) -> Any:
    """Mark a function of the language whose result must not be dropped; ``@must_use_result("why")`` says why."""
    if isinstance(marked, str):
        message = marked

        def mark(fn: object) -> Any:
            return must_use_result(fn, message)

        return mark
    marked._must_use_result = message
    return marked
