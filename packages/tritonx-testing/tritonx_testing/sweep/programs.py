"""The table of programs: ops as expressions over operands of a dtype, and the kernel around them.

Operands are ``a``, ``b``, ``c`` (blocks of 64), ``s``, ``t``, ``u`` (scalars), ``A``, ``B``, ``C`` (16×16) and ``D``
(2×16×16), all of the dtype ``T``; ``i`` is the range of 64, ``U`` the second dtype of a program that has one, and ``d``
a block of it. A statement that is an expression has its value stored.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache

from tritonx.language.extra.libdevice_table import names as library_names
from tritonx.language.extra.libdevice_table import overloads

DTYPES = (
    "int1", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "bfloat16", "float32",
    "float64", "float8e4nv", "float8e5", "float8e4b15",
)  # fmt: skip

UNARY = (
    "+a", "-a", "~a", "not a", "tl.abs(a)", "tl.exp(a)", "tl.exp2(a)", "tl.log(a)", "tl.log2(a)", "tl.cos(a)",
    "tl.sin(a)", "tl.sqrt(a)", "tl.sqrt_rn(a)", "tl.rsqrt(a)", "tl.erf(a)", "tl.floor(a)", "tl.ceil(a)",
    "tl.sigmoid(a)",
)  # fmt: skip
BINARY = (
    "a + b", "a - b", "a * b", "a / b", "a // b", "a % b", "a & b", "a | b", "a ^ b", "a << b", "a >> b", "a == b",
    "a != b", "a < b", "a <= b", "a > b", "a >= b", "a and b", "a or b", "a.logical_and(b)", "a.logical_or(b)",
    "tl.minimum(a, b)", "tl.maximum(a, b)", "tl.maximum(a, b, propagate_nan=tl.PropagateNan.ALL)", "tl.fdiv(a, b)",
    "tl.div_rn(a, b)", "tl.umulhi(a, b)", "tl.cdiv(a, b)", "tl.add(a, b)", "tl.sub(a, b)", "tl.mul(a, b)",
    "a + 1", "a * 2.5", "a // 3", "a % 3", "a << 1", "a == 0", "a + s",
)  # fmt: skip
TERNARY = (
    "tl.fma(a, b, c)", "tl.clamp(a, b, c)", "tl.clamp(a, b, c, propagate_nan=tl.PropagateNan.ALL)",
    "tl.where(a > b, b, c)", "tl.where(a, b, c)", "b if s > t else c", "a * b + c",
)  # fmt: skip

MEMORY = (
    "tl.load(a_ptr + i, mask=i < 7)",
    "tl.load(a_ptr + i, mask=i < 7, other=1)",
    "tl.load(a_ptr + i * 3, cache_modifier='.cg', eviction_policy='evict_first')",
    "tl.load(a_ptr + i, volatile=True)",
    "tl.load(a_ptr)",
    "tl.store(a_ptr + i, b, mask=i < 7)",
    "tl.store(a_ptr + i, b, cache_modifier='.wt', eviction_policy='evict_last')",
    "tl.store(a_ptr, s)",
    "tl.store(a_ptr + i, 1)",
    "tl.load(tl.make_block_ptr(a_ptr, (n, 20), (20, 1), (0, 3), (16, 16), (1, 0)), boundary_check=(0, 1))",
    "p = tl.make_block_ptr(a_ptr, (n, 20), (20, 1), (0, 3), (16, 16), (1, 0))"
    "\n    p = tl.advance(p, (16, 0))\n    tl.store(p, A, boundary_check=(0,))",
    "tl.make_tensor_descriptor(a_ptr, [n, 32], [32, 1], [16, 16]).load([n, 8])",
    "tl.make_tensor_descriptor(a_ptr, [n, 32], [32, 1], [16, 16]).store([0, 8], A)",
    "tl.make_tensor_descriptor(a_ptr, [n, 32], [32, 1], [16, 16]).atomic_add([0, 8], A)",
    "tl.make_tensor_descriptor(a_ptr, [n, 32], [32, 1], [1, 16]).gather(tl.arange(0, 16), 0)",
    "tl.full((64,), 1, T)", "tl.zeros((16, 16), T)", "tl.zeros_like(a)", "tl.full((), 0, T)",
    "tl.multiple_of(a, 8)", "tl.max_contiguous(a, 8)", "tl.max_constancy(a, 8)", "tl.cast(i, T)",
)  # fmt: skip
REDUCTIONS = (
    *(f"tl.{name}({operand})"
      for name in ("sum", "max", "min", "argmax", "argmin", "xor_sum", "reduce_or")
      for operand in ("a, 0", "A, 0", "A, 1")),
    "tl.sum(A)", "tl.max(A)", "tl.sum(D, 1)", "tl.sum(a, 0, keep_dims=True)", "tl.sum(a, 0, dtype=tl.float32)",
    "x, y = tl.max(A, 1, return_indices=True)\n    keep(o_ptr, x)\n    keep(o_ptr, y)",
    "tl.argmax(A, 0, tie_break_left=False)", "tl.reduce(A, 1, larger)",
    "x, y = tl.reduce((A, B), 0, recurrence)\n    keep(o_ptr, x)\n    keep(o_ptr, y)",
    "tl.softmax(a)", "tl.softmax(A, 1)",
)  # fmt: skip
SCANS = (
    "tl.cumsum(a, 0)", "tl.cumsum(A, 1)", "tl.cumsum(A, 0, reverse=True)", "tl.cumprod(a, 0)", "tl.cumprod(A, 0)",
    "tl.cumsum(a, 0, dtype=tl.float32)", "tl.associative_scan(A, 1, larger)",
    "x, y = tl.associative_scan((a, b), 0, recurrence)\n    keep(o_ptr, x)\n    keep(o_ptr, y)",
)  # fmt: skip
DOTS = (
    "tl.dot(A, B)", "tl.dot(A, B, acc=tl.zeros((16, 16), tl.float32))", "tl.dot(A, B, out_dtype=tl.float16)",
    "tl.dot(A, B, input_precision='tf32')", "tl.dot(A, B, input_precision='tf32x3')", "tl.dot(D, D)",
    "tl.dot(tl.trans(A), B)", "tl.dot(A, tl.dot(A, B).to(T))", "tl.dot(A, B, C)",
    "tl.dot_scaled(A, scale1, 'e4m3', tl.trans(B), scale1, 'e4m3')",
    "tl.dot_scaled(A, scale1, 'e5m2', tl.trans(B), None, 'bf16')",
    "tl.dot_scaled(A, scale2, 'e2m1', tl.trans(B), scale2, 'e2m1')",
    "tl.dot_scaled(A, None, 'fp16', tl.trans(B), scale1, 'e4m3')",
)  # fmt: skip
ATOMICS = (
    *(f"tl.atomic_{name}({operands})"
      for name in ("add", "max", "min", "and", "or", "xor", "xchg")
      for operands in ("a_ptr, s", "a_ptr + i, b, mask=i < 7, sem='acquire', scope='cta'")),
    "tl.atomic_cas(a_ptr + i, b, c)", "tl.atomic_cas(a_ptr, s, t, sem='release', scope='sys')",
    "tl.atomic_load(a_ptr + i, mask=i < 7)", "tl.atomic_load(a_ptr, sem='relaxed', scope='sys')",
    "tl.atomic_store(a_ptr + i, b, mask=i < 7)", "tl.atomic_store(a_ptr, s, sem='relaxed', scope='cta')",
    "tl.atomic_poll(a_ptr + i, b, sem='relaxed')", "tl.atomic_poll(a_ptr, s, timeout_ns=n)",
)  # fmt: skip
SHAPES = (
    "tl.reshape(a, (8, 8))", "tl.reshape(A, (256,), can_reorder=True)", "tl.view(a, (8, 8))", "a.T", "A.T",
    "tl.trans(D, 2, 0, 1)", "tl.permute(A, (1, 0))", "tl.broadcast_to(a[:, None], (64, 4))", "a[None, :]",
    "tl.expand_dims(a, 1)", "tl.join(a, b)", "tl.interleave(a, b)", "tl.cat(a, b, can_reorder=True)", "tl.ravel(A)",
    "x, y = tl.split(tl.reshape(a, (32, 2)))\n    keep(o_ptr, x + y)", "tl.flip(a)", "tl.flip(A, 0)",
    "x, y = tl.broadcast(a[:, None], b[None, :])\n    keep(o_ptr, x)", "tl.squeeze(a[None, :], 0)",
    "tl.unsqueeze(a, 1)", "tl.to_tensor(a)", "tl.expect_zero(a, i < 0)",
)  # fmt: skip
SORTING = (
    "tl.sort(a)", "tl.sort(A, descending=True)", "tl.topk(a, 8)", "tl.topk(A, 4)", "tl.bitonic_merge(a)",
    "tl.gather(a, i ^ 1, 0)", "tl.gather(A, (A != B).to(tl.int32), 1)", "tl.gather(a, b, 0)",
    "tl.histogram(a, 16)", "tl.histogram(a, 16, mask=a > b)", "tl.histogram(i, 16, mask=a)",
)  # fmt: skip
RANDOM = (
    "tl.rand(3, a)", "tl.randn(3, a)", "tl.randint(3, a)", "tl.rand(s, i)", "tl.randint(s, a)",
    "x, y, z, w = tl.randint4x(3, a)\n    keep(o_ptr, x ^ y ^ z ^ w)",
    "x, y, z, w = tl.rand4x(s, i)\n    keep(o_ptr, x + w)", "x, y, z, w = tl.randn4x(3, a)\n    keep(o_ptr, x + w)",
    "x, y, z, w = tl.philox(3, a, b, c, a)\n    keep(o_ptr, x + w)", "tl.uint_to_uniform_float(a)",
    "x, y = tl.pair_uniform_to_normal(a, b)\n    keep(o_ptr, x + y)",
    "x, y = tl.swizzle2d(s, t, 8, 8, 4)\n    keep(o_ptr, x + y)",
)  # fmt: skip
ASSEMBLY = (
    "tl.inline_asm_elementwise('mov.b32 $0, $1;', '=r,r', [a], T, True, 1)",
    "tl.inline_asm_elementwise('mov.b32 $0, $1;', '=r,r', [a], tl.int32, False, 1)",
    "tl.inline_asm_elementwise('mov.b32 $0, $1;', '=r,r', [a], T, True, 2)",
    "tl.inline_asm_elementwise('mov.b32 $0, $1;', '=r,r', [a], T, True, 4)",
    "tl.inline_asm_elementwise('mov.b64 $0, $1;', '=l,l', [a], T, True, 1)",
    "tl.inline_asm_elementwise('mov.f32 $0, $1;', '=f,f', [s], T, True, 1)",
    "tl.inline_asm_elementwise('nonsense', '=v,v', [a], T, True, 1)",
)
DEBUG = (
    "tl.device_print('a', a)", "tl.device_print('s', s, hex=True)", "tl.device_print('A', A, B)",
    "tl.device_assert(a > b, 'text')", "tl.device_assert(a)", "tl.device_assert(s == t, 'text')", "tl.assume(s > 0)",
    "tl.static_print(a)", "tl.static_assert(a.dtype == T)", "tl.debug_barrier()", "print('x', a)", "assert s > t",
)  # fmt: skip
CONTROL = (
    "for k in range(3):\n        a = a + b\n    keep(o_ptr, a)",
    "for k in range(s):\n        a += k\n    keep(o_ptr, a)",
    "for k in tl.range(0, n, 16, num_stages=3):\n        A += tl.load(a_ptr + k * 16 + square)\n    keep(o_ptr, A)",
    "while s > t:\n        s = s - u\n    keep(o_ptr, s)",
    "if s > t:\n        a = b\n    keep(o_ptr, a)",
    "if s:\n        keep(o_ptr, b)\n    else:\n        keep(o_ptr, c)",
    "for k in tl.static_range(3):\n        a = tl.where(a > k, a, b)\n    keep(o_ptr, a)",
    "keep(o_ptr, larger(a, b))", "keep(o_ptr, apart(a))", "tl.map_elementwise(one_of, a, b)",
)  # fmt: skip

FAMILIES: dict[str, Sequence[str]] = {
    "memory": MEMORY, "reduce": REDUCTIONS, "scan": SCANS, "dot": DOTS, "atomic": ATOMICS, "shape": SHAPES,
    "sorting": SORTING, "random": RANDOM, "assembly": ASSEMBLY, "debug": DEBUG, "control": CONTROL,
}  # fmt: skip
"""Statements by family, for every dtype; the elementwise families are written for blocks and for scalars."""

HEADER = """\
import tritonx.language as tl
from tritonx.runtime.jit import jit


