"""Launching a kernel: what the generated code of ``binder`` calls when it meets something for the first time."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import fields, replace
from functools import partial
from typing import TYPE_CHECKING, Any, NoReturn, cast

from tritonx.backends.api import Backend, Options, Target
from tritonx.backends.registry import launch_options, parse_options, portable_options
from tritonx.kernel.dependencies import Global, Name, plain_value, rebound
from tritonx.kernel.interface import MockTensor
from tritonx.kernel.source import JITCallable
from tritonx.runtime import driver, knobs
from tritonx.runtime.compiling.compiled_kernel import CompiledKernel
from tritonx.runtime.compiling.device_caches import Compiled, DeviceCaches
from tritonx.runtime.compiling.request import Request, Specialization, specialize
from tritonx.runtime.compiling.targets import target_named
from tritonx.runtime.devices.drivers import driver_of, find_backend
from tritonx.runtime.errors import ReadOnlyArgument, TooManyThreads, TritonError, UnsupportedArgument
from tritonx.runtime.launch import misfits
from tritonx.runtime.launch.arg_spec import ArgSpec
from tritonx.runtime.launch.binder import Expected, generate, handlers_of
from tritonx.runtime.launch.dataclass_arguments import part_at
from tritonx.runtime.launch.entries import (
    Entry,
    EntryOfArguments,
    adapter,
    checked,
    located,
    pointers_of,
    with_arrays,
    with_spans,
)
from tritonx.runtime.launch.foretold import Foretold
from tritonx.runtime.launch.grids import EXTENT_LIMIT, GRID_LIMIT, ONES, three
from tritonx.runtime.launch.placement import Placement, place
from tritonx.runtime.launch.specialize import Specializer, handing, watching
from tritonx.runtime.tracebacks import without_frames

if TYPE_CHECKING:
    from tritonx.runtime.async_compile import FutureKernel
    from tritonx.runtime.compiling.jit_function import JITFunction

_DEPRECATED = {"device": "device", "stream": "stream", "device_type": "target"}
"""Keywords that launches once took → what is used in their place."""

OPTIONS_INLINED = 8
"""A kernel's launch has so many options at most as parameters of its own."""
GRIDS_KEPT = 1024
"""A kernel keeps the launch functions of so many grids."""


Hear = Callable[[Request, tuple[int, int, int]], None]

asking: ContextVar[Hear | None] = ContextVar("tritonx_asking", default=None)
"""Who is told what a launch with ``warmup=True`` would compile, and over which grid, in the place of compiling it."""


