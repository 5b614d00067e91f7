"""S_MEMTIME and S_MEMREALTIME of CDNA, and RDNA's S_SENDMSG_RTN_B64 that asks for the time: the host's clock.

Encodings: CDNA 3 ISA, "SMEM": the first register of the result is in bits 6 to 12. RDNA 3 ISA, "SOP1": it is in bits
16 to 22, and the message's number in bits 0 to 7."""

from __future__ import annotations

import ctypes
import time
from dataclasses import dataclass
from typing import Any

from tritonx_testing.emulators.amd.register_files import step

GET_REALTIME = 0x83
"""The message (RDNA 3 ISA, "S_SENDMSG_RTN")."""
REALTIME_NANOSECONDS = 10
"""Of one tick of the steady counter, which goes up 100 million times a second."""


@dataclass(frozen=True)
class Clock:
    """Writes the time to a pair of scalar registers."""

    target: int
    nanoseconds: int
    nbytes: int

    @staticmethod
    def of(operation: str, first: int) -> Clock | None:
        """What an instruction reads; None for one that reads no clock."""
        if operation in ("S_MEMTIME", "S_MEMREALTIME"):
            return Clock(first >> 6 & 0x7F, REALTIME_NANOSECONDS if operation == "S_MEMREALTIME" else 1, 8)
        if operation == "S_SENDMSG_RTN_B64" and first & 0xFF == GET_REALTIME:
            return Clock(first >> 16 & 0x7F, REALTIME_NANOSECONDS, 4)
        return None

    def fxn(self, scalars: Any) -> None:
        now = time.perf_counter_ns() // self.nanoseconds
        ctypes.c_uint64.from_address(scalars.value + 4 * self.target).value = now
        step(scalars, self.nbytes)
