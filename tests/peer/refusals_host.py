"""What Triton refuses outside a kernel: types, decorators, launches, descriptors, configurations, sources."""

from __future__ import annotations

from refusal_case import Case, host

ARRAY = """
from triton.tools.tensor_descriptor import TensorDescriptor
class Kind(str):
    itemsize = 4
    primitive_bitwidth = 32
    @property
    def is_floating_point(self):
        return "float" in self
class Array:
    shape = (16, 16)
    def __init__(self, address=0, dtype="float32"):
        self.address = address
        self.dtype = Kind(dtype)
    def data_ptr(self):
        return self.address
    def stride(self):
        return (16, 1)
"""


def descriptor(arguments: str, array: str = "Array()") -> Case:
    return Case(source=f"{ARRAY}\ndef host():\n    TensorDescriptor({array}, {arguments})\n")


KERNEL = """
import dataclasses
@triton.jit
def kernel(n, N: tl.constexpr = 3):
    y = n + N
"""


def launch(body: str, head: str = "") -> Case:
    return Case(source=KERNEL + head + f"\ndef host():\n    {body}\n")


TUNED = """
def tuned(configs=None, **given):
    return triton.autotune(configs or [triton.Config({"N": 1}), triton.Config({"N": 2})], given.pop("key", []),
                           do_bench=lambda f, quantiles: (f(), [1.0, 1.0, 1.0])[1], **given)(kernel)
"""

