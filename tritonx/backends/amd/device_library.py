"""OCML, ROCm's mathematical library in LLVM bitcode: f64 functions and those for which the emission has no code.

Only kernels that call one of its functions touch the file (200 kB). It is looked for where the environment says, in a
ROCm installation, and in the wheels that bring one."""

from __future__ import annotations

import os
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from tritonx.conversion.gpu_to_llvm.calls import call_each
from tritonx.conversion.gpu_to_llvm.values import Tile

if TYPE_CHECKING:
    from tritonx.conversion.gpu_to_llvm.function import FunctionEmitter

PREFIX = "@__ocml_"
"""What a module's text mentions that must be linked with the library."""

INSTALLED = Path("/opt/rocm/amdgcn/bitcode/ocml.bc")
"""Where ROCm's packages put it."""

DOUBLE = frozenset({"exp", "exp2", "log", "log2", "sin", "cos", "tan", "erf", "tanh", "log1p", "expm1", "log10", "pow"})
"""Functions of the machine's contract that OCML has in f64 under the same name."""


def call(f: FunctionEmitter, symbol: str, operands: list[Tile], result: str) -> Tile:
    """Call the library's ``symbol`` on every element; the module is linked with the library afterwards."""
    return call_each(f, f"@{symbol}", operands, result)


@lru_cache(maxsize=1)
def path() -> Path:
    """Where ocml.bc is; ``FileNotFoundError`` with the ways to supply it where it is nowhere."""
    candidates: list[Path] = []
    if given := os.environ.get("TRITONX_OCML_PATH"):
        candidates.append(Path(given))
    for name in ("ROCM_PATH", "ROCM_HOME", "HIP_PATH"):
        if given := os.environ.get(name):
            candidates.append(Path(given) / "amdgcn" / "bitcode" / "ocml.bc")
    candidates.append(INSTALLED)
    for package in ("_rocm_sdk_core", "_rocm_sdk_devel"):
        if (spec := find_spec(package)) is not None:
            for root in spec.submodule_search_locations or ():
                candidates += sorted(Path(root).glob("**/amdgcn/bitcode/ocml.bc"))
    if (spec := find_spec("triton")) is not None and spec.origin is not None:
        candidates.append(Path(spec.origin).parent / "backends" / "amd" / "lib" / "ocml.bc")
    for candidate in candidates:
        if candidate.is_file():
            return candidate
    raise FileNotFoundError(
        "this kernel needs ROCm's device library ocml.bc, which is not on this machine: "
        "install ROCm's device libraries, or set TRITONX_OCML_PATH"
    )


@lru_cache(maxsize=1)
def bitcode() -> bytes:
    return path().read_bytes()


def controls(isa: int, wave: int, *, flush: bool) -> str:
    """The constants that OCML reads, as LLVM text: exact functions for all numbers of the processor ``isa`` (9402 is
    9.4.2). ``flush`` says that subnormal f32 numbers count as zero."""
    values = {
        "finite_only_opt": ("i8", 0), "unsafe_math_opt": ("i8", 0), "daz_opt": ("i8", int(flush)),
        "correctly_rounded_sqrt32": ("i8", 1), "wavefrontsize64": ("i8", int(wave == 64)),
        "ISA_version": ("i32", isa), "ABI_version": ("i32", 500),
    }  # fmt: skip
    return "\n".join(
        f"@__oclc_{name} = linkonce_odr hidden local_unnamed_addr addrspace(4) constant {type_} {value}"
        for name, (type_, value) in values.items()
    )
