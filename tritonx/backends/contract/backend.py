"""A backend: which targets it serves, with which options, through which stages, and what it is asked."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, cast

from tritonx.backends.contract.candidates import Candidate, Shortage
from tritonx.backends.contract.driver import Driver, KernelImage
from tritonx.backends.contract.options import Options, Target, option_names
from tritonx.backends.contract.stages import Stage

if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp

    from tritonx.backends.embedding import Dialect
    from tritonx.conversion.tile_to_gpu.target import GpuTarget


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

    matrix_peaks: ClassVar[Mapping[str, tuple[float, float | None]]] = {}
    """Architecture (``str(target.arch)``) → operations on 8-bit operands that a multiprocessor's matrix units do in a
    clock, a multiply-add counting as two, and the bytes that the memory moves in a second; None where the clock and the
    bus say that. What profiles are compared with."""

    portable_stage: ClassVar[str] = ""
    """The stage whose text a driver can assemble for devices of a later architecture than it was written for (PTX); ""
    where there is none."""

    disassemblies: ClassVar[tuple[str, ...]] = ()
    """The names that ``disassemble`` knows (``sass``)."""

    libraries: ClassVar[tuple[str, ...]] = ()
    """The names that ``library`` knows."""

    @abstractmethod
    def parse_target(self, arch: str) -> Target:
        """The target for the text after the colon; "" is the default one. Raises ``ValueError`` with the known
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

    def launch_options(self, target: Target) -> Mapping[str, object]:
        """What a launch gets beyond ``default_options`` where it says nothing: what only this backend's own launcher
        can run. A kernel that ``tritonx.compile`` makes may be launched by others, and does not get it."""
        return {}

    def parse_options(self, target: Target, given: Mapping[str, object]) -> Options:
        """The options with ``given`` applied over ``default_options`` and the settings for all backends, where None
        says nothing; an unknown keyword is ``KeyError``, an impossible value ``ValueError``."""
        known = option_names(self.options_type)
        for key in given:
            if key not in known:
                raise KeyError(f"Keyword argument {key} was specified but unrecognised")
        from tritonx.runtime.knobs import language

        build = cast("Callable[..., Options]", self.options_type)
        stated = {key: value for key, value in given.items() if value is not None}
        stated = {**self.default_options(target), **stated}
        fused = language.fp_fusion_enabled(cast("bool | None", stated.get("enable_fp_fusion")))
        options = build(**{**stated, "enable_fp_fusion": fused})
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

    def library(self, name: str, image: KernelImage) -> bytes | None:
        """A shared library that a compiled kernel's ``asm[name]`` gives, for a runtime other than this one; None if
        nothing. Raises a ``TritonError`` where it takes a compiler that is missing. Optional."""
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
