"""Offsets in bytes beside products of warp groups are shifts, not multiplications.

LLVM writes the offset of an element as `mul.wide`, an index of 32 bits by an element's size, and ptxas has IMAD.WIDE
for that and the addition of the base. As one instruction is less than the two registers of an offset, it is computed
again at each use in a loop. Among HGMMAs that is dear: products through pointers whose loop has 4 or 8 of them ran at
0.80 to 0.95 of Triton's with none, and at 1.02 where it was Triton's loop that had them (8192³ f16, H200). A shift is
not repeated: the base becomes a uniform register, and offsets in a loop LEA and LEA.HI.X.SX32."""

from __future__ import annotations

import re

_PRODUCT = "wgmma.mma_async"
_WIDENED = re.compile(r"^([ \t]*)mul\.wide\.([su])32\s+(%rd\d+),\s*(%r\d+),\s*(\d+);", re.MULTILINE)


def shift_offsets(ptx: str) -> str:
    """The same program, with multiplications of 32 bits by powers of two to 64 bits as extensions and shifts, if it has
    products of warp groups."""
    return _WIDENED.sub(_shifted, ptx) if _PRODUCT in ptx else ptx


def _shifted(match: re.Match[str]) -> str:
    indent, kind, result, index, factor = match.groups()
    size = int(factor)
    if size < 2 or size & (size - 1) or size >= 1 << (32 - (kind == "s")):
        return match.group()
    extended = f"{indent}cvt.{kind}64.{kind}32 \t{result}, {index};"
    return f"{extended}\n{indent}shl.b64 \t{result}, {result}, {size.bit_length() - 1};"
