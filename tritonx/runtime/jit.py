"""``@jit``: a Python function as a kernel, compiled or interpreted. Triton's module of this name.

Decorating is cheap and imports nothing heavy; binding, specialisation, compiling and launching live in ``binder``,
``specialize``, ``compiler`` and ``launch``, which a kernel's first launch loads.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable
from typing import Any, Protocol, overload

from tritonx.kernel.interface import KernelInterface as KernelInterface
from tritonx.kernel.interface import MockTensor as MockTensor
from tritonx.kernel.params import KernelParam as KernelParam
from tritonx.kernel.source import JITCallable as JITCallable
from tritonx.language.builtins.builtin import must_use_result as must_use_result
from tritonx.language.values.constexpr_function import ConstexprFunction as ConstexprFunction
from tritonx.language.values.constexpr_function import constexpr_function as constexpr_function
from tritonx.runtime import knobs
from tritonx.runtime.compiling.jit_function import JITFunction as JITFunction
from tritonx.runtime.compiling.jit_function import P, R
from tritonx.runtime.errors import NotCallable
from tritonx.runtime.launch.tensor_wrapper import TensorWrapper as TensorWrapper
from tritonx.runtime.launch.tensor_wrapper import reinterpret as reinterpret
from tritonx.runtime.refusals import refusing


class _Decorator(Protocol):
    """What ``@jit`` with options is."""

    def __call__(self, fn: Callable[P, R], /) -> JITFunction[P, R]: ...


@overload
def jit(fn: Callable[P, R]) -> JITFunction[P, R]: ...
@overload
def jit(
    *,
    version: Any = None,
    repr: Callable[[Any], str] | None = None,
    launch_metadata: Callable[..., Any] | None = None,
    do_not_specialize: Iterable[int | str] | None = None,
    do_not_specialize_on_alignment: Iterable[int | str] | None = None,
    debug: bool | None = None,
    noinline: bool | None = None,
) -> _Decorator: ...
def jit(
    fn: Callable[..., object] | None = None,
    *,
    version: object = None,
    repr: Callable[..., str] | None = None,
    launch_metadata: Callable[..., object] | None = None,
    do_not_specialize: Iterable[int | str] | None = None,
    do_not_specialize_on_alignment: Iterable[int | str] | None = None,
    debug: bool | None = None,
    noinline: bool | None = None,
) -> Any:
    """Make a kernel of a Python function; ``@jit`` or ``@jit(option=...)``.

    The function is compiled for the types of its arguments when launched with ``kernel[grid](...)``, or inlined where
    another kernel calls it. With ``TRITONX_INTERPRET=1`` (or ``TRITON_INTERPRET=1``) in the environment when it is
    decorated, it is run by the interpreter instead, on its own Python lines.

    >>> @tritonx.jit
    ... def plus_one(x, n, BLOCK: tl.constexpr):
    ...     at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    ...     tl.store(x + at, tl.load(x + at, mask=at < n) + 1, mask=at < n)
    >>> x = np.arange(6)
    >>> compiled = plus_one[(tritonx.cdiv(6, 4),)](x, 6, BLOCK=4)
    >>> x.tolist()
    [1, 2, 3, 4, 5, 6]
    """
    options: dict[str, Any] = {
        "version": version,
        "repr": repr,
        "launch_metadata": launch_metadata,
        "do_not_specialize": do_not_specialize,
        "do_not_specialize_on_alignment": do_not_specialize_on_alignment,
        "debug": debug,
        "noinline": noinline,
    }

    def decorate(function: Callable[..., Any]) -> Any:
        if not callable(function):
            raise NotCallable(f"@jit expects a function, got {function!r}")
        if isinstance(function, JITCallable):
            raise TypeError(f"{function!r} is already compiled: apply @jit once")
        if knobs.runtime.interpret:
            from tritonx.interpreter.fresh_memory import watch
            from tritonx.interpreter.function import InterpretedFunction

            watch()
            return InterpretedFunction(function, **options)
        made = JITFunction(function, **options)
        if knobs.compilation.sealed is not None:
            from tritonx.runtime.compiling.sealed_start import prepare

            prepare(made)
        return made

    return decorate if fn is None else decorate(fn)


def native_specialize_impl(
    backend: object, arg: object, is_const: bool, specialize_value: bool, align: bool
) -> tuple[Any, Any]:
    """(type, marks) of an argument, where marks say that it is divisible by 16 (``D``): Triton's function of this name,
    which torch calls. Raises TypeError for an argument that no kernel takes.

    >>> native_specialize_impl(None, 32, False, True, True), native_specialize_impl(None, 33, False, True, True)
    (('i32', 'D'), ('i32', ''))
    """
    from tritonx.runtime.launch.specialize import specializer

    return specializer(is_const, specialize_value, align)(arg)[0].pair()


def mangle_type(arg: object, specialize: bool = False) -> Any:
    """The type of an argument as a signature has it; with ``specialize``, ``constexpr`` for an integer 1. Raises
    TypeError.

    >>> mangle_type(np.zeros(4, np.float32)), mangle_type(7), mangle_type(1, specialize=True)
    ('*fp32', 'i32', 'constexpr')
    """
    return native_specialize_impl(None, arg, False, specialize, specialize)[0]


_REFUSED = {
    "DependenciesFinder": "what a kernel uses is found by `tritonx.kernel.dependencies`",
    "GLUON_MODULE": "there is no Gluon",
    "create_function_from_signature": "arguments are bound by `tritonx.runtime.launch.binder`",
    "serialize_specialization_data": "`tritonx.runtime.compiling.jit_hooks.specialization_data` says what a compile is",
}
_refuse = refusing(__name__, _REFUSED)


def __getattr__(name: str) -> object:
    """The rest of Triton's names, which bring more than decorating a kernel needs."""
    if name in _REFUSED or name.startswith("__"):
        return _refuse(name)
    if name == "BaseBackend":
        return importlib.import_module("tritonx.backends.compiler").BaseBackend
    names = importlib.import_module("tritonx.runtime.compiling.jit_names")
    return getattr(names, name) if hasattr(names, name) else _refuse(name)
