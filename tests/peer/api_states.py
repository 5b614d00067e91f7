"""What is there and not the same as in Triton 3.6, or is not there, and why. What is refused says so itself."""

from __future__ import annotations

DIFFERS: dict[str, tuple[str, ...]] = {
    "``out_dtype`` is None, as from 3.8 on: levels.md says what that means": ("language.dot", "language.core.dot"),
    "the parameters have the names of 3.9": (
        "tools.ragged_tma.atomic_add_ragged",
        "tools.ragged_tma.load_ragged",
        "tools.ragged_tma.store_ragged",
        "tools.ragged_tma.to_ragged_indices",
    ),
    "``context`` and ``load_dialects`` alone: the dialects are xDSL's, in `tritonx.dialects`": ("_C.libtriton.ir",),
    "kernels of Gluon are compiled for GPUs; what is not there yet is imported, and refuses": ("experimental",),
    "``cublas`` alone": ("_C.libtriton.nvidia",),
    "without ``get_distributed_view`` and ``get_shared_view``: `tritonx.layouts.draw` has pictures": (
        "_C.libtriton.linear_layout",
        "tools.LinearLayout",
    ),
    "a target is written ``Target(...)``": ("_filecheck.run_parser",),
    "compilers of tritonx derive from `tritonx.backends.api.Backend`": ("backends.BaseBackend",),
    "`compiler` is a `tritonx.backends.api.Backend`, and the host is there too": ("backends.backends",),
    "the fields have another order and there are more of them: they are given by name": (
        "backends.amd.compiler.HIPOptions",
        "backends.nvidia.compiler.CUDAOptions",
    ),
    "Triton calls the parameter by another name in the class that derives": (
        "backends.compiler.BaseBackend.load_dialects",
        "backends.compiler.BaseBackend.parse_options",
        "language.core.block_type.with_element_ty",
    ),
    "made by a compile alone": (
        "compiler.CompiledKernel",
        "compiler.compiler.CompiledKernel",
    ),
    "the module itself, with the object's members": (
        "compiler.compiler.driver",
        "language.target_info.driver",
        "runtime.autotuner.driver",
        "runtime.driver",
        "runtime.driver.driver",
        "runtime.jit.driver",
    ),
    "settings that choose among Triton's own passes are kept and change nothing": ("knobs.amd",),
    "`~/.tritonx/cache` by default": ("knobs.cache_knobs.dir",),
    "`~/.tritonx/dump` by default": ("knobs.cache_knobs.dump_dir",),
    "`~/.tritonx/override` by default": ("knobs.cache_knobs.override_dir",),
    "without effect": (
        "knobs.amd_knobs.buffer_ops_analyze_small_tensor_range",
        "knobs.amd_knobs.libhip_path",
        "knobs.amd_knobs.scalarize_packed_fops",
        "knobs.amd_knobs.use_buffer_atomics",
        "knobs.amd_knobs.use_in_thread_transpose",
        "knobs.compilation_knobs.dump_ir_extract_di_local_variables",
        "knobs.compilation_knobs.use_ir_loc",
    ),
    "True by default: lines of the source are in the code where it is False": (
        "knobs.compilation_knobs.disable_line_info",
    ),
    "refused where it is set, with the reason": (
        "knobs.compilation_knobs.enable_asan",
        "knobs.compilation_knobs.instrumentation_mode",
        "knobs.runtime_knobs.add_stages_inspection_hook",
    ),
    "it mangles as `slice`": ("language.core.slice_type.mangle",),
    "the code is that of `cast`": (
        "language.extra.cuda.convert_custom_float8_sm70",
        "language.extra.cuda.convert_custom_float8_sm80",
        "language.extra.cuda.utils.convert_*",
    ),
    "declares functions of the language's library: `triton.jit` is the user's": (
        "language.random.jit",
        "language.standard.jit",
    ),
    "options by name": ("runtime.interpreter.InterpretedFunction",),
    "a property that gives the function": ("runtime.jit.JITFunction.repr",),
    "as in 3.9, and takes 3.6's open file as well": ("profiler.viewer.get_raw_metrics",),
    "a function that gives a context manager": ("profiler.language.scope",),
    "an unknown dtype is a ValueError": (
        "testing.get_max_simd_tflops",
        "testing.get_max_tensorcore_tflops",
    ),
}
"""Why → names that are there, without ``triton.``; a ``*`` at the end is for all that begin so."""

