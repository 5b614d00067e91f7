"""Waits for reads of the LDS that nothing hides, in a loop of AMD's machine code.

A wait says how many of the last accesses may still be under way, and the LDS serves them in order. A wait is exposed
if what it waits for was issued behind the last matrix or vector instruction: the wave then stands still for about the
LDS's latency. Two rounds are walked, so that what the end of one issues for the next one counts."""

from __future__ import annotations

import re
from collections.abc import Sequence

from .listing import Instruction

_WAIT = re.compile(r"lgkmcnt\((\d+)\)")


def exposed_waits(body: Sequence[Instruction]) -> int:
    """Of a round of the loop, whose instructions are in order."""
    under_way: list[bool] = []
    exposed = 0
    for number in (0, 1):
        for each in body:
            if each.opcode.startswith("ds_"):
                under_way.append(True)
            elif each.opcode.startswith("v_"):
                under_way = [False] * len(under_way)
            elif (left := _left(each)) is not None and left < len(under_way):
                awaited, under_way = under_way[: len(under_way) - left], under_way[len(under_way) - left :]
                exposed += number and any(awaited)
    return exposed


def _left(wait: Instruction) -> int | None:
    """How many accesses may be under way behind a wait; None where it waits for none of the LDS."""
    if wait.opcode in ("s_wait_dscnt", "s_wait_loadcnt_dscnt"):
        return int(wait.operands, 0) & 0x3F
    found = _WAIT.search(wait.operands) if wait.opcode == "s_waitcnt" else None
    return int(found[1]) if found else None
