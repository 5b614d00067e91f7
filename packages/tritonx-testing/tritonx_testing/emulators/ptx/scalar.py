"""What the instructions for one thread compute (PTX ISA 9.0, sections 9.7.1 to 9.7.9)."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from tritonx_testing.emulators.ptx.convert import convert
from tritonx_testing.emulators.ptx.numbers import flushed, fma, narrowed, to_odd, truncated, two_sum
from tritonx_testing.emulators.ptx.text import Instruction, Vector
from tritonx_testing.emulators.ptx.threads import TYPES, Fault, Threads

Array = Any
Meaning = Callable[[Threads, Instruction], None]


def is_float(type_: str) -> bool:
    return "f" in type_


def operands(t: Threads, i: Instruction, count: int) -> list[Array]:
    """The sources; subnormal ones are zeros where the instruction flushes them."""
    if len(i.operands) != count + 1:
        raise Fault(i.text)
    if mixed(i):
        narrow = [t.read(o, i.type).astype(np.float32) for o in i.operands[1:count]]
        return [*narrow, t.read(i.operands[count], "f32")]
    values = [t.read(o, i.type) for o in i.operands[1 : count + 1]]
    return [flushed(v) for v in values] if "ftz" in i.modifiers and i.type in ("f32", "f32x2") else values


def mixed(i: Instruction) -> bool:
    """Whether the last operand and the result are f32, and the others narrower (add, sub, fma from 10.0 on)."""
    types = [m for m in i.modifiers if m in TYPES]
    if len(types) > 1 and (types[:-1] != ["f32"] or i.opcode not in ("add", "sub", "fma")):
        raise Fault(i.text)
    return len(types) > 1


def result(t: Threads, i: Instruction, value: Array) -> None:
    if "ftz" in i.modifiers and i.type in ("f32", "f32x2"):
        value = flushed(value.astype(np.float32))
    if "sat" in i.modifiers and is_float(i.type):
        value = np.where(np.isnan(value), 0, np.clip(value, 0, 1)).astype(value.dtype)
    t.write(i.operands[0], "f32" if mixed(i) else i.type, value)


def elementwise(count: int, of: Callable[..., Array]) -> Meaning:
    def meaning(t: Threads, i: Instruction) -> None:
        result(t, i, of(*operands(t, i, count)))

    return meaning


def rounded(exact: Callable[[Array, Array], Array], error: Callable[[Array, Array, Array], Array]) -> Meaning:
    """Of two floats, to nearest even or toward zero; of integers, as they wrap."""

    def meaning(t: Threads, i: Instruction) -> None:
        a, b = operands(t, i, 2)
        if "rz" in i.modifiers:
            wide = a.astype(np.float64), b.astype(np.float64)
            made = exact(*wide)
            result(t, i, truncated(to_odd(made, error(*wide, made)), np.float32))
        elif is_float(i.type) and a.dtype.itemsize == 2:
            result(t, i, narrowed(exact(a.astype(np.float64), b.astype(np.float64)), a.dtype))
        else:
            result(t, i, exact(a, b))

    return meaning


def add(t: Threads, i: Instruction) -> None:
    if "cc" in i.modifiers:
        return with_carry(t, i, 0, subtracts=False)
    rounded(np.add, lambda a, b, s: two_sum(a, b)[1])(t, i)


def sub(t: Threads, i: Instruction) -> None:
    if "cc" in i.modifiers:
        return with_carry(t, i, 0, subtracts=True)
    rounded(np.subtract, lambda a, b, s: two_sum(a, -b)[1])(t, i)


def with_carry(t: Threads, i: Instruction, carry: Array | int, *, subtracts: bool) -> None:
    """The carry is kept where the instruction says ``cc``. 32 and 64 bits."""
    width = TYPES[i.type][1]
    a, b = (t.bits(o, width).astype(object) for o in i.operands[1:3])
    if subtracts:
        total = a - b - carry
        out = np.array([int(x < 0) for x in total], np.uint64)
    else:
        total = a + b + carry
        out = np.array([int(x) >> width for x in total], np.uint64)
    t.write(i.operands[0], f"b{width}", np.array([int(x) % (1 << width) for x in total], f"u{width // 8}"))
    if "cc" in i.modifiers:
        np.copyto(t.carry, out, where=t.mask)


def product(t: Threads, i: Instruction) -> None:
    """mul: of floats, or the low, the high or all bits of integers' product."""
    if is_float(i.type):
        return rounded(np.multiply, lambda a, b, p: np.zeros_like(p))(t, i)
    which = next(m for m in i.modifiers if m in ("lo", "hi", "wide"))
    a, b = (t.read(o, i.type) for o in i.operands[1:3])
    type_, made = multiplied(a, b, i.type, which)
    t.write(i.operands[0], type_, made)


