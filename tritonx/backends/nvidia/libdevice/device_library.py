"""libdevice, NVIDIA's mathematical library in LLVM bitcode.

Only kernels that call one of its functions read the file (464 kB); ``library_excerpt`` links it. It is looked for where
the environment says, beside the CUDA packages of PyPI, in Triton's wheel, and in a CUDA installation. Nothing is
imported to look for it: the key of every compile says which library there is."""

from __future__ import annotations

import os
from functools import lru_cache
from pathlib import Path

from tritonx.backends.nvidia.knobs import knobs
from tritonx.runtime.devices import installed
from tritonx.runtime.errors import MissingLibrary
from tritonx.runtime.store.file_digest import file_digest

PREFIX = "@__nv_"
"""What a module's text mentions that must be linked with the library."""

DOUBLE = {
    "exp": "__nv_exp", "exp2": "__nv_exp2", "log": "__nv_log", "log2": "__nv_log2", "sin": "__nv_sin",
    "cos": "__nv_cos",
    "rsqrt": "__nv_rsqrt", "erf": "__nv_erf", "tanh": "__nv_tanh", "rem": "__nv_fmod",
}  # fmt: skip
"""f64 functions of the language by their library symbol."""

INLINE = {
    "__nv_fast_expf": "exp", "__nv_exp2f": "exp2", "__nv_logf": "log", "__nv_log2f": "log2", "__nv_sqrtf": "sqrt",
    "__nv_rsqrtf": "rsqrt", "__nv_tanhf": "tanh", "__nv_erff": "erf", "__nv_log1pf": "log1p", "__nv_expm1f": "expm1",
    "__nv_powf": "pow", "__nv_log10f": "log10", "__nv_fmodf": "rem", "__nv_fast_tanhf": "tanh_approximate",
    "__nv_fast_log2f": "log2_approximate", "__nv_fast_sinf": "sin_approximate", "__nv_fast_cosf": "cos_approximate",
}  # fmt: skip
"""Library symbols for which the emission has its own code, where the library is not on the machine or lacks them."""

ABSENT = frozenset({"__nv_fast_tanhf"})
"""Symbols that the language names and no version of the library has."""


def given_path() -> Path | None:
    """The file that ``knobs.nvidia.libdevice_path`` or the environment names: a library that was not tested here."""
    given = knobs.libdevice_path
    return None if given is None else Path(given)


def seen() -> bool:
    """Whether the library is one that an installation brought, not one that a setting names."""
    return given_path() is None


def path() -> Path:
    """Where libdevice.10.bc is; ``MissingLibrary`` with the ways to supply it where it is nowhere."""
    there = _search(given_path())
    if there is None:
        raise MissingLibrary(
            "this kernel needs NVIDIA's device library libdevice.10.bc, which is not on this machine: "
            "pip install nvidia-nvvm, or set TRITONX_LIBDEVICE_PATH"
        )
    return there


def found() -> bool:
    """Whether the library is on this machine."""
    return _search(given_path()) is not None


def fingerprint() -> str:
    """The file's digest, which tells versions apart; "" where there is none."""
    there = _search(given_path())
    return "" if there is None else file_digest(there)


@lru_cache
def _search(given: Path | None) -> Path | None:
    candidates = [] if given is None else [given]
    for root in installed.folders("nvidia"):
        candidates += sorted(root.glob("*/nvvm/libdevice/libdevice.10.bc"))
        candidates += sorted(root.glob("*/libdevice/libdevice.10.bc"))
    candidates += [folder / "libdevice.10.bc" for folder in installed.triton_folders("backends", "nvidia", "lib")]
    for name in ("CUDA_HOME", "CUDA_PATH"):
        if folder := os.environ.get(name):
            candidates.append(Path(folder) / "nvvm" / "libdevice" / "libdevice.10.bc")
    candidates.append(Path("/usr/local/cuda/nvvm/libdevice/libdevice.10.bc"))
    return next((candidate.absolute() for candidate in candidates if candidate.is_file()), None)
