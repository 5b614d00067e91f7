"""Which names values may have."""

from __future__ import annotations

import re

_NUMBERS = re.compile(r"(_\d+)+")


def is_numbers(name: str) -> bool:
    """Whether a name is nothing but numbers such as printers add to names that are taken. xDSL takes the last one off
    each time a name is given or copied, and refuses what has none left.

    >>> is_numbers("_0"), is_numbers("_1_2"), is_numbers("x_0"), is_numbers("_")
    (True, True, False, False)
    """
    return _NUMBERS.fullmatch(name) is not None