def multiplied(a: Array, b: Array, type_: str, which: str) -> tuple[str, Array]:
    width = TYPES[type_][1]
    if which == "lo":
        return type_, a * b
    if width == 64:
        high = [int(x) * int(y) >> 64 for x, y in zip(a, b, strict=True)]
        return type_, np.array([h % (1 << 64) for h in high], np.uint64).view(a.dtype)
    wide_type = f"{type_[0]}{2 * width}"
    wide = a.astype(TYPES[wide_type][0]) * b.astype(TYPES[wide_type][0])
    return (wide_type, wide) if which == "wide" else (type_, (wide >> width).astype(a.dtype))


def multiply_add(t: Threads, i: Instruction) -> None:
    """mad of integers, with the carry in and out where it is named."""
    which = next(m for m in i.modifiers if m in ("lo", "hi", "wide"))
    a, b = (t.read(o, i.type) for o in i.operands[1:3])
    type_, made = multiplied(a, b, i.type, which)
    c = t.read(i.operands[3], type_)
    if i.opcode == "madc" or "cc" in i.modifiers:
        carry = t.carry if i.opcode == "madc" else np.zeros_like(t.carry)
        width = TYPES[type_][1]
        mask = (1 << width) - 1
        total = [(int(x) & mask) + (int(y) & mask) + int(z) for x, y, z in zip(made, c, carry, strict=True)]
        if "cc" in i.modifiers:
            np.copyto(t.carry, np.array([v >> width for v in total], np.uint64), where=t.mask)
        t.write(i.operands[0], f"b{width}", np.array([v & mask for v in total], f"u{width // 8}"))
    else:
        t.write(i.operands[0], type_, made + c)


def fused(t: Threads, i: Instruction) -> None:
    a, b, c = operands(t, i, 3)
    result(t, i, fma(a, b, c, a.dtype))


def quotient(t: Threads, i: Instruction) -> None:
    a, b = operands(t, i, 2)
    if is_float(i.type):
        result(t, i, a / b)
    else:
        safe = np.where(b == 0, 1, b)
        floor = a // safe
        toward_zero = floor + ((a % safe != 0) & ((a < 0) != (safe < 0))).astype(a.dtype)
        result(t, i, toward_zero)


def remainder(t: Threads, i: Instruction) -> None:
    a, b = operands(t, i, 2)
    safe = np.where(b == 0, 1, b)
    rest = a % safe
    result(t, i, np.where((rest != 0) & ((a < 0) != (safe < 0)), rest - safe, rest).astype(a.dtype))


def extremum(larger: bool) -> Meaning:
    """Of two numbers, or of three from 10.0 on. NaN loses but where ``NaN`` is said; −0 is less than +0."""

    def meaning(t: Threads, i: Instruction) -> None:
        first, *rest = operands(t, i, len(i.operands) - 1)
        for other in rest:
            if is_float(i.type):
                first = extremum_of(first, other, larger, "NaN" in i.modifiers)
            else:
                first = np.maximum(first, other) if larger else np.minimum(first, other)
        if "relu" in i.modifiers:
            if is_float(i.type):
                raise Fault(i.text)
            first = np.maximum(first, 0)
        result(t, i, first)

    return meaning


