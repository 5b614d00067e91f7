"""mma.sync (PTX ISA 9.0, section 9.7.15.5): a warp's 16×8 or 8×8 of a product, from fragments in registers."""

from __future__ import annotations

import re
from typing import Any

import ml_dtypes
import numpy as np

from tritonx_testing.emulators.ptx.text import Instruction, Vector
from tritonx_testing.emulators.ptx.threads import LANES, Fault, Threads
from tritonx_testing.emulators.ptx.warp import unpacked

Array = Any

ELEMENTS: dict[str, Any] = {
    "f16": np.dtype(np.float16), "bf16": np.dtype(ml_dtypes.bfloat16), "tf32": np.dtype(np.float32),
    "s8": np.dtype(np.int8), "u8": np.dtype(np.uint8), "e4m3": np.dtype(ml_dtypes.float8_e4m3fn),
    "e5m2": np.dtype(ml_dtypes.float8_e5m2), "f64": np.dtype(np.float64), "f32": np.dtype(np.float32),
    "s32": np.dtype(np.int32),
}  # fmt: skip
_GROUP, _MEMBER = np.arange(LANES) // 4, np.arange(LANES) % 4
DEPTHS = {
    "f16": {8, 16}, "bf16": {8, 16}, "tf32": {4, 8}, "s8": {16, 32}, "u8": {16, 32}, "e4m3": {16, 32}, "e5m2": {16, 32},
    "f64": {4, 8, 16},
}  # fmt: skip


def value_of(x: Array, type_: str) -> Array:
    """Numbers as the unit takes them: tf32 has no more than ten bits of a fraction."""
    if type_ == "tf32":
        x = (x.view(np.uint32) & np.uint32(0xFFFFE000)).view(np.float32)
    return x.astype(np.int64 if type_ in ("s8", "u8", "s32") else np.float64)


def fragment(t: Threads, operand: Any, type_: str, warps: Array) -> Array:
    """[warp, register, lane, element]."""
    assert isinstance(operand, Vector)
    width = 64 if type_ == "f64" else 32
    words = np.stack([t.bits(p, width).reshape(-1, LANES)[warps] for p in operand.parts], 1)
    return unpacked(np.ascontiguousarray(words), ELEMENTS[type_])


def rows_of_a(registers: int, elements: int, height: int) -> tuple[Array, Array]:
    """(row, k) of each [register, lane, element] of A."""
    r, lane, e = np.ogrid[:registers, :LANES, :elements]
    lower = r & 1 if height == 16 else r * 0
    step = r >> 1 if height == 16 else r
    return _GROUP[lane] + 8 * lower + 0 * e, _MEMBER[lane] * elements + e + 4 * elements * step


def columns_of_b(registers: int, elements: int) -> tuple[Array, Array]:
    """(k, column) of each [register, lane, element] of B."""
    r, lane, e = np.ogrid[:registers, :LANES, :elements]
    return _MEMBER[lane] * elements + e + 4 * elements * r, _GROUP[lane] + 0 * (r + e)


def results(count: int) -> tuple[Array, Array]:
    """(row, column) of each [number, lane] of the accumulator."""
    n, lane = np.ogrid[:count, :LANES]
    return _GROUP[lane] + 8 * (n >> 1 & 1), 2 * _MEMBER[lane] + (n & 1) + 8 * (n >> 2)


def product(t: Threads, i: Instruction) -> None:
    shape = next(m for m in i.modifiers if re.fullmatch(r"m\d+n\d+k\d+", m))
    height, width, depth = map(int, re.findall(r"\d+", shape))
    d_type, a_type, b_type, c_type = i.modifiers[-4:]
    if "row" not in i.modifiers or "col" not in i.modifiers or width != 8 or depth not in DEPTHS[a_type]:
        raise Fault(i.text)
    warps = t.whole_warps(i)
    a, b, c = (fragment(t, o, ty, warps) for o, ty in zip(i.operands[1:], (a_type, b_type, c_type), strict=True))
    n = len(warps)
    left, right = np.zeros((n, height, depth)), np.zeros((n, depth, width))
    left[:, *rows_of_a(a.shape[1], a.shape[3], height)] = value_of(a, a_type)
    right[:, *columns_of_b(b.shape[1], b.shape[3])] = value_of(b, b_type)
    per = c.shape[3]
    count = c.shape[1] * per
    if (a.shape[1] * a.shape[3], b.shape[1] * b.shape[3], count) != (height * depth // 32, depth // 4, height // 4):
        raise Fault(f"the fragments are of another size: {i.text}")
    order = c.swapaxes(2, 3).reshape(n, count, LANES)
    place = results(count)
    with np.errstate(all="ignore"):
        total = (left @ right)[:, *place] + value_of(order, c_type)
    made = narrowed(total, d_type, "satfinite" in i.modifiers)
    assert isinstance(i.operands[0], Vector)
    write(t, i.operands[0], made, warps)


def narrowed(total: Array, type_: str, saturates: bool) -> Array:
    if type_ == "s32":
        wrapped = np.clip(total, -(2**31), 2**31 - 1) if saturates else total
        return wrapped.astype(np.int64).astype(np.int32)
    return total.astype(ELEMENTS[type_])


def write(t: Threads, target: Vector, made: Array, warps: Array) -> None:
    """``made`` [warp, number, lane] into the registers."""
    width = 64 if made.dtype.itemsize == 8 else 32
    per = width // 8 // made.dtype.itemsize
    n, count, _ = made.shape
    packed = np.ascontiguousarray(made.reshape(n, count // per, per, LANES).swapaxes(2, 3))
    words = packed.view(f"u{width // 8}").reshape(n, count // per, LANES)
    if len(target.parts) != count // per:
        raise Fault("a fragment of another size")
    for number, part in enumerate(target.parts):
        whole = np.zeros((t.count // LANES, LANES), words.dtype)
        whole[warps] = words[:, number]
        t.write(part, f"b{width}", whole.reshape(-1))
