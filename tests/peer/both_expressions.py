"""Every name of the language with legal arguments, over the types that it takes.

An entry is (statements, types of ``x``, types of ``y`` or None for that of ``x``, elements shown). ``x`` and ``y`` are
tiles of 512, ``w`` a third of ``x``'s type, ``k`` indices, ``m`` a mask, ``i`` 0 to 511, ``pid`` the program; the result
is ``z``.
"""

# ruff: noqa: E501  # rows of tables

from __future__ import annotations

import re

from both_case import FLOATS, HEADER, HELPERS, INTEGERS, NAMES, TYPES, Case

import tritonx.language as tl

NUMERIC = (*INTEGERS, *FLOATS)
WIDE = ("fp32", "fp64")
SOME = ("i1", "i8", "i32", "u16", "i64", "fp16", "bf16", "fp32", "fp64", "fp8e5")
ANY = (*SOME, "u8", "u64", "fp8e4nv")
SMALL = ("i32", "u8", "fp32", "fp16")

Entry = tuple[str, tuple[str, ...], tuple[str, ...] | None, int]

ELEMENTWISE: tuple[Entry, ...] = (
    ("z = tl.abs(x)", TYPES, None, 512),
    ("z = tl.math.abs(x)", NUMERIC, None, 512),
    ("z = tl.add(x, y)", NUMERIC, ("i32", "u8", "fp16"), 512),
    ("z = tl.sub(x, y)", NUMERIC, ("i32", "u8", "fp16"), 512),
    ("z = tl.mul(x, y)", NUMERIC, ("i32", "u8", "fp16"), 512),
    ("z = tl.minimum(x, y)", TYPES, SMALL, 512),
    ("z = tl.maximum(x, y)", TYPES, SMALL, 512),
    ("z = tl.minimum(x, y, propagate_nan=tl.PropagateNan.ALL)", NUMERIC, None, 512),
    ("z = tl.maximum(x, y, propagate_nan=tl.PropagateNan.ALL)", NUMERIC, None, 512),
    ("z = tl.maximum(x, 3)", TYPES, None, 512),
    ("z = tl.minimum(0.5, x)", TYPES, None, 512),
    ("z = tl.clamp(x, y, w)", TYPES, None, 512),
    ("z = tl.clamp(x, -1.0, 1.0)", FLOATS, None, 512),
    ("z = tl.clamp(x, y, w, propagate_nan=tl.PropagateNan.ALL)", FLOATS, None, 512),
    ("z = tl.fma(x, y, w)", TYPES, SMALL, 512),
    ("z = tl.where(m, x, y)", TYPES, SMALL, 512),
    ("z = tl.where(x, y, w)", ("i1", "i32", "fp32"), SMALL, 512),
    ("z = tl.where(m, x, 1)", TYPES, None, 512),
    ("z = tl.where(m, 2.5, x)", TYPES, None, 512),
    ("z = tl.where(pid == 0, x, y)", SOME, SMALL, 512),
    ("z = tl.cdiv(x, y)", INTEGERS, INTEGERS, 512),
    ("z = tl.cdiv(x, 3)", INTEGERS, None, 512),
    ("z = tl.fdiv(x, y)", TYPES, SMALL, 512),
    ("z = tl.fdiv(x, 3.0, ieee_rounding=True)", FLOATS, None, 512),
    ("z = tl.div_rn(x, y)", FLOATS, WIDE, 512),
    ("z = tl.umulhi(x, y)", INTEGERS, INTEGERS, 512),
    *((f"z = tl.{name}(x)", (*FLOATS, "i32", "fp8e5"), None, 512)
      for name in ("exp", "exp2", "log", "log2", "sin", "cos", "sqrt", "sqrt_rn", "rsqrt", "erf", "floor", "ceil", "sigmoid")),
    *((f"z = x.{name}()", WIDE, None, 512) for name in ("exp", "log", "sin", "cos", "sqrt", "abs", "sigmoid")),
    ("z = tl.softmax(x)", FLOATS, None, 512),
    ("z = tl.softmax(tl.reshape(x, (16, 32)), 1)", FLOATS, None, 512),
    ("z = tl.softmax(tl.reshape(x, (16, 32)), dim=0, keep_dims=True)", FLOATS, None, 512),
    ("z = tl.cast(x, tl.float32)", TYPES, None, 512),
    ("z = tl.cast(x, y.dtype)", SOME, ANY, 512),
    ("z = x.to(y.dtype)", SOME, ANY, 512),
    ("z = x.cast(tl.int16)", TYPES, None, 512),
    ("z = x.logical_and(y)", ("i1",), ("i1",), 512),
    ("z = x.logical_or(y)", ("i1",), ("i1",), 512),
    ("z = tl.map_elementwise(larger, x, y)", ("i32", "fp32", "u8"), None, 512),
    ("z = tl.uint_to_uniform_float(x)", ("u32", "i32", "u64", "i64"), None, 512),
    ("z, _ = tl.pair_uniform_to_normal(x, y)", WIDE, None, 512),
    ("z = tl.to_tensor(x)", ("i32",), None, 512),
    ("z = x.item() if False else x", ("i32",), None, 512),
)  # fmt: skip

