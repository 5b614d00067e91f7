"""Offsets in bytes that loops of warp groups' products use are shifts, not multiplications.

LLVM writes the offset of an element as `mul.wide`, an index of 32 bits by an element's size, and ptxas has IMAD.WIDE
for that and the addition of the base. As one instruction is less than the two registers of an offset, it is computed
again at each use in a loop. Among HGMMAs that is dear: products through pointers whose loop has 4 or 8 of them ran at
0.80 to 0.95 of Triton's with none, and at 1.02 where it was Triton's loop that had them (8192³ f16, H200). A shift is
not repeated: the base becomes a uniform register, and offsets in a loop LEA and LEA.HI.X.SX32.

Only what such a loop uses is written so. Behind it, where the result's addresses are beside the result, what is not
computed again takes registers: grouped products of 128x256 spilled a kilobyte with shifts everywhere."""

from __future__ import annotations

import re
from collections.abc import Iterator

_PRODUCT = "wgmma.mma_async"
_WIDENED = re.compile(r"^([ \t]*)mul\.wide\.([su])32\s+(%rd\d+),\s*(%r\d+),\s*(\d+);", re.MULTILINE)
_SUM = re.compile(r"^\s*add\.s64\s+(%rd\d+),\s*(%rd\d+),\s*(%rd\d+);", re.MULTILINE)
_LABEL = re.compile(r"^(\$L\w+):", re.MULTILINE)
_BRANCH = re.compile(r"\bbra(?:\.uni)?\s+(\$L\w+);")
_LONG = re.compile(r"%rd\d+")


def shift_offsets(ptx: str) -> str:
    """The same program, with multiplications of 32 bits by powers of two to 64 bits as extensions and shifts, where an
    innermost loop with products of warp groups uses them, or sums of them."""
    if _PRODUCT not in ptx:
        return ptx
    used = _with_terms(ptx, {name for loop in _loops_of_products(ptx) for name in _LONG.findall(loop)})
    return _WIDENED.sub(lambda match: _shifted(match) if match[3] in used else match.group(), ptx)


def _loops_of_products(ptx: str) -> Iterator[str]:
    """From the label to the branch back, innermost."""
    labels = {match[1]: match.start() for match in _LABEL.finditer(ptx)}
    loops = [(labels[m[1]], m.end()) for m in _BRANCH.finditer(ptx) if labels.get(m[1], len(ptx)) < m.start()]
    loops = [(start, end) for start, end in loops if _PRODUCT in ptx[start:end]]
    for start, end in loops:
        if not any(start <= s and e <= end and (s, e) != (start, end) for s, e in loops):
            yield ptx[start:end]


def _with_terms(ptx: str, names: set[str]) -> set[str]:
    """These registers and what they are sums of."""
    terms = {match[1]: (match[2], match[3]) for match in _SUM.finditer(ptx)}
    found, open_ = set[str](), list(names)
    while open_:
        name = open_.pop()
        if name not in found:
            found.add(name)
            open_ += terms.get(name, ())
    return found


def _shifted(match: re.Match[str]) -> str:
    indent, kind, result, index, factor = match.groups()
    size = int(factor)
    if size < 2 or size & (size - 1) or size >= 1 << (32 - (kind == "s")):
        return match.group()
    extended = f"{indent}cvt.{kind}64.{kind}32 \t{result}, {index};"
    return f"{extended}\n{indent}shl.b64 \t{result}, {result}, {size.bit_length() - 1};"
