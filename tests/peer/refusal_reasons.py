"""Why a case of the refusal table is taken by tritonx, and why a site of Triton's has no case."""

from __future__ import annotations

BEYOND: dict[str, str] = {}
"""Cases that tritonx takes, with the section of ``docs/beyond.md`` that says what they mean."""


def _taken(reason: str, *names: str) -> None:
    BEYOND.update(dict.fromkeys(names, reason))


_taken(
    "any-extents", "full_of_odd_extent", "block_type_odd", "block_shape_odd", "arange_odd", "histogram_odd", "topk_odd"
)
_taken("indexing-and-slicing", "index_ellipsis", "index_number", "index_range")
_taken("break-and-continue", "loop_break", "loop_continue", "while_break")
_taken("f-strings", "fstring_tensor")
_taken(
    "more-of-python",
    *("assign_twice", "assigned_twice", "assign_starred", "assign_text", "bytes", "complex", "ellipsis"),
    *("comprehension_range", "generator", "loop_of_list_call", "loop_of_enumerate", "loop_of_zip"),
    *("if_expression_tuple", "returns_type", "returns_text", "loop_parameter", "keyword_only", "fields_base"),
)
_taken(
    "conversions-and-broadcasts-of-operands",
    *("cast_to_text", "sum_scalar", "cas_compare_scalar", "cas_value_scalar", "scatter_type"),
    *("block_store_type", "block_store_half", "block_store_scalar_type"),
    *(f"descriptor_atomic_{op}_value_type" for op in ("add", "min", "max", "and", "or", "xor")),
)
_taken(
    "older-devices-and-older-rules",
    *("float8_unsupported", "descriptor_atomic_min_half_old", "descriptor_atomic_max_half_old"),
    *("unsigned_compared_with_negative", "number_beyond_unsigned", "number_beyond_minimum"),
    *("descriptor_stride_bytes", "histogram_long", "tune_key_unknown"),
)
_taken("names-and-syntax-of-later-releases", "assign_walrus", "compare_chain", "cat_ordered")
_taken("outside-kernels", "constants_list", "block_type_empty", "static_range_outside", "static_range_number")

WRAPPERS = (
    "compiler/code_generator.py:CodeGenerator.call_Function:CompilationError",
    "compiler/code_generator.py:CodeGenerator.call_JitFunction:CompilationError",
    "compiler/code_generator.py:CodeGenerator.visit:CompilationError",
)
"""Sites that give the kernel's line to what another site raised."""

_PROMOTING = (
    *("add", "sub", "mul", "truediv", "mod", "minimum", "maximum", "clamp"),
    *("greater_than", "greater_equal", "less_than", "less_equal", "equal", "not_equal"),
)

