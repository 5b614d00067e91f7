"""What LLVM's data layout says of pointers (LLVM language reference, "Data Layout")."""

from __future__ import annotations

import re
from functools import lru_cache

_POINTER = re.compile(r"p[a-z]*(\d*):(\d+)")
"""``p3:32:32``: address space, none for 0, and size."""
_STACK = re.compile(r"A\d+")
_STATED = re.compile(r'^target datalayout = "([^"]*)"', re.MULTILINE)
WIDTH = 64
"""Bits of a pointer of which nothing is said."""


@lru_cache(maxsize=256)
def pointer_bits(data_layout: str, space: int) -> int:
    """Bits of a pointer into an address space; one that the layout does not list has those of 0."""
    listed = {int(m[1] or 0): int(m[2]) for part in data_layout.split("-") if (m := _POINTER.match(part))}
    return listed.get(space, listed.get(0, WIDTH))


@lru_cache(maxsize=256)
def stack_space(data_layout: str) -> int:
    """The address space of variables on the stack."""
    return next((int(part[1:]) for part in data_layout.split("-") if _STACK.fullmatch(part)), 0)


def layout_of(text: str) -> str:
    """The data layout that a module states; an empty one where it states none."""
    found = _STATED.search(text)
    return found[1] if found else ""
