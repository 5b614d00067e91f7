"""How many blocks a multiprocessor holds, and what keeps another one out."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Occupancy:
    """`blocks` and `threads` that a multiprocessor holds of at most `most_threads`; `limiter`: what keeps another block
    out, `"threads"`, `"blocks"`, `"registers"` or `"shared memory"`; `limits`: the blocks that each would allow."""

    blocks: int
    threads: int
    most_threads: int
    limiter: str
    limits: tuple[tuple[str, int], ...]


@dataclass(frozen=True)
class Residency:
    """What one multiprocessor (NVIDIA), compute unit (CDNA) or work-group processor (RDNA) holds: `threads` and
    `blocks`; `registers` of 32 bits, given out to a thread by `granule`; `shared` bytes, of which it keeps `reserved`
    for each block.

    >>> from tritonx.analysis.residency import Residency
    >>> chip = Residency(threads=2048, blocks=32, registers=65536, granule=8, shared=233472, reserved=1024)
    >>> chip.occupancy(threads=128, registers=168, shared=98304).limiter
    'shared memory'
    """

    threads: int
    blocks: int
    registers: int
    granule: int
    shared: int
    reserved: int = 0

    def occupancy(self, threads: int, registers: int | None, shared: int) -> Occupancy:
        """For blocks of so many threads, with these registers a thread (None: not known) and bytes of shared memory."""
        limits = {"threads": self.threads // threads, "blocks": self.blocks}
        if registers:
            limits["registers"] = self.registers // (threads * -(-registers // self.granule) * self.granule)
        if taken := shared + self.reserved if shared else 0:
            limits["shared memory"] = self.shared // taken
        limiter = min(limits, key=lambda name: limits[name])
        blocks = limits[limiter]
        return Occupancy(blocks, blocks * threads, self.threads, limiter, tuple(limits.items()))
