"""Integers that are cut and widened to less than they were, which LLVM 22's SPIR-V target writes without a conversion.

It selects ``zext i8 (trunc i64 %x to i8) to i32`` as an ``OpBitwiseAnd`` of 32 bits whose operand has 64, which is no
module. What it means is written instead: the number cut to 32 bits, without the upper ones."""

from __future__ import annotations

import re

_CUT = re.compile(r"  (%[\w.$-]+) = trunc (?:nuw |nsw )*i(\d+) (%[\w.$-]+) to i(\d+)")
_WIDENED = re.compile(r"  (%[\w.$-]+) = zext (?:nneg )?i(\d+) (%[\w.$-]+) to i(\d+)")


def zero_extended(text: str) -> str:
    """The module with no zero extension of what was cut from something wider than the result. ``text`` has an
    instruction a line, and no vectors in such."""
    return "".join(map(_function, re.split(r"(?m)^(?=define)", text)))


def _function(text: str) -> str:
    lines = text.split("\n")
    cut = {match[1]: (int(match[2]), match[3]) for line in lines if (match := _CUT.match(line))}
    return "\n".join(_line(line, cut) for line in lines)


def _line(line: str, cut: dict[str, tuple[int, str]]) -> str:
    match = _WIDENED.match(line)
    if match is None or (found := cut.get(match[3])) is None or found[0] <= int(match[4]):
        return line
    (wide, source), name, kept, made = found, match[1], int(match[2]), match[4]
    return f"  {name}.cut = trunc i{wide} {source} to i{made}\n  {name} = and i{made} {name}.cut, {(1 << kept) - 1}"