@jit
def larger(a, b):
    return tl.maximum(a, b)


@jit
def recurrence(a1, b1, a2, b2):
    return a1 * a2, b1 * a2 + b2


@jit
def one_of(a, b):
    if a > b:
        return a
    return b


@jit(noinline=True)
def apart(a):
    return a + a


@jit
def keep(o_ptr, value):
    p = o_ptr.to(tl.pointer_type(value.dtype), bitcast=True)
    if len(value.shape) == 0:
        tl.store(p, value)
    elif len(value.shape) == 1:
        tl.store(p + tl.arange(0, value.shape[0]), value)
    elif len(value.shape) == 2:
        rows, cols = tl.arange(0, value.shape[0]), tl.arange(0, value.shape[1])
        tl.store(p + rows[:, None] * value.shape[1] + cols[None, :], value)
    else:
        tl.store(p + tl.arange(0, value.numel), tl.ravel(value))


@jit
def kernel(a_ptr, b_ptr, c_ptr, d_ptr, o_ptr, n):
"""

OPERANDS = {
    "i": "tl.arange(0, 64)",
    "square": "tl.arange(0, 16)[:, None] * 16 + tl.arange(0, 16)[None, :]",
    "cube": "tl.arange(0, 2)[:, None, None] * 256 + square[None, :, :]",
    "a": "tl.load(a_ptr + i)", "b": "tl.load(b_ptr + i)", "c": "tl.load(c_ptr + i)", "d": "tl.load(d_ptr + i)",
    "s": "tl.load(a_ptr)", "t": "tl.load(b_ptr)", "u": "tl.load(c_ptr)",
    "A": "tl.load(a_ptr + square)", "B": "tl.load(b_ptr + square)", "C": "tl.load(c_ptr + square)",
    "M": "tl.load(d_ptr + square)", "D": "tl.load(a_ptr + cube)",
    "scale1": "tl.full((16, 1), 127, tl.uint8)", "scale2": "tl.full((16, 1), 127, tl.uint8)",
}  # fmt: skip
"""What a statement may name, in the order of their definitions."""


@dataclass(frozen=True)
class Program:
    """A kernel with pointers ``a_ptr`` to ``d_ptr`` to elements of these dtypes, ``o_ptr`` to bytes, and ``n``."""

    name: str
    source: str
    dtype: str
    other: str

    @property
    def signature(self) -> dict[str, str]:
        own, second = f"*{short(self.dtype)}", f"*{short(self.other)}"
        return {"a_ptr": own, "b_ptr": own, "c_ptr": own, "d_ptr": second, "o_ptr": "*i8", "n": "i32"}


def short(dtype: str) -> str:
    """A dtype's name in a signature: ``fp32``, ``i8``, ``u16``."""
    for long, brief in (("bfloat", "bf"), ("float8", "fp8"), ("float", "fp"), ("uint", "u"), ("int", "i")):
        if dtype.startswith(long):
            return brief + dtype.removeprefix(long)
    return dtype


