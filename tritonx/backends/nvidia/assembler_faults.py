"""What ptxas assembles wrong, written so that it does not.

- Before 13.4 it joins two `min` or `max` of integers to VIMNMX3, which compute capability 9 and 10 have, and takes one
  negated operand for the number that is not negated: max(-a, -b, c) becomes max(-a, b, c). Seen in 12.8 and 13.0 to
  13.3, for 32 and 16 bits, signed and unsigned. It does not see a negation in "not, plus one".
- Before 13.2 it computes one half of an `add.s16x2` of a constant again where that is needed later, and adds 0 there
  (VIADD.16x2, compute capability 9 and later). Seen in 12.8, 13.0 and 13.1. Two additions of 16 bits are safe.
"""

from __future__ import annotations

import re

from tritonx.backends.nvidia.targets import Capability

_EXTREMUM = re.compile(r"\b(?:min|max)\.[su](?:16|32|16x2)\b")
_NEGATION = re.compile(r"\bneg\.s(16|32)\s+([^,]+),\s*([^;]+);")
_PAIR_SUM = re.compile(r"\badd\.s16x2\s+([^,]+),\s*([^,]+),\s*([^;]+);")
_NUMBER = re.compile(r"\bmov\.b32\s+(%r\d+),\s*(-?\d+);")
_WRITTEN = re.compile(r"^\s*(?:@\S+\s+)?[\w.]+\s+(%r\d+),", re.MULTILINE)
_FUNCTION_END = re.compile(r"(?<=\n\}\n)")


def avoid_faults(ptx: str, chip: Capability) -> str:
    """The same program in instructions that every ptxas assembles right for ``chip``."""
    if chip.number < 90:
        return ptx
    if chip.number < 120 and _EXTREMUM.search(ptx) is not None:
        ptx = _NEGATION.sub(r"not.b\1 \t\2, \3;\n\tadd.s\1 \t\2, \2, 1;", ptx)
    return "".join(map(_split_sums, _FUNCTION_END.split(ptx))) if "add.s16x2" in ptx else ptx


def _split_sums(function: str) -> str:
    """Every sum of a pair and a number as two sums; registers are the function's own."""
    written = _WRITTEN.findall(function)
    numbers = {name: int(value) for name, value in _NUMBER.findall(function) if written.count(name) == 1}

    def split(match: re.Match[str]) -> str:
        result, *operands = match.groups()
        for pair, other in (operands, operands[::-1]):
            if (number := numbers.get(other)) is not None:
                low, high = number & 0xFFFF, number >> 16 & 0xFFFF
                return (
                    f"{{ .reg .b16 %low, %high; mov.b32 {{%low, %high}}, {pair}; add.s16 %low, %low, {low}; "
                    f"add.s16 %high, %high, {high}; mov.b32 {result}, {{%low, %high}}; }}"
                )
        return match.group()

    return _PAIR_SUM.sub(split, function)
