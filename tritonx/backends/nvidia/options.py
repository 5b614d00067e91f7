"""Compile options of the NVIDIA backend."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from tritonx.backends.api import Compilation
from tritonx.conversion.gpu_options import GpuOptions


@dataclass(frozen=True)
class NvidiaOptions(GpuOptions):
    """Triton's names and defaults.

    ``maxnreg`` is the most registers of a thread; ``launch_pdl`` lets a launch begin before the one in front of it is
    over (``tl.extra.cuda.gdc_wait``).
    ``ptx_options`` are passed to the assembler; ``enable_reflect_ftz`` flushes subnormal f32 numbers in
    device-library code. ``pipeline`` has the copies of a loop with products run ahead of them, by ``num_stages``, from
    compute capability 8.0 on; on 9.0 it gives products to warp groups (``wgmma``) too, which read their operands from
    shared memory, where they take them, and blocks of descriptors to the copy engine. Its default is the knob
    ``knobs.nvidia.pipeline``. ``warp_group_dots`` gives products to warp groups without pipelines.
    ``launch_maps`` has launches make the tensor maps of descriptors that a kernel makes of its arguments alone, so that
    no program makes them; its default is the knob ``knobs.nvidia.launch_maps``, and where that is None a launch of
    tritonx has it and ``tritonx.compile`` does not, whose kernels may meet another launcher. A file's kernel is as its
    text says.
    ``describe_loads`` has the copy engine of 9.0 bring what products load through pointers, where these are regular
    (`describe-loads`); its default is the knob ``knobs.nvidia.describe_loads``. None: with ``launch_maps``, for loads
    whose maps the launch makes and of which nothing is to be asked at run time.
    ``min_shared_mem`` is what a block takes of shared memory at least, in bytes: fewer blocks are then on a
    multiprocessor at a time. ``sched4reg``, ``clc`` and ``fpsan_homomorphic_casts`` say how Triton 3.9 schedules,
    takes up blocks and checks sums; here they change nothing.
    ``line_info`` has the code say which lines of the source it comes from, for profilers and sanitizers; its default is
    the opposite of the knob ``knobs.compilation.disable_line_info``.

    >>> from tritonx.backends.nvidia.compiler import CUDAOptions
    >>> CUDAOptions(maxnreg=128).maxnreg
    128
    """

    default_dot_input_precision: str = "tf32"
    allowed_dot_input_precisions: tuple[str, ...] = ("ieee", "tf32", "tf32x3", "bf16x3", "bf16x6")
    supported_fp8_dtypes: tuple[str, ...] = ("fp8e4nv", "fp8e5", "fp8e4b15")
    maxnreg: int | None = None
    launch_pdl: bool = False
    enable_reflect_ftz: bool = True
    ptx_version: int | None = None
    ptx_options: str | None = None
    arch: str | None = None
    backend_name: str = "cuda"
    min_shared_mem: int | None = None
    sched4reg: bool = False
    clc: bool = False
    fpsan_homomorphic_casts: bool = False
    warp_group_dots: bool = False
    pipeline: bool = True
    launch_maps: bool = False
    describe_loads: bool | None = None
    line_info: bool = False

    PORTABLE: ClassVar[frozenset[str]] = GpuOptions.PORTABLE | {
        *("maxnreg", "launch_pdl", "min_shared_mem", "sched4reg", "clc", "fpsan_homomorphic_casts")
    }

    @property
    def names_files(self) -> bool:
        return self.line_info or super().names_files

    def min_dot_size(self, lhs_bits: int, rhs_bits: int) -> tuple[int, int, int]:
        """An instruction's K is 32 bytes, or 16 elements."""
        return (1, 1, 32 if lhs_bits == 8 else 16)


def options_of(compilation: Compilation) -> NvidiaOptions:
    """The options of a compile by this backend."""
    assert isinstance(compilation.options, NvidiaOptions), compilation.options
    return compilation.options
