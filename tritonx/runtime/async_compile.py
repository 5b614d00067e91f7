"""Compiling in the background.

    with AsyncCompileMode(ThreadPoolExecutor(4)):
        kernel.warmup(..., grid=(1,))      # returns at once

The block's end waits for everything. LLVM's lock serialises threads: a pool of threads overlaps the front end's waiting
on disks and assemblers, not LLVM itself.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Executor
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from tritonx.backends.api import Options, Target

if TYPE_CHECKING:
    from tritonx.runtime.compiling.compiled_kernel import CompiledKernel
    from tritonx.runtime.compiling.sources import ASTSource


class CompileMode(Protocol):
    """Who compiles what launches and ``warmup`` want compiled."""

    def submit(self, key: object, compile: CompileRequest, finalize: Callable[[Any], None] | None = None, /) -> Any:
        """The kernel, or what stands for it."""
        ...


active_mode: ContextVar[CompileMode | None] = ContextVar("tritonx_async_compile_mode", default=None)


@dataclass(frozen=True)
class CompileRequest:
    """What a launch wants compiled. Calling it does so."""

    source: ASTSource
    target: Target
    options: Options

    def __call__(self) -> CompiledKernel:
        from tritonx.runtime.compiling.compiler import compile

        return compile(self.source, target=self.target, options=self.options)


class Awaited(Protocol):
    """What becomes a kernel: a future, or more."""

    def result(self) -> Any: ...


class FutureKernel:
    """A kernel that is being compiled; every attribute waits for it.

    >>> from concurrent.futures import ThreadPoolExecutor
    >>> with ThreadPoolExecutor(1) as pool, tritonx.AsyncCompileMode(pool):
    ...     pending = double.warmup(np.zeros(8), BLOCK=8, grid=(1,))
    >>> isinstance(pending, tritonx.FutureKernel), pending.result().name
    (True, 'double')
    """

    def __init__(self, finalize_compile: Callable[[Any], None] | None, future: Awaited) -> None:
        self.finalize_compile = finalize_compile
        self.future = future
        self.kernel: Any = None
        """The CompiledKernel, once ``result`` has seen it."""

    def result(self, ignore_errors: bool = False) -> Any:
        """The CompiledKernel; with ``ignore_errors`` None where the compile failed."""
        if self.kernel is None:
            try:
                self.kernel = self.future.result()
            except Exception:
                if ignore_errors:
                    return None
                raise
            if self.finalize_compile is not None:
                self.finalize_compile(self.kernel)
        return self.kernel

    def __getattr__(self, name: str) -> Any:
        return getattr(self.result(), name)

    def __getitem__(self, grid: Any) -> Any:
        return self.result()[grid]


class AsyncCompileMode:
    """Compile on ``executor`` inside the block; equal compiles are done once. The block's end waits for all of them,
    unless the block raises.

    >>> from concurrent.futures import ThreadPoolExecutor
    >>> with ThreadPoolExecutor(2) as pool, tritonx.AsyncCompileMode(pool):
    ...     kernels = [double.warmup(np.zeros(8), BLOCK=block, grid=(1,)) for block in (2, 4)]
    >>> [kernel.name for kernel in kernels]
    ['double', 'double']
    """

    def __init__(self, executor: Executor, *, ignore_errors: bool = False) -> None:
        self.executor = executor
        self.ignore_errors = ignore_errors
        self.kernels: dict[Any, FutureKernel] = {}
        self._token: Any = None

    def submit(
        self, key: object, compile_fn: Callable[[], Any], finalize_fn: Callable[[Any], None] | None = None
    ) -> FutureKernel:
        """The kernel of ``key``, compiled by ``compile_fn`` unless it already is."""
        if key not in self.kernels:
            self.kernels[key] = FutureKernel(finalize_fn, self.executor.submit(compile_fn))
        return self.kernels[key]

    def __enter__(self) -> AsyncCompileMode:
        if active_mode.get() is not None:
            raise RuntimeError("Another AsyncCompileMode is already active")
        self._token = active_mode.set(self)
        return self

    def __exit__(self, kind: object, value: object, traceback: object) -> None:
        active_mode.reset(self._token)
        if kind is not None:
            return
        for kernel in self.kernels.values():
            kernel.result(self.ignore_errors)
