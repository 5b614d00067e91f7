"""``knobs.nvidia``: this backend's settings, under Triton's names."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

from tritonx.runtime.errors import TritonError
from tritonx.runtime.settings.environment import getenv
from tritonx.runtime.settings.setting import Group, Knob, flag, optional_text
from tritonx.runtime.settings.setting_texts import parse_bool, parse_file


class NoTool(TritonError, RuntimeError):
    """A program of the vendor's was asked for and is not on this machine."""


@dataclass
class NvidiaTool:
    """A program of the vendor's, and the version (``13.0``) that it reports.

    >>> NvidiaTool("/usr/local/cuda/bin/ptxas", "13.0").version
    '13.0'
    """

    path: str
    version: str

    @staticmethod
    @lru_cache
    def from_path(path: str) -> NvidiaTool | None:
        """The program at ``path``; None where there is none, or it does not tell a version."""
        try:
            said = subprocess.run([path, "--version"], capture_output=True, text=True, check=True).stdout
        except (OSError, subprocess.CalledProcessError):
            return None
        found = re.search(r"release (\d+\.\d+)", said)
        return None if found is None else NvidiaTool(path, found[1])


class env_nvidia_tool(Knob[NvidiaTool]):
    """A program: assigned and read from the environment as a path, given as an `NvidiaTool`.

    >>> class Settings(tritonx.knobs.base_knobs):
    ...     ptxas = tritonx.knobs.env_nvidia_tool("ptxas")
    >>> Settings.ptxas.env
    'TRITON_PTXAS_PATH'
    """

    def __init__(self, binary: str) -> None:
        super().__init__(f"TRITON_{binary.upper().replace('-', '_')}_PATH", self.get, self.transform)
        self.binary = binary

    def get(self) -> NvidiaTool:
        return self.transform(getenv(self.key or ""))

    def transform(self, path: str | None) -> NvidiaTool:  # pyright: ignore[reportIncompatibleMethodOverride]  # Triton's name of the parameter
        """The program at ``path``, else the one that compiling uses. Raises NoTool."""
        found = None if path is None else NvidiaTool.from_path(path)
        if found is None and (usual := _finder(self.binary)()) is not None:
            found = NvidiaTool.from_path(usual)
        if found is None:
            raise NoTool(f"Cannot find {self.binary}")
        return found


def _finder(binary: str) -> Callable[[], str | None]:
    """What looks for a program where the environment does not name one."""
    from tritonx.backends.nvidia.assembler.assemble import installed_ptxas
    from tritonx.backends.nvidia.assembler.disassemble import find_program

    return installed_ptxas if binary.startswith("ptxas") else lambda: find_program(binary)


class NvidiaKnobs(Group):
    """The settings of this backend, under Triton's names.

    >>> with tritonx.knobs.nvidia.scope():
    ...     tritonx.knobs.nvidia.ptxas_options = "--verbose"
    ...     tritonx.knobs.nvidia.assembler_options()
    '--verbose'
    """

    libdevice_path = Knob[str | None]("TRITON_LIBDEVICE_PATH", None, parse_file)
    """The libdevice.10.bc to link with; None looks for one. PyTorch sets it to be as exact as its own kernels."""

    pipeline = Knob[bool]("TRITON_PIPELINE", True, parse_bool)
    """Whether loops with products are pipelined where a launch does not say (`pipeline=`)."""

    launch_maps = Knob[bool | None]("TRITON_LAUNCH_MAPS", None, parse_bool)
    """Whether launches make the tensor maps of descriptors that kernels make of their arguments alone, where a launch
    does not say (`launch_maps=`). None: those of tritonx do, and what `tritonx.compile` makes others may launch."""

    describe_loads = Knob[bool | None]("TRITON_DESCRIBE_LOADS", None, parse_bool)
    """Whether loads through pointers become a descriptor's where a launch does not say (`describe_loads=`). None: where
    launches make the tensor maps, and nothing is to be asked at run time."""

    cuobjdump = env_nvidia_tool("cuobjdump")
    nvdisasm = env_nvidia_tool("nvdisasm")
    ptxas = env_nvidia_tool("ptxas")
    ptxas_blackwell = env_nvidia_tool("ptxas-blackwell")
    """One assembler serves all targets here: the same program as ``ptxas``, unless another is named."""

    ptxas_options = optional_text("PTXAS_OPTIONS")
    """What the assembler is told where a launch does not say (``ptx_options=``)."""

    disable_ptxas_opt = flag("DISABLE_PTXAS_OPT")
    """The assembler does not optimise."""

    dump_nvptx = flag("NVPTX_ENABLE_DUMP")
    """Print the PTX of each kernel as it is compiled."""

    dump_ptxas_log = flag("TRITON_DUMP_PTXAS_LOG")
    """Print what the assembler says of each kernel as it is compiled."""

    mock_ptx_version = optional_text("TRITON_MOCK_PTX_VERSION")
    """What `get_ptxas_version` answers, for tests of libraries. Without effect on code."""

    libcuda_path = optional_text("TRITON_LIBCUDA_PATH")
    """A folder with libcuda for programs that are linked with it (`library_dirs`). Launches take the one that the
    system's loader finds."""

    def assembler_options(self) -> str | None:
        """What the assembler is told by default."""
        parts = "--opt-level 0" if self.disable_ptxas_opt else "", self.ptxas_options or ""
        return " ".join(part for part in parts if part) or None


nvidia_knobs = NvidiaKnobs

knobs = NvidiaKnobs()
