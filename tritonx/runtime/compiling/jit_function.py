"""``JITFunction``: a declared kernel that can be launched."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, Concatenate, Generic, ParamSpec, TypeVar, cast, overload

from tritonx.kernel.declaration import KernelDeclaration
from tritonx.kernel.interface import Grid, KernelInterface, Keywords, MockTensor
from tritonx.runtime.errors import NotCallable

if TYPE_CHECKING:
    from tritonx.explain.report import Report
    from tritonx.runtime.compiling.compiled_kernel import CompiledKernel
    from tritonx.runtime.compiling.device_caches import DeviceCaches
    from tritonx.runtime.compiling.sources import ASTSource
    from tritonx.runtime.launch.launching import Launcher

if TYPE_CHECKING:
    import typing_extensions  # of type checkers: TypeVars with defaults, so that `JITFunction` alone is any

    P = typing_extensions.ParamSpec("P", default=...)
    R = typing_extensions.TypeVar("R", default=Any, covariant=True)
else:
    P, R = ParamSpec("P"), TypeVar("R", covariant=True)

Q = ParamSpec("Q")
Owner = TypeVar("Owner")


class _LibraryToo(type):
    """``isinstance(tl.sum, JITFunction)`` is true, as in Triton: libraries ask before they read a function's source."""

    def __instancecheck__(cls, instance: object) -> bool:
        return super().__instancecheck__(instance) or (cls is JITFunction and type(instance) is KernelDeclaration)


