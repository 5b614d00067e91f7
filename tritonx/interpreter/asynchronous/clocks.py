"""Who knows what has happened: vector clocks over the warps, and a set of asynchronous operations.

An access of warp `t` carries `t`'s clock at that time. Warp `w` *knows* of it once `w`'s entry for `t` has reached that
clock, which only synchronisation brings about: a barrier joins what its warps know, an mbarrier hands on what those who
arrived knew. An asynchronous operation (a copy, a product) happens once; who has waited for it has it in `done`.

What a warp knows to be *fenced* is a second vector: the writes of the generic proxy that a proxy fence on the way from
there to here has passed. A fence copies the first vector to the second. (PTX ISA, "Causality order": an operation
precedes another one of another proxy where a proxy fence lies along the path of synchronisation between them.)

This says of any two accesses whether they are ordered in *every* execution. So one execution shows a race whatever the
interleaving was, and however early or late a copy happened to land.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.int64]


@dataclass(frozen=True)
class Knowledge:
    """What one agent hands on to another: clocks of warps, those that are fenced, asynchronous operations (a set of
    bits)."""

    seen: Vector
    fenced: Vector
    done: int

    def joined(self, other: Knowledge) -> Knowledge:
        return Knowledge(
            np.maximum(self.seen, other.seen), np.maximum(self.fenced, other.fenced), self.done | other.done
        )


class Clocks:
    """The knowledge of all warps of a program."""

    def __init__(self, warps: int) -> None:
        self.seen: Vector = np.zeros((warps, warps), np.int64)
        self.fenced: Vector = np.zeros((warps, warps), np.int64)
        self.done = [0] * warps
        self._operations = 0
        for warp in range(warps):
            self.seen[warp, warp] = 1

    def only(self, operations: Iterable[int]) -> Knowledge:
        """To know of these asynchronous operations, and of nothing else."""
        done = 0
        for operation in operations:
            done |= 1 << operation
        return Knowledge(np.zeros_like(self.seen[0]), np.zeros_like(self.fenced[0]), done)

    def operation(self) -> int:
        """The number of a new asynchronous operation."""
        self._operations += 1
        return self._operations - 1

    def release(self, warp: int) -> Knowledge:
        """What the warp knows now, for others to acquire; its later accesses are not among it."""
        known = Knowledge(self.seen[warp].copy(), self.fenced[warp].copy(), self.done[warp])
        self.seen[warp, warp] += 1
        return known

    def acquire(self, warp: int, known: Knowledge) -> None:
        """The warp learns what was released."""
        np.maximum(self.seen[warp], known.seen, out=self.seen[warp])
        np.maximum(self.fenced[warp], known.fenced, out=self.fenced[warp])
        self.done[warp] |= known.done

    def meet(self, warps: Sequence[int]) -> None:
        """A barrier of these warps."""
        if len(warps) < 2:
            return
        chosen = list(warps)
        seen, fenced = self.seen[chosen].max(axis=0), self.fenced[chosen].max(axis=0)
        done = 0
        for warp in chosen:
            done |= self.done[warp]
        self.seen[chosen], self.fenced[chosen] = seen, fenced
        for warp in chosen:
            self.done[warp] = done
            self.seen[warp, warp] += 1

    def fence(self, warp: int) -> None:
        """A fence between the proxies: what the warp knows of the generic one, the asynchronous one sees; not what the
        warp writes from now on."""
        self.fenced[warp] = self.seen[warp]
        self.seen[warp, warp] += 1

    def wait_for(self, warp: int, operation: int) -> None:
        """The warp has waited for an asynchronous operation."""
        self.done[warp] |= 1 << operation
