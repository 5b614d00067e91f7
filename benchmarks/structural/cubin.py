"""What a cubin says of a kernel's registers, without the vendor's tools."""

from __future__ import annotations

import struct
from collections.abc import Iterator

_SECTION = struct.Struct("<IIQQQQIIQQ")
_SIZED = 4
"""The format of an entry of ``.nv.info`` whose payload has a size; others have four bytes in all."""

_REGISTERS = 0x2F
"""EIATTR_REGCOUNT: a function's symbol, and its count."""


def registers(cubin: bytes) -> int:
    """Of a thread: the most over the functions."""
    return max(
        (count for attribute, count in _entries(_section(cubin, b".nv.info")) if attribute == _REGISTERS), default=0
    )


def _section(cubin: bytes, name: bytes) -> bytes:
    """Empty if there is none."""
    offset, count, names = (*struct.unpack_from("<Q", cubin, 0x28), *struct.unpack_from("<HH", cubin, 0x3C))
    headers = [_SECTION.unpack_from(cubin, offset + i * _SECTION.size) for i in range(count)]
    for header in headers:
        start = headers[names][4] + header[0]
        if cubin[start : cubin.index(b"\0", start)] == name:
            return cubin[header[4] : header[4] + header[5]]
    return b""


def _entries(info: bytes) -> Iterator[tuple[int, int]]:
    """The attribute of each entry and the last word of its payload."""
    at = 0
    while at + 4 <= len(info):
        form, attribute, size = struct.unpack_from("<BBH", info, at)
        length = size if form == _SIZED else 0
        if length >= 4:
            yield attribute, struct.unpack_from("<I", info, at + length)[0]
        at += 4 + length
