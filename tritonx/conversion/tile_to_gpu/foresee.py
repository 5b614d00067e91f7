"""What a kernel will lack on its device, told before the device's code is made.

Shared memory is placed when the passes are through, so what a block takes is known
exactly. Of registers a bound from below is known: loop-carried values are in registers all the time,
and a thread that has fewer keeps it in memory, which it then reads and writes in each iteration.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.dialects.builtin import ModuleOp

from tritonx.analysis.registers import carried_words
from tritonx.backends.api import Shortage
from tritonx.dialects.scf import ForOp
from tritonx.ir.properties import stated_number
from tritonx.ir.walk import ops_in


@dataclass(frozen=True)
class Room:
    """What a block may have: bytes of shared memory, registers of 32 bits for each of its threads."""

    shared: int
    registers: int


def shortage(room: Room, module: ModuleOp) -> Shortage | None:
    shared = stated_number(module.attributes, "ttg.shared") or 0
    if shared > room.shared:
        return Shortage(shared, room.shared, "shared memory")
    carried = max((carried_words(op, indices=False) for op in ops_in(module) if isinstance(op, ForOp)), default=0)
    return Shortage(carried, room.registers, "registers") if carried > room.registers else None
