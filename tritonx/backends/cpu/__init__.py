"""The CPU backend: kernels as loop nests on the host's cores. Imports nothing heavy before a method needs it."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING, Any, ClassVar, cast

from tritonx.backends.api import API_VERSION, STABLE_VERSION, Backend, Driver, Options, Stage, Target
from tritonx.backends.cpu.options import CpuOptions

if TYPE_CHECKING:
    from tritonx.backends.api import KernelImage
    from tritonx.backends.embedding import Dialect


class CpuBackend(Backend):
    """Targets: ``cpu`` (this machine), ``cpu:x86-64-v3`` (AVX2), ``cpu:x86-64-v4`` (AVX-512)."""

    name: ClassVar[str] = "cpu"
    api_version, stable_version = API_VERSION, STABLE_VERSION
    options_type: ClassVar[type[Options]] = CpuOptions
    binary_stage: ClassVar[str] = "obj"
    dlpack_device_types: ClassVar[frozenset[int]] = frozenset({1})
    torch_device_types: ClassVar[frozenset[str]] = frozenset({"cpu"})
    array_interfaces: ClassVar[tuple[str, ...]] = ("__array_interface__",)
    portable_stage: ClassVar[str] = "llir"
    libraries: ClassVar[tuple[str, ...]] = ("so", "launcher.so")

    def parse_target(self, arch: str) -> Target:
        known = [str(t.arch) for t in self.known_targets()]
        if arch in ("host", "native"):
            arch = ""
        if arch not in known:
            raise ValueError(f"unknown CPU target 'cpu:{arch}'; known: {', '.join(map(str, self.known_targets()))}")
        return Target("cpu", arch)

    def known_targets(self) -> tuple[Target, ...]:
        return Target("cpu"), Target("cpu", "x86-64-v3"), Target("cpu", "x86-64-v4")

    def default_options(self, target: Target) -> Mapping[str, object]:
        from tritonx.runtime.knobs import compilation

        return {"line_info": not compilation.disable_line_info}

    def stages(self, target: Target, options: Options) -> tuple[Stage, ...]:
        from tritonx.backends.cpu.pipeline import stages

        return stages(target, cast(CpuOptions, options))

    def parse_options(self, target: Target, given: Mapping[str, object]) -> Options:
        options = cast(CpuOptions, super().parse_options(target, given))
        if options.num_threads < 0:
            raise ValueError(f"num_threads must not be negative, got {options.num_threads}")
        return options

    def code_options(self, target: Target, options: Options) -> Options:
        return options.replace(num_warps=1, num_stages=1, num_ctas=1)

    def version_key(self) -> str:
        """The LLVM that writes the code, and the CPU that it is for."""
        from tritonx.backends.cpu.host import fingerprint

        return f"llvmlite {_llvmlite()} {fingerprint()}"

    def prepare_launch(self) -> None:
        from tritonx.backends.cpu.driver import prepare

        prepare()

    def extern_functions(self, target: Target) -> Mapping[str, Any]:
        from tritonx.conversion.tile_to_loops.libdevice import OVERLOADS

        return OVERLOADS

    def library(self, name: str, image: KernelImage) -> bytes | None:
        from tritonx.backends.cpu.inductor import kernel, launcher

        return kernel(image) if name == "so" else launcher()

    def c_dialect(self) -> Dialect:
        from tritonx.backends.cpu.embedding import DIALECT

        return DIALECT

    def driver(self) -> Driver:
        from tritonx.backends.cpu.driver import CpuDriver

        return CpuDriver()


@cache
def _llvmlite() -> str:
    """Its version, which is read from a file."""
    from importlib.metadata import version

    return version("llvmlite")


BACKEND = CpuBackend()

__all__ = ["BACKEND", "CpuBackend", "CpuOptions"]
