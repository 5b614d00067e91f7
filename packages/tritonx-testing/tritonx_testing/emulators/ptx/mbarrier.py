"""Barriers in shared memory (PTX ISA 9.0, section 9.7.13.15): a phase is over when as many have arrived as were said
and as many bytes have come as were expected."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from tritonx_testing.emulators.ptx.text import Address, Instruction
from tritonx_testing.emulators.ptx.threads import Fault, Threads

Array = Any


@dataclass
class Barrier:
    """``missing`` arrivals of ``count``, ``nbytes`` that were expected and have not come, and how many phases are
    over."""

    count: int
    missing: int
    nbytes: int = 0
    phases: int = 0

    def advance(self) -> bool:
        """Whether the phase ends."""
        if self.missing or self.nbytes:
            return False
        self.phases += 1
        self.missing = self.count
        return True


class Barriers:
    """Those of a block, by their address. ``asleep`` are the threads that wait for a phase: there is nothing to be
    asked again until one ends."""

    def __init__(self, threads: Threads) -> None:
        self.t = threads
        self.made: dict[int, Barrier] = {}
        self.asleep: Array = np.zeros(threads.count, bool)

    def execute(self, i: Instruction) -> None:
        kind = i.modifiers[0]
        if kind == "init":
            self.init(i)
        elif kind == "inval":
            for _, address in self.places(i, i.operands[0]):
                self.at(address, i)
                del self.made[address]
        elif kind == "arrive":
            self.arrive(i)
        elif kind in ("try_wait", "test_wait"):
            self.wait(i)
        else:
            raise Fault(f"an instruction that is not known here: {i.text}")

    def places(self, i: Instruction, operand: Any) -> list[tuple[int, int]]:
        """(thread, address) of those who run it."""
        assert isinstance(operand, Address), i.text
        found = self.t.placed(operand)
        if any(address % 8 for _, address in found):
            raise Fault(f"{i.text}: an address is no multiple of 8")
        return found

    def at(self, address: int, i: Instruction) -> Barrier:
        found = self.made.get(address)
        if found is None:
            raise Fault(f"{i.text}: no barrier was made at {address:#x}")
        return found

    def init(self, i: Instruction) -> None:
        counts = self.t.bits(i.operands[1], 32)
        for thread, address in self.places(i, i.operands[0]):
            if address in self.made:
                raise Fault(f"{i.text}: there is a barrier at {address:#x} already")
            self.made[address] = Barrier(int(counts[thread]), int(counts[thread]))

    def arrive(self, i: Instruction) -> None:
        """One arrival or as many as are named; with ``expect_tx`` one, and as many bytes as are named are expected."""
        state, place, *rest = i.operands
        if getattr(state, "text", "") != "_":
            raise Fault(f"a state that another thread may ask for: {i.text}")
        numbers = self.t.bits(rest[0], 32) if rest else np.ones(self.t.count, np.uint32)
        for thread, address in self.places(i, place):
            number, expects = int(numbers[thread]), "expect_tx" in i.modifiers
            self.change(address, i, arrivals=1 if expects else number, nbytes=number if expects else 0)

    def change(self, address: int, i: Instruction, *, arrivals: int = 0, nbytes: int = 0) -> None:
        """``nbytes`` are expected, or have come where it is below 0."""
        barrier = self.at(address, i)
        if arrivals > barrier.missing:
            raise Fault(f"{i.text}: more arrive at {address:#x} than a phase waits for")
        barrier.missing -= arrivals
        barrier.nbytes += nbytes
        if barrier.advance():
            self.asleep[:] = False

    def wait(self, i: Instruction) -> None:
        """Whether the phase of a parity is over. Who must wait sleeps. Of a parity the lowest bit counts, as on an
        H200: programs that Triton wrote have -1 for 1."""
        if "parity" not in i.modifiers:
            raise Fault(f"a state that is not defined: {i.text}")
        parities = self.t.bits(i.operands[2], 32)
        over = np.zeros(self.t.count, bool)
        for thread, address in self.places(i, i.operands[1]):
            over[thread] = self.at(address, i).phases % 2 != int(parities[thread]) & 1
        self.t.write_predicate(i.operands[0], over)
        self.asleep |= self.t.mask & ~over