CASES: dict[str, Case] = {
    **host(
        {
            "builtin_outside": "tl.arange(0, 8)",
            "builtin_outside_none": "tl.exp(3, _semantic=None)",
            "builtin_of_number": "tl.core.builtin(3)",
            "method_of_number": "tl.core._tensor_member_fn(3)",
            "dtype_unknown_name": "tl.dtype('float7')",
            "dtype_number": "tl.dtype(3)",
            "dtype_kind_of_void": "tl.void.kind()",
            "dtype_int_max_of_float": "tl.float32.get_int_max_value()",
            "dtype_int_min_of_float": "tl.float32.get_int_min_value()",
            "dtype_is_void": "tl.dtype.is_void()",
            "pointer_to_number": "tl.pointer_type(3)",
            "pointer_to_text": "tl.pointer_type('fp32')",
            "block_type_number": "tl.block_type(tl.float32, 8)",
            "block_type_empty": "tl.block_type(tl.float32, [])",
            "block_type_odd": "tl.block_type(tl.float32, [3])",
            "block_type_float": "tl.block_type(tl.float32, [8.0])",
            "block_type_large": "tl.block_type(tl.float32, [2097152])",
            "int_dtype_bits": "tl.core.get_int_dtype(7, True)",
            "static_range_outside": "list(tl.static_range(tl.constexpr(3)))",
            "static_range_next": "next(tl.static_range(tl.constexpr(3)))",
            "static_range_number": "tl.static_range(3)",
            "range_outside": "list(tl.range(3))",
            "range_next": "next(tl.range(3))",
            "constexpr_as_condition_text": "tl.constexpr(3) + 'a'",
            "max_of_tensors_outside": "tl.maximum(3, 4)",
            "jit_of_number": "T.jit(3)",
            "jit_of_text": "T.jit('a')",
            "jit_of_exec": "space = {}\nexec('def f(n):\\n    y = n\\n', space)\nT.jit(space['f'])",
            "reinterpret_number": "T.reinterpret(3, tl.float32)",
            "compile_number": "T.compile(3)",
            "compile_missing": "T.compile('nowhere.ttir')",
            "compile_no_target": "T.compile('nowhere.ttir', target='cuda')",
            "async_mode_twice": "from concurrent.futures import ThreadPoolExecutor\n"
            "from triton import AsyncCompileMode\n"
            "with ThreadPoolExecutor(1) as pool:\n"
            "    with AsyncCompileMode(pool), AsyncCompileMode(pool):\n        pass",
            "no_allocator": "from triton.runtime._allocation import NullAllocator\nNullAllocator()(8, 8, None)",
            "interpreted_number": "from triton.runtime.errors import InterpreterError\nraise InterpreterError('x')",
        }
    ),
    "jit_called": launch("kernel(3)"),
    "launch_unknown_keyword": launch("kernel.warmup(3, grid=(1,), nothing=4)"),
    "launch_device": launch("kernel.warmup(3, grid=(1,), device=0)"),
    "launch_stream": launch("kernel.warmup(3, grid=(1,), stream=0)"),
    "launch_device_type": launch("kernel.warmup(3, grid=(1,), device_type='cuda')"),
    "launch_few": launch("kernel.warmup(grid=(1,))"),
    "launch_many": launch("kernel.warmup(3, 4, 5, grid=(1,))"),
    "launch_text": launch("kernel.warmup('a', grid=(1,))"),
    "launch_list_constexpr": launch("kernel.warmup(3, [1, 2], grid=(1,))"),
    "launch_no_grid": launch("kernel.run(3, grid=None, warmup=False)"),
    "launch_integer": launch("kernel.warmup(2**70, grid=(1,))"),
    "launch_dict": launch("kernel.warmup({}, grid=(1,))"),
    "asm_unknown": launch("kernel.warmup(3, grid=(1,), num_warps=1).asm['nothing']"),
    "global_conflict_of_callees": launch(
        "one.cache_key; globals().update(G=tl.constexpr(5)); two.cache_key; kernel2.warmup(3, grid=(1,))",
        "G = tl.constexpr(4)\n@triton.jit\ndef one(n):\n    return n + G\n@triton.jit\ndef two(n):\n    return n - G\n"
        "@triton.jit\ndef kernel2(n):\n    y = one(n) + two(n)\n",
    ),
    "descriptor_rounding": descriptor("[16, 16], [16, 1], [8, 16], round_f32_to_tf32=True", "Array(0, 'float16')"),
    "hook_number": launch("kernel.add_pre_run_hook(3)"),
    "source_set": launch("kernel.src = 'def f(): pass'"),
    "base_run": launch(
        "KernelInterface().run(grid=(1,), warmup=False)", "from triton.runtime.jit import KernelInterface\n"
    ),
    "preload_other": launch('kernel.preload(\'{"name": "x", "constant_keys": [], "constant_vals": []}\')'),
    "source_keys": launch("triton.compiler.ASTSource(kernel, {3: 'i32'})", "import triton.compiler\n"),
    "source_constants": launch("triton.compiler.ASTSource(kernel, {'n': 'i32'}, {1: 3})", "import triton.compiler\n"),
    "backend_unknown": launch(
        "make_backend(GPUTarget('abacus', 1, 32))",
        "from triton.compiler import make_backend\nfrom triton.backends.compiler import GPUTarget\n",
    ),
    "global_changed": launch(
        "kernel2.warmup(3, grid=(1,)); globals().update(G=tl.constexpr(5)); kernel2.warmup(3, grid=(1,))",
        "G = tl.constexpr(4)\n@triton.jit\ndef kernel2(n):\n    y = n + G\n",
    ),
    "plain_function_called": launch(
        "kernel2.warmup(3, grid=(1,))",
        "def helper(n):\n    return n\n@triton.jit\ndef kernel2(n):\n    y = helper(n)\n",
    ),
    "assigned_twice": launch("kernel2.warmup(3, grid=(1,))", "@triton.jit\ndef kernel2(n):\n    y = z = n\n"),
    "annotation_const": launch(
        "kernel2.warmup(3, grid=(1,))", "@triton.jit\ndef kernel2(n: 'const i32'):\n    y = n\n"
    ),
    "var_keywords": launch("kernel2.warmup(3, grid=(1,))", "@triton.jit\ndef kernel2(n, **more):\n    y = n\n"),
    "lambda_kernel": launch("triton.jit(lambda n: n)"),
    "tune_conflict": launch("tuned()[(1,)](3, N=4)", TUNED),
    "tune_no_config_left": launch(
        "tuned(prune_configs_by={'early_config_prune': lambda c, n, **k: []})[(1,)](3)", TUNED
    ),
    "tune_top_k": launch("tuned(prune_configs_by={'perf_model': lambda **k: 1, 'top_k': 2.5})[(1,)](3)", TUNED),
    "tune_key_unknown": launch("tuned(key=['nothing'])", TUNED),
    "tune_reset_unknown": launch("tuned(reset_to_zero=['nothing'])", TUNED),
    "tune_restore_unknown": launch("tuned(restore_value=['nothing'])", TUNED),
    "descriptor_stride_count": descriptor("[16, 16], [1], [8, 16]"),
    "descriptor_block_count": descriptor("[16, 16], [16, 1], [8]"),
    "descriptor_no_rank": descriptor("[], [], []"),
    "descriptor_rank_six_host": descriptor("[1] * 6, [16] * 5 + [1], [1] * 6"),
    "descriptor_base_aligned": descriptor("[16, 16], [16, 1], [8, 16]", "Array(8)"),
    "descriptor_stride_aligned": descriptor("[16, 16], [17, 1], [8, 16]"),
    "descriptor_block_odd": descriptor("[16, 16], [16, 1], [8, 24]"),
    "descriptor_block_float_host": descriptor("[16, 16], [16, 1], [8.0, 16]"),
    "descriptor_empty": descriptor("[0, 16], [16, 1], [8, 16]"),
    "descriptor_last": descriptor("[16, 16], [16, 4], [8, 16]"),
    "descriptor_padding_host": descriptor("[16, 16], [16, 1], [8, 16], padding='one'"),
    "descriptor_nan_int_host": descriptor("[16, 16], [16, 1], [8, 16], padding='nan'", "Array(0, 'int32')"),
    "descriptor_from_tensor": Case(source=f"{ARRAY}\ndef host():\n    TensorDescriptor.from_tensor(Array(), [8])\n"),
}