SHAPE: tuple[Entry, ...] = (
    ("z = tl.reshape(x, (16, 32))", ANY, None, 512),
    ("z = tl.reshape(x, 4, 8, 16, can_reorder=False)", SMALL, None, 512),
    ("z = x.reshape(512, 1)", SMALL, None, 512),
    ("z = tl.view(x, (2, 256)) if False else x", SMALL, None, 512),
    ("z = tl.ravel(tl.reshape(x, (16, 32)))", ANY, None, 512),
    ("z = tl.trans(tl.reshape(x, (16, 32)))", ANY, None, 512),
    ("z = tl.trans(tl.reshape(x, (4, 8, 16)), 2, 0, 1)", SMALL, None, 512),
    ("z = tl.reshape(x, (16, 32)).T", SMALL, None, 512),
    ("z = tl.permute(tl.reshape(x, (4, 8, 16)), (1, 2, 0))", ANY, None, 512),
    ("z = tl.permute(tl.reshape(x, (4, 8, 16)), 0, 2, 1)", SMALL, None, 512),
    ("z = tl.expand_dims(x, 0)", ANY, None, 512),
    ("z = tl.expand_dims(x, [0, -1])", SMALL, None, 512),
    ("z = x[:, None]", SMALL, None, 512),
    ("z = x[None, :, None]", SMALL, None, 512),
    ("z = tl.reshape(x, (16, 32))[:, None, :]", SMALL, None, 512),
    ("z = tl.broadcast_to(tl.sum(tl.reshape(x, (16, 32)), 0)[None, :], (16, 32))", SMALL, None, 512),
    ("z = tl.broadcast_to(tl.sum(x, 0), (16, 32))", ("i32", "fp32"), None, 512),
    ("z, _ = tl.broadcast(tl.max(tl.reshape(x, (16, 32)), 0)[None, :], tl.reshape(y, (16, 32)))", ("i32", "fp32"), None, 512),
    ("z = tl.max(tl.reshape(x, (16, 32)), 0)[None, :] + tl.reshape(y, (16, 32))", SMALL, None, 512),
    ("z = tl.cat(x, y, can_reorder=True)", ANY, None, 1024),
    ("z = tl.join(x, y)", ANY, None, 1024),
    ("z = tl.interleave(x, y)", ANY, None, 1024),
    ("p, q = tl.split(tl.reshape(x, (256, 2)))\nz = tl.join(q, p)", ANY, None, 512),
    ("z = tl.full((512,), 7, x.dtype)", ANY, None, 512),
    ("z = tl.full((512,), -1.5, x.dtype)", FLOATS, None, 512),
    ("z = tl.full((512,), tl.max(x, 0), tl.float32)", ("i32", "fp32"), None, 512),
    ("z = tl.zeros((16, 32), x.dtype)", ANY, None, 512),
    ("z = tl.zeros_like(x)", ANY, None, 512),
    ("z = tl.flip(x)", ANY, None, 512),
    ("z = tl.flip(x, 0)", ANY, None, 512),
    ("z = tl.flip(tl.reshape(x, (16, 32)), 0)", SMALL, None, 512),
    ("z = tl.sort(x)", ("i8", "i32", "u32", "fp32", "fp16", "i64"), None, 512),
    ("z = tl.sort(tl.reshape(x, (16, 32)), descending=True)", ("i32", "fp32"), None, 512),
    ("x = tl.where((x == x) & (x != 0), x, 1)\nz = tl.sort(x)", ("fp16", "fp32"), None, 512),
    ("x = tl.where((x == x) & (x != 0), x, 1)\nz = tl.topk(x, 16)", ("fp16", "fp32"), None, 16),
    ("x = tl.where((x == x) & (x != 0), x, 1)\nz = tl.bitonic_merge(x)", ("fp16", "fp32"), None, 512),
    ("z = tl.topk(x, 16)", ("i32", "fp32", "u8"), None, 16),
    ("z = tl.bitonic_merge(x)", ("i32", "fp32"), None, 512),
    ("z = tl.gather(x, k, 0)", ANY, None, 512),
    ("z = tl.gather(tl.reshape(x, (16, 32)), tl.reshape(k & 15, (16, 32)), 0)", SMALL, None, 512),
    ("z = tl.histogram(k, 512)", ("i32",), None, 512),
    ("z = tl.histogram(k & 63, 64, mask=m)", ("i32",), None, 64),
    ("z = tl.arange(0, 512)", ("i32",), None, 512),
    ("z = tl.arange(3, 67)", ("i32",), None, 64),
    ("z = tl.swizzle2d(i // 32, i % 32, 16, 32, 4)[0]", ("i32",), None, 512),
    ("z = tl.swizzle2d(i // 32, i % 32, 16, 32, 4)[1]", ("i32",), None, 512),
    ("z = tl.max_contiguous(tl.multiple_of(k, 4), 4)", ("i32",), None, 512),
    ("z = tl.max_constancy(k, 4)", ("i32",), None, 512),
    ("tl.assume(pid >= 0)\nz = k + pid", ("i32",), None, 512),
    ("tl.debug_barrier()\nz = x", ("i32",), None, 512),
    ("z = x + tl.num_programs(0) + tl.program_id(1)", ("i32",), None, 512),
)  # fmt: skip

