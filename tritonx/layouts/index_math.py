"""Arithmetic for a layout's indices at run time: a constant matrix over GF(2) times the bits of lane, warp and block.

The matrix entries are grouped by diagonal: all input bits of one dim that move by the same distance are one
`(x & mask) << shift`. For the usual layouts an index is then one or two such terms. A bit that is alone on its
diagonals and feeds several output bits is cheaper as a choice, `x & bit ? value : 0`.

Registers are not part of this: their contribution is a constant for each register (`register_indices`), combined
with the thread's part by addition where no bit can meet, so that it folds into the address of a load, and by XOR
otherwise.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from tritonx.layouts.dims import BLOCK, LANE, REGISTER, WARP
from tritonx.layouts.linear import LinearLayout

THREAD_DIMS = (LANE, WARP, BLOCK)


@dataclass(frozen=True)
class ShiftTerm:
    """`(x & mask) << shift`, to the right when shift is negative; x is the value of `in_dim`."""

    in_dim: str
    mask: int
    shift: int


@dataclass(frozen=True)
class ChoiceTerm:
    """`x & (1 << bit) ? value : 0`."""

    in_dim: str
    bit: int
    value: int


@dataclass(frozen=True)
class IndexPlan:
    """The thread's part of one output coordinate: the terms combined with `or disjoint`, or with XOR when not
    `disjoint`.

    `reach` is the mask of bits that the thread's part can set.
    """

    terms: tuple[ShiftTerm | ChoiceTerm, ...]
    disjoint: bool
    reach: int


@lru_cache(maxsize=4096)
def index_plan(layout: LinearLayout, out_dim: str, in_dims: tuple[str, ...] = THREAD_DIMS) -> IndexPlan:
    """How to compute the coordinate `out_dim` from run-time values of `in_dims` (dims that the layout lacks are
    skipped).
    """
    diagonals: dict[tuple[str, int], int] = {}
    columns: dict[tuple[str, int], int] = {}
    for dim in in_dims:
        for bit, basis in enumerate(layout.columns(dim)):
            value = layout.coordinate(basis, out_dim)
            if not value:
                continue
            columns[dim, bit] = value
            for row in range(value.bit_length()):
                if value >> row & 1:
                    diagonals[dim, row - bit] = diagonals.get((dim, row - bit), 0) | 1 << bit
    terms: list[ShiftTerm | ChoiceTerm] = []
    for (dim, bit), value in columns.items():
        own = [(dim, row - bit) for row in range(value.bit_length()) if value >> row & 1]
        if len(own) > 1 and all(diagonals[key] == 1 << bit for key in own):
            terms.append(ChoiceTerm(dim, bit, value))
            for key in own:
                del diagonals[key]
    terms += [ShiftTerm(dim, mask, shift) for (dim, shift), mask in sorted(diagonals.items(), key=_term_order)]
    reach = 0
    disjoint = True
    for value in columns.values():
        disjoint = disjoint and not reach & value
        reach |= value
    return IndexPlan(tuple(terms), disjoint, reach)


def _term_order(item: tuple[tuple[str, int], int]) -> tuple[int, int]:
    (dim, shift), _ = item
    return (THREAD_DIMS.index(dim) if dim in THREAD_DIMS else len(THREAD_DIMS), shift)


def evaluate(plan: IndexPlan, values: dict[str, int]) -> int:
    """The value of a plan; what the emitted code must compute."""
    result = 0
    for term in plan.terms:
        x = values.get(term.in_dim, 0)
        match term:
            case ShiftTerm(_, mask, shift):
                result ^= (x & mask) << shift if shift >= 0 else (x & mask) >> -shift
            case ChoiceTerm(_, bit, value):
                result ^= value if x >> bit & 1 else 0
    return result


@dataclass(frozen=True)
class RegisterIndices:
    """Coordinates of each register relative to the thread's: register r of a thread with coordinate t is at
    `t + values[r]` when `additive`, and at `t ^ values[r]` otherwise."""

    values: tuple[int, ...]
    additive: bool


@lru_cache(maxsize=4096)
def register_indices(layout: LinearLayout, out_dim: str, in_dim: str = REGISTER) -> RegisterIndices:
    """The constants of `out_dim` for each value of `in_dim` (registers)."""
    steps = [layout.coordinate(basis, out_dim) for basis in layout.columns(in_dim)]
    others = tuple(dim for dim in layout.in_dims if dim != in_dim)
    reach = index_plan(layout, out_dim, others).reach
    values = all_xors(steps)
    return RegisterIndices(values, not any(step & reach for step in steps))


def all_xors(columns: Sequence[int]) -> tuple[int, ...]:
    """The image of 0, 1, 2, ... under the linear map with these columns."""
    values = [0]
    for column in columns:
        values += [value ^ column for value in values]
    return tuple(values)


def representatives(columns: Sequence[int], chosen: Iterable[int]) -> tuple[int, ...]:
    """For each of 0, 1, 2, ... the one of `chosen` that the linear map with these columns takes to the same image."""
    images = all_xors(columns)
    by_image = {images[number]: number for number in chosen}
    return tuple(by_image[image] for image in images)
