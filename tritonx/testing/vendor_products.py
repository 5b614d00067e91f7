"""Products of matrices by a vendor's library, for tests that compare with it."""

from __future__ import annotations

from functools import lru_cache
from importlib import import_module
from typing import Any

from tritonx.runtime.devices.torch_interface import pytorch

WORKSPACE_BYTES = 32 << 20


@lru_cache(maxsize=8)
def _handle(device: int | str) -> Any:
    torch: Any = pytorch()
    workspace = torch.empty(WORKSPACE_BYTES, dtype=torch.uint8, device=device)
    return import_module("tritonx._C.libtriton.nvidia").cublas.CublasLt(workspace)


def cublas() -> Any:
    """What multiplies matrices on PyTorch's current GPU as Triton's binding of cuBLASLt does: one object for each
    device, with ``matmul(a, b, c)`` for row-major ``a`` and ``c`` and a transposed ``b``. Without a GPU it multiplies
    on the CPU.

    >>> import torch
    >>> a, b, c = torch.ones(2, 3), torch.ones(4, 3), torch.empty(2, 4)
    >>> cublas().matmul(a, b, c)
    >>> c.tolist()
    [[3.0, 3.0, 3.0, 3.0], [3.0, 3.0, 3.0, 3.0]]
    """
    torch: Any = pytorch()
    here = torch.accelerator
    return _handle(here.current_device_index() if here.is_available() else "cpu")
