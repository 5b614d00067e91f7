"""Where the tests of GPUs run: on a GPU, or with ``TRITONX_EMULATED=90`` on the emulator of PTX as one of that compute
capability."""

from __future__ import annotations

import os

EMULATED = os.environ.get("TRITONX_EMULATED") or None
TORCH_DEVICE = "cpu" if EMULATED else "cuda"
"""Where tensors of PyTorch are for the kernels: the emulator reads the host's memory."""