@cache
def programs() -> dict[str, Program]:
    """All of them, by name."""
    return {program.name: program for program in _programs()}


def _programs() -> Iterator[Program]:
    for dtype in DTYPES:
        for expression in (*UNARY, *BINARY, *TERNARY):
            yield _program(expression, (expression, _scalar(expression)), dtype)
        for family in FAMILIES.values():
            for statement in family:
                yield _program(statement, (statement,), dtype)
        for expression, other in _pairs(dtype):
            yield _program(expression, (expression, _scalar(expression)), dtype, other)
    for name in library_names():
        for types in overloads(name):
            arguments = ", ".join(f"{'abcd'[n]}.to({_element(type_)})" for n, type_ in enumerate(types))
            call = f"tl.extra.libdevice.{name}({arguments})"
            yield _program(f"libdevice.{name}({','.join(types)})", (call, _scalar(call)), "float32")


def _pairs(dtype: str) -> Iterator[tuple[str, str]]:
    """Expressions over two dtypes, those left out that are refused whatever the target: bitcasts to another width,
    rounding modes but for narrower floats, products of integers with floats."""
    for other in DTYPES:
        floats = "float" in dtype and "float" in other
        yield "a.to(U)", other
        yield "a + d", other
        if _width(dtype) == _width(other):
            yield "a.to(U, bitcast=True)", other
        if floats and _width(dtype) > _width(other):
            yield "a.to(U, fp_downcast_rounding='rtz')", other
        if floats or other in ("int8", "uint8"):
            yield "tl.dot(A, M)", other


