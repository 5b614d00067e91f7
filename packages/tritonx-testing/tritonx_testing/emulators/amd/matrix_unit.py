"""What the matrix instructions do with the registers of a wave, from the instruction-set documents.

CDNA 2, 3 and 4, "matrix arithmetic instructions": MFMA multiplies tiles of 16 by 16 or 32 by 32 in a wave of 64 lanes.
RDNA 3 and 4, "wave matrix multiply accumulate": WMMA multiplies tiles of 16 by 16 in a wave of 32. The places below
agree with the tables that AMD's matrix instruction calculator prints for CDNA 2 and 3 and RDNA 3 and 4 for every
instruction that the compiler uses. They are written without a look at the compiler's layouts, which they test.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import ml_dtypes
import numpy as np

Place = tuple[int, int]

FLOATS: dict[str, Any] = {"f16": np.float16, "bf16": ml_dtypes.bfloat16, "f32": np.float32, "f64": np.float64}
OCP = {"fp8": ml_dtypes.float8_e4m3fn, "bf8": ml_dtypes.float8_e5m2}
FNUZ = {"fp8": ml_dtypes.float8_e4m3fnuz, "bf8": ml_dtypes.float8_e5m2fnuz}
FP8 = {"gfx942": FNUZ, "gfx950": OCP, "gfx1201": OCP}
"""What the matrix units take for 8-bit floats."""


@dataclass(frozen=True)
class Mfma:
    """``D = A·B + C`` with A of ``side`` rows and ``k`` columns. A lane holds ``k · side / 64`` elements of one row of
    A and as many of one column of B, ``together`` of them neighbours in K, or all: CDNA 4's 32 bytes are twice 16."""

    side: int
    k: int
    double: bool = False
    together: int = 0

    lanes = 64

    @property
    def per_lane(self) -> int:
        return self.k * self.side // 64

    @property
    def results(self) -> int:
        return self.side * self.side // 64

    def operand(self, lane: int, element: int) -> Place:
        """(row of A or column of B, k) of an element that a lane holds."""
        count = self.together or self.per_lane
        run, place = divmod(element, count)
        return lane % self.side, (run * (64 // self.side) + lane // self.side) * count + place

    def result(self, lane: int, element: int) -> Place:
        """(row, column) of a result. Four neighbours of a column follow each other; in f64 they are four apart."""
        part = lane // self.side
        if self.double:
            return 4 * element + part, lane % self.side
        return 64 // self.side * 4 * (element // 4) + 4 * part + element % 4, lane % self.side


@dataclass(frozen=True)
class Wmma:
    """``D = A·B + C`` on tiles of 16 by 16 by 16, of operands of ``bits``. On RDNA 3 (generation 1) both half-waves
    hold all of K; on RDNA 4 they share it, in eights for 8-bit operands and in fours for 16-bit ones."""

    generation: int
    bits: int = 16
    side: int = 16
    k: int = 16

    lanes = 32

    @property
    def per_lane(self) -> int:
        return 16 if self.generation == 1 else 8

    @property
    def results(self) -> int:
        return 8

    def operand(self, lane: int, element: int) -> Place:
        """(row of A or column of B, k) of an element that a lane holds."""
        half = lane // 16
        if self.generation == 1:
            return lane % 16, element
        if self.bits == 16:
            return lane % 16, 8 * (element // 4) + 4 * half + element % 4
        return lane % 16, 8 * half + element

    def result(self, lane: int, element: int) -> Place:
        """(row, column) of a result."""
        half = lane // 16
        return 2 * element + half if self.generation == 1 else 8 * half + element, lane % 16


@dataclass(frozen=True)
class Product:
    """A matrix instruction by its name: the shape, and the NumPy types of A, B and the result."""

    unit: Mfma | Wmma
    a: Any
    b: Any
    result: Any
    shortened: bool = False
    """Whether operands lose the 13 last bits of f32 (XF32; how they are rounded the documents do not say)."""

    @staticmethod
    def of(name: str, arch: str) -> Product:
        """``V_MFMA_F32_32X32X16_FP8_BF8`` → the product. ``KeyError`` for types, ``ValueError`` for names that the
        compiler does not use, or that ``scaled_matrix`` describes."""
        found = re.fullmatch(r"v_(mfma|wmma)_(f32|i32|f64)_(16|32)x\3x(\d+)_([a-z0-9]+)_?([a-z0-9]*)", name.lower())
        if found is None:
            raise ValueError(f"{name} is none of the matrix instructions described here")
        kind, to, side, k, first, second = found.groups()
        known = {**FLOATS, "xf32": np.float32, "i8": np.int8, "iu8": np.int8, **FP8.get(arch, {})}
        a, b = known[first], known[second or first]
        result = {"f32": np.float32, "i32": np.int32, "f64": np.float64}[to]
        if kind == "wmma":
            return Product(Wmma(1 if arch.startswith("gfx11") else 2, 8 * np.dtype(a).itemsize), a, b, result)
        return Product(Mfma(int(side), int(k), to == "f64"), a, b, result, first == "xf32")

    def __call__(self, a: Any, b: Any, c: Any) -> Any:
        """The registers of the result, ``[element][lane]``, from those of the operands, which have the same form."""
        unit = self.unit
        if self.shortened:
            a, b = ((x.view(np.uint32) & np.uint32(0xFFFFE000)).view(np.float32) for x in (a, b))
        wide: Any = np.int64 if self.result is np.int32 else np.float64
        left, right = np.zeros((unit.side, unit.k), wide), np.zeros((unit.k, unit.side), wide)
        for lane in range(unit.lanes):
            for element in range(unit.per_lane):
                row, k = unit.operand(lane, element)
                left[row, k] = a[element, lane]
                right[k, row] = b[element, lane]
        total = left @ right
        out = np.zeros((unit.results, unit.lanes), self.result)
        for lane in range(unit.lanes):
            for element in range(unit.results):
                summed = total[unit.result(lane, element)] + wide(c[element, lane])
                out[element, lane] = summed.astype(np.uint32).view(np.int32) if wide is np.int64 else summed
        return out
