"""How many registers a kernel's values take at once, as its PTX puts them: what the assembler begins with."""

from __future__ import annotations

import re
from itertools import accumulate

_NAMED = re.compile(r"%(rd|r|fd|f)\d+\b")
_WORDS = {"r": 1, "f": 1, "rd": 2, "fd": 2}


def live_registers(ptx: str) -> int:
    """Registers of 32 bits that are between their first and their last mention, at the place where they are most.

    A straight line is taken for granted: what a loop needs in its next iteration counts up to its last mention only. 16
    bits and predicates are left out.

    >>> live_registers("add.s32 %r1, %r0, 1; mul.wide.s32 %rd1, %r1, %r0; st.global.b64 [%rd1], %rd1;")
    4
    """
    words: dict[str, int] = {}
    first: dict[str, int] = {}
    last: dict[str, int] = {}
    for found in _NAMED.finditer(ptx):
        name = found.group()
        if name not in words:
            words[name], first[name] = _WORDS[found.group(1)], found.start()
        last[name] = found.end()
    changes = [(place, words[name]) for name, place in first.items()]
    changes += [(place, -words[name]) for name, place in last.items()]
    return max(accumulate(change for _, change in sorted(changes)), default=0)
