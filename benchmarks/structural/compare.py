"""In which columns a kernel of tritonx is worse than Triton's.

Worse is by more than a twentieth. What does not matter does not count: registers and shared memory are worse if a
multiprocessor has room for fewer blocks; eight instructions are a few nanoseconds.
The hottest loop is compared by its instructions for the same work, multiply-adds of the matrix unit or else bytes
moved, since one compiler may unroll it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from .measure import Row
from .occupancy import blocks

TOLERANCE = 1.05
FREE_INSTRUCTIONS = 8

COLUMNS = {
    "load": "bytes by which a byte of global memory is loaded or copied, in the mean",
    "store": "the same of stores and atomics",
    "copies": "asynchronous copies in the PTX, none if the copy engine makes them",
    "lds_load": "bytes by which a byte of LDS is read, where there are no fewer reads (AMD)",
    "lds_store": "the same of writes to LDS (AMD)",
    "matrix": "multiply-adds of a matrix instruction",
    "barriers": "barriers of the block",
    "shared": "bytes of shared memory, where fewer blocks have room",
    "registers": "registers of a thread, where fewer blocks have room",
    "scratch": "bytes of a thread's scratch memory (AMD)",
    "spills": "instructions that spill or reload",
    "loop": "instructions of the hottest innermost loop for its work",
    "instructions": "machine instructions",
    "compiles": "whether it compiles, which Triton does",
}


@dataclass(frozen=True)
class Finding:
    """``ours`` and ``theirs`` are the numbers that were compared."""

    kernel: str
    target: str
    column: str
    ours: float
    theirs: float

    @property
    def factor(self) -> float:
        """Above 1."""
        high, low = max(self.ours, self.theirs), min(self.ours, self.theirs)
        return high / low if low else float("inf")

    def __str__(self) -> str:
        return f"{self.kernel} {self.target} {self.column}: {self.ours:g} beside {self.theirs:g}"


def findings(kernel: str, target: str, ours: Row, theirs: Row) -> Iterator[Finding]:
    for column, (a, b, more_is_better) in _compared(target, ours, theirs).items():
        low, high = (a, b) if more_is_better else (b, a)
        if high > low * TOLERANCE + (FREE_INSTRUCTIONS if column == "instructions" else 0):
            yield Finding(kernel, target, column, round(a, 4), round(b, 4))


def _compared(target: str, ours: Row, theirs: Row) -> dict[str, tuple[float, float, bool]]:
    """By column both numbers, and whether more is better."""
    found: dict[str, tuple[float, float, bool]] = {}
    for column in ("load", "store", "matrix"):
        if theirs[column] and (ours[column] or column == "matrix"):
            found[column] = ours[column], theirs[column], True
    for column, count in (("lds_load", "lds_loads"), ("lds_store", "lds_stores")):
        if theirs.get(column) and ours[count] >= theirs[count]:
            found[column] = ours[column], theirs[column], True
    if not ours["bulk"]:
        found["copies"] = ours["copies"], theirs["copies"], True
    for column in ("barriers", "spills", "scratch", "instructions"):
        if column in theirs:
            found[column] = ours[column], theirs[column], False
    for column in _crowding(target, ours, theirs):
        found[column] = ours[column], theirs[column], False
    for work in ("loop_multiplies", "loop_moves"):
        if ours[work] and theirs[work] and not (work == "loop_moves" and (ours["bulk"] or theirs["bulk"])):
            a, b = (1024 * row["loop"] / row[work] for row in (ours, theirs))
            return {**found, "loop": (a, b, False)}
        if ours[work] or theirs[work]:
            return found
    return {**found, "loop": (ours["loop"], theirs["loop"], False)} if ours["loop"] and theirs["loop"] else found


def _crowding(target: str, ours: Row, theirs: Row) -> list[str]:
    """Of what fewer blocks have room for: what alone costs them, or else all."""
    own, columns = _blocks(target, ours), ["registers", "shared"]
    if own >= _blocks(target, theirs):
        return []
    return [c for c in columns if _blocks(target, {**ours, c: theirs[c]}) > own] or columns


def _blocks(target: str, row: Row) -> int:
    return blocks(target, row["registers"], row["shared"], row["threads"])
