"""A block of threads through the instructions of a cubin, which jump nowhere and wait for nothing."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from tritonx.backends.nvidia.assembler.disassemble import disassemble
from tritonx_testing.emulators.sass.instructions import TABLE
from tritonx_testing.emulators.sass.operands import WORD, Array, NotKnown, Threads

NOTHING = {"NOP", "BAR", "WARPSYNC", "BSSY", "BSYNC", "BMOV", "DEPBAR"}
"""All threads execute each instruction together."""
WIDTHS = {"U8": 1, "S8": 1, "U16": 2, "S16": 2, "64": 8, "128": 16}
SHARED = 1 << 18
_GUARDED = re.compile(r"@(!?U?P\w+)\s+(.*)")


def parameters_at(arch: int) -> int:
    """Where constant memory has the parameters."""
    return 0x160 if arch < 90 else 0x210 if arch < 100 else 0x380


def run(cubin: bytes, arch: int, threads: int, arguments: bytes, memory: Array) -> None:
    """Execute the cubin's kernel by one block; ``arguments`` are the bytes of its parameters, ``memory`` is global
    memory from address 0 on. Raises ``NotKnown``."""
    t = Threads(threads, bytes(parameters_at(arch)) + arguments + bytes(64))
    shared, over = np.zeros(SHARED, np.uint8), np.zeros(threads, bool)
    for line in disassemble(cubin).splitlines():
        if line.startswith(("Function:", ".")) or not line.strip():
            continue
        text, t.mask = line.strip().replace(".reuse", ""), ~over
        if guarded := _GUARDED.match(text):
            t.mask, text = t.mask & t.predicate(guarded[1]), guarded[2]
        name, _, rest = text.partition(" ")
        opcode, *words = name.split(".")
        operands = [o.strip() for o in re.split(r",\s*(?![^\[]*\])", rest)] if rest else []
        if opcode == "EXIT":
            over |= t.mask
            if over.all():
                return
        elif opcode in ("LDG", "STG", "LDS", "STS"):
            access(t, opcode, words, operands, shared if opcode.endswith("S") else memory)
        elif opcode not in NOTHING:
            meaning = TABLE.get(opcode) or TABLE.get(opcode.removeprefix("U"))
            if meaning is None:
                raise NotKnown(text)
            meaning(t, words, operands)
    raise NotKnown("code without an end")


def access(t: Threads, opcode: str, words: Sequence[str], operands: Sequence[str], memory: Array) -> None:
    """A load or a store."""
    width = next((w for w in words if w in WIDTHS), "")
    nbytes, loads = WIDTHS.get(width, 4), opcode.startswith("LD")
    value, place = operands if loads else operands[::-1]
    at, count = addresses(t, place, opcode.endswith("S")), max(1, nbytes // 4)
    raw = np.zeros((t.count, max(nbytes, 4)), np.uint8)
    if not loads and value != "RZ":
        first = int(value.removeprefix("R"))
        raw = np.stack([t.register(f"R{first + n}") for n in range(count)], 1).view(np.uint8)
    for thread in np.flatnonzero(t.mask):
        here = slice(at[thread], at[thread] + nbytes)
        if loads:
            raw[thread, :nbytes] = memory[here]
        else:
            memory[here] = raw[thread, :nbytes]
    if loads:
        read = raw.view(WORD)
        if width.startswith("S"):
            by = WORD(32 - 8 * nbytes)
            read = ((read << by).view(np.int32) >> by.astype(np.int32)).view(WORD)
        for n in range(count):
            t.write(value, read[:, n], n)


def addresses(t: Threads, place: str, shared: bool) -> Array:
    """The sum of the terms in the last brackets."""
    total = np.zeros(t.count, np.int64)
    for part in re.findall(r"\[([^][]*)\]", place)[-1].split("+"):
        name, _, kind = part.partition(".")
        if re.fullmatch(r"-?0x[0-9a-f]+", part):
            total += int(part, 0)
        elif kind.startswith("X"):
            total += t.word(name).astype(np.int64) * int(kind[1:])
        elif kind == "U32" or (shared and not kind):
            total += t.word(name).astype(np.int64)
        elif kind in ("", "64"):
            total += t.pair(name).astype(np.int64)
        else:
            raise NotKnown(place)
    return total
