"""Barriers in shared memory (mbarriers): arrivals, bytes of copies, phases.

PTX ISA, "Parallel Synchronization and Communication Instructions: mbarrier". A barrier counts a phase down: `count`
arrivals, and the bytes that were announced (`expect`) must have come. A wait names the parity of the phase whose end it
waits for; it succeeds as long as the phase under way has the other parity. Whoever waits learns what those who arrived
knew.

A phase may end before a warp has looked at the end of the one before it: then the parity is back, and the warp waits
for ever or takes one end for another. So each wait that succeeded leaves a witness, and the end of the next phase must
be ordered behind all of them.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from xdsl.ir import Operation

from tritonx.interpreter.asynchronous.clocks import Clocks, Knowledge
from tritonx.interpreter.asynchronous.reports import Kind, Reports


@dataclass(frozen=True)
class Witness:
    """A warp saw, at its clock, that a phase had ended."""

    warp: int
    clock: int
    phase: int
    op: Operation


@dataclass
class MBarrier:
    """One barrier. `phase` numbers the phase under way, from 0; `known` is what its arrivals so far bring, `handed`
    what the ends of phases have handed on."""

    count: int
    clocks: Clocks
    reports: Reports
    made: Operation
    phase: int = 0
    pending: int = 0
    bytes: int = 0
    known: Knowledge | None = None
    handed: Knowledge | None = None
    witnesses: list[Witness] = field(default_factory=list[Witness])

    def __post_init__(self) -> None:
        self.pending = self.count

    def arrive(self, op: Operation, known: Knowledge, count: int = 1) -> None:
        """`count` arrivals of one agent, which hands on what it knows."""
        self._learn(known)
        if count > self.pending:
            text = f"{count} arrivals where the phase waits for {self.pending} of {self.count}"
            self.reports.add(Kind.TOO_MANY_ARRIVALS, op, text, self.made)
        self.pending = max(0, self.pending - count)
        self._end_if_complete(op)

    def expect(self, op: Operation, known: Knowledge, size: int) -> None:
        """One arrival that announces bytes."""
        self.bytes += size
        self.arrive(op, known)

    def receive(self, op: Operation, known: Knowledge, size: int) -> None:
        """Bytes of a copy have come."""
        self.bytes -= size
        self._learn(known)
        self._end_if_complete(op)

    def ended(self, parity: int) -> bool:
        """Whether a wait for the phase of this parity succeeds."""
        return self.phase & 1 != parity

    def observe(self, op: Operation, warp: int) -> None:
        """A warp's wait has succeeded."""
        if self.handed is not None:
            self.clocks.acquire(warp, self.handed)
        clock = int(self.clocks.seen[warp, warp])
        self.witnesses.append(Witness(warp, clock, self.phase - 1, op))

    def _learn(self, known: Knowledge) -> None:
        self.known = known if self.known is None else self.known.joined(known)

    def _end_if_complete(self, op: Operation) -> None:
        if self.pending or self.bytes:
            return
        assert self.known is not None
        for witness in self.witnesses:
            if self.known.seen[witness.warp] < witness.clock:
                text = f"phase {self.phase} ends, and warp {witness.warp} may still wait for phase {witness.phase}"
                self.reports.add(Kind.PHASE_MISSED, op, text, witness.op)
        self.witnesses.clear()
        self.handed = self.known if self.handed is None else self.handed.joined(self.known)
        self.known = None
        self.phase += 1
        self.pending = self.count