NO_CASE: dict[str, tuple[str, ...]] = {
    "abstract: every class that a program meets has a method of its own": (
        "language/core.py:base_value.",
        "language/core.py:base_type.",
        "language/core.py:dtype.with_element_ty:assert",
        "language/core.py:tensor.T:assert",
    ),
    "the names before it are all that there are": (
        "language/core.py:dtype.__init__:RuntimeError",
        "language/core.py:dtype.to_ir:ValueError:069c23",
        "language/semantic.py:TritonSemantic.integer_promote_impl:TypeError",
        "language/semantic.py:TritonSemantic.computation_type_impl:TypeError:ebef6a",
        "language/semantic.py:TritonSemantic.cast:assert:87c368",
        "language/semantic.py:TritonSemantic._bitcast_to_fp_type:assert:4343bd",
        "language/semantic.py:TritonSemantic.dot:assert:251c9f",
        "language/target_info.py:",
        "language/standard.py:max:assert",
        "language/standard.py:min:assert",
        "compiler/code_generator.py:CodeGenerator.visit_UnaryOp:_unsupported:22ff16",
        "compiler/code_generator.py:CodeGenerator.visit_BoolOp:_unsupported",
        "compiler/code_generator.py:CodeGenerator.visit_JoinedStr:AssertionError",
    ),
    "operands were promoted before: pointers are refused there, and what is left is a float or an integer": (
        *[f"language/semantic.py:TritonSemantic.{name}:TypeError" for name in _PROMOTING],
        "language/semantic.py:TritonSemantic.binary_op_sanitize_overflow_impl:assert",
    ),
    "the function of the language that calls it has checked the same": (
        "language/core.py:dot:assert:fbfa8a",
        "language/semantic.py:TritonSemantic.splat:assert",
        "language/semantic.py:TritonSemantic.expand_dims:ValueError",
        "language/semantic.py:TritonSemantic.cat:assert:40fe0f",
        "language/semantic.py:TritonSemantic.broadcast_impl_value:assert",
        "language/semantic.py:TritonSemantic._str_to_load_cache_modifier:ValueError",
        "language/semantic.py:TritonSemantic._str_to_store_cache_modifier:ValueError",
        "language/semantic.py:TritonSemantic._str_to_eviction_policy:ValueError",
        "language/semantic.py:TritonSemantic._canonicalize_boundary_check:assert:969c9a",
        "language/semantic.py:TritonSemantic._load_block_pointer:assert",
        "language/semantic.py:TritonSemantic._store_block_pointer:assert:427acd",
        "language/semantic.py:TritonSemantic._store_block_pointer:assert:9005b8",
        "language/semantic.py:TritonSemantic.descriptor_load:assert:f134f1",
        "language/semantic.py:TritonSemantic.validate_store_like:assert:f134f1",
        "language/semantic.py:TritonSemantic.descriptor_gather:assert:f134f1",
        "language/semantic.py:TritonSemantic.descriptor_gather:assert:f4b978",
        "language/semantic.py:TritonSemantic.descriptor_gather:assert:d0455d",
        "language/semantic.py:TritonSemantic.descriptor_scatter:assert:f134f1",
        "language/semantic.py:TritonSemantic.dot:assert:487abb",
        "language/semantic.py:TritonSemantic.dot:assert:fdc5f6",
        "language/semantic.py:TritonSemantic.dot:assert:4f08e3",
        "language/semantic.py:TritonSemantic.dot:assert:c8ed53",
        "language/semantic.py:TritonSemantic.reduction:assert:ad0f24",
        "language/semantic.py:TritonSemantic.associative_scan:assert:8e9ee8",
        "language/semantic.py:TritonSemantic.map_elementwise:assert",
        "language/semantic.py:TritonSemantic._convert_elem_to_ir_value:assert",
    ),
    "what the compiler itself has made, and no program": (
        "_utils.py:set_iterable_path:assert",
        "language/core.py:tuple._setitem:assert",
        "compiler/code_generator.py:_apply_to_tuple_values:assert",
        "compiler/code_generator.py:unflatten_ir_values:assert",
        "compiler/code_generator.py:CodeGenerator.visit_List:assert",
        "compiler/code_generator.py:CodeGenerator.visit_FunctionDef:assert",
        "compiler/code_generator.py:CodeGenerator.assignTarget:assert",
        "compiler/code_generator.py:CodeGenerator.visit_if_top_level:assert",
        "compiler/code_generator.py:CodeGenerator._verify_loop_carried_variable:assert:86977d",
        "compiler/code_generator.py:CodeGenerator.visit_Subscript_Load:assert",
        "compiler/code_generator.py:CodeGenerator.visit_BoolOp:assert",
        "compiler/code_generator.py:CodeGenerator._apply_boolean_values:assert",
        "compiler/code_generator.py:CodeGenerator.decide_return_type:assert",
        "compiler/code_generator.py:CodeGenerator.cast_to:assert",
        "compiler/code_generator.py:CodeGenerator.handle_returns:assert",
        "compiler/code_generator.py:CodeGenerator.visit_UnaryOp:_unsupported:13df0b#2",
        "runtime/jit.py:DependenciesFinder._update_hash:assert",
        "runtime/jit.py:DependenciesFinder.visit_arguments.visit_defaults:assert",
        "runtime/jit.py:create_function_from_signature:assert",
        "runtime/jit.py:JITCallable.parse:assert",
        "runtime/jit.py:JITCallable._set_src:AttributeError",
    ),
    "an error of the device, raised again at each launch": (
        "compiler/compiler.py:_raise_error:",
        "compiler/compiler.py:CompiledKernel._init_handles.raise_:",
    ),
    "tritonx gives a text without a number of warps the default": (
        "compiler/compiler.py:IRSource.parse_options:assert",
    ),
    "what Triton writes for its own preload; tritonx refuses a text that is of another kernel or compiler": (
        "runtime/jit.py:JITFunction.preload:RuntimeError:b5e2b7",
        "runtime/jit.py:JITFunction.preload._decode_constant:RuntimeError",
    ),
    "Triton 3.9 has no pointers to anything but numbers": (
        "language/semantic.py:TritonSemantic._validate_atomic_load_store_element_type:ValueError",
    ),
    "the function is of Triton 3.9; tritonx refuses its name or keyword": (
        "language/core.py:_aggregate.aggregate_value.__setattr__:AttributeError:e4a8dc",
        "language/core.py:_normalize_cache_policy:assert",
        "language/semantic.py:TritonSemantic.fdiv:ValueError:b86583",
    ),
    "extern_elementwise has looked the types up in the same table before": ("language/core.py:dispatch:ValueError",),
    "Triton's interpreter, another program: tritonx's looks at the kernel with the front end first, and has its own "
    "checks of addresses, asserts and assumptions (tests/unit/interpreter)": ("runtime/interpreter.py:",),
}
"""Reasons, and the beginnings of the names of the sites that they hold for."""


def reason_of(site: str) -> str:
    """The reason why no case reaches a site; ``KeyError`` without one."""
    found = [reason for reason, prefixes in NO_CASE.items() if site.startswith(prefixes)]
    if not found:
        raise KeyError(f"{site} has neither a case nor a reason: write a case for it (refusals_*.py)")
    return found[0]
