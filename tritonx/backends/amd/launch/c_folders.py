"""Where a C compiler finds HIP's headers, for programs that compile one against them; tritonx compiles none."""

from __future__ import annotations

import os
from pathlib import Path

from tritonx.runtime.devices import installed


def include_dirs() -> list[str]:
    """The folders with HIP's headers: of a Triton wheel, of PyPI's ROCm, of ROCm installations."""
    candidates = installed.triton_folders("backends", "amd", "include")
    candidates += [root / "include" for root in installed.folders("_rocm_sdk_devel")]
    roots = [os.environ.get("ROCM_PATH"), os.environ.get("ROCM_HOME"), os.environ.get("HIP_PATH"), "/opt/rocm"]
    return installed.having([*candidates, *(Path(root) / "include" for root in roots if root)], "hip/hip_runtime.h")
