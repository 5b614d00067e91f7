"""F8F6F4 instructions of CDNA 4, which are told the types of their operands and may multiply these by scales.

CDNA 4 ISA, "Matrix Arithmetic Instructions" and V_MFMA_LD_SCALE_B32: a lane has 32 elements of a row of A and of a
column of B. Those of 8 bits are twice 16 neighbours along K, half of the instruction's K apart; those of 4 bits are 32
neighbours, the first in the low half of a byte. With scales, 8 more bytes in front of the instruction name a register
for each operand and the byte of it: in lane ``l`` the exponent, with a bias of 127, of row ``l % side`` for the block
``l // side`` of 32 elements of K; 255 is NaN. The places agree with the layouts that Triton 3.9 has on this processor.
"""

from __future__ import annotations

import re
from typing import Any

import ml_dtypes
import numpy as np

from tritonx_testing.emulators.amd.matrix_registers import inline_constant
from tritonx_testing.emulators.amd.matrix_unit import OCP, Mfma
from tritonx_testing.emulators.amd.register_files import file_of, step

BYTES = {0: OCP["fp8"], 1: OCP["bf8"]}
PAIRS = 4
"""The code of operands of 4 bits (E2M1). Those of 6 bits have 2 and 3, which the compiler does not use."""
GROUP = 32
LOAD_SCALES = b"\xac\xd3"
"""The upper half of V_MFMA_LD_SCALE's first dword, which has 16 bytes with its product."""


def is_told_types(operation: str) -> bool:
    return operation.endswith("_F8F6F4")


class ScaledMultiply:
    """An instruction, by its name and its 8 bytes (VOP3P-MAI), or 16 with scales."""

    def __init__(self, operation: str, encoding: bytes) -> None:
        found = re.fullmatch(r"V_MFMA_(?:SCALE_)?F32_(16|32)X\1X(\d+)_F8F6F4", operation)
        assert found is not None, operation
        self.side, self.k = int(found[1]), int(found[2])
        self.scales: list[tuple[int, int]] = []
        self.size = 8
        if encoding[2:4] == LOAD_SCALES:
            word, encoding, self.size = int.from_bytes(encoding[:8], "little"), encoding[8:], 16
            bytes_ = [(word >> 11 + i & 1) | (word >> 59 + i & 1) << 1 for i in range(2)]
            self.scales = [(word >> 32 + 9 * i & 0x1FF, byte) for i, byte in enumerate(bytes_)]
        word = int.from_bytes(encoding[:8], "little")
        self.codes = word >> 8 & 7, word >> 61 & 7
        self.target = word & 0xFF
        self.sources = [word >> place & 0x1FF for place in (32, 41, 50)]
        self.files = [word >> place & 1 for place in (59, 60, 15)]

    def operand(self, registers: Any, number: int) -> Any:
        """``[row][k]`` in f64 of A (0) or B (1), without scales."""
        code, first = self.codes[number], self.sources[number] - 256
        assert first >= 0, "an operand is no constant"
        count = 16 if code == PAIRS else 32
        held = np.ascontiguousarray(registers[first : first + count // 4].T).view(np.uint8)
        if code == PAIRS:
            halves = np.stack((held & 15, held >> 4), axis=-1).reshape(64, 32)
            numbers = halves.view(ml_dtypes.float4_e2m1fn).astype(np.float64)
        else:
            numbers = held.view(BYTES[code]).astype(np.float64)
        unit = Mfma(self.side, self.k, together=32 if code == PAIRS else 16)
        out = np.full((self.side, self.k), np.nan)
        for lane in range(64):
            for element in range(32):
                out[unit.operand(lane, element)] = numbers[lane, element]
        return out

    def scale(self, registers: Any, number: int) -> Any:
        """``[row][k]`` of an operand."""
        source, byte = self.scales[number]
        if source < 256:
            codes = np.full(64, int(inline_constant(source, np.int32)) & 0xFF)
        else:
            codes = registers[source - 256] >> np.uint32(8 * byte) & np.uint32(0xFF)
        powers = np.where(codes == 255, np.nan, 2.0 ** (codes.astype(np.float64) - 127))
        return np.repeat(powers.reshape(-1, self.side).T, GROUP, axis=1)

    def fxn(self, scalars: Any, vectors: Any, accumulators: Any) -> None:
        files = file_of(vectors, 64), file_of(accumulators, 64)
        sides = [self.operand(files[self.files[number]], number) for number in range(2)]
        if self.scales:  # in vector registers
            sides = [side * self.scale(files[0], number) for number, side in enumerate(sides)]
        unit = Mfma(self.side, self.k)
        place, addend = self.sources[2], files[self.files[2]]
        total = sides[0] @ sides[1].T
        result = np.empty((unit.results, 64), np.float32)
        for element in range(unit.results):
            if place < 256:
                c = np.full(64, inline_constant(place, np.float32))
            else:
                c = addend[place - 256 + element].view(np.float32)
            for lane in range(64):
                result[element, lane] = total[unit.result(lane, element)] + np.float64(c[lane])
        files[self.files[2]][self.target : self.target + unit.results] = result.view(np.uint32)
        step(scalars, self.size)
