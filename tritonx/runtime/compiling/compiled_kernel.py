"""The result of a compile: its stages, its metadata, and once it is launched its handles on each device."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields
from functools import cached_property
from importlib import import_module
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, cast

from tritonx.backends.api import Backend, Driver, KernelImage, LoadedKernel, Parameter, Target
from tritonx.kernel.source import JITCallable
from tritonx.runtime import knobs
from tritonx.runtime.compiling.asm_dict import AsmDict
from tritonx.runtime.compiling.kernel_metadata import make_metadata
from tritonx.runtime.devices.drivers import driver_of, find_backend
from tritonx.runtime.errors import IrregularArgument, NoDevice, OutOfResources, ReadOnlyArgument, UnsupportedArgument
from tritonx.runtime.launch.arg_spec import ROUNDED_ATTRIBUTE
from tritonx.runtime.launch.dataclass_arguments import parts_of
from tritonx.runtime.launch.descriptor_parameters import FlatParameters, is_descriptor
from tritonx.runtime.launch.launch_hooks import LaunchFacts, LazyDict, tell_when_gone
from tritonx.runtime.launch.specialize import specializer, watching

if TYPE_CHECKING:
    from tritonx.explain.report import Report
    from tritonx.runtime.compiling.sources import Source

RawLaunch = Callable[..., None]
"""(grid x, y, z, stream, *run-time arguments with arrays as addresses)."""

TEXT_STAGES = frozenset({"source", "ttir", "ttgir", "llir", "asm"})


class AsksForOtherCode(Protocol):
    """A loaded kernel that asks for the code of ``otherwise`` itself, where it meets what its own is not for."""

    otherwise: Callable[[], LoadedKernel | None]


class CompiledKernel:
    """A compiled kernel.

    ``asm``: stage → text or bytes; ``metadata``: a named tuple; ``n_regs``, ``n_spills`` (per thread), ``function`` and
    ``module`` exist once it is loaded, which the first launch or reading one of them does.

    >>> compiled = double.warmup(np.zeros(8), BLOCK=8, grid=(1,), num_warps=1)
    >>> compiled.name, compiled.metadata.num_warps, "tt.func" in compiled.asm["ttir"]
    ('double', 1, True)
    """

    compile_source: ClassVar[Callable[[object, Target, Mapping[str, object]], CompiledKernel] | None] = None
    """Who compiles, which `runtime.compiling.compiler` says here: PyTorch pickles what is a kernel's own."""

    def __init__(
        self,
        src: Source,
        stated: Mapping[str, Any],
        asm: AsmDict,
        parameters: tuple[Parameter, ...],
        hash: str,
        binary_stage: str,
        metadata_group: Mapping[str, str] | None = None,
    ) -> None:
        self.src = src
        self.hash = hash
        self.name: str = stated["name"]
        self.metadata: Any = make_metadata(stated)
        self.packed_metadata = (stated.get("num_warps", 1), stated.get("num_ctas", 1), stated.get("shared", 0))
        self.asm = asm
        self.metadata_group = dict(metadata_group or {})
        self.parameters = parameters
        self.binary_stage = binary_stage
        self._loaded: dict[int, tuple[LoadedKernel, RawLaunch]] = {}
        self._of_launches: tuple[object, Driver] | None = None
        self.takes_spans = False
        """Whether its launcher gets spans for pointers, which is known once it is loaded."""
        self._raw: Any = None
        self._given_up = False
        self._compile_again: Callable[[], CompiledKernel] | None = None
        self._other: CompiledKernel | None = None
        self._unchecked: CompiledKernel | None = None
        self._unmeasured: CompiledKernel | None = None

    def replaceable(self, compile_again: Callable[[], CompiledKernel]) -> None:
        """Say how to make this kernel, which came from the cache, if the cache's files turn out to be of no use."""
        self._compile_again, self.asm.renew = compile_again, self._renew

    def _renew(self) -> None:
        assert self._compile_again is not None
        made = self._compile_again()
        self._compile_again = None
        self.name, self.metadata, self.packed_metadata = made.name, made.metadata, made.packed_metadata
        self.asm, self.parameters, self.metadata_group = made.asm, made.parameters, made.metadata_group

    @property
    def target(self) -> Target:
        return self.metadata.target

    @property
    def kernel(self) -> bytes:
        """The device code."""
        binary = self.asm[self.binary_stage]
        return binary if isinstance(binary, bytes) else binary.encode()

    @property
    def checks_bounds(self) -> bool:
        """Whether the code checks its accesses: it then takes one argument more than the source, the table of what it
        may access (``tritonx.ir.access_table``)."""
        return hasattr(self.metadata, "access_ranges")

    @property
    def measures_regions(self) -> bool:
        """Whether the code records when its regions begin and end: it then takes one argument more, behind all others,
        the memory of the records (``tritonx.ir.region_records``)."""
        return hasattr(self.metadata, "regions")

    @property
    def written(self) -> tuple[int, ...]:
        """Positions of the parameters that the code may store through: a launch refuses arrays there that say they are
        read-only."""
        return getattr(self.metadata, "written", ())

    @property
    def compared(self) -> tuple[int, ...]:
        """Positions of the parameters whose arrays a launch looks at, because the code takes them to be apart."""
        return FlatParameters.of(self.parameters).owners(getattr(self.metadata, "compared", ()))

    def image(self) -> KernelImage:
        hidden = (Parameter("access_table", "*i64"),) if self.checks_bounds else ()
        hidden += (Parameter("region_records", "*i64"),) if self.measures_regions else ()
        stage = self._backend.portable_stage
        portable = (lambda: str(self.asm[stage])) if stage in self.asm else None
        metadata, parameters = self.metadata._asdict(), self.parameters + hidden
        return KernelImage(
            self.name, self.kernel, parameters, metadata, self.target, portable, lambda: self.src.signature
        )

    # Handles -------------------------------------------------------------------------------------------------------

    def current_device(self) -> int:
        return self._driver.current_device()

    @cached_property
    def _backend(self) -> Backend:
        return find_backend(self.target.backend)

    @property
    def _driver(self) -> Driver:
        return driver_of(self._backend)

    def load(self, device: int | None = None) -> tuple[LoadedKernel, RawLaunch]:
        """The kernel in the device's memory and its launcher. Raises OutOfResources, NoDevice."""
        own = self._driver
        index = own.current_device() if device is None else device
        found = self._loaded.get(index)
        if found is None:
            hooks = knobs.runtime
            describe = {"name": self.name, "hash": self.hash, "device": index}
            if hooks.kernel_load_start_hook:
                hooks.kernel_load_start_hook(None, None, self.name, self.metadata_group, self.hash)
            image, loaded = self._loaded_image(own, index)
            self.takes_spans = own.takes_spans
            launch = self._complete(loaded, own.make_launcher(image, loaded), index)
            found = self._loaded[index] = (loaded, self._measured(launch, own, index))
            tell_when_gone(loaded, self.name, self.metadata_group, self.hash)
            if hooks.kernel_load_end_hook:
                hooks.kernel_load_end_hook(loaded, loaded.function, self.name, self.metadata_group, describe["hash"])
        return found

    def _complete(self, loaded: LoadedKernel, launch: RawLaunch, device: int) -> RawLaunch:
        """The launcher, which leaves what this code is not for to code that is compiled when it is first needed. A
        loaded kernel that has a place for it (``otherwise``) asks for that code itself."""
        options: Mapping[str, object] | None = getattr(self.metadata, "otherwise", None)
        if not options:
            return launch
        if hasattr(loaded, "otherwise"):  # as isinstance says it of a protocol, which takes long
            asks = cast(AsksForOtherCode, loaded)

            def other_code() -> LoadedKernel | None:
                found = self._otherwise(options)
                return None if found is None else found.load(device)[0]

            asks.otherwise = other_code
            return launch

        def either(*args: object) -> None:
            try:
                launch(*args)
            except IrregularArgument:
                other = self._otherwise(options)
                if other is None:
                    raise
                other.load(device)[1](*args)

        return either

    def _measured(self, launch: RawLaunch, own: Driver, device: int) -> RawLaunch:
        """The launcher, which lends memory to a kernel that records its regions."""
        if not self.measures_regions:
            return launch
        from tritonx.runtime.launch.measured_launch import MeasuredLaunch

        return MeasuredLaunch(self, launch, own, device)

    def _otherwise(self, options: Mapping[str, object]) -> CompiledKernel | None:
        """The same source compiled with other options; None of text, of which there is no other code."""
        if self._other is None:
            self._other = self._compiled_with(options)
        return None if getattr(self._other.metadata, "otherwise", None) else self._other

    def unchecked(self) -> CompiledKernel:
        """The same source compiled without checks of its accesses."""
        if self._unchecked is None:
            self._unchecked = self._compiled_with({"check_bounds": False})
        return self._unchecked

    def unmeasured(self) -> CompiledKernel:
        """The same source compiled without records of its regions."""
        if self._unmeasured is None:
            self._unmeasured = self._compiled_with({"instrumentation_mode": ""})
        return self._unmeasured

    def substitutes(self) -> list[tuple[Mapping[str, object], CompiledKernel]]:
        """What launches turn to where this code is not for their arguments: the options that make it differ, and the
        same source compiled with them."""
        options: Mapping[str, object] | None = getattr(self.metadata, "otherwise", None)
        other = self._otherwise(options) if options else None
        found: list[tuple[Mapping[str, object], CompiledKernel]] = []
        if options and other is not None:
            found.append((options, other))
        if self.checks_bounds:
            found.append(({"check_bounds": False}, self.unchecked()))
        if self.measures_regions:
            found.append(({"instrumentation_mode": ""}, self.unmeasured()))
        return found

    def _compiled_with(self, options: Mapping[str, object]) -> CompiledKernel:
        """The same source compiled with these options and otherwise this kernel's own."""
        if CompiledKernel.compile_source is None:  # who made this kernel was another process
            import_module("tritonx.runtime.compiling.compiler")
        assert CompiledKernel.compile_source is not None, "the compiler says how"
        if isinstance(self.src.fn, JITCallable):
            self.src.fn.bring_back()
        return CompiledKernel.compile_source(self.src, self.target, {**self._own_options(), **options})

    def _own_options(self) -> dict[str, object]:
        """The backend's options that this kernel was compiled with."""
        known = {field.name for field in fields(find_backend(self.target.backend).options_type)}
        return {name: value for name, value in self.metadata._asdict().items() if name in known}

    def _loaded_image(self, own: Driver, device: int) -> tuple[KernelImage, LoadedKernel]:
        try:
            image = self.image()
            return image, own.load(image, device)
        except (OutOfResources, NoDevice, MemoryError):
            raise
        except Exception:
            if self._compile_again is None:
                raise
            self._renew()
        image = self.image()
        return image, own.load(image, device)

    def _init_handles(self) -> None:
        self.load()

    def __del__(self) -> None:
        """Gives up what is loaded. Called by name, as Triton's tests do, it leaves ``module`` None until the next
        launch; the device's memory is free when no launcher is left."""
        if loaded := self.__dict__.get("_loaded"):
            loaded.clear()
            self._of_launches = self._raw = None
            self._given_up = True

    def _handle(self) -> LoadedKernel:
        return next(iter(self._loaded.values()))[0] if self._loaded else self.load()[0]

    @property
    def n_regs(self) -> int:
        return self._handle().n_regs

    @property
    def n_spills(self) -> int:
        return self._handle().n_spills

    @property
    def n_max_threads(self) -> int:
        return self._handle().n_max_threads

    @property
    def function(self) -> Any:
        return self._handle().function

    @property
    def module(self) -> Any:
        return None if self._given_up and not self._loaded else self._handle()

    def __getstate__(self) -> dict[str, Any]:
        """Without the handles of this process."""
        state = {**self.__dict__, "metadata": self.metadata._asdict(), "asm": dict(self.asm.items())}
        state.pop("_backend", None)
        mine = ("_of_launches", "_raw", "_compile_again", "_other", "_unchecked", "_unmeasured")
        return {**state, "_loaded": {}, **dict.fromkeys(mine)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        metadata, asm = make_metadata(state["metadata"]), AsmDict(state["asm"])
        self.__dict__.update({**state, "metadata": metadata, "asm": asm})

    # Launching -----------------------------------------------------------------------------------------------------

    def launch_facts(self) -> LaunchFacts:
        """What a profiler asks of every launch."""
        fn: object = self.src.fn
        return LaunchFacts(self.name, self._driver, getattr(fn, "launch_metadata", None))

    def launch_metadata(self, grid: tuple[int, int, int], stream: int, *args: Any) -> LazyDict | None:
        """What launch hooks receive; None while there are none."""
        if not knobs.runtime.launch_enter_hook:
            return None
        if self._of_launches is None:
            self._of_launches = self.function, self._driver
        fn: Any = self.src.fn
        function, driver = self._of_launches
        data = LazyDict({"name": self.name, "function": function, "stream": stream})
        data.grid, data.driver = grid, driver
        if (describe := getattr(fn, "launch_metadata", None)) is not None:
            data.add(describe, (grid, self.metadata, dict(zip(fn.arg_names, args, strict=False))))
        return data

    @property
    def run(self) -> RawLauncher:
        """The launch that generated code calls with everything prepared."""
        if self._raw is None:
            self._raw = RawLauncher(self)
        return self._raw

    def __getitem__(self, grid: Any) -> Callable[..., None]:
        """Launch over ``grid`` with all parameters by position, or with the run-time ones only."""
        x, y, z = (*grid, 1, 1, 1)[:3] if hasattr(grid, "__len__") else (grid, 1, 1)
        extents: tuple[int, int, int] = (int(x), int(y), int(z))

        def runner(*args: object, stream: int | None = None) -> None:
            hooks = knobs.runtime
            own = self._driver
            used = own.current_stream(own.current_device()) if stream is None else stream
            data = self.launch_metadata(extents, used, *args)
            self.run(
                *extents, used, None, self.packed_metadata, data, hooks.launch_enter_hook, hooks.launch_exit_hook, *args
            )

        return runner

    def explain(self, target: Target | str | None = None) -> Report:
        """What the compiler made of this kernel, or makes of its source for another target: it is compiled once more.

        >>> double.warmup(np.zeros(8), BLOCK=8, grid=(1,)).explain("hip:gfx942").facts.levels[-1].name
        'amdgcn'
        """
        from tritonx.explain.report import explain_again

        return explain_again(self.src, self.metadata._asdict(), target)

    def _repr_html_(self) -> str:
        """Its figures and its texts, for notebooks."""
        from tritonx.explain.notebook import kernel_html

        return kernel_html(self.name, self.metadata._asdict(), dict(self.asm.items()))

    def __repr__(self) -> str:
        return f"CompiledKernel({self.name} for {self.target}, {self.hash[:12]})"


class RawLauncher:
    """``run(grid_x, grid_y, grid_z, stream, function, packed_metadata, launch_metadata, enter, exit, *args)``."""

    def __init__(self, kernel: CompiledKernel) -> None:
        self._kernel = kernel
        self._paths = _run_time_paths(kernel)
        self._rounding = _rounding(kernel, self._paths)
        self._specialize = specializer(specialize=False)
        self._watch = watching(self._specialize)

    def _flat(self, args: tuple[object, ...], written: Sequence[int]) -> list[Any]:
        """The run-time arguments, one by one."""
        flat: list[Any] = []
        expected = len(self._kernel.parameters)
        if (paths := self._paths.get(len(args))) is not None:
            for path in paths:
                value: Any = args[path[0]]
                for index in path[1:]:
                    value = parts_of(value)[index][1]
                flat.append(value)
        elif len(args) == expected:
            flat.extend(args)
        else:
            total = f" or {max(self._paths)} with the compile-time ones" if self._paths else ""
            raise TypeError(f"{self._kernel.name} takes {expected} run-time arguments{total}, got {len(args)}")
        for position in written:
            if type(flat[position]) is not int and self._watch(flat[position])[0].read_only:
                raise ReadOnlyArgument(self._kernel.name, self._kernel.parameters[position].name)
        return flat

    def _passed(self, position: int, value: object) -> Any:
        """What the device's code gets for the run-time argument ``value``."""
        try:
            if self._kernel.takes_spans:
                from tritonx.runtime.launch.spans import is_pointer, spanned

                if is_pointer(self._kernel.parameters[position]):
                    return spanned(value)
            return self._specialize(value)[1]
        except UnsupportedArgument as error:
            name = self._kernel.parameters[position].name
            raise type(error)(f"argument {name!r} of {self._kernel.name}(): {error}") from None

    def _check_rounding(self, flat: Sequence[object]) -> None:
        """Raises IrregularArgument for a descriptor that rounds where the code does not, or the other way round."""
        for position, rounds in self._rounding.items():
            value = flat[position]
            if hasattr(value, "block_shape") and bool(getattr(value, "round_f32_to_tf32", False)) != rounds:
                name = self._kernel.parameters[position].name
                does, made = ("does not round", "rounds") if rounds else ("rounds", "does not")
                raise IrregularArgument(
                    f"argument {name!r} of {self._kernel.name}(): the descriptor {does} to tf32, and this code {made}"
                )

    def __call__(
        self,
        x: int,
        y: int,
        z: int,
        stream: int,
        function: Any,
        packed_metadata: Any,
        launch_metadata: Any,
        enter_hook: Any,
        exit_hook: Any,
        *args: Any,
    ) -> None:
        _, launch = self._kernel.load()
        if enter_hook:
            enter_hook(launch_metadata)
        if x * y * z > 0:
            flat = self._flat(args, self._kernel.written)
            if self._rounding:
                self._check_rounding(flat)
            values = [value if type(value) is int else self._passed(i, value) for i, value in enumerate(flat)]
            if self._kernel.checks_bounds:
                from tritonx.runtime.launch.checked_launch import CheckedLaunch, named_arrays, run_checked

                device = self._kernel.current_device()
                arrays = named_arrays(self._kernel.parameters, flat)
                run_checked(CheckedLaunch(self._kernel, launch, device, (x, y, z), stream), values, arrays)
            else:
                launch(x, y, z, stream, *values)
        if exit_hook:
            exit_hook(launch_metadata)


def _run_time_paths(kernel: CompiledKernel) -> dict[int, list[tuple[int, ...]]]:
    """Number of arguments → paths of those that exist at run time: of all parameters, or, as launchers had them before
    Triton 3.3, of those that are not declared `constexpr`. Empty for a kernel from IR."""
    signature: dict[str, Any] | None = getattr(kernel.src, "signature", None)
    fn = kernel.src.fn
    if fn is None or signature is None:
        return {}
    declared = {parameter.name for parameter in getattr(fn, "params", ()) if parameter.is_constexpr}
    given = [(name, type_) for name, type_ in signature.items() if name not in declared]
    return {len(types): _paths(tuple(type_ for _, type_ in types)) for types in (given, list(signature.items()))}


def _rounding(kernel: CompiledKernel, paths: Mapping[int, Sequence[tuple[int, ...]]]) -> dict[int, bool]:
    """Descriptor among the run-time parameters → whether the code rounds what is read through it."""
    attributes: Mapping[object, Sequence[Sequence[object]]] | None = getattr(kernel.src, "attrs", None)
    if attributes is None or not paths:
        return {}
    return {
        position: [ROUNDED_ATTRIBUTE, 1] in [list(each) for each in attributes.get(path, ())]
        for position, path in enumerate(paths[max(paths)])
        if is_descriptor(kernel.parameters[position])
    }


def _paths(types: tuple[Any, ...], around: tuple[int, ...] = ()) -> list[tuple[int, ...]]:
    """Of what is no constant in tuples of types, of tuples, and so on."""
    found: list[tuple[int, ...]] = []
    for i, type_ in enumerate(types):
        path = (*around, i)
        if isinstance(type_, tuple):
            found += _paths(cast("tuple[Any, ...]", type_), path)
        elif type_ != "constexpr":
            found.append(path)
    return found