def extremum_of(a: Array, b: Array, larger: bool, spreads: bool) -> Array:
    wide = (a, b) if a.dtype.itemsize > 2 else (a.astype(np.float32), b.astype(np.float32))
    x, y = (v if larger else -v for v in wide)
    first = (x > y) | ((x == y) & np.signbit(y)) | np.isnan(y)
    made = np.where(np.isnan(x), wide[1], np.where(first, wide[0], wide[1]))
    nan = np.isnan(x) | np.isnan(y) if spreads else np.isnan(x) & np.isnan(y)
    return np.where(nan, np.nan, made).astype(a.dtype)


def bitwise(of: Callable[..., Array], count: int) -> Meaning:
    def meaning(t: Threads, i: Instruction) -> None:
        if i.type == "pred":
            t.write_predicate(i.operands[0], of(*(t.predicate(o) for o in i.operands[1 : count + 1])))
        else:
            result(t, i, of(*operands(t, i, count)))

    return meaning


def shift(t: Threads, i: Instruction) -> None:
    """Amounts beyond the width are clamped to it."""
    width = TYPES[i.type][1]
    a, amount = t.read(i.operands[1], i.type), t.bits(i.operands[2], 32).astype(np.int64)
    small = np.minimum(amount, width - 1).astype(a.dtype)
    made = a << small if i.opcode == "shl" else a >> small
    gone = a >> (width - 1) if a.dtype.kind == "i" and i.opcode == "shr" else np.zeros_like(a)
    result(t, i, np.where(amount >= width, gone, made))


def funnel(t: Threads, i: Instruction) -> None:
    low, high, amount = (t.bits(o, 32).astype(np.uint64) for o in i.operands[1:4])
    n = amount & np.uint64(31) if "wrap" in i.modifiers else np.minimum(amount, np.uint64(32))
    both = high << np.uint64(32) | low
    made = both << n >> np.uint64(32) if i.modifiers[0] == "l" else both >> n
    t.write(i.operands[0], "b32", (made & np.uint64(0xFFFFFFFF)).astype(np.uint32))


def permute(t: Threads, i: Instruction) -> None:
    """prmt: each byte of the result is one of the eight, or its sign eight times."""
    if i.modifiers != ("b32",):
        raise Fault(i.text)
    a, b, selector = (t.bits(o, 32) for o in i.operands[1:4])
    source = np.stack([a, b], 1).astype("<u4").view(np.uint8)
    out = np.zeros((t.count, 4), np.uint8)
    for byte in range(4):
        choice = selector >> np.uint32(4 * byte) & np.uint32(15)
        taken = source[np.arange(t.count), choice & 7]
        out[:, byte] = np.where(choice & 8, np.where(taken & 0x80, 0xFF, 0), taken)
    t.write(i.operands[0], "b32", out.view("<u4").reshape(-1))


def extract(t: Threads, i: Instruction) -> None:
    """bfe, of fields inside the register."""
    width = TYPES[i.type][1]
    a = t.read(i.operands[1], i.type)
    at, size = (t.bits(o, 32).astype(np.int64) & 0xFF for o in i.operands[2:4])
    if ((at + size > width) & t.mask).any():
        raise Fault(i.text)
    lifted = a << (width - at - size).clip(0, width - 1).astype(a.dtype)
    result(t, i, np.where(size == 0, 0, lifted >> (width - size).clip(0, width - 1).astype(a.dtype)).astype(a.dtype))


def insert(t: Threads, i: Instruction) -> None:
    width = TYPES[i.type][1]
    a, b = (t.bits(o, width).astype(object) for o in i.operands[1:3])
    at, size = (t.bits(o, 32) for o in i.operands[3:5])
    made = list[int]()
    for x, y, p, n in zip(a, b, at, size, strict=True):
        field = (1 << min(int(n) & 0xFF, width)) - 1 << (int(p) & 0xFF) & (1 << width) - 1
        made.append(int(y) & ~field | int(x) << (int(p) & 0xFF) & field)
    t.write(i.operands[0], i.type, np.array([m % (1 << width) for m in made], f"u{width // 8}"))


