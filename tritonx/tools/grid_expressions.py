"""The grid of ``tritonx compile``: three expressions in C, which name the kernel's parameters."""

from __future__ import annotations

import re
from collections.abc import Collection

_NAME = re.compile(r"(?<![\w.])[A-Za-z_]\w*")
"""A name, and no suffix of a number."""

_OF_C = frozenset(
    "bool char const double float int long short signed sizeof unsigned size_t ptrdiff_t intptr_t uintptr_t".split()
).union(f"{sign}int{bits}_t" for sign in ("", "u") for bits in (8, 16, 32, 64))
_LIMIT = re.compile(r"U?INT(8|16|32|64|PTR)_(MIN|MAX)|SIZE_MAX")


def unknown_name(expression: str, known: Collection[str]) -> str | None:
    """The first name in an expression that is neither one of ``known`` nor C's own.

    >>> unknown_name("(int64_t)(n + BLOCK - 1u) / BLOCK", ["n", "BLOCK"]), unknown_name("cdiv(n, 64)", ["n"])
    (None, 'cdiv')
    """
    names = _NAME.findall(expression)
    return next((n for n in names if n not in known and n not in _OF_C and not _LIMIT.fullmatch(n)), None)
