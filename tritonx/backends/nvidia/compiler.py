"""Triton's module ``triton.backends.nvidia.compiler``: the compile side of this backend under Triton's names."""

from __future__ import annotations

import hashlib
import subprocess
from collections.abc import Callable
from functools import lru_cache
from typing import Protocol, cast

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
    """This backend for one target.

    >>> from tritonx.backends.api import Target
    >>> CUDABackend(Target("cuda", 90, 32)).parse_options({"num_warps": 8}).num_warps
    8
    """

    def __init__(self, target: Target) -> None:
        super().__init__(BACKEND, target)


class _Typed(Protocol):
    @property
    def scalar(self) -> _Element: ...


class _Element(Protocol):
    primitive_bitwidth: int


def min_dot_size(target: Target) -> Callable[[_Typed, _Typed], tuple[int, int, int]]:
    """(type of one operand, of the other) → the least M, N and K of ``tl.dot``.

    >>> from tritonx.backends.api import Target
    >>> least = min_dot_size(Target("cuda", 90, 32))
    >>> least(tl.float16, tl.float16), least(tl.int8, tl.int8)
    ((1, 1, 16), (1, 1, 32))
    """

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
    """The newest version of PTX, ten times its number, that this version of CUDA assembles (PTX ISA, release notes).
    Raises RuntimeError for a version before 10, AssertionError for what is no text.

    >>> ptx_get_version("12.8")
    87
    """
    if not isinstance(cast(object, cuda_version), str):
        raise AssertionError(f"a version of CUDA is a text as '12.8', not {cuda_version!r}")
    major, minor = (int(part) for part in cuda_version.split("."))
    if major >= 13:
        return 90 + 10 * (major - 13) + minor
    if major == 12:
        return 80 + minor - (minor >= 6)
    first = {11: 70, 10: 63}.get(major)
    if first is None:
        raise RuntimeError(f"Triton only support CUDA 10.0 or higher, but got CUDA version: {cuda_version}")
    return first + minor


def get_ptx_version_from_options(options: NvidiaOptions, arch: int) -> int:
    """The version of PTX that a compile asks for, else the newest that the assembler takes.

    >>> from tritonx.backends.nvidia.options import NvidiaOptions
    >>> get_ptx_version_from_options(NvidiaOptions(ptx_version=84), 90)
    84
    """
    return ptx_get_version(get_ptxas(arch).version) if options.ptx_version is None else options.ptx_version


def get_features(options: NvidiaOptions, arch: int) -> str:
    """LLVM's name of the version of PTX that is written, which is one for all targets.

    >>> from tritonx.backends.nvidia.options import NvidiaOptions
    >>> get_features(NvidiaOptions(), 90)[:4]
    '+ptx'
    """
    return f"+ptx{PTX_VERSION}"


@lru_cache
def file_hash(path: str) -> str:
    """SHA-256 of a file as hexadecimal digits, read once. Raises OSError.

    >>> import tempfile
    >>> with tempfile.NamedTemporaryFile() as empty:
    ...     print(file_hash(empty.name)[:8])
    e3b0c442
    """
    with open(path, "rb") as file:
        return hashlib.sha256(file.read()).hexdigest()


def sm_arch_from_capability(capability: int) -> str:
    """The assembler's name of a compute capability (``sm_90a``).

    >>> sm_arch_from_capability(80), sm_arch_from_capability(90)
    ('sm_80', 'sm_90a')
    """
    return of_target(Target("cuda", capability, 32)).processor