def counted(of: Callable[[int, int], int]) -> Meaning:
    """Of the bits: popc, clz."""

    def meaning(t: Threads, i: Instruction) -> None:
        width = TYPES[i.type][1]
        values = [of(int(x), width) for x in t.bits(i.operands[1], width)]
        t.write(i.operands[0], "u32", np.array(values, np.uint32))

    return meaning


def reversed_bits(t: Threads, i: Instruction) -> None:
    width = TYPES[i.type][1]
    values = [int(f"{int(x):0{width}b}"[::-1], 2) for x in t.bits(i.operands[1], width)]
    result(t, i, np.array(values, f"u{width // 8}"))


def looked_up(a: Array, b: Array, c: Array, table: int) -> Array:
    """Each bit is the table's at the number that the three have there."""
    made = np.zeros_like(a)
    for row in range(8):
        if table >> row & 1:
            made |= (a if row & 4 else ~a) & (b if row & 2 else ~b) & (c if row & 1 else ~c)
    return made


def lookup(t: Threads, i: Instruction) -> None:
    """lop3: a function of three bits by its table."""
    a, b, c = (t.bits(o, 32) for o in i.operands[1:4])
    result(t, i, looked_up(a, b, c, int(t.bits(i.operands[4], 32)[0])))


COMPARISONS: dict[str, Callable[[Array, Array], Array]] = {
    "eq": np.equal, "ne": np.not_equal, "lt": np.less, "le": np.less_equal, "gt": np.greater, "ge": np.greater_equal,
    "lo": np.less, "ls": np.less_equal, "hi": np.greater, "hs": np.greater_equal,
}  # fmt: skip
JOINED: dict[str, Callable[[Array, Array], Array]] = {
    "and": np.logical_and, "or": np.logical_or, "xor": np.logical_xor
}  # fmt: skip


def compared(name: str, a: Array, b: Array, floats: bool) -> Array:
    """A comparison of floats with ``u`` behind is true where one is NaN, any other is false there."""
    if not floats:
        return COMPARISONS[name](a, b)
    a, b = (v.astype(np.float64) for v in (a, b))
    unordered = np.isnan(a) | np.isnan(b)
    if name in ("num", "nan"):
        return unordered if name == "nan" else ~unordered
    if name.endswith("u") and name[:-1] in COMPARISONS:
        return COMPARISONS[name[:-1]](a, b) | unordered
    return COMPARISONS[name](a, b) & ~unordered


def set_predicate(t: Threads, i: Instruction) -> None:
    """setp, of one comparison, of two numbers a register or combined with a predicate."""
    name, *rest = (m for m in i.modifiers if m != "ftz")
    targets, given = i.operands[:1], i.operands[1:]
    if i.type.endswith("x2"):
        targets, given = i.operands[:2], i.operands[2:]
    elif len(rest) > 1:  # and, or, xor
        made = compared(name, *(t.read(o, i.type) for o in given[:2]), is_float(i.type))
        other = t.predicate(given[2])
        return t.write_predicate(targets[0], JOINED[rest[0]](made, other))
    elif len(i.operands) == 4:
        raise Fault(i.text)
    a, b = (t.read(o, i.type) for o in given)
    if "ftz" in i.modifiers:
        a, b = flushed(a), flushed(b)
    made = compared(name, a, b, is_float(i.type))
    for number, target in enumerate(targets):
        t.write_predicate(target, made[:, number] if len(targets) > 1 else made)


def select(t: Threads, i: Instruction) -> None:
    width = TYPES[i.type][1]
    a, b = (t.bits(o, width) for o in i.operands[1:3])
    t.write(i.operands[0], f"b{width}", np.where(t.predicate(i.operands[3]), a, b))


def move(t: Threads, i: Instruction) -> None:
    """mov; of a vector, from it or to it, its registers are parts of one."""
    target, source = i.operands
    if i.type == "pred":
        return t.write_predicate(target, t.predicate(source))
    width = TYPES[i.type][1]
    if isinstance(target, Vector):
        parts = t.bits(source, width).view(f"u{width // 8 // len(target.parts)}").reshape(t.count, -1)
        for number, part in enumerate(target.parts):
            t.write(part, f"b{width // len(target.parts)}", parts[:, number])
    elif isinstance(source, Vector):
        each = width // len(source.parts)
        parts = np.stack([t.bits(p, each) for p in source.parts], 1)
        t.write(target, f"b{width}", np.ascontiguousarray(parts).view(f"u{width // 8}").reshape(-1))
    else:
        t.write(target, f"b{width}", t.bits(source, width))