class JITFunction(KernelDeclaration, KernelInterface[Any], Generic[P, R], metaclass=_LibraryToo):
    """What ``@jit`` makes of a user's function: launched with ``kernel[grid](...)``, or called by kernels.

    >>> isinstance(double, tritonx.JITFunction), double.arg_names
    (True, ['x', 'BLOCK'])
    >>> x = np.ones(8, np.float32)
    >>> compiled = double[(1,)](x, BLOCK=4)
    >>> x.tolist()
    [2.0, 2.0, 2.0, 2.0, 1.0, 1.0, 1.0, 1.0]
    """

    def __init__(
        self,
        fn: Callable[P, R],
        version: object = None,
        do_not_specialize: Iterable[int | str] | None = None,
        do_not_specialize_on_alignment: Iterable[int | str] | None = None,
        debug: bool | None = None,
        noinline: bool | None = None,
        repr: Callable[..., str] | None = None,  # Triton's name
        launch_metadata: Callable[..., object] | None = None,
    ) -> None:
        super().__init__(
            fn, version, do_not_specialize, do_not_specialize_on_alignment, debug, noinline, repr, launch_metadata
        )
        self.pre_run_hooks: list[Callable[..., Any]] = []
        self.kernel: None = None  # as in Triton: libraries look
        self._launcher: Launcher | None = None

    if TYPE_CHECKING:  # called by kernels, with the parameters and the result that it was written with

        def __call__(self, /, *args: P.args, **kwargs: P.kwargs) -> R: ...

        @overload
        def __get__(self, instance: None, owner: type) -> typing_extensions.Self: ...
        @overload
        def __get__(self: JITFunction[Concatenate[Owner, Q], R], instance: Owner, owner: type) -> JITFunction[Q, R]: ...
        def __get__(self, instance: object, owner: type) -> Any:
            """A method of an aggregate is called without its first argument."""

    def __getstate__(self) -> dict[str, Any]:
        return {**super().__getstate__(), "_launcher": None, "pre_run_hooks": []}

    def _lasting(self) -> dict[str, object]:
        return {**super()._lasting(), "_launcher": None, "pre_run_hooks": [*self.pre_run_hooks]}

    @property
    def launcher(self) -> Launcher:
        """The launch path of this kernel, generated for its signature at the first use."""
        if self._launcher is None:
            from tritonx.runtime.launch.launching import Launcher

            with self._hash_lock:
                if self._launcher is None:
                    self._launcher = Launcher(self)
        return self._launcher

    def source_of(
        self, signature: Mapping[str, Any], constants: Mapping[Any, Any], attrs: Mapping[Any, Any]
    ) -> ASTSource:
        """What is compiled for these types, compile-time values and facts."""
        from tritonx.runtime.compiling.sources import ASTSource

        return ASTSource(self, signature, constants, attrs)

    @property
    def device_caches(self) -> DeviceCaches:
        """device → (kernels by key, keys, target, backend, binder), as Triton shows it; may be cleared."""
        return self.launcher.device_caches()

    def __getitem__(self, grid: Grid) -> Callable[..., CompiledKernel]:
        if (
            type(self).run is not _RUN or "run" in self.__dict__
        ):  # a library put its own run in place: it wants to be called
            return super().__getitem__(grid)
        launcher = self._launcher or self.launcher
        if type(grid) is not tuple:
            return launcher.on(grid)
        try:
            found = launcher.grids[grid]
        except (KeyError, TypeError):  # what cannot be hashed is no extent
            return launcher.on(grid)
        for extent in grid:  # pyright: ignore  # a tuple of anything, and a cast would cost a call
            if type(extent) is not int:  # pyright: ignore  # 1.0 is equal to 1
                return launcher.on(grid)
        return found

    def run(self, /, *args: Any, grid: Any, warmup: bool, **kwargs: Any) -> CompiledKernel | None:
        """Launch over ``grid`` (or, with ``warmup``, only compile); returns the CompiledKernel."""
        launcher = self._launcher or self.launcher
        if warmup:
            return launcher.warmed_up(grid, args, kwargs)
        return launcher.launch(grid if callable(grid) else launcher.three(grid), *args, **kwargs)

    def launch_with(self, grid: Grid, args: tuple[object, ...], keywords: Keywords) -> object:
        if type(self).run is not _RUN or "run" in self.__dict__:
            return super().launch_with(grid, args, keywords)
        launcher = self._launcher or self.launcher
        return launcher.launch(grid if callable(grid) else launcher.three(grid), *args, **keywords)

    def warmup(self, /, *args: Any, grid: Any, **kwargs: Any) -> CompiledKernel | None:
        """Compile for these arguments without launching; dtypes may stand in for arrays."""
        given, named = self._stand_ins(args, kwargs)
        return self.run(*given, grid=grid, warmup=True, **named)

    def _stand_ins(
        self, args: tuple[object, ...], kwargs: Mapping[str, object]
    ) -> tuple[list[object], dict[str, object]]:
        """The arguments with an array's stand-in for each dtype."""
        wrap = MockTensor.wrap_dtype
        constants = {p.name for p in self.params if p.is_constexpr}
        given = [a if n in constants else wrap(a) for n, a in zip(self.arg_names, args, strict=False)]
        given += args[len(self.arg_names) :]
        return given, {k: v if k in constants or k not in self.arg_names else wrap(v) for k, v in kwargs.items()}

    def explain(self, /, *args: object, grid: Grid, target: str | None = None, **kwargs: object) -> Report:
        """What the compiler makes of a launch with these arguments, which is compiled and not run: its passes,
        accesses, layouts and what holds it. `target` (`"cuda:90"`) is another than the arguments' own; no device is
        needed for it. Raises what a launch raises, and UnsupportedArgument for what is no name of a target.

        >>> report = double.explain(np.zeros(8), BLOCK=8, grid=(1,), target="cuda:90")
        >>> report.facts.kernel, report.facts.target
        ('double', 'cuda:90')
        """
        from tritonx.explain.report import explain_launch

        given, named = self._stand_ins(args, kwargs)
        return explain_launch(self, grid, given, named, target)

    def add_pre_run_hook(self, hook: Callable[..., Any]) -> None:
        """``hook(*args, **kwargs)`` is called before every launch. Raises NotCallable for what cannot be."""
        if not callable(cast(object, hook)):
            raise NotCallable(f"a hook is called before every launch, which {hook!r} cannot be")
        self.pre_run_hooks.append(hook)

    def preload(self, specialization_data: str) -> CompiledKernel | None:
        """Compile what ``specialization_data``, as a cache hook received it, describes; None where a hook takes the
        compile over."""
        return self.launcher.preload(specialization_data)


_RUN = JITFunction.run
