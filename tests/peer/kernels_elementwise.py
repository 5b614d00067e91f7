"""Elementwise kernels: arithmetic, conversions, device libraries, assembly."""

import triton
import triton.language as tl
from kernels_case import Case
from triton.language.extra import libdevice


@triton.jit
def add(x, y, o, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = i < n
    tl.store(o + i, tl.load(x + i, mask=mask) + tl.load(y + i, mask=mask, other=1.5), mask=mask)


@triton.jit
def floats(x, o, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    v = tl.load(x + i, mask=i < n, other=-float("inf"))
    v = tl.exp(v) + tl.exp2(v) + tl.log(v) + tl.log2(v) + tl.sin(v) + tl.cos(v) + tl.sqrt(v) + tl.rsqrt(v) + tl.erf(v)
    v = tl.floor(v) + tl.ceil(v) + tl.abs(v) + tl.fma(v, v, v) + tl.math.sqrt_rn(v) + tl.math.div_rn(v, 3.0)
    v = tl.maximum(v, 0.1) - tl.minimum(v, 1e30, propagate_nan=tl.PropagateNan.ALL)
    v = tl.clamp(v, -1.0, 1.0) + tl.sigmoid(v) * tl.where(v > 0, v, float("nan"))
    v = v / 3.0 % 2.0 - (-v)
    tl.store(o + i, v)


@triton.jit
def integers(x, o, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    v = tl.load(x + i)
    v = (v + 3) * 5 // 7 % 11 - (v << 2) + (v >> 1)
    v = (v & 0xFF) | (v ^ 0x55)
    v = tl.maximum(v, i) + tl.minimum(v, n) + tl.abs(v) + tl.cdiv(v, 3)
    u = v.to(tl.uint32)
    u = u // 7 + u % 5 + (u >> 3) + tl.umulhi(u, u) + tl.maximum(u, u + 1)
    v = tl.where((v < n) & (v >= 0) | (v == 77) & ~(v != 3), v, u.to(tl.int32))
    tl.store(o + i, v.to(tl.int64) + v.to(tl.int8) + (v > 0) + tl.load(x + i).to(tl.int16))


@triton.jit
def conversions(x, b, e, o, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    v = tl.load(x + i)
    h = v.to(tl.float16)
    g = tl.load(b + i).to(tl.float32)
    f = tl.load(e + i).to(tl.float16)
    r = v.to(tl.float16, fp_downcast_rounding="rtz").to(tl.float32)
    s = v.to(tl.int32).to(tl.float32) + v.to(tl.uint8).to(tl.float32) + v.to(tl.float64).to(tl.float32)
    w = v.to(tl.int32, bitcast=True).to(tl.float32, bitcast=True) + v.to(tl.bfloat16).to(tl.float32)
    z = (v > 0).to(tl.float32)
    tl.store(o + i, h.to(tl.float32) + g + f.to(tl.float32) + r + s + w + z)
    tl.store(e + i, v.to(tl.float8e5))


@triton.jit
def pointers(x, o, n):
    p = x.to(tl.uint64) + 8
    q = p.to(tl.pointer_type(tl.float32))
    tl.store(o, tl.load(q) + tl.load(x + n))
    i = tl.arange(0, 64)
    flags = o.to(tl.pointer_type(tl.int32))
    tl.store(flags + i, (x + i).to(tl.int64).to(tl.int32))


@triton.jit
def library(x, o, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    v = tl.load(x + i)
    tl.store(o + i, libdevice.tanh(v) + libdevice.pow(v, v) + libdevice.isnan(v).to(tl.float32))


@triton.jit
def assembly(x, o, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    v = tl.load(x + i)
    w = tl.inline_asm_elementwise('shl.b32 $0, $1, 3; // "quoted"\n', "=r,r", [v], dtype=tl.int32, is_pure=True, pack=1)
    a, b = tl.inline_asm_elementwise(
        "mov.b32 $0, $2; mov.b32 $1, $2;", "=r,=r,r", [w], dtype=(tl.int32, tl.int32), is_pure=False, pack=1
    )
    tl.store(o + i, a + b)


@triton.jit
def _mapped(a, b):
    if a > b:
        return a - b, a
    else:
        return b + a, b


@triton.jit
def mapped(x, o, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    v = tl.load(x + i)
    a, b = tl.map_elementwise(_mapped, v, i)
    tl.store(o + i, a + b)


@triton.jit
def constants(o, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    v = tl.full((BLOCK,), 0.1, tl.float32) + float("inf") + 16777215.0 + 1.44269504 + 1e-30 - 0.0
    w = tl.full((BLOCK,), 1.1, tl.float64) + 1e300
    h = tl.full((BLOCK,), 0.1, tl.float16) + 65504.0
    b = tl.zeros((BLOCK,), tl.bfloat16) + 3.14159
    k = tl.full((BLOCK,), 2147483648, tl.uint32) + tl.full((BLOCK,), -7, tl.int8)
    t = tl.full((BLOCK,), True, tl.int1)
    tl.store(o + i, tl.where(t, v + w.to(tl.float32) + h + b + k, 0))


F32 = {"x": "*fp32", "o": "*fp32"}
I32 = {"x": "*i32", "o": "*i32"}
CASES = [
    Case("add", add, {"x": "*fp32", "y": "*fp32", "o": "*fp32", "n": "i32"}, {"BLOCK": 1024}),
    Case("add_f16", add, {"x": "*fp16", "y": "*bf16", "o": "*fp16", "n": "i64"}, {"BLOCK": 512}, {"num_warps": 8}),
    Case("floats", floats, {**F32, "n": "i32"}, {"BLOCK": 256}),
    Case("integers", integers, {**I32, "n": "i32"}, {"BLOCK": 256}),
    Case("conversions", conversions, {"x": "*fp32", "b": "*bf16", "e": "*fp8e5", "o": "*fp32"}, {"BLOCK": 256}),
    Case("pointers", pointers, {**F32, "n": "i32"}),
    Case("library", library, F32, {"BLOCK": 256}),
    Case("assembly", assembly, I32, {"BLOCK": 256}),
    Case("mapped", mapped, I32, {"BLOCK": 256}),
    Case("constants", constants, {"o": "*fp32"}, {"BLOCK": 256}),
]