class Launcher:
    """The launch path of one kernel and the kernels compiled so far."""

    def __init__(self, kernel: JITFunction) -> None:
        self.kernel = kernel
        self._kernels: dict[Any, Entry] = {}
        self._by_arguments: dict[Any, EntryOfArguments] = {}
        self._compiled: dict[Any, Any] = {}
        self._found_by: dict[tuple[object, int], Request] = {}
        self.grids: dict[Any, Callable[..., CompiledKernel]] = {}
        self._lock = threading.RLock()
        self._names: tuple[Name, ...] = ()
        self._expected: Expected | None = None
        self._options_inlined: tuple[str, ...] = ()
        names = {
            "kernels": self._kernels,
            "compile": self._compile,
            "unhashable": self._unhashable,
            "too_many": self._too_many,
            "refused": self._refused,
            "check_globals": self._check_globals,
            "rebound": self._rebound,
            "three": self.three,
            "with_hooks": self._with_hooks,
            "choice": driver.choice,
            "settings": knobs.runtime,
            "hooks": kernel.pre_run_hooks,
            "plain": plain_value,
        }
        driver.override()
        self._binder = generate(kernel.params, kernel.__name__, misfits.twice(kernel), _option_names(), names)
        self.launch = self._binder.launch

    # Entry points --------------------------------------------------------------------------------------------------

    def on(self, grid: Any) -> Callable[..., CompiledKernel]:
        """The launch over ``grid``; of a tuple it is kept in ``grids``, for tuples of integers that are equal."""
        if type(grid) is not tuple:
            return partial(self.launch, grid if callable(grid) else self.three(grid))
        made = partial(self.launch, self.three(grid))
        if len(self.grids) < GRIDS_KEPT:
            self.grids[grid] = made
        return made

    def warmed_up(self, grid: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> CompiledKernel | None:
        """The kernel of such a launch; None where a cache hook took the compile over."""
        try:
            return self._warmed_up(grid, args, kwargs)
        except TritonError as error:
            raise without_frames(error) from error.__cause__

    def _warmed_up(self, grid: object, args: tuple[object, ...], kwargs: Mapping[str, object]) -> CompiledKernel | None:
        key, specs, bound, options, _ = self._binder.bind(grid, *args, **kwargs)
        hear = asking.get()
        if hear is not None:
            hear(self._request(specs, bound, options), self.extents(grid, bound, options))
            return None
        return self._find_kernel(key, specs, bound, options, warmup=True)[0]

    def request(self, args: tuple[object, ...], kwargs: dict[str, Any]) -> tuple[Request, dict[str, Any]]:
        """What a launch with these arguments compiles, and the options among them as they were given; raises what the
        launch raises for arguments and options that do not fit. For those who run kernels without a compiler."""
        _, specs, bound, given, _ = self._binder.bind(None, *args, **kwargs)
        return self._request(specs, bound, given), given

    def extents(self, grid: object, bound: dict[str, Any], given: dict[str, Any]) -> tuple[int, int, int]:
        """The three extents of a launch over ``grid``. Raises UnsupportedArgument, also where a function computes them
        of an argument whose dtype alone is known."""
        if not callable(grid):
            return self.three(grid)
        try:
            found = grid({**bound, **given})
        except Exception as error:
            names = [name for name, value in bound.items() if isinstance(value, MockTensor)]
            if not names:
                raise
            known = f"of {', '.join(names)} only the dtype is known"
            text = f"the grid's function raises {type(error).__name__}: {error}; {known}"
            raise misfits.bad_grid(self.kernel, text) from error
        return self.three(found)

    def device_caches(self) -> DeviceCaches:
        """device → (kernels, keys, target, backend, binder)."""

        def placed() -> tuple[Target, Backend]:
            active = driver.get_active()
            return active.get_current_target(), active.backend

        return DeviceCaches(self._kept, self._forget, placed, self._binder.bind)

    def _kept(self) -> dict[Compiled, CompiledKernel | FutureKernel]:
        """The kernels that are compiled or being compiled, without waiting for these."""
        with self._lock:
            found = {
                _compiled_at(asked): self._compiled[key]
                for (key, _), asked in self._found_by.items()
                if key in self._compiled
            }
        kept: dict[Compiled, CompiledKernel | FutureKernel] = {}
        for at, kernel in found.items():
            kept[at] = kernel if isinstance(kernel, CompiledKernel) else kernel.kernel or kernel
        return kept

    def _forget(self, which: Callable[[Compiled], bool]) -> None:
        """Forget the kernels that ``which`` says, so that the next launch asks for them again."""
        with self._lock:
            keys = {key for (key, _), asked in self._found_by.items() if which(_compiled_at(asked))}
            kernels = [self._compiled.pop(key, None) for key in keys]
            self._found_by = {found: asked for found, asked in self._found_by.items() if found[0] not in keys}
            for launched, entry in list(self._kernels.items()):
                if any(entry[0] is kernel for kernel in kernels):
                    del self._kernels[launched]
            for launched, bound in list(self._by_arguments.items()):
                if any(bound.entry[0] is kernel for kernel in kernels):
                    del self._by_arguments[launched]

    def source_changed(self) -> None:
        """A function that a kernel was compiled with has another text now."""
        self._forget(lambda _: True)

    # What the generated code calls ---------------------------------------------------------------------------------

    def _compile(
        self,
        key: tuple[object, ...],
        specs: tuple[ArgSpec | None, ...],
        bound: dict[str, object],
        options: dict[str, object],
    ) -> Entry:
        __tracebackhide__ = True  # of IPython and pytest
        try:
            return self._entry(key, specs, bound, options)
        except TritonError as error:
            raise without_frames(error) from error.__cause__

    def _entry(
        self, key: tuple[object, ...], specs: tuple[ArgSpec | None, ...], bound: dict[str, Any], options: dict[str, Any]
    ) -> Entry:
        by_arguments = self._by_arguments.get(key)
        if by_arguments is not None:
            return by_arguments.bound_to(bound)
        with self._lock:
            found = self._kernels.get(key)
            if found is not None:  # another thread compiled it, after this one had made the key without watching
                self._watch(found[0].written, specialize(self.kernel, specs, bound).run_time, bound)
                return found
            kernel, placement, run_time = self._find_kernel(key, specs, bound, options, warmup=False)
            if kernel is None:  # a cache hook took over: nothing to launch, and nothing to remember
                return None, _no_launch, _no_stream, 0, (), ()  # pyright: ignore[reportReturnType]  # a kernel that a hook took over is no kernel
            loaded, raw = kernel.load(placement.device)
            self._watch(kernel.written, run_time, bound)
            launch = adapter(self.kernel, run_time, raw)
            stream = driver_of(placement.backend).current_stream
            entry = (kernel, launch, stream, placement.device, self.kernel.used_globals, self._names)
            looks_at = kernel.takes_spans or kernel.checks_bounds
            compared: Sequence[int] = () if looks_at else getattr(loaded, "compared", ())
            self._hand_arrays(compared, run_time)
            before = self._options_inlined
            self._expect(bound, options)
            key = self._binder.written_key(key, before, self._options_inlined, options)
            if looks_at:
                looks = with_spans(raw) if kernel.takes_spans else checked(kernel, raw, placement.device)
                by_arguments = EntryOfArguments.of(self.kernel, entry, run_time, pointers_of(kernel), looks)
                self._by_arguments[key] = by_arguments
                return by_arguments.bound_to(bound)
            self._kernels[key] = entry
            if not compared:
                return entry
            return EntryOfArguments.of(self.kernel, entry, run_time, compared, with_arrays(raw)).bound_to(bound)

    def _expect(self, bound: Mapping[str, object], options: Mapping[str, object]) -> None:
        """Write the launch for arguments like those of the first one, and for options that launches were given."""
        names = tuple(dict.fromkeys([*self._options_inlined, *self._binder.inlinable(options)]))
        if len(names) > OPTIONS_INLINED:
            names = self._options_inlined
        if self._expected is None:
            self._expected = self._binder.expect({name: type(value) for name, value in bound.items()})
        elif names == self._options_inlined:
            return
        self._options_inlined = names
        self._binder.write(self._expected, names)

    def foretell(self, told: Foretold) -> None:
        """Write the launch before there is one, for arguments and options such as it will have."""
        for names, changed in ((told.written, watching), (told.compared, handing)):
            for param in self.kernel.params:
                if param.name in names:
                    self._replace_handlers(param.num, changed(self._binder.handlers(param.num)))
        self._expected = self._binder.expect(told.kinds)
        self._options_inlined = tuple(self._binder.inlinable(told.options))[:OPTIONS_INLINED]
        self._binder.write(self._expected, self._options_inlined)

    def _replace_handlers(self, number: int, handlers: Specializer) -> None:
        """From now on launches specialise on the argument at position ``number`` by ``handlers``."""
        if handlers is self._binder.handlers(number):
            return
        before = self._expected or {}
        after = self._binder.replace_handlers(number, handlers, before)
        if after != before:
            self._expected = after
            self._binder.write(after, self._options_inlined)

    def _hand_arrays(self, compared: Sequence[int], run_time: tuple[str, ...]) -> None:
        """``compared``: positions among the run-time values of arrays which the launcher looks at. From the next launch
        on it gets them."""
        for param, _path in (located(self.kernel, run_time[position]) for position in compared):
            self._replace_handlers(param.num, handing(self._binder.handlers(param.num)))

    def _watch(self, written: Sequence[int], run_time: tuple[str, ...], bound: Mapping[str, object]) -> None:
        """``written``: positions among the run-time values that the kernel stores through. From now on an array there
        that may not be written to has a key of its own, and comes here. Raises ReadOnlyArgument for one of this launch.
        """
        for position in written:
            param, path = located(self.kernel, run_time[position])
            handlers = watching(self._binder.handlers(param.num))
            self._replace_handlers(param.num, handlers)
            name, value = part_at(param.name, bound[param.name], path)
            if handlers(value)[0].read_only:
                raise ReadOnlyArgument(self.kernel.__name__, name)

    def _request(self, specs: tuple[ArgSpec | None, ...], bound: dict[str, Any], given: dict[str, Any]) -> Request:
        misfits.check_given(self.kernel, bound, given)
        for name, what in _DEPRECATED.items():
            if name in given:
                raise misfits.deprecated_keyword(self.kernel, name, what)
        names = [p.name for p, s in zip(self.kernel.params, specs, strict=True) if s is not None]
        placement = self._target_chosen(place(names, [s for s in specs if s is not None]), given)
        debug = bool(given.get("debug", self.kernel.debug) or knobs.runtime.debug)
        mode = driver.choice.instrumentation_mode
        chosen = {"check_bounds": debug, **({"instrumentation_mode": mode} if mode else {})}
        options = self._options(placement, {**chosen, **given, "debug": debug})
        self._check_globals(self.kernel.used_globals)
        return Request(bound, specs, placement, options, specialize(self.kernel, specs, bound))

    def _target_chosen(self, placement: Placement, given: Mapping[str, object]) -> Placement:
        """The place with the target that ``arch`` or a knob names."""
        try:
            target = target_named(placement.backend, placement.target, given)
        except ValueError as error:
            raise misfits.impossible_option(self.kernel, error) from None
        return placement if target is placement.target else replace(placement, target=target)

    def _options(self, placement: Placement, given: dict[str, Any]) -> Options:
        """The backend's options. Raises KeyError for one that it does not know, ValueError for what it cannot do."""
        try:
            return launch_options(placement.backend, placement.target, given)
        except KeyError:
            known = [f.name for f in fields(placement.backend.options_type)]
            unknown = next((name for name in given if name not in portable_options().union(known)), None)
            if unknown is None:
                raise
            raise misfits.unknown_keyword(self.kernel, unknown, known) from None
        except TooManyThreads as error:
            error.add_note(f"  --> {misfits.place_of(self.kernel)}")
            raise
        except ValueError as error:
            raise misfits.impossible_option(self.kernel, error) from None

    def _too_many(self, extra: tuple[object, ...]) -> NoReturn:
        raise misfits.too_many(self.kernel, extra)

    def _refused(self, error: Exception, bound: dict[str, Any]) -> Exception:
        for param in self.kernel.params:
            if not param.is_constexpr:
                found = misfits.unfit_part(handlers_of(param), bound[param.name])
                if found is not None:
                    return misfits.unfit(self.kernel, param.name, *found)
        return error

    def _find_kernel(
        self, key: object, specs: tuple[ArgSpec | None, ...], bound: dict[str, Any], given: dict[str, Any], warmup: bool
    ) -> tuple[CompiledKernel | None, Placement, tuple[str, ...]]:
        if rebound(self._names):
            self.source_changed()
        self.kernel.settle()
        request = self._request(specs, bound, given)
        kernel = self._compiled_for(request, warmup)
        functions = [self.kernel, *(v for v in request.wanted.constants.values() if isinstance(v, JITCallable))]
        self._names = tuple([name for function in functions for name in function.dependencies.functions])
        if not warmup and kernel is not None:
            kernel = self._ready(request.key, kernel)
        return kernel, request.placement, request.wanted.run_time

    def _compiled_for(self, request: Request, warmup: bool) -> Any:
        """The kernel, or the future of one; None where a cache hook took the compile over."""
        from tritonx.runtime.compiling.jit_hooks import compile_with_hooks

        placement, wanted = request.placement, request.wanted
        kernel = self._compiled.get(request.key)
        if kernel is None:
            source = self.kernel.source_of(wanted.signature, wanted.constants, wanted.attrs)
            kernel = compile_with_hooks(request, source, warmup)
            if kernel is not None:
                self._compiled[request.key] = kernel
            for value in wanted.constants.values():
                if isinstance(value, JITCallable):
                    value.used_by.add(self)
        if kernel is not None:
            self._found_by[request.key, placement.device] = Request({}, (), placement, request.options, wanted)
        return kernel

    def _ready(self, memory_key: object, kernel: Any) -> CompiledKernel:
        """The kernel itself, once it is there. One whose compile failed is forgotten, so that it is tried again."""
        from tritonx.runtime.async_compile import FutureKernel

        if isinstance(kernel, FutureKernel):
            try:
                self._compiled[memory_key] = kernel = kernel.result()
            except BaseException:
                del self._compiled[memory_key]
                raise
        return kernel

    def _unhashable(self, grid: object, bound: dict[str, Any], options: dict[str, Any]) -> CompiledKernel:
        """Launch with lists and dictionaries among the options as tuples. Raises where an argument is to blame."""
        frozen = {name: _frozen(value) for name, value in options.items()}
        if any(frozen[name] is not options[name] for name in options):
            return self.launch(grid, **{**frozen, **bound})  # an option may be a parameter as well
        for name, value in [*bound.items(), *options.items()]:
            try:
                hash(value)
            except TypeError:
                is_parameter = any(p.name == name and p.is_constexpr for p in self.kernel.params)
                if is_parameter or name in options:
                    raise UnsupportedArgument(
                        f"unhashable type: {type(value).__name__!r} (the compile-time argument {name!r} of "
                        f"{self.kernel.__name__} must be hashable: use a tuple)"
                    ) from None
        raise TypeError(f"the arguments of {self.kernel.__name__} cannot be hashed")

    def _rebound(self, grid: object, bound: dict[str, Any], options: dict[str, Any]) -> CompiledKernel:
        """Launch after a name has come to stand for another function, which is compiled."""
        self.source_changed()
        return self.launch(grid, **{**options, **bound})

    def _check_globals(self, used: tuple[Global, ...]) -> None:
        for found in used:
            if found.changed():
                now = found.scope.get(found.at, "<deleted>")
                raise RuntimeError(
                    f"Global variable {found.name} has changed since we compiled this kernel, "
                    f"from {found.value} to {now}"
                )

    def three(self, grid: Any) -> tuple[int, int, int]:
        """A grid of one to three extents as three. Raises UnsupportedArgument."""
        if type(grid) is tuple and len(grid) <= GRID_LIMIT:  # pyright: ignore[reportUnknownArgumentType]  # what a user hands in holds anything
            for extent in grid:  # pyright: ignore[reportUnknownVariableType]  # what a user hands in holds anything
                if type(extent) is not int or not 0 <= extent < EXTENT_LIMIT:  # pyright: ignore[reportUnknownArgumentType]  # it is asked
                    break
            else:
                if grid:
                    return grid + ONES[len(grid)]  # pyright: ignore  # what a user hands in holds anything
        try:
            return three(cast("object", grid))
        except UnsupportedArgument as error:
            raise misfits.bad_grid(self.kernel, str(error)) from None

    def _with_hooks(
        self,
        entry: Entry,
        grid: tuple[int, int, int],
        bound: dict[str, Any],
        options: dict[str, Any],
        values: tuple[object, ...],
    ) -> CompiledKernel:
        kernel, launch, stream, device, _, _ = entry
        for hook in self.kernel.pre_run_hooks:
            hook(*bound.values(), **options)
        current = stream(device)

        enter, data = knobs.runtime.launch_enter_hook, None
        if enter and kernel is not None:  # pyright: ignore[reportUnnecessaryComparison]  # a hook took the compile over
            data = kernel.launch_metadata(grid, current, *bound.values())
            if data is not None:
                data.device = device
        if enter:
            enter(data)
        if grid[0] and grid[1] and grid[2]:
            launch(*grid, current, *values)
        if leave := knobs.runtime.launch_exit_hook:
            leave(data)
        return kernel

    def preload(self, specialization_data: str) -> CompiledKernel | None:
        """Compile from what a cache hook received as ``specialization_data``; None where a hook takes it over."""
        from tritonx.runtime.compiling.jit_hooks import source_of_data

        source, target, given = source_of_data(self.kernel, specialization_data)
        backend = find_backend(target.backend)
        options = parse_options(backend, target, given)
        wanted = Specialization(source.signature, source.constants, source.attrs, ())
        try:
            device = driver_of(backend).current_device()
        except TritonError:  # it is compiled on a machine without such a device
            device = 0
        request = Request({}, (), Placement(backend, device, target), options, wanted)
        with self._lock:
            return self._compiled_for(request, warmup=True)


def _option_names() -> frozenset[str]:
    """Options that may be a kernel's parameters as well."""
    return (frozenset(f.name for f in fields(Options)) | portable_options()) - {"debug"}


def _frozen(value: object) -> Any:
    """Lists and dictionaries as tuples, which can be part of a key; anything else as it is."""
    if isinstance(value, dict):
        return tuple(value.items())  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]  # what a user hands in holds anything
    return tuple(value) if isinstance(value, list) else value  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]  # what a user hands in holds anything


def _compiled_at(asked: Request) -> Compiled:
    at = asked.placement
    return Compiled(at.device, at.backend, at.target, asked.hook_key)


def _no_launch(*_: object) -> None:
    return None


def _no_stream(_: int) -> int:
    return 0
