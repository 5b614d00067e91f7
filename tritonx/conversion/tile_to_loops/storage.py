"""Buffers that are not needed at the same time share memory.

Which lines of the program's text mention a buffer, or an address made from it, says when it is needed. A loop stretches
that: a buffer that is needed both inside and outside a loop is needed in all of it, whatever the order of the lines in
its body. One that is written and read within a single iteration is needed there only.

Buffers that share memory become one pointer: each is a `noalias` parameter of the program, and two such pointers into
the same memory would be a lie to LLVM.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

Interval = tuple[int, int]

_NAME = re.compile(r"%[bv]\d+\b")
_BUFFER = re.compile(r"%b(\d+)\b")
_DERIVED = re.compile(r"\s*(%v\d+) = (?:getelementptr|phi ptr|select [^,]*, ptr|inttoptr)")


@dataclass(frozen=True)
class Storage:
    """The program's lines with buffers renamed, and the size of each that is left."""

    lines: list[str]
    sizes: list[int]


def share(lines: list[str], sizes: list[int], loops: list[Interval]) -> Storage:
    """Assign buffers to as few as possible; `loops` are the first and last lines of all loops."""
    needed = _stretch(_mentions(lines, len(sizes)), loops)
    slots: list[tuple[int, int]] = []  # (size, the last line that needs it)
    place: dict[int, int] = {}
    for buffer in sorted(needed, key=lambda b: needed[b]):
        first, last = needed[buffer]
        size = sizes[buffer]
        free = [n for n, (_, until) in enumerate(slots) if until < first]
        # The tightest fit; failing that the largest, which then grows the least.
        fitting = [n for n in free if slots[n][0] >= size]
        if fitting:
            best = min(fitting, key=lambda n: slots[n][0])
        elif free:
            best = max(free, key=lambda n: slots[n][0])
        else:
            best = len(slots)
            slots.append((0, -1))
        slots[best] = (max(slots[best][0], size), last)
        place[buffer] = best
    renamed = [_BUFFER.sub(lambda m: f"%b{place[int(m.group(1))]}", line) if "%b" in line else line for line in lines]
    return Storage(renamed, [size for size, _ in slots])


def _mentions(lines: list[str], count: int) -> dict[int, Interval]:
    """For each buffer the first and last line that mentions it or an address made from it."""
    origin: dict[str, frozenset[int]] = {f"%b{n}": frozenset((n,)) for n in range(count)}
    found: dict[int, Interval] = {}
    for at, line in enumerate(lines):
        if "ptr" not in line:
            continue
        derived = _DERIVED.match(line)
        buffers: frozenset[int] = frozenset()
        for name in _NAME.findall(line):
            buffers |= origin.get(name, frozenset())
        for buffer in buffers:
            first, _ = found.get(buffer, (at, at))
            found[buffer] = (first, at)
        if derived is not None and buffers:
            origin[derived.group(1)] = buffers
    return found


def _stretch(needed: dict[int, Interval], loops: list[Interval]) -> dict[int, Interval]:
    """Widen what begins or ends inside a loop but is not within it, innermost loops first."""
    ordered = sorted(loops, key=lambda loop: loop[1] - loop[0])
    result: dict[int, Interval] = {}
    for buffer, (first, last) in needed.items():
        changed = True
        while changed:
            changed = False
            for start, end in ordered:
                if start < first <= end < last:
                    first, changed = start, True
                elif first < start <= last < end:
                    last, changed = end, True
        result[buffer] = (first, last)
    return result
