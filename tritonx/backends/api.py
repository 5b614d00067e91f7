"""The contract between tritonx and a backend: the one module with a promise of stability.

A backend is a frozen value that a package names under the entry-point group ``tritonx.backends``::

    [project.entry-points."tritonx.backends"]
    mychip = "mychip_tritonx:BACKEND"

It says which targets it serves, with which options, through which stages a module becomes code, and which driver runs
that code. Compiling never touches the driver; the driver is loaded at the first launch. Nothing here imports xDSL,
llvmlite or numpy, so that a launch that hits a cache imports none of them either.
"""

from __future__ import annotations

import dataclasses
import hashlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Protocol, cast

if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp
    from xdsl.passes import ModulePass

    from tritonx.backends.embedding import Dialect
    from tritonx.conversion.tile_to_gpu.target import GpuTarget
    from tritonx.ir.origin import Origin

API_VERSION = 2
"""Raised when a change here would break a backend that was written for the previous number."""

STABLE_VERSION = 1
"""The same of `tritonx.backends.gpu` and `tritonx.backends.tile`: what a backend's passes and emitters import."""


@dataclass(frozen=True, slots=True)
class Target:
    """What a kernel is compiled for; prints as ``backend:arch`` (``cuda:90``, ``hip:gfx942``, ``cpu``).

    >>> from tritonx.backends.api import Target
    >>> str(Target("cuda", 90, 32)), str(Target("cpu"))
    ('cuda:90', 'cpu')
    """

    backend: str
    arch: int | str = ""
    warp_size: int = 1

    def __str__(self) -> str:
        return f"{self.backend}:{self.arch}" if self.arch != "" else self.backend


class Language(Enum):
    """The language of a kernel's source. Kernels of Gluon, Triton's second language, cannot be compiled.

    >>> Language.TRITON.name
    'TRITON'
    """

    TRITON = 0
    GLUON = 1


@dataclass(frozen=True)
class Options:
    """Compile options that every backend understands; a backend derives from it and adds its own, a GPU's from
    `tritonx.backends.gpu.GpuOptions`.

    The fields are the keywords that a launch, a ``Config`` and ``tritonx.compile`` accept. Values must be hashable: the
    options are part of the in-memory key, and their ``repr`` of the key on disk.

    ``num_warps``, ``num_stages`` and ``num_ctas`` come with every ``Config``: a backend to which one means nothing
    leaves it alone, one that cannot do what it asks for refuses it in ``parse_options``. What kernels may be written
    with, the backend declares by its defaults: the 8-bit floats of the language that it has
    (``supported_fp8_dtypes``), and the ways in which it multiplies f32 numbers (``allowed_dot_input_precisions``).

    >>> Options(num_warps=8).replace(num_stages=1).num_stages
    1
    """

    num_warps: int = 4
    num_stages: int = 3
    num_ctas: int = 1
    debug: bool = False
    sanitize_overflow: bool = True
    enable_fp_fusion: bool = True
    default_dot_input_precision: str = "ieee"
    allowed_dot_input_precisions: tuple[str, ...] = ("ieee",)
    max_num_imprecise_acc_default: int = 0
    supported_fp8_dtypes: tuple[str, ...] = ()
    extern_libs: tuple[tuple[str, str], ...] = ()
    ir_override: str | None = None

    PORTABLE: ClassVar[frozenset[str]] = frozenset()
    """Of the options that a backend adds, those that kernels pass wherever they run, since they say how and not what to
    compute: a launch on a backend that has no such option leaves it out. Any other is an error there."""

    @property
    def is_cooperative(self) -> bool:
        """Whether all programs of a launch run at once, as Triton's hooks are told."""
        return False

    def min_dot_size(self, lhs_bits: int, rhs_bits: int) -> tuple[int, int, int]:
        """The least M, N and K of ``tl.dot`` for operands of these widths."""
        return (1, 1, 1)

    def hash(self) -> str:
        """A digest of the options, for the keys of libraries."""
        return hashlib.sha256(repr(self).encode()).hexdigest()

    def replace(self, **changes: object) -> Options:
        return dataclasses.replace(self, **changes)


