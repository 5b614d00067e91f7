"""``@jit``: a Python function as a kernel.

Decorating is cheap and imports nothing; binding, specialisation, compiling and launching live in ``binder``,
``specialize``, ``compiler`` and ``launch``, which a kernel's first launch loads.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, Generic, TypeVar, overload

from tritonx.runtime import knobs
from tritonx.runtime.params import KernelParam
from tritonx.runtime.source import JITCallable
from tritonx.runtime.tensor_wrapper import TensorWrapper as TensorWrapper
from tritonx.runtime.tensor_wrapper import reinterpret as reinterpret

if TYPE_CHECKING:
    from tritonx.runtime.launch import Launcher

T = TypeVar("T")
F = TypeVar("F", bound=Callable[..., Any])


class KernelInterface(Generic[T]):
    """What can be launched with ``kernel[grid](...)``: kernels, autotuners, heuristics, and wrappers of libraries."""

    run: T

    def warmup(self, /, *args: Any, grid: Any, **kwargs: Any) -> Any:
        """Compile for these arguments without launching; dtypes may stand in for arrays."""
        return self.run(*map(MockTensor.wrap_dtype, args), grid=grid, warmup=True, **kwargs)  # pyright: ignore

    def __getitem__(self, grid: Any) -> Any:
        """The launch of this kernel over ``grid``: one to three extents, or a function of the bound arguments."""
        return lambda *args, **kwargs: self.run(*args, grid=grid, warmup=False, **kwargs)  # pyright: ignore


class MockTensor:
    """A dtype in place of a tensor, for ``warmup``: 16-byte aligned and nowhere."""

    def __init__(self, dtype: Any, shape: Iterable[int] = (1,)) -> None:
        self.dtype = dtype
        self.shape = tuple(shape)

    @staticmethod
    def wrap_dtype(arg: Any) -> Any:
        """``arg`` itself, or a MockTensor where it is a dtype of torch or NumPy."""
        kind: Any = arg.__class__
        if kind.__name__ == "dtype" and kind.__module__ in ("torch", "numpy"):
            return MockTensor(arg)
        if kind.__module__ == "numpy.dtypes":
            return MockTensor(arg)
        if kind is type and any(b.__module__ == "numpy" and b.__name__ == "generic" for b in arg.__mro__):
            return MockTensor(arg)
        return arg

    @staticmethod
    def data_ptr() -> int:
        return 0

    @staticmethod
    def ptr_range() -> int:
        return 0

    def stride(self) -> tuple[int, ...]:
        strides = [1]
        for size in reversed(self.shape[1:]):
            strides.append(strides[-1] * size)
        return tuple(reversed(strides))


def _running_interpreter() -> Any:
    """The semantics of the kernel that this thread runs as Python, line by line; None outside of one."""
    active = sys.modules.get("tritonx.language.active")
    return None if active is None else active.current_or_none()


class JITFunction(JITCallable, KernelInterface[Any]):
    """A kernel, or a function that kernels call."""

    is_gluon = False

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
        self.pre_run_hooks: list[Callable[..., Any]] = []
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
        self._launcher: Launcher | None = None

    @property
    def repr(self) -> Callable[[Any], str]:
        """(specialisation) → the kernel's name in profiles."""
        return self._repr or (lambda _: self._fn_name)

    @repr.setter
    def repr(self, value: Callable[[Any], str] | None) -> None:
        self._repr = value

    def __getstate__(self) -> dict[str, Any]:
        return {
            **super().__getstate__(),
            "_launcher": None,
            "_repr": None,
            "pre_run_hooks": [],
            "launch_metadata": None,
        }

    @property
    def launcher(self) -> Launcher:
        """The launch path of this kernel, generated for its signature at the first use."""
        if self._launcher is None:
            from tritonx.runtime.launch import Launcher

            with self._hash_lock:
                if self._launcher is None:
                    self._launcher = Launcher(self)
        return self._launcher

    @property
    def device_caches(self) -> dict[Any, Any]:
        """device → (kernels by key, keys, target, backend, binder), as Triton shows it."""
        return self.launcher.device_caches()

    def __getitem__(self, grid: Any) -> Any:
        if (
            type(self).run is not _RUN or "run" in self.__dict__
        ):  # a library put its own run in place: it wants to be called
            return super().__getitem__(grid)
        launcher = self._launcher or self.launcher
        return launcher.on(grid)

    def run(self, /, *args: Any, grid: Any, warmup: bool, **kwargs: Any) -> Any:
        """Launch over ``grid`` (or, with ``warmup``, only compile); returns the CompiledKernel."""
        return self.launcher.run(grid, warmup, args, kwargs)

    def warmup(self, /, *args: Any, grid: Any, **kwargs: Any) -> Any:
        """Compile for these arguments without launching; dtypes may stand in for arrays."""
        wrap = MockTensor.wrap_dtype
        constants = {p.name for p in self.params if p.is_constexpr}
        given = [a if n in constants else wrap(a) for n, a in zip(self.arg_names, args, strict=False)]
        given += args[len(self.arg_names) :]
        named = {k: v if k in constants or k not in self.arg_names else wrap(v) for k, v in kwargs.items()}
        return self.run(*given, grid=grid, warmup=True, **named)

    def add_pre_run_hook(self, hook: Callable[..., Any]) -> None:
        """``hook(*args, **kwargs)`` is called before every launch."""
        self.pre_run_hooks.append(hook)

    def preload(self, specialization_data: str) -> Any:
        """Compile what ``specialization_data``, as a cache hook received it, describes."""
        return self.launcher.preload(specialization_data)

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        interpreter = _running_interpreter()
        if interpreter is not None:
            return interpreter.call_function(self, args, kwargs)
        from tritonx.runtime.misfits import not_launched

        raise not_launched(self)

    def __repr__(self) -> str:
        return f"JITFunction({self.module}:{self.fn.__qualname__})"


