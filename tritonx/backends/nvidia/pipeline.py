"""The NVIDIA stages, top to bottom: what a test runs by name is what a launch runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tritonx.backends.api import Compilation, EmitStage, Options, Stage, Target
from tritonx.backends.nvidia.knobs import knobs
from tritonx.backends.nvidia.options import NvidiaOptions, options_of
from tritonx.backends.nvidia.targets import MAX_REGISTERS, capability
from tritonx.runtime.errors import PTXASError

if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp

    from tritonx.conversion.gpu_to_llvm.module import ModuleEmitter
    from tritonx.ir.origin import Origin


def stages(target: Target, options: Options) -> tuple[Stage, ...]:
    """ttir → ttgir → llir → ptx → cubin for one compute capability."""
    from tritonx.backends.gpu_passes import gpu_stages
    from tritonx.backends.nvidia.inserts import on_layouts, on_tiles
    from tritonx.backends.nvidia.layout_target import checks_accesses, gpu_target

    gpu, own = gpu_target(target, options), (tuple(on_tiles(target, options)), tuple(on_layouts(target, options)))
    return (
        *gpu_stages(gpu, *own, checked=checks_accesses(options), recorded=bool(options.instrumentation_mode)),
        EmitStage("llir", emit_llvm),
        EmitStage("ptx", emit_ptx, tells=lambda: knobs.dump_nvptx),
        EmitStage("cubin", emit_cubin, kind="binary", needs_tool=True, tells=lambda: knobs.dump_ptxas_log),
    )


def emit_llvm(module: ModuleOp, compilation: Compilation) -> str:
    """One thread's program as LLVM text; fills in what a launch must know."""
    from tritonx.analysis.checked_accesses import checks_of
    from tritonx.analysis.shared_budget import largest_buffers
    from tritonx.backends.nvidia.codegen import data_layout
    from tritonx.backends.nvidia.emit.machine import NvidiaMachine
    from tritonx.backends.nvidia.emit.table import TABLE
    from tritonx.backends.nvidia.tensor_maps.launch_maps import OTHERWISE
    from tritonx.backends.nvidia.tensor_maps.tensor_map import NBYTES
    from tritonx.backends.nvidia.tensor_maps.tensor_map_at_launch import maps_at_launch
    from tritonx.conversion.gpu_to_llvm.module import ModuleEmitter
    from tritonx.conversion.line_info import LineInfo

    target, options = compilation.target, options_of(compilation)
    chip = capability(target)
    threads = target.warp_size * warps_of(module, options)
    machine = NvidiaMachine(
        capability=int(target.arch),
        data_layout=data_layout(chip.processor),
        maxnreg=thread_limit(module, options, chip.thread_registers(threads)),
        cluster=options.num_ctas,
        reflect_ftz=options.enable_reflect_ftz,
    )
    lines = LineInfo("DebugDirectivesOnly") if options.line_info else None  # `.loc`, and no sections of DWARF
    emitter = ModuleEmitter(module, machine, options, TABLE, lines)
    text = emitter.emit()
    compilation.origin = emitter.origin()
    compilation.metadata.update(emitter.launch_metadata(), **checks_of(module))
    if options.min_shared_mem is not None:
        compilation.metadata["shared"] = max(int(compilation.metadata["shared"]), options.min_shared_mem)
    compilation.metadata["tensordesc_meta"] = tensor_maps(emitter)
    if (maps := maps_at_launch(module)) is not None:
        compilation.metadata["tensormaps_at_launch"] = maps
        if any(each["of_pointers"] for each in maps["maps"]):
            compilation.metadata["otherwise"] = OTHERWISE
        # Launchers that are not ours make none. They know this name, and refuse kernels that want such memory.
        compilation.metadata["profile_scratch_size"] = NBYTES * len(maps["maps"])
    if emitter.shared_bytes > chip.shared_bytes:  # the launch will refuse it: say what takes the space
        compilation.metadata["shared_hint"] = largest_buffers(module)
    return text


def tensor_maps(emitter: ModuleEmitter) -> tuple[dict[str, object], ...]:
    """What the launch must know of the kernel's descriptors."""
    from tritonx.backends.nvidia.tensor_maps.tensor_map import recipe
    from tritonx.ir.failure import PassError

    found: list[dict[str, object]] = []
    for each in emitter.descriptor_parameters():
        try:
            found.append({**recipe(each.type), "descriptor": each.number, "written": each.is_written})
        except ValueError as error:
            raise PassError(each.function, str(error)) from None
    return tuple(found)