def _width(dtype: str) -> int:
    found = re.match(r"[a-z]+(\d+)", dtype)
    return int(found[1]) if found else 0


def _element(name: str) -> str:
    """The dtype of a name in a library's table."""
    return f"tl.{name.replace('fp', 'float')}"


def _scalar(expression: str) -> str:
    """The expression over scalars."""
    scalars = {"a": "s", "b": "t", "c": "u", "d": "tl.load(d_ptr)", "i": "n"}
    return re.sub(r"(?<![\w.])[abcdi](?![\w'])", lambda found: scalars[found[0]], expression)


def _program(title: str, statements: Sequence[str], dtype: str, other: str = "float32") -> Program:
    second = f"→{other}" if any(re.search(r"\b(U|d|M)\b", s) for s in statements) else ""
    body = [_stored(s) for s in dict.fromkeys(statements)]
    text = "\n".join(body)
    used: list[str] = []
    for name in reversed(OPERANDS):
        if re.search(rf"(?<![\w.']){name}(?![\w'])", text):
            line = f"{name} = {OPERANDS[name]}"
            used.insert(0, line)
            text = f"{line}\n{text}"
    lines = "".join(f"    {line}\n" for line in (*used, *body))
    lines = re.sub(r"\bT\b(?!,? *=)(?<!\.T)", f"tl.{dtype}", lines)
    lines = re.sub(r"\bU\b", f"tl.{other}", lines)
    return Program(f"{' '.join(title.split())} [{dtype}{second}]", HEADER + lines, dtype, other)


def _stored(statement: str) -> str:
    """A statement that uses its value, if it has one."""
    first = statement.partition("\n")[0]
    plain = re.match(r"(for|while|if|print|assert|keep|p = |[xyzw](, [xyzw])* = )", first) or "\n" in statement
    effect = re.match(
        r"tl\.(store|atomic_store|device_|static_|debug_|assume)|tl\.make_.*\.store|tl\.make_.*\.atomic", first
    )
    return statement if plain or effect else f"keep(o_ptr, {statement})"
