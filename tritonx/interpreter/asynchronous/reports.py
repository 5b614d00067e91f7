"""What the machine finds wrong with a program: a kind, the op, and what it collided with."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum

from xdsl.ir import Operation

from tritonx.ir.source import source_of


class Kind(Enum):
    """The mistakes that a program can make with memory that several agents share."""

    NOT_VISIBLE = "read of what is not visible yet"
    OVERWRITE = "overwrite of what may still be read or written"
    UNFENCED = "no fence between the proxies"
    UNWRITTEN = "read of shared memory that was never written"
    CLOBBERED = "read of shared memory that another buffer has overwritten"
    HANG = "a wait that nothing ends"
    TOO_MANY_ARRIVALS = "an arrival too many"
    PHASE_MISSED = "a phase that may end before everybody has seen the one before"
    NO_BARRIER = "an operation on a barrier that is not there"
    IN_FLIGHT = "use of a product that is still under way"
    UNFINISHED = "the block ends while a copy is under way"
    MISPLACED = "a buffer where it may not lie"
    DIVERGED = "an exchange that not all warps take part in"
    CUT = "a block that begins within a piece of 16 bytes"


class Hang(Exception):
    """No warp can go on; the reports say who waits for what."""


@dataclass(frozen=True)
class Report:
    """One mistake. `position` is the kernel's line where it is known, `other` the op that it collided with; `count`
    says how often it happened."""

    kind: Kind
    op: str
    position: str | None
    message: str
    program: tuple[int, int, int]
    other: str | None = None
    count: int = 1

    def __str__(self) -> str:
        where = f"{self.position}: " if self.position else ""
        behind = f" (with {self.other})" if self.other else ""
        times = f" [{self.count} times]" if self.count > 1 else ""
        return f"{where}{self.kind.value}: {self.op}: {self.message}{behind} [program {self.program}]{times}"


def describe(op: Operation) -> str:
    """An op as a report names it: its name, and the name of what it makes."""
    hint = op.results[0].name_hint if op.results else None
    return f"%{hint} = {op.name}" if hint else op.name


def position_of(op: Operation) -> str | None:
    """The kernel's line of an op."""
    positions = source_of(op)
    return f"{positions[0].file}:{positions[0].line}" if positions else None


@dataclass
class Reports:
    """Collects reports: of one kind about one pair of ops, the first one, and its count. `locate` locates an op."""

    found: dict[tuple[Kind, Operation | None, Operation | None], Report] = field(
        default_factory=dict[tuple[Kind, Operation | None, Operation | None], Report]
    )
    locate: Callable[[Operation], str | None] = position_of
    program: tuple[int, int, int] = (0, 0, 0)

    def add(self, kind: Kind, op: Operation, message: str, other: Operation | None = None) -> None:
        """A mistake of `op`."""
        key = (kind, op, other)
        known = self.found.get(key)
        if known is not None:
            self.found[key] = Report(
                kind, known.op, known.position, known.message, known.program, known.other, known.count + 1
            )
            return
        behind = None
        if other is not None:
            at = self.locate(other)
            behind = f"{describe(other)} at {at}" if at else describe(other)
        self.found[key] = Report(kind, describe(op), self.locate(op), message, self.program, behind)

    def all(self) -> tuple[Report, ...]:
        """Every report, in the order in which they were found."""
        return tuple(self.found.values())