REDUCTIONS: tuple[Entry, ...] = (
    *(
        (f"z = {text}", types, None, count)
        for name in ("sum", "max", "min", "xor_sum", "reduce_or", "argmax", "argmin")
        for types in [("i1", *INTEGERS) if name in ("xor_sum", "reduce_or") else ("i1", *NUMERIC)]
        for text, count in (
            (f"tl.{name}(tl.reshape(x, (16, 32)), 1)", 16),
            (f"tl.{name}(tl.reshape(x, (16, 32)), axis=0, keep_dims=True)", 32),
            (f"tl.reshape(x, (16, 32)).{name}(1)", 16),
        )
    ),
    ("z = tl.sum(tl.reshape(x, (16, 32)), 0, dtype=tl.int64)", ("i8", "u8", "i32"), None, 32),
    ("z = tl.broadcast_to(tl.sum(x), (32,))", NUMERIC, None, 32),
    ("z = tl.broadcast_to(tl.max(x), (32,))", NUMERIC, None, 32),
    (
        "z, j = tl.max(tl.reshape(x, (16, 32)), 1, return_indices=True)\nz = tl.join(z, j.to(z.dtype))",
        NUMERIC,
        None,
        32,
    ),
    (
        "z, j = tl.min(tl.reshape(x, (16, 32)), 1, return_indices=True)\nz = tl.join(z, j.to(z.dtype))",
        NUMERIC,
        None,
        32,
    ),
    ("z = tl.argmin(tl.reshape(x, (16, 32)), 1, tie_break_left=False)", ("i32", "fp32"), None, 16),
    ("z = tl.reduce(tl.reshape(x, (16, 32)), 1, larger)", NUMERIC, None, 16),
    ("z = tl.cumsum(x)", ("i1", *NUMERIC), None, 512),
    ("z = tl.cumsum(tl.reshape(x, (16, 32)), 1, reverse=True)", SMALL, None, 512),
    ("z = tl.cumsum(x, dtype=tl.float32)", SMALL, None, 512),
    ("z = tl.cumprod(x)", ("i1", *NUMERIC), None, 512),
    ("z = tl.associative_scan(x, 0, larger)", NUMERIC, None, 512),
    ("z = tl.associative_scan(tl.reshape(x, (16, 32)), 1, larger, reverse=True)", SMALL, None, 512),
)

