"""Applying a linear layout to run-time lane and warp numbers.

A layout is a matrix over GF(2); applied to a run-time bit vector ``x`` it is the XOR of the columns of ``x``'s set bits. The
entries of the matrix are grouped by diagonal: all bits that move by the same distance are one ``and`` and one shift. Where no
output bit is hit twice the diagonals are joined by ``or disjoint``, which LLVM folds into addresses, otherwise by ``xor``.

The registers' contribution is a constant. It is joined to the run-time part with ``or disjoint`` where their bits cannot
meet, so that it ends up in the immediate of a load or store, and with ``xor`` otherwise (a swizzle).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from tritonx.layouts import LinearLayout

if TYPE_CHECKING:
    from tritonx.conversion.gpu_to_llvm.function import FunctionEmitter


def columns(layout: LinearLayout, in_dim: str, dim: int) -> list[int]:
    """The coordinate along ``dim`` of each basis of ``in_dim``."""
    return [basis[dim] for basis in layout.bases(in_dim)]


def apply_columns(f: FunctionEmitter, terms: Sequence[tuple[str, Sequence[int]]]) -> str:
    """XOR over all terms (x, columns) of the columns of x's set bits, as an i32; "0" where every column is zero."""
    diagonals: dict[tuple[str, int], int] = {}
    hit = twice = 0
    for x, columns in terms:
        for i, column in enumerate(columns):
            twice |= hit & column
            hit |= column
            j = 0
            while column:
                if column & 1:
                    diagonals[x, j - i] = diagonals.get((x, j - i), 0) | 1 << i
                column >>= 1
                j += 1
    join = "xor" if twice else "or disjoint"
    total = "0"
    for (x, shift), mask in diagonals.items():
        if x == "0":
            continue
        part = f.inst(f"and i32 {x}, {mask}")
        if shift > 0:
            part = f.inst(f"shl nuw nsw i32 {part}, {shift}")
        elif shift < 0:
            part = f.inst(f"lshr i32 {part}, {-shift}")
        total = part if total == "0" else f.inst(f"{join} i32 {total}, {part}")
    return total


def reach(terms: Sequence[Sequence[int]]) -> int:
    """The output bits that any of the columns can set."""
    bits = 0
    for columns in terms:
        for column in columns:
            bits |= column
    return bits


def register_constants(columns: Sequence[int]) -> list[int]:
    """For every register number, the XOR of the columns of its set bits."""
    values = [0]
    for column in columns:
        values += [v ^ column for v in values]
    return values


def add_constant(f: FunctionEmitter, base: str, reachable: int, constant: int) -> str:
    """``base ^ constant`` where ``base`` can only have bits of ``reachable``."""
    if constant == 0:
        return base
    if base == "0":
        return str(constant)
    join = "xor" if reachable & constant else "or disjoint"
    return f.inst(f"{join} i32 {base}, {constant}")


class LayoutIndices:
    """The coordinates of this thread's registers in a distributed layout; computed in the entry block, once a function."""

    def __init__(self, f: FunctionEmitter, layout: LinearLayout) -> None:
        self.f = f
        self.layout = layout

    def dim(self, dim: int) -> list[str]:
        """The coordinate along ``dim`` of every register; equal coordinates share a name."""
        return self._dims[dim]

    @cached_property
    def _dims(self) -> list[list[str]]:
        return [self._coordinates(d) for d in range(len(self.layout.out_dims))]

    def _coordinates(self, dim: int) -> list[str]:
        f, layout = self.f, self.layout
        lane = columns(layout, "lane", dim)
        warp = columns(layout, "warp", dim)
        lane_name, warp_name = (f.lane if any(lane) else "0"), (f.warp if any(warp) else "0")
        block = columns(layout, "block", dim)
        terms = [(lane_name, lane), (warp_name, warp)]
        if any(block):
            terms.append((f.machine.cluster_rank(f), block))
        made: dict[int, str] = {}
        with f.in_prologue():
            base = apply_columns(f, terms)
            reachable = reach([columns for _, columns in terms])
            for constant in register_constants(columns(layout, "register", dim)):
                if constant not in made:
                    made[constant] = add_constant(f, base, reachable, constant)
        return [made[c] for c in register_constants(columns(layout, "register", dim))]

    @cached_property
    def owner(self) -> str | None:
        """An i1 that holds in exactly one of the threads that own copies of an element, or None if there are no copies."""
        f = self.f
        masks = self.layout.free_masks()
        tests: list[str] = []
        with f.in_prologue():
            for dim, x in (("lane", "lane"), ("warp", "warp")):
                if mask := masks.get(dim, 0):
                    bits = f.inst(f"and i32 {f.lane if x == 'lane' else f.warp}, {mask}")
                    tests.append(f.inst(f"icmp eq i32 {bits}, 0"))
            if mask := masks.get("block", 0):
                bits = f.inst(f"and i32 {f.machine.cluster_rank(f)}, {mask}")
                tests.append(f.inst(f"icmp eq i32 {bits}, 0"))
            if not tests:
                return None
            result = tests[0]
            for test in tests[1:]:
                result = f.inst(f"and i1 {result}, {test}")
        return result
