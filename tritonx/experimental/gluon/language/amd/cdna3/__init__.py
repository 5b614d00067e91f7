"""Gluon for CDNA 3 (gfx942)."""

from __future__ import annotations

from tritonx.experimental.gluon.language.amd.buffers import buffer_atomic, buffer_load, buffer_store
from tritonx.experimental.gluon.language.amd.products import mfma
from tritonx.experimental.gluon.language.amd.scales import scaled_upcast

__all__ = [
    "buffer_atomic_add",
    "buffer_atomic_and",
    "buffer_atomic_max",
    "buffer_atomic_min",
    "buffer_atomic_or",
    "buffer_atomic_xchg",
    "buffer_atomic_xor",
    "buffer_load",
    "buffer_store",
    "mfma",
    "scaled_upcast",
]

buffer_atomic_add = buffer_atomic("add", adds_bf16=False)
buffer_atomic_and = buffer_atomic("and", adds_bf16=False)
buffer_atomic_max = buffer_atomic("max", adds_bf16=False)
buffer_atomic_min = buffer_atomic("min", adds_bf16=False)
buffer_atomic_or = buffer_atomic("or", adds_bf16=False)
buffer_atomic_xchg = buffer_atomic("xchg", adds_bf16=False)
buffer_atomic_xor = buffer_atomic("xor", adds_bf16=False)
