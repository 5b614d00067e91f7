"""Products of matrices by a vendor's library, for tests that compare with it."""

from __future__ import annotations

from functools import lru_cache
from importlib import import_module
from typing import Any

from tritonx.runtime.devices.torch_interface import pytorch

WORKSPACE_BYTES = 32 << 20


@lru_cache(maxsize=8)
def _handle(device: int) -> Any:
    torch: Any = pytorch()
    workspace = torch.empty(WORKSPACE_BYTES, dtype=torch.uint8, device=device)
    return import_module("tritonx._C.libtriton.nvidia").cublas.CublasLt(workspace)


def cublas() -> Any:
    """What multiplies matrices on PyTorch's current GPU as Triton's binding of cuBLASLt does: one object for each
    device, with ``matmul(a, b, c)`` for row-major ``a`` and ``c`` and a transposed ``b``."""
    torch: Any = pytorch()
    return _handle(torch.accelerator.current_device_index())
