"""What is worse in a variant's code: than the peer's of the same variant, or than the best variant of the same kernel.

The rows are those of `benchmarks/structural/measure.py`. A finding has a reason in `reasons.py`, or is a defect.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase

from tests.styles.reasons import REASONS

Row = Mapping[str, float]
Which = tuple[str, tuple[str, ...]]
"""A variant: its key and its rewritings."""

COLUMNS = {
    "load": True, "store": True, "copied": True, "matrix": True, "shared": False, "spills": False,
    "loop": False, "code": False,
}  # fmt: skip
"""Whether more is better. ``load``, ``store``: bytes of an access, in the mean over bytes; ``copied``: whether some are
copied asynchronously; ``matrix``: multiply-adds of a matrix instruction; ``shared``: bytes of shared memory;
``spills``: instructions that spill; ``loop``: those of the hottest loop for its work; ``code``: those of a kernel that
has no loop."""

SLACK = {"shared": 5 << 10, "spills": 8, "code": 24}
"""By how much a column may be worse whatever its share: it changes nothing that can be measured."""

FACTOR = 1.10
WORK = 1 << 16
"""``loop`` is for so many multiply-adds or bytes."""

UNLIKE = frozenset(
    ("constant_strides", "constant_sizes", "constant_unit_strides", "assumptions", "marked_contiguous",
     "unmasked_if_even", "unknown_unit_strides", "while_loops", "persistent", "descriptors")
)  # fmt: skip
"""Rewritings that tell the compiler more or less, or are other programs to it: no variant is compared with theirs."""


@dataclass(frozen=True)
class Finding:
    """``beside``: ``peer`` or ``best``; ``other`` is the number that ``ours`` is worse than."""

    case: str
    rewritings: tuple[str, ...]
    column: str
    beside: str
    ours: float
    other: float

    @property
    def reason(self) -> str | None:
        for case, rewriting, columns, reason in REASONS:
            of_it = rewriting == "*" or rewriting in (self.rewritings or ("original",))
            if of_it and fnmatchcase(self.case, case) and (columns == "*" or self.column in columns.split()):
                return reason
        return None

    def __str__(self) -> str:
        variant = "+".join(self.rewritings) or "original"
        return f"{self.case}/{variant} {self.column}: {self.ours:g} beside the {self.beside}'s {self.other:g}"


def value_of(row: Row, column: str) -> float | None:
    """None where a row does not have the column."""
    if column == "copied":
        return float(bool(row["copies"] or row["bulk"]))
    if column not in ("loop", "code"):
        return row.get(column)
    work = row.get("loop_multiplies") or row.get("loop_moves")
    if column == "loop":
        return WORK * row["loop"] / work if work else None
    return None if work else row.get("instructions")


def is_worse(column: str, ours: float, other: float) -> bool:
    """Whether a number is worse than another by more than the factor and the slack."""
    if COLUMNS[column]:
        return ours * FACTOR < other
    return ours > other * FACTOR and ours > other + SLACK.get(column, 0)


def beside_peer(case: str, rewritings: tuple[str, ...], ours: Row, theirs: Row) -> list[Finding]:
    """Where a variant is worse than the peer's. Loops are compared where both load by the same means."""
    found: list[Finding] = []
    for column in COLUMNS:
        a, b = value_of(ours, column), value_of(theirs, column)
        alike = column != "loop" or bool(ours["bulk"]) == bool(theirs["bulk"])
        if a is not None and b is not None and alike and is_worse(column, a, b):
            found.append(Finding(case, rewritings, column, "peer", a, b))
    return found


def beside_best(case: str, ours: Mapping[Which, Row], theirs: Mapping[Which, Row]) -> list[Finding]:
    """Where a variant is worse than the best one of a kernel; not where the peer's is as well, if there is a peer.

    Variants that the copy engine loads are compared among themselves.
    """
    found: list[Finding] = []
    for engine in (False, True):
        mine = {which: row for which, row in ours.items() if bool(row["bulk"]) is engine}
        for column in COLUMNS:
            top, top_of_peer = _best(mine, column), _best(theirs, column)
            for which, row in mine.items():
                value = value_of(row, column)
                if top is None or value is None or not is_worse(column, value, top):
                    continue
                peer = value_of(theirs[which], column) if which in theirs else None
                if peer is None or top_of_peer is None or not is_worse(column, peer, top_of_peer):
                    found.append(Finding(case, which[1], column, "best", value, top))
    return found


def _best(rows: Mapping[Which, Row], column: str) -> float | None:
    """Of the variants that others are compared with."""
    values = [value_of(row, column) for (_, names), row in rows.items() if not UNLIKE & set(names)]
    known = [value for value in values if value is not None]
    return (max(known) if COLUMNS[column] else min(known)) if known else None
