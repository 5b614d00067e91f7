"""Compiling configurations before they are measured.

A configuration is launched with ``warmup=True`` through everything between the tuner and the kernel
(heuristics, wrappers of libraries); what the launch would compile is not compiled but handed to an executor, and the
kernel gets a promise in its place. So there is no second idea of what a configuration compiles. Whatever goes wrong
here is of no account: the measured launch then compiles in this process, and raises what there is to raise.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from concurrent.futures import Executor, Future

from tritonx.runtime.async_compile import CompileRequest, FutureKernel, active_mode
from tritonx.runtime.compiling.compile_job import Made, perform
from tritonx.runtime.compiling.compiled_kernel import CompiledKernel
from tritonx.runtime.compiling.compiler import Compile, begin
from tritonx.runtime.errors import OutOfResources, PTXASError


class Promise:
    """A compile that a worker does. ``result`` stores what it made, or does it here where the worker could not."""

    def __init__(self, begun: Compile, future: Future[Made]) -> None:
        self._begun = begun
        self._future = future

    def result(self) -> CompiledKernel:
        try:
            made = self._future.result()
        except (OutOfResources, PTXASError):
            raise
        except Exception:
            return self._begun.here()
        return self._begun.finish(made)


class Ahead:
    """Hands the compiles of configurations to an executor. ``choose`` is asked for it, with the name of the backend,
    when there is something to compile; None compiles when it is measured."""

    def __init__(self, choose: Callable[[str], Executor | None]) -> None:
        self._choose = choose
        self._chosen: list[Executor | None] = []
        self._last: Future[Made] | None = None
        self.promised: FutureKernel | None = None
        """What the last ``start`` began."""

    def start(
        self, launch: Callable[..., object], args: tuple[object, ...], options: Mapping[str, object]
    ) -> Future[Made] | None:
        """Begin what ``launch(*args, **options)`` compiles; None where nothing is left to wait for."""
        if active_mode.get() is not None:
            return None  # the user's own
        self._last = None
        token = active_mode.set(self)
        try:
            launch(*args, **{**options, "warmup": True})
        except Exception:  # the measured launch will say it
            return None
        finally:
            active_mode.reset(token)
        return self._last

    def submit(
        self, key: object, compile: CompileRequest, finalize: Callable[[CompiledKernel], None] | None = None
    ) -> CompiledKernel | FutureKernel | None:
        """What a launch gets for the kernel that it wants compiled: the kernel where the cache has it, a promise, or
        None where it is left for later."""
        begun = begin(compile.source, compile.target, compile.options)
        if isinstance(begun, CompiledKernel):
            return begun
        executor = self._executor(compile.target.backend)
        job = begun.job() if executor is not None else None
        if executor is None or job is None:
            return None
        self._last = executor.submit(perform, job)
        self.promised = FutureKernel(None, Promise(begun, self._last))
        return self.promised

    def _executor(self, backend: str) -> Executor | None:
        if not self._chosen:
            self._chosen.append(self._choose(backend))
        return self._chosen[0]
