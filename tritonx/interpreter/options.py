"""What kernels may be written with where no backend's options say so."""

from __future__ import annotations

from dataclasses import dataclass

from tritonx.backends.api import Options


@dataclass(frozen=True)
class InterpreterOptions(Options):
    """The meanings have every format and precision of the language."""

    allowed_dot_input_precisions: tuple[str, ...] = ("ieee", "tf32", "tf32x3", "bf16x3", "bf16x6")
    supported_fp8_dtypes: tuple[str, ...] = ("fp8e4nv", "fp8e5", "fp8e4b15", "fp8e4b8", "fp8e5b16")