def warps_of(module: ModuleOp, options: Options) -> int:
    """The warps of a launch: of a module that says so, partitions included, those."""
    from tritonx.ir.properties import stated_number

    stated = stated_number(module.attributes, "ttg.total-num-warps"), stated_number(module.attributes, "ttg.num-warps")
    return next((warps for warps in stated if warps is not None), options.num_warps)


def thread_limit(module: ModuleOp, options: NvidiaOptions, share: int) -> int | None:
    """The most registers of a thread: what the user says, or else a pass. Where warps share registers out, what the
    pass says is what each begins with, which keeps to the user's limit."""
    from tritonx.ir.properties import stated_number

    stated = module_maxnreg(module, share)
    if stated is None or stated_number(module.attributes, "ttg.total-num-warps") is None:
        return options.maxnreg or stated
    return min(stated, options.maxnreg or stated)


def module_maxnreg(module: ModuleOp, share: int) -> int | None:
    """The register limit that a pass has set, and at most a thread's share of a block that is alone: a limit tells the
    assembler that so many are free, and a block that takes more cannot be launched."""
    from tritonx.ir.properties import stated_number

    found = stated_number(module.attributes, "ttg.maxnreg")
    return None if found is None else min(found, share)


def emit_ptx(text: str, compilation: Compilation) -> str:
    from tritonx.backends.nvidia.assembler.assembler_faults import avoid_faults
    from tritonx.backends.nvidia.assembler.shifted_offsets import shift_offsets
    from tritonx.backends.nvidia.codegen import kernel_name
    from tritonx.backends.nvidia.libdevice import device_library
    from tritonx.backends.user_libraries import standard_library, user_libraries
    from tritonx.runtime.isolation.translate import translate

    chip, options = capability(compilation.target), compilation.options
    linked, given = user_libraries(text, options), options.given_library("libdevice")
    needed = device_library.PREFIX in text or (bool(linked) and (given is not None or device_library.found()))
    ptx = translate(
        "ptx",
        "tritonx.backends.nvidia.codegen:to_ptx",
        text,
        compilation,
        trusted=not linked and (not needed or (given is None and device_library.seen())),
        processor=chip.processor,
        linked=linked,
        library=standard_library("libdevice", options, device_library.path) if needed else "",
        fuse=compilation.options.enable_fp_fusion,
    )["ptx"]
    assert isinstance(ptx, str)
    compilation.metadata["name"] = kernel_name(ptx)
    ptx = shift_offsets(avoid_faults(ptx, chip))
    if knobs.dump_nvptx:
        print(f"// -----// NVPTX Dump //----- //\n{ptx}")
    return ptx


def with_lines(error: PTXASError, origin: Origin | None) -> PTXASError:
    """The assembler's error behind the kernel's lines whose code it has from the user; else behind the kernel's own."""
    from tritonx.ir.source import source_of

    ops = () if origin is None else origin.foreign or (() if origin.kernel is None else (origin.kernel,))
    lines = dict.fromkeys(str(places[0]) for op in ops if (places := source_of(op)))
    where = f"{', '.join(lines)}: " if lines else ""
    return PTXASError(f"{where}{error.error_message}")


def emit_cubin(ptx: str, compilation: Compilation) -> bytes:
    from tritonx.backends.nvidia.assembler.assemble import assemble
    from tritonx.runtime.isolation.translate import isolated

    target, options = compilation.target, options_of(compilation)
    chip = capability(target)
    try:
        made = assemble(
            ptx,
            chip,
            options=options.ptx_options,
            may_drop_limit=options.maxnreg is None,
            foreign=isolated(compilation.origin),
            shared=int(compilation.metadata.get("shared", 0)),
        )
    except PTXASError as error:
        raise with_lines(error, compilation.origin) from None
    compilation.metadata["registers"] = made.registers
    compilation.metadata["thread_registers"] = MAX_REGISTERS + 1
    compilation.metadata["max_registers"] = chip.thread_registers(target.warp_size * compilation.metadata["num_warps"])
    compilation.metadata["spills"] = made.spills
    compilation.metadata["local"] = made.local
    compilation.metadata["traded"] = made.traded
    compilation.metadata["assembler_log"] = made.log
    if knobs.dump_ptxas_log:
        print(made.log)
    return made.cubin
