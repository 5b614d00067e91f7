"""``knobs.amd``: this backend's settings, under Triton's names. Those whose docstring says so change nothing here."""

from __future__ import annotations

from tritonx.runtime.settings.setting import Group, Knob, flag, optional_text
from tritonx.runtime.settings.setting_texts import parse_bool


class AmdKnobs(Group):
    """The settings of this backend, under Triton's names.

    >>> tritonx.knobs.amd.use_buffer_ops
    True
    """

    use_buffer_ops = flag("AMDGCN_USE_BUFFER_OPS", True)
    """Whether loads and stores whose offsets fit 32 bits become buffer instructions (the option ``buffer_ops``)."""

    use_buffer_atomics = flag("AMDGCN_USE_BUFFER_ATOMICS", True)
    """Without effect: atomics are flat instructions."""

    buffer_ops_analyze_small_tensor_range = flag("AMDGCN_ANALYZE_SMALL_TENSOR_RANGE")
    """Without effect: the range of offsets is always analysed."""

    dump_amdgcn = flag("AMDGCN_ENABLE_DUMP")
    """Print the assembly of each kernel as it is compiled."""

    libhip_path = optional_text("TRITON_LIBHIP_PATH")
    """Without effect: hip-python finds the library (``ROCM_PATH``)."""

    use_block_pingpong = Knob[bool | None]("TRITON_HIP_USE_BLOCK_PINGPONG", None, parse_bool)
    """Whether two groups of warps alternate between memory and products (the option ``block_pingpong``); None: on
    gfx942 and gfx950."""

    use_in_thread_transpose = Knob[bool | None]("TRITON_HIP_USE_IN_THREAD_TRANSPOSE", None, parse_bool)
    """Without effect: operands are transposed in a thread where that is cheaper."""

    use_async_copy = Knob[bool | None]("TRITON_HIP_USE_ASYNC_COPY", None, parse_bool)
    """Whether pipelines copy to shared memory past the registers where lanes can (the option ``async_copy``); None: on
    gfx950."""

    scalarize_packed_fops = flag("AMDGCN_SCALARIZE_PACKED_FOPS")
    """Without effect: instructions on pairs are LLVM's to choose."""

    use_coexec_scheduler = Knob[bool | None]("TRITON_HIP_USE_COEXEC_SCHEDULER", None, parse_bool)
    """Without effect: LLVM's own scheduler runs."""

    use_expert_scheduling = Knob[bool | None]("TRITON_HIP_USE_EXPERT_SCHEDULING", None, parse_bool)
    """Without effect: as above."""

    codegen_path = optional_text("TRITON_AMD_CODEGEN_PATH")
    """Without effect: code is made by llvmlite's LLVM."""

    dump_mir = optional_text("TRITON_DUMP_MIR")
    """Without effect: LLVM's machine IR is not written."""

    swap_mir = optional_text("TRITON_SWAP_MIR")
    """Without effect: no machine IR is read instead of what was made."""

    swap_mir_enable_misched = flag("TRITON_SWAP_MIR_ENABLE_MISCHED")
    """Without effect: as above."""

    pipeline = Knob[bool]("TRITON_PIPELINE", True, parse_bool)
    """Whether loops with products are pipelined where a launch does not say (`pipeline=`)."""


amd_knobs = AmdKnobs

knobs = AmdKnobs()
