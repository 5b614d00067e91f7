"""The spaces of memory: global arrays at the host's own addresses, a block's shared memory, each thread's own.

Every access is checked: where it ends, and that it is aligned to its width."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from tritonx_testing.emulators.ptx.threads import Fault

Array = Any
SHARED_BASE = 1024
PARAMETER_WINDOW = 1 << 61
"""Where the kernel's parameters lie that are named by address, as tensor maps are."""
PARAMETER_BITS = 12
"""Each has so many bits of addresses."""
LOCAL_WINDOW = 1 << 62
"""Generic addresses from here on are a thread's own."""


@dataclass
class Segment:
    """``data`` is the bytes at ``start``."""

    start: int
    data: Array
    name: str

    @property
    def end(self) -> int:
        return self.start + len(self.data)


class Space:
    """Some segments of one space."""

    def __init__(self, segments: list[Segment]) -> None:
        self.segments = segments

    def placed(self, addresses: Array, nbytes: int, text: str) -> list[tuple[Segment, Array, Array]]:
        """(segment, which of ``addresses`` lie in it, where), of accesses of ``nbytes`` each."""
        found: list[tuple[Segment, Array, Array]] = []
        missing = np.ones(len(addresses), bool)
        for segment in self.segments:
            inside = (addresses >= segment.start) & (addresses + nbytes <= segment.end) & missing
            if inside.any():
                found.append((segment, np.flatnonzero(inside), addresses[inside] - segment.start))
                missing &= ~inside
        if missing.any():
            near = ", ".join(f"{s.name} at {s.start:#x} to {s.end:#x}" for s in self.segments)
            raise Fault(f"{text}: {nbytes} bytes at {int(addresses[missing][0]):#x}, outside {near}")
        return found

    def load(self, addresses: Array, nbytes: int, text: str) -> Array:
        """The bytes at each address, a row each."""
        aligned(addresses, nbytes, text)
        out = np.empty((len(addresses), nbytes), np.uint8)
        for segment, which, places in self.placed(addresses, nbytes, text):
            out[which] = segment.data[places[:, None] + np.arange(nbytes)]
        return out

    def store(self, addresses: Array, content: Array, text: str, *, width: int | None = None) -> None:
        """``content`` has a row of bytes for each address; ``width`` is what they are aligned to."""
        nbytes = content.shape[1]
        aligned(addresses, width or nbytes, text)
        for segment, which, places in self.placed(addresses, nbytes, text):
            segment.data[places[:, None] + np.arange(nbytes)] = content[which]


def aligned(addresses: Array, nbytes: int, text: str) -> None:
    if (addresses % nbytes).any():
        raise Fault(f"{text}: an address is no multiple of {nbytes}")


def random_bytes(random: Any, count: int) -> Array:
    return np.frombuffer(random.bytes(count), np.uint8).copy()
