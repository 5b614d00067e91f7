"""What makes a function a builtin of the kernel language."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import TYPE_CHECKING, Any, TypeVar, cast, overload

from tritonx.kernel import active

if TYPE_CHECKING:
    from tritonx.frontend.semantics import Semantics

TRITON_BUILTIN = "__triton_builtin__"
"""The attribute that marks a builtin; code generators of libraries look for it."""

INJECTED: Any = None
"""The default of ``_semantic``: the code generator passes its semantics, or `builtin` the interpreter's."""

T = TypeVar("T")
F = TypeVar("F", bound=Callable[..., Any])


def builtin(fn: F) -> F:
    """Mark a function with a keyword ``_semantic`` as a builtin; without the keyword it runs with the interpreter's.

    >>> @builtin
    ... def kind(x, _semantic=None):
    ...     return tl.constexpr(str(x.dtype))
    >>> @tritonx.jit
    ... def kernel(x, out):
    ...     tl.static_assert(kind(tl.load(x)) == "fp32")
    >>> compiled = kernel.warmup(np.zeros(1, np.float32), np.zeros(1), grid=(1,))
    """

    if not callable(fn):
        raise TypeError(f"@builtin expects a function, got {fn!r}")
    return _with_semantics(fn, active.current)


def builtin_anywhere(fn: F) -> F:
    """As `builtin`, for a function that ordinary Python code may call too: ``_semantic`` is None then."""
    return _with_semantics(fn, lambda name: active.current_or_none())


def _with_semantics(fn: F, active_one: Callable[[str], Any]) -> F:
    """``fn``, marked, with the semantics that ``active_one`` gives for its name where the caller passes none."""

    @wraps(fn)
    def wrapper(*args: object, **kwargs: object) -> Any:
        if kwargs.get("_semantic") is None:
            kwargs["_semantic"] = active_one(fn.__name__)
        return fn(*args, **kwargs)

    setattr(wrapper, TRITON_BUILTIN, True)
    return cast(F, wrapper)


def builtin_of(backend: str, module: str = "") -> Callable[[F], F]:
    """As `builtin`, for a function of ``tl.extra.<backend>`` or of ``module``: a kernel for a target of another backend
    that calls it is refused at that line. The interpreter runs it by what the function's ops mean.

    Of ``_semantic`` it may use ``target`` and ``options``, ``to_tensor(x)`` for a number or a tensor, ``cast(x,
    dtype)``, ``broadcast(x, y)``, and ``emit(Op, operands, type, properties)``, which gives the op's only result.

    >>> from tritonx.backends.tile import builtin_of
    >>> @builtin_of("cuda")
    ... def mine(x, _semantic=None):
    ...     return x
    >>> @tritonx.jit
    ... def kernel(x):
    ...     tl.store(x, mine(tl.load(x)))
    >>> kernel.warmup(np.zeros(1), grid=(1,))
    Traceback (most recent call last):
        ...
    tritonx.frontend.errors.LanguageError: at 2:16:
    def kernel(x):
        tl.store(x, mine(tl.load(x)))
                    ^~~~~~~~~~~~~~~~
    tl.extra.cuda.mine is there for targets of cuda alone, not for cpu
    ...
    """

    def mark(fn: F) -> F:
        @wraps(fn)
        def guarded(*args: object, **kwargs: object) -> object:
            target = cast("Semantics", kwargs["_semantic"]).target
            if target.backend not in (backend, "interpreter"):
                name = f"{module or f'tl.extra.{backend}'}.{fn.__name__}"
                raise AttributeError(f"{name} is there for targets of {backend} alone, not for {target}")
            return fn(*args, **kwargs)

        return cast(F, builtin(guarded))

    return mark


TENSOR_METHOD = "__tensor_method__"


def tensor_method(function: T) -> T:
    """Let a function of the language be a method of its first argument, a tensor, too: ``x.sum()``."""
    setattr(function, TENSOR_METHOD, True)
    return function


def extern(fn: F) -> F:
    """Mark a function that calls ``extern_elementwise``, as wrappers of device libraries are.

    >>> tl.core.is_builtin(extern(lambda x, _semantic=None: x))
    True
    """
    return builtin(fn)


def is_builtin(fn: object) -> bool:
    """Whether ``fn`` is a builtin of the kernel language.

    >>> is_builtin(tl.load), is_builtin(print)
    (True, False)
    """
    return bool(getattr(fn, TRITON_BUILTIN, False))


@overload
def must_use_result(x: str, s: Any = True) -> Callable[[T], T]: ...
@overload
def must_use_result(x: T, s: Any = True) -> T: ...
def must_use_result(x: Any, s: Any = True) -> Any:
    """Mark a function of the language whose result must not be dropped; ``@must_use_result("why")`` says why.

    >>> @tritonx.must_use_result("it changes nothing by itself.")
    ... @tritonx.jit
    ... def moved(at):
    ...     return at + 1
    >>> @tritonx.jit
    ... def drops(x):
    ...     moved(tl.arange(0, 4))
    >>> try:
    ...     drops.warmup(np.zeros(4), grid=(1,))
    ... except tritonx.CompilationError as error:
    ...     print(str(error).splitlines()[4])
    The result of moved is not being used. it changes nothing by itself.
    """
    if isinstance(x, str):
        message = x

        def mark(fn: object) -> Any:
            return must_use_result(fn, message)

        return mark
    x._must_use_result = s
    return x
