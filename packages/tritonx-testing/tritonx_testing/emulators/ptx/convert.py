"""cvt (PTX ISA 9.0, section 9.7.9.21)."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np

from tritonx_testing.emulators.ptx.numbers import flushed, narrowed, saturated, truncated
from tritonx_testing.emulators.ptx.text import Instruction
from tritonx_testing.emulators.ptx.threads import TYPES, Fault, Threads

Array = Any

_FP8 = {"e4m3x2": ml_dtypes.float8_e4m3fn, "e5m2x2": ml_dtypes.float8_e5m2}
_TO_INTEGER = {"rni": np.rint, "rzi": np.trunc, "rmi": np.floor, "rpi": np.ceil}


def convert(t: Threads, i: Instruction) -> None:
    target, source = i.modifiers[-2:]
    if target in _FP8 or source in _FP8 or target.endswith("x2"):
        return pairs(t, i, target, source)
    value = t.read(i.operands[1], source)
    if "ftz" in i.modifiers and source == "f32":
        value = flushed(value)
    if "f" not in source:
        made = from_integer(value, target) if "f" in target else integer(value, i, target)
    elif "f" not in target:
        made = to_integer(value, i, target)
    else:
        made = between_floats(value, i, target)
    t.write(i.operands[0], target, made)


def integer(value: Array, i: Instruction, target: str) -> Array:
    if "sat" in i.modifiers:
        limits = np.iinfo(TYPES[target][0])
        value = np.array([min(max(int(v), limits.min), limits.max) for v in value], object)
    return value.astype(TYPES[target][0])


def from_integer(value: Array, target: str) -> Array:
    dtype = TYPES[target][0]
    if target in ("f32", "f64"):
        return value.astype(dtype)
    return narrowed(value.astype(np.longdouble), dtype)


def to_integer(value: Array, i: Instruction, target: str) -> Array:
    """What is beyond the range is its end. NaN is 0, or the highest bit where 64 bits take part."""
    dtype, width = TYPES[target]
    limits = np.iinfo(dtype)
    whole = _TO_INTEGER[next(m for m in i.modifiers if m in _TO_INTEGER)](value.astype(np.float64))
    nan = np.isnan(whole)
    low, high = whole <= float(limits.min), whole >= float(limits.max)
    inside = np.where(nan | low | high, 0, whole)
    made = np.where(low, limits.min, np.where(high, limits.max, inside.astype(dtype))).astype(dtype)
    wide = width == 64 or i.modifiers[-1] == "f64"
    odd = np.array(1 << width - 1, f"u{width // 8}").view(dtype) if wide else dtype.type(0)
    return np.where(nan, odd, made).astype(dtype)


def between_floats(value: Array, i: Instruction, target: str) -> Array:
    dtype = TYPES[target][0]
    rounding = next((m for m in i.modifiers if m in _TO_INTEGER), None)
    if rounding is not None:
        return _TO_INTEGER[rounding](value.astype(np.float64)).astype(dtype)
    if "rz" in i.modifiers:
        return truncated(value, dtype)
    made = narrowed(value.astype(np.float64), dtype)
    return flushed(made) if "ftz" in i.modifiers and target == "f32" else made


def pairs(t: Threads, i: Instruction, target: str, source: str) -> None:
    """Two numbers in one register: the first operand is the upper one."""
    if source in _FP8:
        if target != "f16x2":
            raise Fault(i.text)
        narrow = t.bits(i.operands[1], 16).view(np.uint8).reshape(-1, 2).view(_FP8[source])
        return t.write(i.operands[0], target, narrow.astype(np.float16))
    if source != "f32" or len(i.operands) != 3 or "relu" in i.modifiers:
        raise Fault(i.text)
    both = np.stack([t.read(o, "f32") for o in i.operands[:0:-1]], 1)
    if target in _FP8:
        if "satfinite" not in i.modifiers or "rn" not in i.modifiers:
            raise Fault(i.text)
        made = saturated(both, _FP8[target]).view(np.uint8)
        return t.write(i.operands[0], "b16", np.ascontiguousarray(made).view(np.uint16).reshape(-1))
    dtype = TYPES[target][0]
    t.write(
        i.operands[0],
        target,
        truncated(both, dtype) if "rz" in i.modifiers else narrowed(both.astype(np.float64), dtype),
    )