@dataclass
class Compilation:
    """What the stages of one compile share. ``metadata`` ends up as the compiled kernel's ``metadata``.

    >>> from tritonx.backends.api import Options, Target
    >>> Compilation(Target("cpu"), Options()).metadata
    {}
    """

    target: Target
    options: Options
    metadata: dict[str, Any] = field(default_factory=dict[str, Any])
    scratch: dict[str, Any] = field(default_factory=dict[str, Any])
    """What one stage keeps for the next and no one else needs (an optimised module beside its text)."""
    origin: Origin | None = None
    """Where the LLVM text comes from; None for text that a user supplies. Set by the stage that writes the text, read
    where it is compiled (``tritonx.runtime.isolation``)."""
    inspect: Callable[[str, Any], None] | None = None
    """Called with (stage or pass name, artifact) as each is made; ``tritonx-opt --print-ir-after-all`` and dumps use
    it."""


@dataclass(frozen=True)
class PassStage:
    """A stage from IR to IR: these passes, in this order. ``name`` is the key in a compiled kernel's ``asm``.

    ``pending`` tells which passes a module still needs that was read from a file and may be beyond this stage; without
    it all of them.

    >>> from tritonx.transforms.tile.dce import DeadCodeElimination
    >>> PassStage("ttir", (DeadCodeElimination(),)).passes[0].name
    'dce'
    """

    name: str
    passes: tuple[ModulePass, ...]
    pending: Callable[[ModuleOp], tuple[ModulePass, ...]] | None = None
    kind: ClassVar[Literal["ir"]] = "ir"

    def remaining(self, module: ModuleOp) -> PassStage:
        """The stage with what ``module``, at whatever level, still needs of it."""
        return self if self.pending is None else PassStage(self.name, self.pending(module))


@dataclass(frozen=True)
class EmitStage:
    """A stage from what the previous one made to text or bytes (``llir``, ``ptx``, ``cubin``, ``amdgcn``, ``obj``).

    >>> from tritonx.backends.api import Compilation, Options, Target, run_stages
    >>> shout = EmitStage("loud", lambda text, compilation: text.upper())
    >>> run_stages("words", [shout], Compilation(Target("cpu"), Options()))
    {'loud': 'WORDS'}
    """

    name: str
    emit: Callable[[Any, Compilation], str | bytes]
    kind: Literal["text", "binary"] = "text"
    needs_tool: bool = False
    """Whether it takes a program of the vendor's, which need not be there where nothing runs."""


Stage = PassStage | EmitStage


@dataclass(frozen=True)
class Shortage:
    """A block of a kernel would need more of ``name`` (shared memory in bytes, registers of a thread) than a
    device of the target gives it.

    >>> Shortage(300_000, 232_448, "shared memory").required
    300000
    """

    required: int
    limit: int
    name: str


@dataclass(frozen=True)
class Candidate:
    """A configuration of a tuned kernel as a launch with it would be compiled: what a backend is asked about.

    ``given``: the keywords of the configuration, compile-time parameters and options. ``types``: the parameters' types
    by name, ``constexpr`` for what is compiled in, and ``constants`` the values of those, whether the configuration,
    the launch or a heuristic gives them. ``options``: all of them, as the backend parsed them.

    >>> from tritonx.backends.api import Options
    >>> types, constants = {"x": "*fp32", "BLOCK": "constexpr"}, {"BLOCK": 64}
    >>> candidate = Candidate("copy", {"BLOCK": 64}, types, constants, Options(num_warps=8), (1, 1, 1))
    >>> candidate.constants["BLOCK"] * candidate.grid[0]
    64
    """

    kernel: str
    given: Mapping[str, object]
    types: Mapping[str, object]
    constants: Mapping[str, object]
    options: Options
    grid: tuple[int, int, int]


@dataclass(frozen=True)
class Parameter:
    """One run-time parameter of a compiled kernel, in order; constexpr parameters are not among them.

    ``type`` is Triton's name: ``*fp32``, ``i32``, ``u64``, ``fp32``, ``u1``, ``tensordesc<fp16[128, 64]>``.

    >>> Parameter("x", "*fp32").type
    '*fp32'
    """

    name: str
    type: str


