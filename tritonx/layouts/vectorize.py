"""How many neighbouring elements one instruction may move between a thread's registers and global memory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from tritonx.layouts.dims import REGISTER
from tritonx.layouts.gf2 import Echelon, combine, echelon
from tritonx.layouts.index_math import all_xors, representatives
from tritonx.layouts.linear import LinearLayout

GLOBAL_VECTOR_BITS = 128
"""Widest access of one thread to global memory."""


@dataclass(frozen=True)
class AccessVectors:
    """One access for each of `groups`; the elements of a group are neighbours in memory, in order.

    Every distinct element of a thread is in exactly one group. Register r holds the same element as register
    `repeats[r]`, which is in a group: loads copy it, stores leave it out.
    """

    width: int
    groups: tuple[tuple[int, ...], ...]
    repeats: tuple[int, ...]


@dataclass(frozen=True)
class Run:
    """Register numbers as XORs: `steps[j]` moves by 2**j along the run, `others` lead to the other distinct
    elements.
    """

    steps: tuple[int, ...]
    others: tuple[int, ...]


def find_run(columns: Sequence[int], threads: Sequence[int], units: Sequence[int]) -> Run:
    """The longest run of register directions that step through `units` (1, 2, 4, ... of some dim, packed).

    `columns` are the register bases, `threads` those of everything else: these must leave the run's bits alone, or a
    thread's run would not start at its lowest element.
    """
    reduced = echelon(columns)
    steps: list[int] = []
    mask = 0
    for unit in units:
        rest, combination = reduced.reduce(unit)
        if rest or any(column & unit for column in threads):
            break
        steps.append(combination)
        mask |= unit
    others: list[int] = []
    distinct = Echelon()
    for bit, column in enumerate(columns):
        vector = 1 << bit
        for step, unit in zip(steps, units, strict=False):
            if column & unit:
                vector ^= step
        if distinct.insert(combine(columns, vector) & ~mask, 0):
            others.append(vector)
    return Run(tuple(steps), tuple(others))


def register_repeats(layout: LinearLayout) -> tuple[int, ...]:
    """For each register bit, the bits that together make the same step: itself, or earlier ones when it only
    repeats.
    """
    reduced = Echelon()
    result: list[int] = []
    for bit, basis in enumerate(layout.columns(REGISTER)):
        result.append(1 << bit if reduced.insert(basis, bit) else reduced.reduce(basis)[1])
    return tuple(result)


def units_of(layout: LinearLayout, dim: int) -> tuple[int, ...]:
    """1, 2, 4, ... of one tensor dim as packed indices."""
    name, bits = layout.outs[dim]
    start = layout.offset_of(name)
    return tuple(1 << (start + i) for i in range(bits))


def thread_columns(layout: LinearLayout) -> tuple[int, ...]:
    """The bases of everything but registers."""
    return tuple(basis for dim, bases in layout.ins if dim != REGISTER for basis in bases)


@lru_cache(maxsize=4096)
def contiguous_elements(layout: LinearLayout) -> tuple[int, ...]:
    """For each tensor dim, how many consecutive elements a thread holds (aligned to their number)."""
    columns, threads = layout.columns(REGISTER), thread_columns(layout)
    return tuple(1 << len(find_run(columns, threads, units_of(layout, d)).steps) for d in range(len(layout.outs)))


@lru_cache(maxsize=4096)
def access_vectors(layout: LinearLayout, dim: int, width: int) -> AccessVectors:
    """The groups of at most `width` registers that are consecutive along tensor dim `dim`."""
    columns = layout.columns(REGISTER)
    units = units_of(layout, dim)[: max(0, width.bit_length() - 1)]
    run = find_run(columns, thread_columns(layout), units)
    within = all_xors(run.steps)
    groups = tuple(tuple(start ^ step for step in within) for start in all_xors(run.others))
    return AccessVectors(len(within), groups, representatives(columns, (r for group in groups for r in group)))


def memory_width(
    layout: LinearLayout,
    bits: int,
    contiguity: Sequence[int],
    divisibility: Sequence[int],
    mask_constancy: Sequence[int] | None = None,
    max_bits: int = GLOBAL_VECTOR_BITS,
) -> tuple[int, int]:
    """(dim, width) of the widest access to memory of `bits`-wide elements.

    For each dim of the pointers: `contiguity` is the length of runs of neighbouring addresses, `divisibility` the
    power of two that divides the first address of each run, in bytes; `mask_constancy` the length of runs of equal
    masks.
    """
    held = contiguous_elements(layout)
    best = (len(held) - 1 if held else 0, 1)
    for d in reversed(range(len(held))):
        width = min(held[d], contiguity[d], max(1, divisibility[d] * 8 // bits), max(1, max_bits // bits))
        if mask_constancy is not None:
            width = min(width, mask_constancy[d])
        if width > best[1]:
            best = (d, width)
    return best
