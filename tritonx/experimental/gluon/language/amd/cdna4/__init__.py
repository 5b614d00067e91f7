"""Gluon for CDNA 4 (gfx950)."""

from __future__ import annotations

from tritonx.experimental.gluon.language.amd.buffers import buffer_atomic, buffer_load, buffer_store
from tritonx.experimental.gluon.language.amd.cdna3 import (
    buffer_atomic_and,
    buffer_atomic_max,
    buffer_atomic_min,
    buffer_atomic_or,
    buffer_atomic_xchg,
    buffer_atomic_xor,
)
from tritonx.experimental.gluon.language.amd.cdna4 import async_copy
from tritonx.experimental.gluon.language.amd.cdna4.products import get_mfma_scale_layout, mfma_scaled
from tritonx.experimental.gluon.language.amd.products import mfma
from tritonx.experimental.gluon.language.amd.scales import scaled_upcast

__all__ = [
    "async_copy",
    "buffer_atomic_add",
    "buffer_atomic_and",
    "buffer_atomic_max",
    "buffer_atomic_min",
    "buffer_atomic_or",
    "buffer_atomic_xchg",
    "buffer_atomic_xor",
    "buffer_load",
    "buffer_store",
    "get_mfma_scale_layout",
    "mfma",
    "mfma_scaled",
    "scaled_upcast",
]

buffer_atomic_add = buffer_atomic("add", adds_bf16=True)