@dataclass(frozen=True)
class KernelImage:
    """A finished compile as the driver gets it: what is stored in the cache on disk.

    ``name`` is the entry symbol. ``metadata`` holds at least ``num_warps``, ``num_ctas``, ``shared`` (bytes of dynamic
    shared memory), ``global_scratch_size``/``global_scratch_align`` (bytes a program) and ``warp_size``.

    >>> compiled = double.warmup(np.zeros(8, np.float32), BLOCK=8, grid=(1,))
    >>> compiled.image().parameters
    (Parameter(name='x', type='*fp32'),)
    """

    name: str
    binary: bytes
    parameters: tuple[Parameter, ...]
    metadata: Mapping[str, Any]
    target: Target


class LoadedKernel(Protocol):
    """A kernel image in a device's memory."""

    n_regs: int
    n_spills: int
    # ``written: Sequence[int]``, positions of the parameters that the kernel may store through, where the driver tells:
    # a launch then refuses arrays that say they are read-only.
    n_max_threads: int

    @property
    def function(self) -> object:
        """The driver's handle."""
        ...

    def launch(self, grid: tuple[int, int, int], stream: int, args: Sequence[object]) -> None:
        """Enqueue the grid. ``args`` follow the image's parameters; pointers come as arrays or as integer addresses,
        and for a driver with ``takes_spans`` as spans."""
        ...


class Driver(ABC):
    """Devices, memory, streams and launches of one backend. Made once, at the first launch.

    >>> driver = tritonx.backends.backends["cpu"].compiler.driver()
    >>> isinstance(driver, Driver), driver.device_count(), str(driver.current_target()).partition(":")[0]
    (True, 1, 'cpu')
    """

    takes_spans: bool = False
    """Whether launches hand on, for a pointer, the memory that may be reached through it
    (`tritonx.backends.gpu.Span`) and not its address: for a device that does not see the memory which its backend
    serves. `tritonx.backends.gpu.on_copies` makes addresses of them. Each launch then looks at its arguments again;
    an integer that the user gave for a pointer stays one."""

    @abstractmethod
    def device_count(self) -> int: ...

    @abstractmethod
    def current_device(self) -> int: ...

    @abstractmethod
    def current_stream(self, device: int) -> int: ...

    @abstractmethod
    def current_target(self, device: int | None = None) -> Target: ...

    @abstractmethod
    def properties(self, device: int) -> Mapping[str, int]:
        """At least Triton's keys: multiprocessor_count, max_shared_mem, max_num_regs, warpSize, sm_clock_rate (kHz),
        mem_clock_rate (kHz), mem_bus_width (bits)."""

    @abstractmethod
    def load(self, image: KernelImage, device: int) -> LoadedKernel:
        """Raises ``tritonx.runtime.errors.OutOfResources`` where the kernel needs more than the device has."""

    @abstractmethod
    def allocate(self, nbytes: int, device: int) -> int:
        """The address of new device memory; raises ``MemoryError``."""

    @abstractmethod
    def free(self, address: int, device: int) -> None: ...

    @abstractmethod
    def copy_to_device(self, destination: int, source: memoryview, device: int) -> None: ...

    @abstractmethod
    def copy_to_host(self, destination: memoryview, source: int, device: int) -> None: ...

    @abstractmethod
    def synchronize(self, device: int | None = None) -> None: ...

    @abstractmethod
    def time(self, run: Callable[[], object], repeat: int, *, flush_cache: bool = True) -> list[float]:
        """Milliseconds of each of ``repeat`` runs on the device's own clock."""

    def time_graph(self, run: Callable[[], object], milliseconds: float) -> list[float]:
        """Milliseconds of each run, recorded into a graph and replayed for about ``milliseconds``. Optional."""
        raise NotImplementedError

    def make_launcher(self, image: KernelImage, kernel: LoadedKernel) -> Callable[..., None]:
        """A callable ``(grid_x, grid_y, grid_z, stream, *args)``: the hot path. Override it where a faster one
        exists."""

        def launcher(x: int, y: int, z: int, stream: int, *args: object) -> None:
            kernel.launch((x, y, z), stream, args)

        return launcher


