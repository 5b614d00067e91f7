"""Small kernels whose builtins must become the same ops here and in Triton; ``triton`` may stand for either.

A kernel's ``WHAT`` picks a branch at compile time: it is compiled once for each case.
"""

import triton
import triton.language as tl


@triton.jit
def operators(x, y, o, WHAT: tl.constexpr):
    i = tl.arange(0, 32)
    a, b = tl.load(x + i), tl.load(y + i)
    if WHAT == "add":
        r = a + b
    elif WHAT == "sub":
        r = a - b
    elif WHAT == "mul":
        r = a * b
    elif WHAT == "div":
        r = a / b
    elif WHAT == "floordiv":
        r = a // b
    elif WHAT == "mod":
        r = a % b
    elif WHAT == "and":
        r = a & b
    elif WHAT == "shl":
        r = a << b
    elif WHAT == "shr":
        r = a >> b
    elif WHAT == "lt":
        r = a < b
    elif WHAT == "ge":
        r = a >= b
    elif WHAT == "ne":
        r = a != b
    elif WHAT == "neg":
        r = -a
    elif WHAT == "invert":
        r = ~a
    elif WHAT == "min":
        r = tl.minimum(a, b)
    elif WHAT == "max_nan":
        r = tl.maximum(a, b, propagate_nan=tl.PropagateNan.ALL)
    elif WHAT == "abs":
        r = tl.abs(a)
    elif WHAT == "where":
        r = tl.where(a < b, a, b)
    elif WHAT == "literal_compared":
        r = a > 3
    elif WHAT == "literal_int":
        r = 2 + a
    else:
        r = a * 0.5
    tl.store(o + i, r)


@triton.jit
def casts(x, o, WHAT: tl.constexpr):
    i = tl.arange(0, 32)
    tl.store(o + i, tl.load(x + i).to(WHAT))


@triton.jit
def floats(x, o, WHAT: tl.constexpr):
    i = tl.arange(0, 32)
    a = tl.load(x + i)
    if WHAT == "clamp":
        r = tl.clamp(a, 0.0, 1.0)
    elif WHAT == "fma":
        r = tl.fma(a, a, a)
    elif WHAT == "fdiv":
        r = tl.fdiv(a, 3.0)
    elif WHAT == "div_rn":
        r = tl.div_rn(a, 3.0)
    elif WHAT == "sigmoid":
        r = tl.sigmoid(a)
    elif WHAT == "rtz":
        r = a.to(tl.bfloat16, fp_downcast_rounding="rtz")
    elif WHAT == "bitcast":
        r = a.to(tl.int32, bitcast=True)
    elif WHAT == "softmax":
        r = tl.softmax(a)
    elif WHAT == "sum":
        r = tl.sum(a, 0)
    elif WHAT == "max":
        r = tl.max(a, 0)
    elif WHAT == "argmin":
        r = tl.argmin(a, 0)
    elif WHAT == "max_indices":
        r, j = tl.max(a, 0, return_indices=True, return_indices_tie_break_left=False)
        r += j
    elif WHAT == "cumsum":
        r = tl.cumsum(a, reverse=True)
    elif WHAT == "interleave":
        r = tl.interleave(a, a)
        i = tl.arange(0, 64)
    elif WHAT == "gather":
        r = tl.gather(a, 31 - i, 0)
    elif WHAT == "swizzle":
        p, q = tl.swizzle2d(tl.program_id(0), tl.program_id(1), tl.num_programs(0), tl.num_programs(1), 4)
        r = a + p * q
    elif WHAT == "umulhi":
        r = tl.umulhi(i, i)
    else:
        r = tl.cdiv(tl.program_id(2), 3) + a
    tl.store(o + i, r)


@triton.jit
def atomics(p, n, WHAT: tl.constexpr):
    i = tl.arange(0, 32)
    mask = i < n
    value = n.to(p.dtype.element_ty)
    if WHAT == "add":
        tl.atomic_add(p + i, value, mask=mask)
    elif WHAT == "max":
        tl.atomic_max(p + i, value, mask=mask, sem="relaxed")
    elif WHAT == "min":
        tl.atomic_min(p + i, value)
    elif WHAT == "xchg":
        tl.atomic_xchg(p, value, scope="sys")
    elif WHAT == "or":
        tl.atomic_or(p + i, value, mask=mask)
    else:
        tl.atomic_cas(p + i, tl.full([32], 0, p.dtype.element_ty), tl.full([32], 1, p.dtype.element_ty))


