"""The AMD stages, top to bottom: what a test runs by name is what a launch runs."""

from __future__ import annotations

import re
from functools import partial
from typing import TYPE_CHECKING

from tritonx.backends.amd.knobs import knobs
from tritonx.backends.amd.options import AmdOptions, hints_of
from tritonx.backends.amd.targets import NAMED_REGISTERS, processor
from tritonx.backends.api import Compilation, EmitStage, Options, Stage, Target
from tritonx.runtime.errors import OutOfResources

if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp


def stages(target: Target, options: Options) -> tuple[Stage, ...]:
    """ttir → ttgir → llir → amdgcn → hsaco for one processor."""
    from tritonx.backends.amd.inserts import on_layouts
    from tritonx.backends.amd.layout_target import gpu_target
    from tritonx.backends.gpu_passes import gpu_stages

    own, recorded = tuple(on_layouts(target, options)), bool(options.instrumentation_mode)
    return (
        *gpu_stages(gpu_target(target, options), on_layouts=own, checked=options.check_bounds, recorded=recorded),
        EmitStage("llir", emit_llvm),
        EmitStage("amdgcn", emit_assembly, tells=lambda: knobs.dump_amdgcn),
        EmitStage("hsaco", emit_code_object, kind="binary"),
    )


def emit_llvm(module: ModuleOp, compilation: Compilation) -> str:
    """One thread's program as LLVM text; fills in what a launch must know."""
    from tritonx.analysis.checked_accesses import checks_of
    from tritonx.backends.amd.codegen import data_layout
    from tritonx.backends.amd.emit import (
        assembly,
        buffer,
        direct_copies,
        loops,
        register_slices,
        scaled_dot,
        scaled_upcast,
        scheduling,
        thread_transpose,
    )
    from tritonx.backends.amd.emit.machine import AmdMachine
    from tritonx.conversion.gpu_to_llvm.module import ModuleEmitter
    from tritonx.conversion.gpu_to_llvm.table import TABLE
    from tritonx.conversion.line_info import LineInfo

    target, options = compilation.target, compilation.options
    chip = processor(target)
    assert isinstance(options, AmdOptions)
    machine = AmdMachine(
        chip,
        data_layout(chip.name, chip.wave),
        options.waves_per_eu,
        "iterative-ilp" if "memory-bound-attention" in hints_of(options) else "",
        options.allow_flush_denorm,
        bool(chip.lane_bytes) and direct_copies.copies_directly(module),
    )
    tables = (
        TABLE,
        buffer.TABLE,
        assembly.TABLE,
        thread_transpose.TABLE,
        register_slices.TABLE,
        scaled_upcast.TABLE,
        scaled_dot.TABLE,
        scheduling.TABLE,
        loops.TABLE,
        direct_copies.TABLE,
    )
    table = {op: emit for part in tables for op, emit in part.items()}
    lines = LineInfo("LineTablesOnly") if options.line_info else None
    emitter = ModuleEmitter(module, machine, options, table, lines)
    text = emitter.emit()
    compilation.origin = emitter.origin()
    if emitter.shared_bytes > chip.shared_bytes:
        from tritonx.analysis.shared_budget import largest_buffers

        raise OutOfResources(emitter.shared_bytes, chip.shared_bytes, "shared memory", largest_buffers(module))
    compilation.metadata.update(emitter.launch_metadata(), **checks_of(module))
    return text


def emit_assembly(text: str, compilation: Compilation) -> str:
    """AMDGCN; the object, which is made by the way, is kept for the next stage, so that LLVM's passes run once."""
    from tritonx.backends.amd import device_library
    from tritonx.backends.user_libraries import standard_library, user_libraries
    from tritonx.runtime.isolation.translate import translate

    chip, options = processor(compilation.target), compilation.options
    linked = user_libraries(text, options)
    given = {file: options.given_library(file.removesuffix(".bc")) for file in device_library.LIBRARIES.values()}
    called = [
        file
        for prefix, file in device_library.LIBRARIES.items()  # which a user's library may call as well
        if prefix in text or (linked and (given[file] is not None or device_library.found(file)))
    ]
    standard = [
        standard_library(file.removesuffix(".bc"), options, partial(device_library.path, file)) for file in called
    ]
    made = translate(
        "amdgcn",
        "tritonx.backends.amd.codegen:compile_text",
        text,
        compilation,
        trusted=not linked and (not called or (not any(given.values()) and device_library.seen())),
        processor=chip.name,
        wave=chip.wave,
        libraries=[*linked, *standard],
    )
    written = made["amdgcn"]
    assert isinstance(written, str)
    compilation.metadata["name"] = kernel_name(written)
    compilation.metadata["spills"] = sum(map(int, re.findall(r"\.[sv]gpr_spill_count:\s+(\d+)", written)))
    frames = re.findall(r"\.private_segment_fixed_size:\s+(\d+)", written)
    compilation.metadata["local"] = max(map(int, frames), default=0)
    compilation.metadata["thread_registers"] = NAMED_REGISTERS
    compilation.metadata["registers"] = max(map(int, re.findall(r"\.vgpr_count:\s+(\d+)", written)), default=0)
    compilation.scratch["object"] = made["object"]
    if knobs.dump_amdgcn:
        print(f"// -----// AMDGCN Dump //----- //\n{written}")
    return written


def emit_code_object(written: str, compilation: Compilation) -> bytes:
    from tritonx.backends.amd.lld import link_object

    made = compilation.scratch.pop("object", None)
    if made is None:
        raise ValueError("a code object is made from LLVM text: start at the stage llir or before")
    return link_object(made)


def kernel_name(written: str) -> str:
    """The symbol of the kernel in AMDGCN text. Raises ``PassFailure`` where no function is one."""
    found = re.search(r"\.amdhsa_kernel (\S+)", written)
    if found is None:
        from tritonx.ir.failure import PassFailure

        raise PassFailure("amdgcn", "the module has no kernel: none of its functions is public", what="stage")
    return found.group(1)
