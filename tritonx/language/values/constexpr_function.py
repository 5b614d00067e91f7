"""``@constexpr_function``: Python that runs while a kernel is compiled."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar, cast

from tritonx.kernel.active import state as _active
from tritonx.kernel.source import JITCallable
from tritonx.language.values.constexpr import constexpr, unwrap

if TYPE_CHECKING:
    from tritonx.frontend.semantics import Semantics

F = TypeVar("F", bound=Callable[..., object])


class ConstexprFunction(JITCallable):
    """A Python function that runs while a kernel is compiled; outside a kernel it is the function itself.

    >>> @tritonx.constexpr_function
    ... def half(n):
    ...     return n // 2
    >>> isinstance(half, ConstexprFunction), half(8)
    (True, 4)
    """

    runs_in_python = True

    def __get__(self, instance: object, owner: type | None = None) -> Any:
        return self if instance is None else BoundConstexprFunction(instance, self)

    def __call__(self, *args: Any, _semantic: Semantics | None = None, **kwargs: Any) -> Any:
        if _semantic is None and _active.semantic is None:
            return self.fn(*args, **kwargs)
        result = self.fn(*(unwrap(a) for a in args), **{k: unwrap(v) for k, v in kwargs.items()})
        return result if result is None or isinstance(result, constexpr) else constexpr(result)


class BoundConstexprFunction:
    """Such a function as a method of ``instance``.

    >>> class Shape:
    ...     n = 8
    ...     @tritonx.constexpr_function
    ...     def half(self):
    ...         return self.n // 2
    >>> isinstance(Shape().half, BoundConstexprFunction), Shape().half()
    (True, 4)
    """

    def __init__(self, instance: object, fn: ConstexprFunction) -> None:
        self.__self__ = instance
        self.__func__ = fn

    __triton_builtin__ = True

    @property
    def cache_key(self) -> str:
        """The function's."""
        return self.__func__.cache_key

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.__func__(self.__self__, *args, **kwargs)


def constexpr_function(fn: F) -> F:
    """Let kernels call ``fn`` at compile time; its arguments and its result are compile-time values.

    >>> @tritonx.constexpr_function
    ... def half(n):
    ...     return n // 2
    >>> half(8)
    4
    >>> @tritonx.jit
    ... def first_half(x, N: tl.constexpr):
    ...     tl.store(x + tl.arange(0, half(N)), 1)
    >>> x = np.zeros(4, np.int32)
    >>> compiled = first_half[(1,)](x, 4)
    >>> x.tolist()
    [1, 1, 0, 0]
    """
    return cast(F, ConstexprFunction(fn))