MEMORY: tuple[Entry, ...] = (
    ("z = tl.load(a + i, mask=m)", SOME, None, 512),
    ("z = tl.load(a + i, mask=m, other=1)", SOME, None, 512),
    ("z = tl.load(a + i, m, y)", SOME, SMALL, 512),
    ("z = tl.load(a + k, cache_modifier='.ca', eviction_policy='evict_last', volatile=True)", SMALL, None, 512),
    ("z = tl.load(a + k.to(tl.uint16))", SMALL, None, 512),
    ("z = tl.load(a + 511 - i)", SMALL, None, 512),
    ("z = tl.load(a + i.to(tl.int64))", SMALL, None, 512),
    ("tl.store(a + i, y)\nz = tl.load(a + i)", ANY, SMALL, 512),
    ("tl.store(a + i, y, mask=m, cache_modifier='.wb')\nz = tl.load(a + i)", SOME, None, 512),
    ("tl.store(a + i, 3)\nz = tl.load(a + i)", SOME, None, 512),
    ("tl.store(a + i, 0.5)\nz = tl.load(a + i)", SOME, None, 512),
    ("z = tl.load(tl.make_block_ptr(a, (16, 32), (32, 1), (2, 4), (8, 16), (1, 0)))", SMALL, None, 128),
    ("z = tl.load(tl.make_block_ptr(a, (16, 32), (32, 1), (12, 20), (8, 16), (1, 0)), boundary_check=(0, 1), "
     "padding_option='zero')", SMALL, None, 128),
    ("p = tl.advance(tl.make_block_ptr(a, (16, 32), (32, 1), (0, 0), (8, 16), (1, 0)), (4, 8))\n"
     "tl.store(p, 1.0)\nz = tl.load(p, boundary_check=(0,), padding_option='nan')", ("fp32", "fp16"), None, 128),
    ("d = tl.make_tensor_descriptor(a, [16, 32], [32, 1], [8, 16])\nz = d.load([8, 16])", SMALL, None, 128),
    ("d = tl.make_tensor_descriptor(a, [16, 32], [32, 1], [8, 16])\nd.store([12, -4], d.load([0, 24]))\n"
     "z = tl.load_tensor_descriptor(d, [4, 4])", SMALL, None, 128),
    ("z = tl.atomic_add(a + k, y)", ("i32", "u32", "i64", "u64", "fp16", "bf16", "fp32", "fp64"), None, 512),
    *((f"z = tl.atomic_{op}(a + k, y, mask=m, sem='relaxed', scope='cta')",
       ("i32", "u32", "i64", "u64") + (("fp32", "fp64") if op in ("max", "min", "xchg") else ()), None, 512)
      for op in ("max", "min", "and", "or", "xor", "xchg")),
    ("z = tl.atomic_cas(a + i, x, y)", ("i32", "u32", "i64", "u64"), None, 512),
    ("z = tl.atomic_add(a + i, 1)", ("i32", "fp32"), None, 512),
    ("p = a.to(tl.int64)\nz = x + (p - p).to(x.dtype)", ("i32",), None, 512),
)  # fmt: skip

