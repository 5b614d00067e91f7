"""NVIDIA GPUs: PTX by LLVM, cubins by nvJitLink or ptxas, launches through the CUDA driver."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from tritonx.backends.api import (
    API_VERSION,
    STABLE_VERSION,
    Backend,
    Candidate,
    Driver,
    KernelImage,
    Options,
    Shortage,
    Stage,
    Target,
)
from tritonx.backends.nvidia.options import NvidiaOptions
from tritonx.runtime.devices.pytorch import built_for
from tritonx.runtime.errors import TooManyThreads
from tritonx.runtime.submodules import loading

if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp

    from tritonx.backends.embedding import Dialect
    from tritonx.conversion.tile_to_gpu.target import GpuTarget


class NvidiaBackend(Backend):
    """Targets ``cuda:75`` to ``cuda:120``; stages ttir, ttgir, llir, ptx, cubin."""

    name = "cuda"
    triton_name = "nvidia"
    api_version, stable_version = API_VERSION, STABLE_VERSION
    options_type = NvidiaOptions
    binary_stage = "cubin"
    dlpack_device_types = frozenset({2, 13})
    torch_device_types = frozenset({"cuda"})
    array_interfaces = ("__cuda_array_interface__",)
    visible_devices = "CUDA_VISIBLE_DEVICES"
    cpp_handles = ("CUdeviceptr", "CUtensorMap")
    portable_stage = "ptx"
    disassemblies = ("sass",)
    language_module = "tritonx.backends.nvidia.language"
    """What ``tl.extra.cuda`` is."""

    matrix_peaks: ClassVar[Mapping[str, tuple[float, float | None]]] = {
        "80": (4096, None),
        "89": (330.3e12 / (128 * 2.625e9), None),
        "90": (1513e12 / (114 * 1.755e9), None),
        "100": (16384, None),
    }
    """Dense rates of the vendor's data sheets, with sums in 32 bits: A100 (int8), RTX 4090, H100 PCIe, B200. The
    clocks are those that drivers report, which are above the data sheets' for the second and the third."""

    _driver: ClassVar[Driver | None] = None

    def serves(self, location: tuple[str, object, int]) -> bool:
        """Not the arrays of a PyTorch or CuPy that says CUDA for other GPUs."""
        protocol = location[0]
        ours = protocol not in ("torch", "interface") or built_for("cuda") is not False
        if protocol == "interface" and (cupy := sys.modules.get("cupy")) is not None:
            ours = not cupy.cuda.runtime.is_hip
        return ours and super().serves(location)

    def parse_target(self, arch: str) -> Target:
        from tritonx.backends.nvidia.targets import parse

        return parse(arch)

    def known_targets(self) -> tuple[Target, ...]:
        from tritonx.backends.nvidia.targets import CAPABILITIES

        return tuple(Target("cuda", n, 32) for n in CAPABILITIES)

    def default_options(self, target: Target) -> Mapping[str, object]:
        from tritonx.backends.nvidia.knobs import knobs
        from tritonx.runtime.knobs import compilation

        return {
            "pipeline": knobs.pipeline,
            "launch_maps": knobs.launch_maps is True,
            "describe_loads": knobs.describe_loads,
            "ptx_options": knobs.assembler_options(),
            "line_info": not compilation.disable_line_info,
        }

    def launch_options(self, target: Target) -> Mapping[str, object]:
        from tritonx.backends.nvidia.knobs import knobs

        return {"launch_maps": knobs.launch_maps is not False}

    def parse_options(self, target: Target, given: Mapping[str, object]) -> Options:
        options = super().parse_options(target, given)
        if target.warp_size != 32:
            raise ValueError(f"a warp of {target} has 32 threads, the target says {target.warp_size}")
        if options.num_warps > 32:
            raise TooManyThreads(options.num_warps * 32, 1024)
        if options.num_ctas > 16 or options.num_ctas & (options.num_ctas - 1):
            raise ValueError(f"num_ctas must be a power of two up to 16, got {options.num_ctas}")
        if options.num_ctas > 1 and int(target.arch) < 90:
            raise ValueError(
                f"num_ctas > 1 requires NVIDIA SM90+ (Hopper): this is {target}, num_ctas = {options.num_ctas}"
            )
        return options

    def stages(self, target: Target, options: Options) -> tuple[Stage, ...]:
        from tritonx.backends.nvidia.pipeline import stages

        return stages(target, options)

    def gpu_target(self, target: Target, options: Options) -> GpuTarget:
        from tritonx.backends.nvidia.layout_target import gpu_target

        return gpu_target(target, options)

    def propose(self, target: Target, candidate: Candidate) -> Sequence[Mapping[str, object]]:
        """Half and twice the warps, a stage more and less."""
        assert isinstance(candidate.options, NvidiaOptions)
        return candidate.options.neighbours(1024 // target.warp_size)

    def foresee(self, target: Target, options: Options, module: ModuleOp) -> Shortage | None:
        from tritonx.backends.nvidia.targets import capability
        from tritonx.conversion.tile_to_gpu.foresee import Room, shortage

        chip, threads = capability(target), target.warp_size * options.num_warps
        return shortage(Room(chip.shared_bytes, chip.thread_registers(threads)), module)

    def version_key(self) -> str:
        """The device library is part of the code of the kernels that call it."""
        from tritonx.backends.nvidia.libdevice.device_library import fingerprint
        from tritonx.backends.nvidia.targets import PTX_VERSION

        return f"ptx{PTX_VERSION} libdevice{fingerprint()}"

    def extern_functions(self, target: Target) -> Mapping[str, Any]:
        from tritonx.backends.nvidia.libdevice.libdevice_names import FUNCTIONS

        return FUNCTIONS

    def disassemble(self, name: str, image: KernelImage) -> str | None:
        if name not in ("sass", "sass-lines"):
            return None
        from tritonx.backends.nvidia.assembler.disassemble import disassemble

        return disassemble(image.binary, lines=name == "sass-lines")

    def prepare_launch(self) -> None:
        from tritonx.backends.nvidia.launch.launcher import can_build

        if can_build():
            from tritonx.backends.nvidia.launch.launcher_builtin import object_file

            object_file()

    def has_device(self) -> bool | None:
        from tritonx.backends.nvidia.launch.presence import gpu_visible

        return gpu_visible()

    def c_dialect(self) -> Dialect:
        from tritonx.backends.nvidia.launch.embedding import DIALECT

        return DIALECT

    def driver(self) -> Driver:
        if NvidiaBackend._driver is None:
            from tritonx.backends.nvidia.driver import NvidiaDriver

            NvidiaBackend._driver = NvidiaDriver()
        return NvidiaBackend._driver


BACKEND = NvidiaBackend()

if not TYPE_CHECKING:  # a type checker is to find unknown names
    __getattr__ = loading(__name__, ("compiler", "driver"))
