"""wgmma (PTX ISA 9.0, section 9.7.15): 64 rows of a product by four warps, operands read from shared memory through
matrix descriptors.

What a product makes must not be read until it is waited for: until then its registers hold anything."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np

from tritonx_testing.emulators.ptx import matrix
from tritonx_testing.emulators.ptx.run import Block
from tritonx_testing.emulators.ptx.text import Instruction, Number, Operand, Vector
from tritonx_testing.emulators.ptx.threads import LANES, Fault, Threads

Array = Any
WARPS = 4
_WIDTHS = (0, 128, 64, 32)
"""Swizzle in bytes, by the code in a descriptor."""


def addresses(descriptor: int, rows: int, depth: int, nbytes: int, k_major: bool) -> Array:
    """The address of each element [row, k] (section 9.7.15.5.1)."""
    start, leading, stride = (((descriptor >> at) & 0x3FFF) << 4 for at in (0, 16, 32))
    if descriptor >> 49 & 7:
        raise Fault("a base offset of a matrix descriptor")
    width = _WIDTHS[descriptor >> 62]
    run = width or 16
    row, k = np.ogrid[:rows, :depth]
    if k_major:
        along = k * nbytes
        beyond = along // run * (leading if width == 0 else 0)
        if width and depth * nbytes > width:
            raise Fault("an instruction takes more of K than the swizzle is wide")
        at = start + row % 8 * run + row // 8 * stride + beyond + along % run
    else:
        along = row * nbytes
        by_rows, by_depth = (leading, stride) if width else (stride, leading)
        at = start + k % 8 * run + k // 8 * by_depth + along // run * by_rows + along % run
    # Bits 4 and up of an address are combined with those three above the swizzle's row of 128 bytes.
    return at ^ ((at >> 7 & (width // 16 - 1 if width else 0)) << 4)


def in_memory(
    b: Block, i: Instruction, descriptor: Operand, first: int, shape: tuple[int, int], type_: str, k_major: bool
) -> Array:
    """An operand [row, k] of the group whose first thread is ``first``."""
    given = b.t.bits(descriptor, 64)[first : first + WARPS * LANES]
    if (given != given[0]).any():
        raise Fault(f"the threads of a group have several descriptors: {i.text}")
    dtype = matrix.ELEMENTS[type_]
    at = addresses(int(given[0]), *shape, dtype.itemsize, k_major)
    content = b.memory.shared.load(at.reshape(-1), dtype.itemsize, i.text)
    return matrix.value_of(np.ascontiguousarray(content).view(dtype).reshape(shape), type_)


def multiply(b: Block, i: Instruction) -> None:
    shape = next(m for m in i.modifiers if re.fullmatch(r"m64n\d+k\d+", m))
    _, width, depth = map(int, re.findall(r"\d+", shape))
    d_type, a_type, b_type = i.modifiers[-3:]
    target, left, right, keep, *flags = i.operands
    assert isinstance(target, Vector)
    if 256 // (8 * matrix.ELEMENTS[a_type].itemsize) != depth or width % 8 or not 8 <= width <= 256:
        raise Fault(i.text)
    signs, majors = _flags(i, isinstance(left, Vector), d_type, flags)
    for group in _groups(b.t, i):
        first = group * WARPS * LANES
        warps = np.arange(group * WARPS, (group + 1) * WARPS)
        if isinstance(left, Vector):
            fragment = matrix.fragment(b.t, left, a_type, warps)
            a = np.zeros((WARPS, 16, depth))
            a[:, *matrix.rows_of_a(fragment.shape[1], fragment.shape[3], 16)] = matrix.value_of(fragment, a_type)
            a = a.reshape(64, depth)
        else:
            a = in_memory(b, i, left, first, (64, depth), a_type, majors[0] == 0)
        right_ = in_memory(b, i, right, first, (width, depth), b_type, majors[-1] == 0)
        c = matrix.fragment(b.t, target, d_type, warps)
        count = c.shape[1] * c.shape[3]
        if count != width // 2:
            raise Fault(f"an accumulator of another size: {i.text}")
        order = c.swapaxes(2, 3).reshape(WARPS, count, LANES)
        kept = b.t.predicate(keep)[first]
        with np.errstate(all="ignore"):
            whole = (a * signs[0]) @ (right_ * signs[1]).T
            total = whole.reshape(WARPS, 16, width)[:, *matrix.results(count)]
            if kept:
                total = total + matrix.value_of(order, d_type)
        b.t.mask = np.zeros(b.t.count, bool)
        b.t.mask[first : first + WARPS * LANES] = True
        matrix.write(b.t, target, matrix.narrowed(total, d_type, False), warps)


def _flags(i: Instruction, in_registers: bool, d_type: str, flags: list[Operand]) -> tuple[list[int], list[int]]:
    """The signs of the operands, and of those in memory whether M or N is contiguous."""
    values = [f.value for f in flags if isinstance(f, Number)]
    if len(values) != len(flags):
        raise Fault(i.text)
    signs = [1, 1]
    if d_type != "s32":
        signs, values = values[:2], values[2:]
    majors = 1 if in_registers else 2
    halves = i.modifiers[-2] in ("f16", "bf16")
    if set(signs) - {1, -1} or len(values) != (majors if halves else 0):
        raise Fault(i.text)
    return signs, values or [0, 0]


def _groups(t: Threads, i: Instruction) -> list[int]:
    warps = t.mask.reshape(-1, WARPS * LANES)
    if (warps.any(1) != warps.all(1)).any():
        raise Fault(f"a part of a warp group: {i.text}")
    return np.flatnonzero(warps.any(1)).tolist()


def product(b: Block, i: Instruction) -> None:
    """``mma_async``; a fence, a commit and a wait find all done."""
    if "mma_async" in i.modifiers:
        return multiply(b, i)
    if not {"fence", "commit_group", "wait_group"} & set(i.modifiers):
        raise Fault(i.text)


TABLE: dict[str, Callable[[Block, Instruction], None]] = {"wgmma": product}