@triton.jit
def memory(x, o, n, WHAT: tl.constexpr):
    i = tl.arange(0, 32)
    if WHAT == "unsigned_offset":
        r = tl.load(x + i.to(tl.uint32))
    elif WHAT == "subtracted":
        r = tl.load(x - i)
    elif WHAT == "scalar":
        r = tl.load(x + n)
    elif WHAT == "broadcast_mask":
        r = tl.load(x + i[:, None] + i[None, :] * 32, mask=i[:, None] < n, other=1)
        o += i[:, None] * 32
        i = i[None, :]
    else:
        r = tl.load(tl.multiple_of(x + i, 8), mask=i < n, eviction_policy="evict_last", cache_modifier=".cg")
    tl.store(o + i, r)


INTEGERS = ("add", "sub", "mul", "div", "floordiv", "mod", "and", "shl", "shr", "lt", "ge", "ne", "neg", "invert",
            "min", "abs", "where", "literal_compared", "literal_int", "literal_half")  # fmt: skip
FLOATS = ("add", "sub", "mul", "div", "mod", "lt", "ge", "ne", "neg", "min", "max_nan", "abs", "where",
          "literal_compared", "literal_int", "literal_half")  # fmt: skip
PAIRS = {
    INTEGERS: (("i32", "i32"), ("u32", "u32"), ("i8", "i8"), ("u8", "u16"), ("i64", "i32")),
    FLOATS: (("fp32", "fp32"), ("fp16", "fp16"), ("bf16", "bf16"), ("fp16", "fp32"), ("fp64", "fp32")),
}
CASTS = {
    "fp32": ("float16", "bfloat16", "float8e5", "float8e4nv", "float64", "int32", "uint8", "int1", "int64"),
    "fp16": ("float32", "bfloat16", "float8e5", "int32"),
    "bf16": ("float32", "float16", "float8e4nv", "uint16", "int1"),
    "fp8e5": ("float32", "float16", "bfloat16", "float8e4nv"),
    "fp64": ("float32", "float16", "bfloat16", "int64", "uint32"),
    "i32": ("float32", "float16", "bfloat16", "int8", "int64", "uint32", "uint64", "int1"),
    "u8": ("float32", "int32", "int8", "int1", "float64"),
    "i1": ("int32", "float32", "int8"),
}
SHORT = {
    "float16": "fp16", "bfloat16": "bf16", "float32": "fp32", "float64": "fp64", "float8e5": "fp8e5",
    "float8e4nv": "fp8e4nv", "int1": "i1", "int8": "i8", "int32": "i32", "int64": "i64", "uint8": "u8",
    "uint16": "u16", "uint32": "u32", "uint64": "u64",
}  # fmt: skip

CASES = [
    (f"{what} {a} {b}", operators, {"x": f"*{a}", "y": f"*{b}", "o": "*fp32"}, {"WHAT": what})
    for whats, pairs in PAIRS.items()
    for what in whats
    for a, b in pairs
]
CASES += [
    (f"cast {a} {b}", casts, {"x": f"*{a}", "o": f"*{SHORT[b]}"}, {"WHAT": getattr(tl, b)})
    for a, targets in CASTS.items()
    for b in targets
]
CASES += [
    (what, floats, {"x": "*fp32", "o": "*fp32"}, {"WHAT": what})
    for what in ("clamp", "fma", "fdiv", "div_rn", "sigmoid", "rtz", "bitcast", "softmax", "sum", "max",
                 "argmin", "max_indices", "cumsum", "interleave", "gather", "swizzle", "umulhi", "cdiv")
]  # fmt: skip
ATOMICS = {
    "add": ("i32", "fp32", "fp16", "u64"),
    "max": ("i32", "u32", "fp32", "fp64"),
    "min": ("i64", "u64", "fp32"),
    "xchg": ("fp32", "i32"),
    "or": ("i32",),
    "cas": ("i32", "fp32"),
}
CASES += [
    (f"atomic {what} {ty}", atomics, {"p": f"*{ty}", "n": "i32"}, {"WHAT": what})
    for what, types in ATOMICS.items()
    for ty in types
]
CASES += [
    (what, memory, {"x": "*i1" if what == "hints" else "*fp32", "o": "*fp32", "n": "i32"}, {"WHAT": what})
    for what in ("unsigned_offset", "subtracted", "scalar", "broadcast_mask", "hints")
]
