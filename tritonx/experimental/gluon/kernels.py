"""Kernels of Gluon: declared, and refused when something would run or compile them."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, NoReturn

from tritonx.kernel.interface import Grid, KernelInterface
from tritonx.runtime.errors import TritonError


class NoGluon(TritonError, NotImplementedError):
    """A kernel or function of Gluon was to be run, which tritonx cannot compile yet; it names it.

    >>> @tritonx.experimental.gluon.jit
    ... def copy(x):
    ...     pass
    >>> copy[(1,)](np.zeros(1))
    Traceback (most recent call last):
        ...
    tritonx.experimental.gluon.kernels.NoGluon: tritonx does not compile Gluon, and `copy` is a kernel of Gluon (...)
    """


class GluonJITFunction(KernelInterface[Any]):
    """What `jit` makes of a function: ``kernel[grid](...)`` raises `NoGluon`."""

    def __init__(self, fn: Callable[..., object]) -> None:
        self.fn = fn
        self.arg_names = list(inspect.signature(fn).parameters)
        self.__name__ = getattr(fn, "__name__", "kernel")
        self.__doc__ = fn.__doc__
        self.__module__ = getattr(fn, "__module__", __name__)

    def is_gluon(self) -> bool:
        """True, as of a Triton kernel it is false."""
        return True

    def refuse(self) -> NoReturn:
        """Raises NoGluon with the kernel's name and where it is written."""
        code = getattr(self.fn, "__code__", None)
        where = "" if code is None else f" ({code.co_filename}:{code.co_firstlineno})"
        raise NoGluon(f"tritonx does not compile Gluon, and `{self.__name__}` is a kernel of Gluon{where}")

    def run(self, *_: object, **__: object) -> NoReturn:
        """Raises NoGluon."""
        self.refuse()

    def warmup(self, /, *_: object, **__: object) -> NoReturn:
        """Raises NoGluon."""
        self.refuse()

    def launch_with(self, grid: Grid, args: tuple[object, ...], keywords: dict[str, Any]) -> NoReturn:
        """Raises NoGluon."""
        self.refuse()

    def __call__(self, *_: object, **__: object) -> NoReturn:
        self.refuse()


class GluonASTSource:
    """What Triton compiles a kernel of Gluon from."""

    def __init__(self, fn: object, *_: object, **__: object) -> None:
        raise NoGluon(f"tritonx does not compile Gluon, and {fn!r} is to be compiled as Gluon")


def jit(fn: Callable[..., object] | None = None, **options: object) -> Any:
    """Declare a kernel of Gluon; ``@jit`` or ``@jit(option=...)``, with the options of `tritonx.jit`."""
    return GluonJITFunction if fn is None else GluonJITFunction(fn)
