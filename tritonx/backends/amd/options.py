"""Compile options of the AMD backend."""

from __future__ import annotations

from dataclasses import dataclass

from tritonx.backends.api import Options


@dataclass(frozen=True)
class AmdOptions(Options):
    """Triton's names and defaults.

    ``waves_per_eu`` asks the register allocator for that many waves a SIMD unit; ``matrix_instr_nonkdim`` (16 or 32)
    and ``kpack`` choose the matrix instruction."""

    num_stages: int = 2
    default_dot_input_precision: str = "ieee"
    allowed_dot_input_precisions: tuple[str, ...] = ("ieee", "bf16x3", "bf16x6")
    supported_fp8_dtypes: tuple[str, ...] = ("fp8e4nv", "fp8e5", "fp8e5b16", "fp8e4b8")
    waves_per_eu: int = 0
    matrix_instr_nonkdim: int = 0
    kpack: int = 1
    schedule_hint: str = "none"
    allow_flush_denorm: bool = False
    arch: str | None = None
    backend_name: str = "hip"
    instrumentation_mode: str = ""