_RUN = JITFunction.run


class ConstexprFunction(JITCallable):
    """A Python function that runs while a kernel is compiled; outside a kernel it is the function itself."""

    def __get__(self, instance: object, owner: type | None = None) -> Any:
        return self if instance is None else _BoundConstexprFunction(instance, self)

    def __call__(self, *args: Any, _semantic: Any = None, **kwargs: Any) -> Any:
        if _semantic is None and _running_interpreter() is None:
            return self.fn(*args, **kwargs)
        from tritonx.language.core import _unwrap_if_constexpr as unwrap  # pyright: ignore
        from tritonx.language.core import constexpr

        result = self.fn(*(unwrap(a) for a in args), **{k: unwrap(v) for k, v in kwargs.items()})  # pyright: ignore
        return result if result is None or isinstance(result, constexpr) else constexpr(result)


class _BoundConstexprFunction:
    def __init__(self, instance: object, function: ConstexprFunction) -> None:
        self.instance = instance
        self.function = function

    __triton_builtin__ = True

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.function(self.instance, *args, **kwargs)


@overload
def jit(fn: Callable[..., Any]) -> JITFunction: ...
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
) -> Callable[[Callable[..., Any]], JITFunction]: ...
def jit(fn: Callable[..., Any] | None = None, **options: Any) -> Any:
    """Make a kernel of a Python function; ``@jit`` or ``@jit(option=...)``.

    The function is compiled for the types of its arguments when launched with ``kernel[grid](...)``, or inlined where
    another kernel calls it. With ``TRITONX_INTERPRET=1`` (or ``TRITON_INTERPRET=1``) in the environment when it is
    decorated, it is run by the interpreter instead, on its own Python lines.
    """

    def decorate(function: Callable[..., Any]) -> Any:
        if not callable(function):
            raise TypeError(f"@jit expects a function, got {function!r}")
        if isinstance(function, JITCallable):
            raise TypeError(f"{function!r} is already compiled: apply @jit once")
        own = (function.__module__ or "").startswith("tritonx.language")
        if knobs.runtime.interpret and not own:
            from tritonx.interpreter.fresh_memory import watch
            from tritonx.interpreter.function import InterpretedFunction

            watch()
            return InterpretedFunction(function, **options)
        return JITFunction(function, **options)

    return decorate if fn is None else decorate(fn)


def constexpr_function(fn: Callable[..., Any]) -> ConstexprFunction:
    """Let kernels call ``fn`` at compile time; its arguments and its result are compile-time values."""
    return ConstexprFunction(fn)


def must_use_result(marked: Any, message: Any = True) -> Any:
    """Mark a function of the language whose result must not be dropped; ``@must_use_result("why")`` says why."""
    if isinstance(marked, str):
        message = marked

        def mark(fn: Any) -> Any:
            return must_use_result(fn, message)

        return mark
    marked._must_use_result = message
    return marked


def native_specialize_impl(
    backend: Any, arg: Any, is_const: bool, specialize_value: bool, align: bool
) -> tuple[Any, Any]:
    """(type, marks) of an argument: Triton's function of this name, which torch calls."""
    from tritonx.runtime.specialize import specializer

    return specializer(is_const, specialize_value, align)(arg)[0].pair()


def mangle_type(arg: Any, specialize: bool = False) -> Any:
    """The type of an argument as a signature has it."""
    return native_specialize_impl(None, arg, False, specialize, specialize)[0]