OTHERS: tuple[Entry, ...] = (
    *((f"z = tl.{name}(7, x)", ("i32", "u32", "i64", "u64"), None, 512) for name in ("rand", "randint", "randn")),
    *((f"p, q, r, z = tl.{name}(pid + 2**40, x)", ("i32", "i64"), None, 512) for name in ("rand4x", "randint4x", "randn4x")),
    ("z = tl.randint(x, i, 7)", ("i32", "u64", "i8"), None, 512),
    ("p, q, r, z = tl.philox(3, x, x, x, x)", ("i32", "u32"), None, 512),
    ("p, q, r, z = tl.philox_impl(x, y, x, y, x, y, 4)", ("u32", "u64"), None, 512),
    ("z = tl.dot(tl.reshape(x, (16, 32)), tl.reshape(y, (32, 16)))", ("fp16", "bf16", "fp32", "i8", "fp8e5", "fp64"), None, 256),
    ("z = tl.dot(tl.reshape(x, (16, 32)), tl.reshape(y, (32, 16)), input_precision='ieee')", ("fp32",), None, 256),
    ("z = tl.dot(tl.reshape(x, (16, 32)), tl.reshape(y, (32, 16)), tl.full((16, 16), 1.0, tl.float32), allow_tf32=True)",
     ("fp16", "fp32"), None, 256),
    ("z = tl.dot(tl.reshape(x, (16, 32)), tl.reshape(y, (32, 16)), out_dtype=tl.float16)", ("fp16",), None, 256),
    ("z = tl.dot(tl.reshape(x, (16, 32)), tl.reshape(y, (32, 16)))", ("fp16",), ("fp8e5", "bf16", "fp32"), 256),
    ("s = tl.full((16, 1), 127, tl.uint8)\nz = tl.dot_scaled(tl.reshape(x, (16, 32)), s, 'e5m2', tl.reshape(y, (32, 16)), s, 'e5m2')",
     ("fp8e5",), None, 256),
    ("tl.device_print('x', tl.sum(x))\nz = x", ("i32", "fp32"), None, 512),
    ("tl.device_assert(pid == 0, 'one program')\nz = x", ("i32",), None, 512),
    ("tl.static_assert(x.dtype == tl.int32)\ntl.static_print(x.shape[0], file=None) if False else None\nz = x", ("i32",), None, 512),
    ("z = x\nfor j in tl.range(0, 3, num_stages=2):\n    z = z + j", ("i32", "u8", "fp16"), None, 512),
    ("z = x\nfor j in tl.static_range(3):\n    z += j", ("i32", "u8", "fp16"), None, 512),
    ("z = x\nj = 0\nwhile tl.condition(j < 3):\n    z += x\n    j += 1", ("i32", "fp32"), None, 512),
    ("t = tl.tuple([x, y])\nz = t[0] + t[1]", ("i32",), None, 512),
    ("C: tl.constexpr = 3\nz = x * C + tl.constexpr(4)", ("i32", "fp16"), None, 512),
    ("z = twice(x) if pid == 0 else larger(x, y)", SMALL, None, 512),
    ("z = x if pid == 0 else y", SMALL, None, 512),
    ("z = x\nif pid == 0:\n    z = y", SMALL, None, 512),
    ("z = tl.minimum(x, y) if tl.sum(k) > 3 and pid == 0 else x", SMALL, None, 512),
    ("z = tl.full((32,), tl.cdiv(pid + 7, 3) + tl.min(k), tl.int32)", ("i32",), None, 32),
    ("z = min(x, y)", SMALL, None, 512),
    ("z = max(x, 1)", SMALL, None, 512),
    ("z = tl.inline_asm_elementwise('mov.b32 $0, $1;', '=r,r', [x], dtype=tl.int32, is_pure=True, pack=1)", ("i32",), None, 512),
    ("z = x.type.element_ty == tl.float32 and x or y", ("i32",), None, 512),
    ("z = tl.full((32,), x.shape[0] + x.numel, tl.int32)", ("i32",), None, 32),
)  # fmt: skip

KERNEL = """@triton.jit
def kernel(out, a, b, c):
    pid = tl.program_id(0)
    i = tl.arange(0, 512)
    x = tl.load(a + i)
    y = tl.load(b + i)
    w = tl.load(c + i)
    k = (i * 7 + 3) % 512
    m = i % 3 != 0
{body}
    show(out, z, {count})
"""


NOT_CALLED = {
    **dict.fromkeys(
        ("block_type", "dtype", "pointer_type", "constexpr_type", "tensor", "tensor_descriptor", "void", "pi32_t",
         "tensor_descriptor_type", "tuple_type", "slice", "const", "str_to_ty", "TRITON_MAX_TENSOR_NUMEL"),
        "types and limits: test_language.py compares them",
    ),
    **dict.fromkeys(("core", "extra", "math", "random", "standard", "target_info"), "modules"),
    **dict.fromkeys(("float8e4b8", "float8e5b16", "float8e4b15"), "types, which the operators are run over"),
    **dict.fromkeys(
        ("aggregate_replace", "atomic_load", "atomic_poll", "atomic_store", "expect_zero", "squeeze", "to_tensor",
         "unsqueeze"),
        "names of Triton 3.7 to 3.9",
    ),
    "store_tensor_descriptor": "the function form of a method that is here",
    "view": "an alias of reshape",
}  # fmt: skip
"""Names of the language that no entry has, and why."""


def missing() -> set[str]:
    """Names of the language that stand neither in an entry nor in ``NOT_CALLED``."""
    text = "".join(entry[0] for entry in (*ELEMENTWISE, *SHAPE, *REDUCTIONS, *MEMORY, *OTHERS)) + HEADER + HELPERS
    used = set(re.findall(r"tl\.(\w+)", text + " ".join(f"tl.{name}" for name in NAMES.values())))
    return set(tl.__all__) - used - NOT_CALLED.keys()


def cases() -> list[Case]:
    found: list[Case] = []
    for body, types, others, count in (*ELEMENTWISE, *SHAPE, *REDUCTIONS, *MEMORY, *OTHERS):
        lines = "".join(f"    {line}\n" for line in body.splitlines())
        source = HEADER + HELPERS + KERNEL.format(body=lines, count=count)
        for type_ in types:
            for other in others or (type_,):
                arrays = {"out": "i8", "a": type_, "b": other, "c": type_}
                found.append(Case(f"{body} | x {type_}, y {other}", source, arrays))
    return found
