"""Where the tests of GPUs run: on the first GPU that an installed backend finds; without one on the emulator of PTX.

``TRITONX_EMULATED``: the compute capability that it has, 90 by default, whether there is a GPU or not; 0 for no
emulator."""

from __future__ import annotations

import os

from tritonx.backends.registry import available
from tritonx_testing.conformance.device import HOST

REASONS: list[str] = []
"""Why there is no GPU."""


def _gpu() -> str | None:
    for name, backend in available().items():
        if HOST in backend.dlpack_device_types:
            continue
        try:
            backend.driver()
        except Exception as problem:
            REASONS.append(f"{name}: {problem}")
            continue
        return name
    return None


_WANTED = os.environ.get("TRITONX_EMULATED")
GPU = None if _WANTED not in (None, "", "0") else _gpu()
"""The backend of the GPU."""
EMULATED = None if GPU is not None or _WANTED == "0" else _WANTED or "90"
"""The compute capability of the emulator, where that is in a GPU's place."""
TORCH_DEVICE = "cpu" if EMULATED else "cuda"
"""Where tensors of PyTorch are for the kernels: the emulator reads the host's memory."""


def draws(count: int) -> int:
    """How many are drawn of what a GPU runs ``count`` of (``TRITONX_RANDOM_KERNELS``)."""
    return int(os.environ.get("TRITONX_RANDOM_KERNELS") or (2 if EMULATED else count))
