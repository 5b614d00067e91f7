"""Compile options of the AMD backend."""

from __future__ import annotations

from dataclasses import dataclass

from tritonx.backends.api import Options
from tritonx.conversion.gpu_options import GpuOptions


@dataclass(frozen=True)
class AmdOptions(GpuOptions):
    """Triton's names and defaults.

    * ``waves_per_eu`` asks the register allocator for that many waves a SIMD unit.
    * ``matrix_instr_nonkdim`` is the side of the MFMA tiles: 16, 32, or 0 for the largest that a product fills. A
      product that 32 does not fit is an error, and so is 32 on RDNA, whose WMMA has 16 only.
    * ``kpack`` (1 or 2) is how many MFMA steps of K a lane loads as neighbours. CDNA 4 loads 16 bytes a step as it is:
      there, as in Triton, 2 is taken for 1 with a warning. It says nothing on RDNA, where a lane holds all of a step.
    * ``schedule_hint`` is a list separated by commas; Triton 3.6 has "none" by default, 3.9 "", and reads none.
      ``memory-bound-attention`` chooses LLVM's iterative scheduler for instruction-level parallelism, as in Triton 3.6.
      ``attention`` has one half of 8 warps multiply while the other one computes, in loops of two products whose
      operands are copied past the registers (`block_pingpong`). What changes nothing on a target, and hints of other
      releases (`IGNORED_HINTS`), give a warning, `IgnoredHint`.
    * ``allowed_dot_input_precisions`` has "tf32" on gfx942 as well, whose matrix unit multiplies 19 bits of f32 four
      times as fast as all; it is the default there, as in Triton.
    * ``allow_flush_denorm`` lets f32 arithmetic flush subnormal numbers.
    * ``buffer_ops`` has accesses of small buffers be buffer instructions (Triton: ``knobs.amd.use_buffer_ops``).
    * ``pipeline`` has the loads of a loop with products run ahead of them, by ``num_stages``: into registers, and
      behind the products of another iteration into shared memory. Its default is the knob ``knobs.amd.pipeline``.
    * ``async_copy`` has them go to shared memory past the registers where lanes can (Triton:
      ``knobs.amd.use_async_copy``): on gfx942, four bytes at a time, off there as in Triton, and on gfx950, up to 16,
      on there: what a unit wants transposed is transposed as it is read.
    * ``block_pingpong`` has two groups of 4 of 8 warps alternate between memory and products in loops of large products
      (Triton: ``knobs.amd.use_block_pingpong``), and gives products of 4 warps a priority; on by default on gfx942 and
      gfx950.
    * ``line_info`` has the assembly say which lines of the source it comes from, and the code object where an external
      linker makes it (``TRITONX_LLD_PATH``): the built-in one leaves DWARF's sections out. Its default is the opposite
      of the knob ``knobs.compilation.disable_line_info``.

    >>> from tritonx.backends.amd.compiler import HIPOptions
    >>> HIPOptions(waves_per_eu=2).waves_per_eu
    2
    """

    num_stages: int = 2
    default_dot_input_precision: str = "ieee"
    allowed_dot_input_precisions: tuple[str, ...] = ("ieee", "bf16x3", "bf16x6")
    supported_fp8_dtypes: tuple[str, ...] = ("fp8e4nv", "fp8e5", "fp8e5b16", "fp8e4b8")
    waves_per_eu: int = 0
    matrix_instr_nonkdim: int = 0
    kpack: int = 1
    schedule_hint: str = "none"
    allow_flush_denorm: bool = False
    pipeline: bool = True
    async_copy: bool = False
    block_pingpong: bool = False
    buffer_ops: bool = True
    arch: str | None = None
    backend_name: str = "hip"
    line_info: bool = False

    @property
    def names_files(self) -> bool:
        return self.line_info or super().names_files


def hints_of(options: Options) -> frozenset[str]:
    """The schedule hints, in small letters."""
    assert isinstance(options, AmdOptions)
    return frozenset(hint.strip().lower() for hint in options.schedule_hint.split(","))


class IgnoredHint(UserWarning):
    """A schedule hint changes nothing."""


SCHEDULE_HINTS = ("", "none", "attention", "memory-bound-attention")
IGNORED_HINTS = ("local-prefetch", "llvm-iglp-0", "llvm-iglp-1")
"""Hints of releases before 3.6, some of them of an option `instruction_sched_variant`."""
