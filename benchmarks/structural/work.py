"""How much work an instruction of machine code does: multiply-adds of a matrix unit a warp, bytes of a global access a
thread."""

from __future__ import annotations

import re

from .listing import Instruction

BULK = 4096
"""Bytes that a copy of the engine counts as: their number is in the tensor map."""

BULK_WIDTH = 128
"""Bytes that each access of such a copy counts as."""

_MATRIX = re.compile(r"^(?:[A-Z]*(?:HGMMA|IGMMA|QGMMA|BGMMA))\.(?:SP\.)?(\d+)x(\d+)x(\d+)")
_WARP = re.compile(r"^([HIQDBO]M?MMA)\.(?:SP\.)?([\dx]+)")
_WARP_SHAPES = {"16816": 2048, "1688": 1024, "16832": 4096, "884": 256, "1684": 512, "8816": 1024, "168256": 32768}
_MFMA = re.compile(r"^v_(?:smfmac|mfma|wmma)\w*?_(\d+)x(\d+)x(\d+)")
_ATOMIC = re.compile(r"^(?:global|buffer|flat)_atomic_\w+?(_x2|_f64)?$")
_LDS = re.compile(r"^ds_(?:read|write|load|store)(2(?:st64)?|_2addr(?:_stride64)?)?_[biu](\d+)")
_WIDTHS = {"U8": 1, "S8": 1, "U16": 2, "S16": 2, "64": 8, "128": 16, "256": 32}
_GCN = re.compile(r"(?:global|buffer|flat)_(?:load|store)_(?:lds_)?(?:tr_)?(?:d16_)?(?:hi_)?([a-z]+\d*(?:x\d)?)")
_GCN_WIDTHS = {"ubyte": 1, "sbyte": 1, "byte": 1, "ushort": 2, "sshort": 2, "short": 2, "dword": 4, "dwordx2": 8,
               "dwordx3": 12, "dwordx4": 16, "b8": 1, "u8": 1, "i8": 1, "b16": 2, "u16": 2, "i16": 2, "b32": 4,
               "b64": 8, "b96": 12, "b128": 16}  # fmt: skip


def multiplied(instruction: Instruction) -> int:
    """Multiply-adds of matrices, a warp's share."""
    if found := _MATRIX.match(instruction.opcode):
        return int(found[1]) * int(found[2]) * int(found[3]) // 4
    if found := _WARP.match(instruction.opcode):
        if "x" in found[2]:
            m, n, k = map(int, found[2].split("x"))
            return m * n * k
        return _WARP_SHAPES.get(found[2], 2048)
    if found := _MFMA.match(instruction.opcode):
        return int(found[1]) * int(found[2]) * int(found[3])
    return 0


def moved(instruction: Instruction) -> int:
    """Bytes from or to global memory, a thread's."""
    parts = instruction.opcode.split(".")
    if parts[0] in ("LDG", "STG", "LDGSTS"):
        return next((_WIDTHS[p] for p in parts[1:] if p in _WIDTHS), 4)
    if parts[0] in ("UTMALDG", "UTMASTG", "UBLKCP", "UTMAREDG"):
        return BULK
    if found := _ATOMIC.match(instruction.opcode):
        return 8 if found[1] else 4
    found = _GCN.match(instruction.opcode)
    return _GCN_WIDTHS.get(found[1], 4) if found else 0


def shared(instruction: Instruction) -> int:
    """Bytes that an instruction of AMD's processors reads from LDS or writes to it, a thread's: two accesses in one
    instruction are of the bytes of both."""
    found = _LDS.match(instruction.opcode)
    if found is None:
        return 0
    return (2 if found[1] else 1) * int(found[2]) // 8


def works(instruction: Instruction) -> bool:
    """Whether a loop with it is more than a wait."""
    if multiplied(instruction) or moved(instruction):
        return True
    return re.match(r"(?:LDS|STS|F|MUFU|HFMA|HADD|DFMA|DADD|IMAD|v_|ds_)", instruction.opcode) is not None


def spills(instruction: Instruction) -> bool:
    """An access of a thread's own memory."""
    return instruction.opcode.startswith(("STL", "LDL", "scratch_"))
