"""Triton's module ``triton.backends.nvidia.compiler``: the compile side of this backend under Triton's names."""

from __future__ import annotations

import hashlib
import subprocess
from collections.abc import Callable
from functools import lru_cache
from typing import Protocol

from tritonx.backends.api import Target
from tritonx.backends.compiler import BaseBackend, GPUTarget, Language, TargetBackend
from tritonx.backends.nvidia import BACKEND
from tritonx.backends.nvidia.knobs import NvidiaTool, knobs
from tritonx.backends.nvidia.options import NvidiaOptions
from tritonx.backends.nvidia.targets import PTX_VERSION
from tritonx.backends.nvidia.targets import capability as of_target
from tritonx.runtime.errors import PTXASError

__all__ = [
    "BaseBackend",
    "CUDABackend",
    "CUDAOptions",
    "GPUTarget",
    "Language",
    "PTXASError",
    "file_hash",
    "get_features",
    "get_ptx_version_from_options",
    "get_ptxas",
    "get_ptxas_version",
    "min_dot_size",
    "ptx_get_version",
    "sm_arch_from_capability",
]

CUDAOptions = NvidiaOptions

BLACKWELL = 100
"""The first compute capability for which another assembler may be named."""


class CUDABackend(TargetBackend):
    """This backend for one target."""

    def __init__(self, target: Target) -> None:
        super().__init__(BACKEND, target)


class _Typed(Protocol):
    @property
    def scalar(self) -> _Element: ...


class _Element(Protocol):
    primitive_bitwidth: int


def min_dot_size(target: Target) -> Callable[[_Typed, _Typed], tuple[int, int, int]]:
    """(type of one operand, of the other) → the least M, N and K of ``tl.dot``."""

    def least(lhs_type: _Typed, rhs_type: _Typed) -> tuple[int, int, int]:
        bits = lhs_type.scalar.primitive_bitwidth, rhs_type.scalar.primitive_bitwidth
        if bits[0] != bits[1]:
            raise ValueError("lhs and rhs bitwidth must be the same")
        return NvidiaOptions().min_dot_size(*bits)

    return least


def get_ptxas(arch: int) -> NvidiaTool:
    """The assembler for a compute capability. Raises NoTool."""
    return knobs.ptxas_blackwell if arch >= BLACKWELL else knobs.ptxas


@lru_cache
def get_ptxas_version(arch: int = 80) -> str:
    """What the assembler says of its version; part of libraries' keys. Raises NoTool."""
    if knobs.mock_ptx_version is not None:
        return knobs.mock_ptx_version
    return subprocess.run([get_ptxas(arch).path, "--version"], capture_output=True, text=True, check=True).stdout


def ptx_get_version(cuda_version: str) -> int:
    """The newest version of PTX, ten times its number, that this version of CUDA assembles (PTX ISA, release notes)."""
    major, minor = (int(part) for part in cuda_version.split("."))
    if major >= 13:
        return 90 + 10 * (major - 13) + minor
    if major == 12:
        return 80 + minor - (minor >= 6)
    first = {11: 70, 10: 63}.get(major)
    if first is None:
        raise ValueError(f"CUDA 10.0 or higher is supported, not {cuda_version}")
    return first + minor


def get_ptx_version_from_options(options: NvidiaOptions, arch: int) -> int:
    """The version of PTX that a compile asks for, else the newest that the assembler takes."""
    return ptx_get_version(get_ptxas(arch).version) if options.ptx_version is None else options.ptx_version


def get_features(options: NvidiaOptions, arch: int) -> str:
    """LLVM's name of the version of PTX that is written, which is one for all targets."""
    return f"+ptx{PTX_VERSION}"


@lru_cache
def file_hash(path: str) -> str:
    """SHA-256 of a file, read once."""
    with open(path, "rb") as file:
        return hashlib.sha256(file.read()).hexdigest()


def sm_arch_from_capability(capability: int) -> str:
    """The assembler's name of a compute capability (``sm_90a``)."""
    return of_target(Target("cuda", capability, 32)).processor
