"""Instructions of a warp: shuffles, reductions, votes, and matrices between registers and shared memory (PTX ISA 9.0,
sections 9.7.13 and 9.7.15)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tritonx_testing.emulators.ptx.memory import Space
from tritonx_testing.emulators.ptx.text import Address, Instruction, Vector
from tritonx_testing.emulators.ptx.threads import LANES, TYPES, Fault, Threads

Array = Any
FULL = 0xFFFFFFFF


def members(t: Threads, i: Instruction, place: int) -> None:
    """All lanes take part, as the mask at operand ``place`` says."""
    t.whole_warps(i)
    if (t.bits(i.operands[place], 32)[t.mask] != FULL).any():
        raise Fault(f"not all lanes are members: {i.text}")


def shuffle(t: Threads, i: Instruction) -> None:
    """shfl.sync d|p, a, b, c, members."""
    two = len(i.operands) == 6
    a, b, c = i.operands[1 + two : 4 + two]
    members(t, i, 4 + two)
    value, b_, c_ = (t.bits(o, 32).reshape(-1, LANES) for o in (a, b, c))
    lane = np.arange(LANES)
    clamp, segment = (c_ & 31).astype(int), (c_ >> 8 & 31).astype(int)
    step = (b_ & 31).astype(int)
    low, high = lane & segment, (lane & segment) | (clamp & ~segment)
    mode = i.modifiers[1]
    source = {"up": lane - step, "down": lane + step, "bfly": lane ^ step, "idx": low | step & ~segment}[mode]
    inside = source >= high if mode == "up" else source <= high
    source = np.where(inside, source, lane)
    t.write(i.operands[0], "b32", np.take_along_axis(value, source, 1).reshape(-1))
    if two:
        t.write_predicate(i.operands[1], inside.reshape(-1))


_REDUCTIONS: dict[str, Callable[..., Array]] = {
    "add": lambda x: x.sum(1, dtype=x.dtype), "min": lambda x: x.min(1), "max": lambda x: x.max(1),
    "and": lambda x: np.bitwise_and.reduce(x, 1), "or": lambda x: np.bitwise_or.reduce(x, 1),
    "xor": lambda x: np.bitwise_xor.reduce(x, 1),
}  # fmt: skip


def reduce(t: Threads, i: Instruction) -> None:
    """redux.sync; of f32 numbers NaN loses but where ``NaN`` is said."""
    members(t, i, 2)
    x = t.read(i.operands[1], i.type).reshape(-1, LANES)
    name = i.modifiers[1]
    if i.type == "f32":
        of = {"min": np.minimum, "max": np.maximum} if "NaN" in i.modifiers else {"min": np.fmin, "max": np.fmax}
        made = of[name].reduce(x, 1)
    else:
        made = _REDUCTIONS[name](x)
    t.write(i.operands[0], i.type, np.repeat(made, LANES))


def vote(t: Threads, i: Instruction) -> None:
    members(t, i, 2)
    p = t.predicate(i.operands[1]).reshape(-1, LANES)
    if i.modifiers[1] == "ballot":
        words = (p.astype(np.uint64) << np.arange(LANES, dtype=np.uint64)).sum(1).astype(np.uint32)
        t.write(i.operands[0], "b32", np.repeat(words, LANES))
    else:
        made = {"all": p.all(1), "any": p.any(1), "uni": p.all(1) | ~p.any(1)}[i.modifiers[1]]
        t.write_predicate(i.operands[0], np.repeat(made, LANES))


def elect(t: Threads, i: Instruction) -> None:
    """elect.sync: lane 0, which hardware chooses."""
    members(t, i, 2)
    t.write(i.operands[0], "b32", np.zeros(t.count, np.uint32))
    t.write_predicate(i.operands[1], np.arange(t.count) % LANES == 0)


def _matrices(t: Threads, i: Instruction, registers: Vector, address: Address) -> tuple[Array, Array, int]:
    """The running warps, the addresses of the rows [warp, matrix, row], and how many matrices there are."""
    shape, count = i.modifiers[2], int(i.modifiers[3][1:])
    if shape != "m8n8" or i.type != "b16" or len(registers.parts) != count:
        raise Fault(i.text)
    warps = t.whole_warps(i)
    rows = t.address(address).reshape(-1, LANES)[warps, : 8 * count].reshape(len(warps), count, 8)
    return warps, rows, count


def load_matrices(t: Threads, i: Instruction, shared: Space) -> None:
    """ldmatrix: lanes 8m to 8m + 7 give the addresses of the rows of matrix m; a lane gets two neighbours of a row, or
    of a column where it is transposed."""
    target, address = i.operands
    assert isinstance(target, Vector) and isinstance(address, Address)
    warps, rows, count = _matrices(t, i, target, address)
    content = shared.load(rows.reshape(-1), 16, i.text).view(np.uint16).reshape(len(warps), count, 8, 8)
    if "trans" in i.modifiers:
        content = content.swapaxes(2, 3)
    words = np.ascontiguousarray(content).view(np.uint32).reshape(len(warps), count, LANES)
    for number, part in enumerate(target.parts):
        whole = np.zeros((t.count // LANES, LANES), np.uint32)
        whole[warps] = words[:, number]
        t.write(part, "b32", whole.reshape(-1))


def store_matrices(t: Threads, i: Instruction, shared: Space) -> None:
    address, source = i.operands
    assert isinstance(source, Vector) and isinstance(address, Address)
    warps, rows, count = _matrices(t, i, source, address)
    words = np.stack([t.bits(p, 32).reshape(-1, LANES)[warps] for p in source.parts], 1)
    content = np.ascontiguousarray(words).view(np.uint16).reshape(len(warps), count, 8, 8)
    if "trans" in i.modifiers:
        content = content.swapaxes(2, 3)
    shared.store(rows.reshape(-1), np.ascontiguousarray(content).view(np.uint8).reshape(-1, 16), i.text)


def unpacked(words: Array, dtype: Any) -> Array:
    """The elements of registers [warp, register, lane]: [warp, register, lane, element]."""
    if words.dtype.itemsize == dtype.itemsize:
        return words.view(dtype)[..., None]
    return np.ascontiguousarray(words[..., None]).view(dtype)


def held(t: Threads, i: Instruction, operand: Any, type_: str, warps: Array) -> Array:
    """The elements of a fragment, [warp, register, lane, element]."""
    assert isinstance(operand, Vector), i.text
    dtype = TYPES[type_][0]
    width = 64 if dtype.itemsize == 8 else 32
    words = np.stack([t.bits(p, width).reshape(-1, LANES)[warps] for p in operand.parts], 1)
    return unpacked(np.ascontiguousarray(words), dtype)
