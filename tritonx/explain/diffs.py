"""What a pass changed: a diff of two texts of IR in which values that stay keep their names.

The printer numbers values anew, so that one op that goes renames all behind it. Lines are first matched without the
numbers; the names that matched lines define are then those of the old text in the new one as well, and the two are
compared as they are.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from difflib import SequenceMatcher, unified_diff

_NAME = re.compile(r"%[A-Za-z_0-9]+(?:_\d+)?")
CONTEXT = 2
"""Lines around a change."""


def changed_lines(before: str, after: str) -> tuple[str, ...]:
    """The hunks of a unified diff, without file names: `@@ … @@` lines, and lines that begin with `-`, `+` or a space.

    >>> from tritonx.explain.diffs import changed_lines
    >>> changed_lines("%0 = a\\n%1 = b\\n%2 = c %1", "%0 = b\\n%1 = c %0")
    ('@@ -1,3 +1,2 @@', '-%0 = a', ' %1 = b', ' %2 = c %1')
    """
    old, new = before.splitlines(), after.splitlines()
    renamed = _renamed(old, new)
    return tuple(line.rstrip("\n") for line in list(unified_diff(old, renamed, n=CONTEXT, lineterm=""))[2:])


def counted(diff: Sequence[str]) -> tuple[int, int]:
    """How many lines a diff adds and removes."""
    return sum(line.startswith("+") for line in diff), sum(line.startswith("-") for line in diff)


def _renamed(old: Sequence[str], new: Sequence[str]) -> list[str]:
    """The new lines with the old names of what they define, where a line is there in both."""
    names: dict[str, str] = {}
    shapes = [[_NAME.sub("%", line) for line in lines] for lines in (old, new)]
    for first, second, size in SequenceMatcher(None, *shapes, autojunk=False).get_matching_blocks():
        for a, b in zip(old[first : first + size], new[second : second + size], strict=True):
            names |= dict(zip(_defined(b), _defined(a), strict=False))
    taken = {*names.values(), *(name for line in old for name in _defined(line))}

    def name(found: re.Match[str]) -> str:
        if found[0] not in names:
            fresh = found[0]
            while fresh in taken:
                fresh += "'"
            taken.add(fresh)
            names[found[0]] = fresh
        return names[found[0]]

    return [_NAME.sub(name, line) for line in new]


def _defined(line: str) -> list[str]:
    """The names that a line gives: results, block arguments, parameters, the values that a loop carries."""
    results, equals, rest = line.partition(" = ")
    found = _NAME.findall(results) if equals and results.lstrip().startswith("%") else []
    body = rest if found else line
    if "tt.func" in body or body.lstrip().startswith("^"):
        return [*found, *re.findall(r"(%[A-Za-z_0-9]+): ", body)]
    carried = re.findall(r"(%[A-Za-z_0-9]+) = %", body) if found or "scf." in body else []
    induction = re.findall(r"scf\.for (%[A-Za-z_0-9]+) =", body)
    return [*found, *dict.fromkeys([*induction, *carried])]
