"""ROCm's device libraries in LLVM bitcode: OCML, mathematics, and OCKL, which talks to the host.

Nothing that is emitted needs them: LLVM text of other origin does, such as what Triton wrote, and is linked with those
it names. They are looked for where the environment says, in a ROCm installation, and in the wheels that bring them."""

from __future__ import annotations

import os
from functools import lru_cache
from pathlib import Path

from tritonx.runtime.devices import installed
from tritonx.runtime.errors import MissingLibrary
from tritonx.runtime.settings.environment import read
from tritonx.runtime.settings.setting_texts import parse_existing_folder

LIBRARIES = {"@__ocml_": "ocml.bc", "@__ockl_": "ockl.bc"}
"""What a module's text mentions that must be linked with a library."""

INSTALLED = Path("/opt/rocm/amdgcn/bitcode")
"""Where ROCm's packages put them."""


@lru_cache(maxsize=4)
def path(name: str) -> Path:
    """Where ``ocml.bc`` or ``ockl.bc`` is; ``MissingLibrary`` with the ways to supply it where it is nowhere."""
    folders: list[Path] = []
    if (given := given_folder()) is not None:
        folders.append(Path(given))
    for variable in ("ROCM_PATH", "ROCM_HOME", "HIP_PATH"):
        if given := os.environ.get(variable):
            folders.append(Path(given) / "amdgcn" / "bitcode")
    folders.append(INSTALLED)
    for package in ("_rocm_sdk_core", "_rocm_sdk_devel"):
        for root in installed.folders(package):
            folders += sorted(root.glob("**/amdgcn/bitcode"))
    folders += installed.triton_folders("backends", "amd", "lib")
    for folder in folders:
        if (folder / name).is_file():
            return (folder / name).absolute()
    raise MissingLibrary(
        f"this LLVM text needs ROCm's device library {name}, which is not on this machine: "
        f"install ROCm's device libraries, or set TRITONX_ROCM_BITCODE to the folder that holds it"
    )


@lru_cache(maxsize=4)
def found(name: str) -> bool:
    """Whether a library is on this machine; looked for once."""
    try:
        return path(name).is_file()
    except MissingLibrary:
        return False


def seen() -> bool:
    """Whether the libraries are those that an installation brought, not files of a folder that the environment
    names."""
    return given_folder() is None


def given_folder() -> str | None:
    return read("TRITONX_ROCM_BITCODE", parse_existing_folder)


def controls(isa: int, wave: int, *, flush: bool) -> str:
    """The constants that the libraries read, as LLVM text: exact functions for all numbers of the processor ``isa``
    (9402 is 9.4.2). ``flush`` says that subnormal f32 numbers count as zero."""
    values = {
        "finite_only_opt": ("i8", 0), "unsafe_math_opt": ("i8", 0), "daz_opt": ("i8", int(flush)),
        "correctly_rounded_sqrt32": ("i8", 1), "wavefrontsize64": ("i8", int(wave == 64)),
        "wavefrontsize_log2": ("i32", wave.bit_length() - 1),
        "ISA_version": ("i32", isa), "ABI_version": ("i32", 500),
    }  # fmt: skip
    return "\n".join(
        f"@__oclc_{name} = linkonce_odr hidden local_unnamed_addr addrspace(4) constant {type_} {value}"
        for name, (type_, value) in values.items()
    )