MISSING: dict[str, tuple[str, ...]] = {
    "there is no Gluon": (
        "backends.amd.compiler.HIPBackend.gluon_to_ttgir",
        "backends.nvidia.compiler.CUDABackend.gluon_to_ttgir",
    ),
    "Proton's": (
        "backends.amd.compiler.HIPBackend.instrumentation",
        "backends.nvidia.compiler.CUDABackend.instrumentation",
    ),
    "the size of an allocation comes with the launch": ("backends.amd.compiler.HIPBackend.is_within_2gb",),
    "a stage is a list of passes: `add_stages` gives it as a function": (
        "backends.amd.compiler.HIPBackend.make_*",
        "backends.nvidia.compiler.CUDABackend.make_*",
    ),
    "no type is deprecated": (
        "backends.amd.compiler.HIPOptions.deprecated_fp8_dot_operand_dtypes",
        "backends.nvidia.compiler.CUDAOptions.deprecated_fp8_dot_operand_dtypes",
    ),
    "the target says it": ("backends.nvidia.compiler.CUDAOptions.warp_size",),
    "an excerpt is its line": (
        "compiler.errors.CompilationError.source_line_count_max_in_message",
        "compiler.errors.CompileTimeAssertionFailure.source_line_count_max_in_message",
        "compiler.errors.UnsupportedLanguageConstruct.source_line_count_max_in_message",
    ),
    "types become xDSL's: `tritonx.frontend.semantics.ir_type`": (
        "language.core.block_type.to_ir",
        "language.core.dtype.to_ir",
        "language.core.pointer_type.to_ir",
    ),
    "the type of a slice is no type of elements": ("language.core.slice_type.*",),
    "the function is rewritten at its first launch": (
        "runtime.interpreter.InterpretedFunction.rewrite",
        "runtime.interpreter.InterpretedFunction.rewritten_fn",
    ),
    "parts of the commands; `tritonx.profiler.viewing` has the viewer's": (
        "profiler.proton.*",
        "profiler.viewer.*",
    ),
    "backends say it: `tritonx.backends.api.Backend.matrix_peaks`": (
        "profiler.specs.amd_*",
        "profiler.specs.flops_by_device",
    ),
    "launches lend the memory that regions are recorded in: `tritonx.runtime.launch.measured_launch`": (
        "profiler.hooks.instrumentation.*",
    ),
    "a launch's metadata may hold any metric": (
        "profiler.hooks.launch.LaunchHook.flops_width",
        "profiler.hooks.launch.LaunchHook.metrics",
    ),
    "names that the module imports": (
        "profiler.hooks.launch.COMPUTE_METADATA_SCOPE_NAME",
        "profiler.language.GluonSemantic",
        "profiler.language.TritonSemantic",
        "profiler.language.flags",
        "profiler.profile.InstrumentationHook",
        "profiler.hooks.launch.enter_state",
        "profiler.hooks.launch.exit_state",
        "profiler.profile.getenv",
        "profiler.state.flags",
    ),
    "only Triton's own front end asks for it": (
        "runtime.jit.BoundConstexprFunction.get_capture_scope",
        "runtime.jit.BoundConstexprFunction.parse",
        "runtime.jit.BoundConstexprFunction.src",
        "runtime.jit.BoundConstexprFunction.type",
        "runtime.jit.ConstexprFunction.type",
        "runtime.jit.JITCallable.type",
        "runtime.jit.JITFunction.type",
    ),
    "a kernel's binder is generated by `tritonx.runtime.launch.binder`": ("runtime.jit.JITFunction.create_binder",),
}
"""Why → names that are not there, likewise."""

STATED: dict[str, tuple[str, str]] = {
    f"triton.{name}": (state, why)
    for state, table in (("differs", DIFFERS), ("missing", MISSING))
    for why, names in table.items()
    for name in names
}
"""Name, or the beginning of names with ``*`` after it → (differs or missing, why)."""