def approximate(of: Callable[[Array], Array]) -> Meaning:
    """A function of the special-function unit, here rounded correctly."""

    def meaning(t: Threads, i: Instruction) -> None:
        (x,) = operands(t, i, 1)
        wide = x.astype(np.float64)
        result(t, i, of(wide).astype(x.dtype))

    return meaning


def copy_sign(t: Threads, i: Instruction) -> None:
    """PTX has the sign first."""
    a, b = operands(t, i, 2)
    result(t, i, np.copysign(b, a))


TABLE: dict[str, Meaning] = {
    "add": add, "sub": sub, "mul": product, "mad": multiply_add, "madc": multiply_add, "fma": fused, "div": quotient,
    "addc": lambda t, i: with_carry(t, i, t.carry.astype(object), subtracts=False),
    "subc": lambda t, i: with_carry(t, i, t.carry.astype(object), subtracts=True),
    "rem": remainder, "min": extremum(False), "max": extremum(True), "abs": elementwise(1, np.abs),
    "neg": elementwise(1, np.negative), "and": bitwise(np.bitwise_and, 2), "or": bitwise(np.bitwise_or, 2),
    "xor": bitwise(np.bitwise_xor, 2), "not": bitwise(np.invert, 1), "shl": shift, "shr": shift, "shf": funnel,
    "prmt": permute, "bfe": extract, "bfi": insert, "popc": counted(lambda x, w: x.bit_count()),
    "clz": counted(lambda x, w: w - x.bit_length()), "brev": reversed_bits, "lop3": lookup, "setp": set_predicate,
    "selp": select, "mov": move, "cvt": convert, "copysign": copy_sign, "ex2": approximate(np.exp2),
    "lg2": approximate(np.log2), "sin": approximate(np.sin), "cos": approximate(np.cos),
    "tanh": approximate(np.tanh), "sqrt": approximate(np.sqrt), "rsqrt": approximate(lambda x: 1 / np.sqrt(x)),
    "rcp": approximate(lambda x: 1 / x),
}  # fmt: skip

_ORDERED = {"equ", "neu", "ltu", "leu", "gtu", "geu", "num", "nan"}
_ROUNDED = {"rn", "rz", "ftz", "sat", "cc"}
_FAST = {"approx", "rn", "ftz"}
_WORDS: dict[str, set[str]] = {
    "add": _ROUNDED, "sub": _ROUNDED, "mul": {"lo", "hi", "wide", *_ROUNDED}, "mad": {"lo", "hi", "wide", "cc"},
    "madc": {"lo", "hi", "cc"}, "fma": _ROUNDED, "div": {"full", *_FAST}, "addc": {"cc"}, "subc": {"cc"},
    "min": {"NaN", "ftz", "relu"}, "max": {"NaN", "ftz", "relu"}, "abs": {"ftz"}, "neg": {"ftz"},
    "shf": {"l", "r", "wrap", "clamp"}, "setp": {*COMPARISONS, *_ORDERED, *JOINED, "ftz"},
    "cvt": {"rn", "rz", "rni", "rzi", "rmi", "rpi", "satfinite", "sat", "ftz"},
    **dict.fromkeys(("ex2", "lg2", "sin", "cos", "tanh", "sqrt", "rsqrt", "rcp"), _FAST),
}  # fmt: skip
"""What is allowed between an instruction's name and its types; nothing for those that are not here."""


_OTHER_TYPES = {"pred", "b128", "e4m3x2", "e5m2x2"}


@cache
def understood(opcode: str, modifiers: tuple[str, ...]) -> bool:
    """Whether the meaning of an instruction reads all that its name says."""
    known = _WORDS.get(opcode, set()) | _OTHER_TYPES
    return all(m in TYPES or m in known for m in modifiers)
