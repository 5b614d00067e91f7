"""A wrong instruction of ptxas, kept out of its way.

ptxas before 13.4 joins two `min` or `max` of integers to VIMNMX3, which compute capability 9 and 10 have, and takes one
negated operand for the number that is not negated: max(-a, -b, c) becomes max(-a, b, c). Seen in 12.8, 13.0, 13.1, 13.2
and 13.3, for 32 and 16 bits, signed and unsigned; 13.4 is right. It does not see a negation in "not, plus one".
"""

from __future__ import annotations

import re

from tritonx.backends.nvidia.targets import Capability

_EXTREMUM = re.compile(r"\b(?:min|max)\.[su](?:16|32|16x2)\b")
_NEGATION = re.compile(r"\bneg\.s(16|32)\s+([^,]+),\s*([^;]+);")


def hide_negations(ptx: str, chip: Capability) -> str:
    """The same program; where integers are compared it negates none by an instruction that ptxas knows as one."""
    if not 90 <= chip.number < 120 or _EXTREMUM.search(ptx) is None:
        return ptx
    return _NEGATION.sub(r"not.b\1 \t\2, \3;\n\tadd.s\1 \t\2, \2, 1;", ptx)
