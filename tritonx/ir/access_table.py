"""The table through which a kernel with checked accesses (`check-bounds`) and its launch speak.

The launch allocates the table, fills in the ranges of addresses that the kernel may access, and passes its address as
the last argument. The kernel writes reports. After the launch the host reads them. All fields are 64-bit words:

    0        the lowest number of a program that has reported; all ones: none has
    1        how many reports were started
    2, 3     where a compare-and-swap out of bounds is redirected to
    4 ...    two words a range: the address of its first byte, and that of the byte behind its last
    ... end  `REPORTS` reports of `REPORT_WORDS` words each

A program reports its first access out of bounds, and only if no program before it has reported. The report of the
lowest program is therefore the error that a run of one program after the other finds first, whatever the order in which
the programs ran. Programs that run in descending order can begin more than `REPORTS` reports; the later ones are lost,
and the lowest of those that were kept is used.

Nothing here imports a compiler: the host's side of a launch from the cache reads it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

WORD = 8
"""Bytes of a word."""

LOWEST, BEGUN, REDIRECTED, RANGES = 0, 1, 2, 4
"""The words at which the fields begin."""

REPORTS = 64

PROGRAM, ACCESS, LANE, ADDRESS, LANES = range(5)
"""The words of a report: program, number of the access, first lane, its address, how many lanes."""

REPORT_WORDS = 5

NONE = (1 << 64) - 1

EVERYTHING = (0, NONE)
"""A range that holds every address."""


def reports_at(ranges: int) -> int:
    """The word at which the reports begin in a table of so many ranges."""
    return RANGES + 2 * ranges


def table_words(found: Sequence[tuple[int, int]], ranges: int) -> list[int]:
    """The words of a table with the ranges that were ``found``, as (first byte, byte behind the last), and empty ones
    up to ``ranges``.

    >>> words = table_words([(4096, 4160)], 2)
    >>> words[RANGES : RANGES + 4] == [4096, 4160, NONE, NONE], words[LOWEST] == NONE
    (True, True)
    """
    listed = [word for pair in found for word in pair]
    empty = [NONE] * (2 * ranges - len(listed))
    return [NONE, 0, 0, 0, *listed, *empty, *[0] * (REPORTS * REPORT_WORDS)]


@dataclass(frozen=True)
class Report:
    """An access out of bounds: the first of its program."""

    program: int
    access: int
    lane: int
    address: int
    lanes: int


def first_report(words: Sequence[int], ranges: int) -> Report | None:
    """The report of the lowest program in a table of so many ranges; None where no program has reported.

    >>> words = table_words([], 0)
    >>> words[BEGUN], words[RANGES : RANGES + 5] = 1, [3, 0, 17, 4096, 1]
    >>> first_report(words, 0)
    Report(program=3, access=0, lane=17, address=4096, lanes=1)
    """
    start = reports_at(ranges)
    kept = range(min(words[BEGUN], REPORTS))
    reports: Iterable[Sequence[int]] = (words[start + REPORT_WORDS * n :][:REPORT_WORDS] for n in kept)
    return min((Report(*each) for each in reports), key=lambda report: report.program, default=None)