class Backend(ABC):
    """Hardware support as a value. Everything that costs an import belongs inside the methods.

    >>> cpu = tritonx.backends.backends["cpu"].compiler
    >>> [stage.name for stage in cpu.stages(cpu.parse_target(""), cpu.options_type())]
    ['ttir', 'llir', 'obj']
    """

    name: ClassVar[str]
    """The part before the colon in a target's name (``cuda``, ``hip``, ``cpu``)."""

    triton_name: ClassVar[str] = ""
    """The key in Triton's table of backends, where it is another than ``name``: libraries look for it."""

    api_version: ClassVar[int]
    """The ``API_VERSION`` of this module that it was written for, as a number: what it took from here would always
    agree. A backend that is installed must say."""
    stable_version: ClassVar[int]
    """The same of `tritonx.backends.gpu` and `tritonx.backends.tile`."""

    options_type: ClassVar[type[Options]] = Options
    binary_stage: ClassVar[str]
    """The last stage's name (``cubin``, ``hsaco``, ``obj``): what the driver loads."""

    dlpack_device_types: ClassVar[frozenset[int]] = frozenset()
    """DLDeviceType numbers of the arrays that live where this backend runs (1 host, 2 CUDA, 3 CUDA host, 10 ROCm, 13
    CUDA managed)."""

    torch_device_types: ClassVar[frozenset[str]] = frozenset()
    """``tensor.device.type`` of those arrays."""

    array_interfaces: ClassVar[tuple[str, ...]] = ()
    """Attributes by which other arrays are known to live there (``__array_interface__``,
    ``__cuda_array_interface__``)."""

    visible_devices: ClassVar[str] = ""
    """The environment variable by which the vendor's library is told which devices there are for a process."""

    cpp_handles: ClassVar[tuple[str, str]] = ("void*", "void*")
    """The C++ types of a pointer and of a tensor descriptor among a kernel's parameters."""

    language_module: ClassVar[str | None] = None
    """The module of functions that only this backend's targets have: ``tl.extra.<name>`` is what its ``__all__``
    names."""

    families: ClassVar[Mapping[str, frozenset[int | str]]] = {}
    """Families of architectures: ``tl.target_info.is_<name>_<family>()`` asks whether the target's is one of them."""

    disassemblies: ClassVar[tuple[str, ...]] = ()
    """The names that ``disassemble`` knows (``sass``)."""

    @abstractmethod
    def parse_target(self, arch: str) -> Target:
        """The target for what stands after the colon; "" is the default one. Raises ``ValueError`` with the known
        ones."""

    def serves(self, location: tuple[str, object, int]) -> bool:
        """Whether this backend runs where arrays at ``location`` (protocol, device kind in it, index) live."""
        protocol, kind, _ = location
        if protocol == "interface":
            return kind in self.array_interfaces
        if protocol == "torch":
            return kind in self.torch_device_types
        if protocol == "dlpack":
            return kind in self.dlpack_device_types
        return protocol == "backend" and kind == self.name

    @abstractmethod
    def known_targets(self) -> tuple[Target, ...]:
        """The targets that tests compile for where there is no device."""

    @abstractmethod
    def stages(self, target: Target, options: Options) -> tuple[Stage, ...]:
        """From ``tt`` to device code, in order. The first stage is ``ttir``; a literal list, readable top to bottom."""

    def gpu_target(self, target: Target, options: Options) -> GpuTarget | None:
        """The target as the passes from `tt` to `ttg` see it; None for a backend that leaves at `tt`."""
        return None

    def default_options(self, target: Target) -> Mapping[str, object]:
        """What a launch for ``target`` gets where it says nothing, by keyword: those options whose default is not what
        ``options_type`` says (one target's own ``num_warps``, what a setting of the user's chooses)."""
        return {}

    def parse_options(self, target: Target, given: Mapping[str, object]) -> Options:
        """The options with ``given`` applied over ``default_options``, where None says nothing; an unknown keyword is
        ``KeyError``, an impossible value ``ValueError``."""
        known = {f.name for f in dataclasses.fields(self.options_type)}
        for key in given:
            if key not in known:
                raise KeyError(f"Keyword argument {key} was specified but unrecognised")
        build = cast("Callable[..., Options]", self.options_type)
        stated = {key: value for key, value in given.items() if value is not None}
        options = build(**{**self.default_options(target), **stated})
        warps = cast(object, options.num_warps)  # whatever the launch gave
        if not isinstance(warps, int) or warps < 1 or warps & (warps - 1):
            raise ValueError(f"num_warps must be a power of 2, got {warps!r}")
        for name, given_number, least in (("num_stages", options.num_stages, 0), ("num_ctas", options.num_ctas, 1)):
            number = cast(object, given_number)
            if not isinstance(number, int) or number < least:
                raise ValueError(f"{name} must be a whole number from {least} on, got {number!r}")
        return options

    def version_key(self) -> str:
        """Whatever, beside tritonx's own sources, makes this backend produce other code: part of the cache's key."""
        return ""

    def pointer_specialization(self, nbytes: int) -> tuple[str, ...]:
        """Extra facts about a pointer argument to compile in, given its allocation's size (AMD: 32-bit offsets)."""
        return ()

    def extern_functions(self, target: Target) -> Mapping[str, Any]:
        """What ``tl.extra.libdevice`` names resolve to here: name → overload table of the backend's own device
        library."""
        return {}

    def disassemble(self, name: str, image: KernelImage) -> str | None:
        """What a compiled kernel's ``asm[name]`` gives, and ``tritonx-opt -t name`` prints, where no stage has that
        name (``sass``); None if nothing. Raises a ``TritonError`` where it takes a tool that is missing. Optional."""
        return None

    def c_dialect(self) -> Dialect | None:
        """How a C program loads and launches a kernel (``tritonx compile``); None where it cannot. Optional."""
        return None

    def prepare_launch(self) -> None:
        """Called after a compile that the cache did not have: makes what launches need beside the kernel while the
        compiler is loaded, so that no launch compiles anything. Optional."""
        return None

    def propose(self, target: Target, candidate: Candidate) -> Sequence[Mapping[str, object]]:
        """Configurations worth trying beside this one, each as the keywords that it changes: parameters that the
        configuration gives, and options. Asked where the user says so (``autotune(propose=True)``). Optional."""
        return ()

    def code_options(self, target: Target, options: Options) -> Options:
        """The options with everything that changes no code of ``target`` at one value. Of configurations that are the
        same then, the tuner tries the first. Optional."""
        return options

    def predict(self, target: Target, candidate: Candidate) -> Shortage | None:
        """What a kernel will lack, told before anything is compiled. The tuner tries such a configuration only where no
        other runs. Optional."""
        return None

    def foresee(self, target: Target, options: Options, module: ModuleOp) -> Shortage | None:
        """What ``predict`` could not tell, told by the module that the last of the pass stages leaves: the tuner
        compiles such a configuration no further. Optional."""
        return None

    def prune(self, target: Target, candidates: Sequence[Candidate]) -> Mapping[int, str]:
        """The numbers of the candidates that are not worth measuring, each with the reason, which the tuner's report
        shows. They are those that the user's pruning and ``predict`` leave. Optional."""
        return {}

    def has_device(self) -> bool | None:
        """Whether there is a device, told without the driver, which a process that forks later may not start; None
        where only the driver can tell. Optional."""
        return None

    @abstractmethod
    def driver(self) -> Driver:
        """Raises ``tritonx.runtime.errors.NoDevice`` with the reason where there is none."""


def run_stages(module: ModuleOp | str | bytes, stages: Sequence[Stage], compilation: Compilation) -> dict[str, Any]:
    r"""Run ``stages`` in order from ``module``; the artifact of each by name. A failing pass raises ``PassFailure``.

    >>> from tritonx.backends.api import Compilation, EmitStage, Options, Target
    >>> lines = EmitStage("lines", lambda text, compilation: text.replace(";", "\n"))
    >>> size = EmitStage("size", lambda text, compilation: bytes([len(text)]), "binary")
    >>> run_stages("a;b", [lines, size], Compilation(Target("cpu"), Options()))
    {'lines': 'a\nb', 'size': b'\x03'}
    """
    from tritonx.ir.pipeline import run_emit_stage, run_pass_stage

    artifacts: dict[str, Any] = {}
    value: ModuleOp | str | bytes = module
    for stage in stages:
        if isinstance(stage, PassStage):
            run_pass_stage(cast("ModuleOp", value), stage, compilation)
        else:
            value = run_emit_stage(stage, value, compilation)
            if compilation.inspect is not None:
                compilation.inspect(stage.name, value)
        artifacts[stage.name] = value
    return artifacts
