"""The CPU backend's compile options."""

from __future__ import annotations

from dataclasses import dataclass

from tritonx.backends.api import Options


@dataclass(frozen=True)
class CpuOptions(Options):
    """``num_threads``: how many cores one launch may use; 0 means ``TRITONX_CPU_THREADS``, or all that the process may
    use.

    ``num_warps``, ``num_stages`` and ``num_ctas`` are accepted, as every backend must, and change nothing: a program is
    one thread, which runs its loops as they are written. Their defaults say so. Of the language it has every format and
    precision.

    ``irregular``: code for null pointers, which are errors where they are accessed, and for arguments that overlap, of
    which it reads a tile whole before it writes one. A launch that passes such arguments asks for it by itself.

    ``line_info`` has the object file say which lines of the source its code comes from. The default is the opposite of
    the knob ``knobs.compilation.disable_line_info``.
    """

    num_warps: int = 1
    num_stages: int = 1
    allowed_dot_input_precisions: tuple[str, ...] = ("ieee", "tf32", "tf32x3", "bf16x3", "bf16x6")
    supported_fp8_dtypes: tuple[str, ...] = ("fp8e4nv", "fp8e5", "fp8e4b15", "fp8e4b8", "fp8e5b16")
    num_threads: int = 0
    irregular: bool = False
    line_info: bool = False

    @property
    def names_files(self) -> bool:
        return self.line_info or super().names_files
