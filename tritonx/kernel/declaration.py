"""A kernel, or a function that kernels call, as it is declared: parameters and options beside the source."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, TypeVar, cast

from tritonx.kernel import active
from tritonx.kernel.excerpt import not_launched
from tritonx.kernel.params import KernelParam
from tritonx.kernel.source import JITCallable

F = TypeVar("F", bound=Callable[..., object])


class KernelDeclaration(JITCallable):
    """A function of the kernel language. The language's own library (``tl.sum``) is made of these; what a user
    decorates is a ``JITFunction``, which can be launched too."""

    def __init__(
        self,
        fn: Callable[..., Any],
        version: Any = None,
        do_not_specialize: Iterable[int | str] | None = None,
        do_not_specialize_on_alignment: Iterable[int | str] | None = None,
        debug: bool | None = None,
        noinline: bool | None = None,
        repr: Callable[[Any], str] | None = None,  # Triton's name
        launch_metadata: Callable[..., Any] | None = None,
    ) -> None:
        super().__init__(fn)
        self.version = version
        self.do_not_specialize = list(do_not_specialize or ())
        self.do_not_specialize_on_alignment = list(do_not_specialize_on_alignment or ())
        self.debug = debug
        self.noinline = bool(noinline)
        self._repr = repr
        self.launch_metadata = launch_metadata
        self.params = [
            KernelParam(
                i,
                param,
                i in self.do_not_specialize or param.name in self.do_not_specialize,
                i in self.do_not_specialize_on_alignment or param.name in self.do_not_specialize_on_alignment,
            )
            for i, param in enumerate(self.signature.parameters.values())
        ]
        self.arg_names = [p.name for p in self.params]
        self.constexprs = [p.num for p in self.params if p.is_constexpr]

    def is_gluon(self) -> bool:
        """Whether it is a kernel of Gluon, Triton's second language: never."""
        return False

    @property
    def repr(self) -> Callable[[Any], str]:
        """(specialisation) → the kernel's name in profiles."""
        return self._repr or (lambda _: self._fn_name)

    @repr.setter
    def repr(self, value: Callable[[Any], str] | None) -> None:
        self._repr = value

    def __getstate__(self) -> dict[str, Any]:
        return {**super().__getstate__(), "_repr": None, "launch_metadata": None}

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        running = active.current_or_none()
        if running is not None:
            return running.call_function(self, args, kwargs)
        raise not_launched(self)

    def __repr__(self) -> str:
        return f"JITFunction({self.module}:{self.fn.__qualname__})"


def declare(fn: F) -> F:
    """``@jit`` of the language's own library: functions that only kernels call, which a type checker sees as they are
    written.

    >>> @tl.standard.jit
    ... def half(n):
    ...     return n // 2
    >>> @tritonx.jit
    ... def kernel(x):
    ...     tl.store(x, half(tl.load(x)))
    >>> x = np.array([8])
    >>> compiled = kernel[(1,)](x)
    >>> x.tolist()
    [4]
    """
    return cast(F, KernelDeclaration(fn))
