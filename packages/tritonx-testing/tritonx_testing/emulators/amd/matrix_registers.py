"""A matrix instruction on the registers that its encoding names; what it computes is ``matrix_unit``'s."""

from __future__ import annotations

from typing import Any

import numpy as np

from tritonx_testing.emulators.amd.matrix_unit import Product
from tritonx_testing.emulators.amd.register_files import file_of, step


def inline_constant(code: int, dtype: Any) -> Any:
    """What a source field below 256 stands for (CDNA 3 ISA, table 38): whole numbers, as bits, or eight fractions."""
    if code in INLINE_FLOATS:
        return np.dtype(dtype).type(INLINE_FLOATS[code])
    assert 128 <= code <= 208, f"source {code} is a scalar register"
    whole = code - 128 if code <= 192 else 192 - code
    return np.array([whole], np.int32).view(dtype)[0] if np.dtype(dtype).itemsize == 4 else np.dtype(dtype).type(whole)


INLINE_FLOATS = {240: 0.5, 241: -0.5, 242: 1.0, 243: -1.0, 244: 2.0, 245: -2.0, 246: 4.0, 247: -4.0}


class MatrixMultiply:
    """A matrix instruction, by the fields of VOP3P and VOP3P-MAI (CDNA 3 ISA, 13.3.8; RDNA 4 ISA, 15.3.7)."""

    def __init__(self, product: Product, encoding: bytes) -> None:
        self.product = product
        word = int.from_bytes(encoding, "little")
        # Of RDNA's integer products the bits mean that both operands are signed.
        signed = 3 if product.unit.lanes == 32 and product.result is np.int32 else 0
        assert word >> 8 & 7 == 0 and word >> 61 == signed, "no broadcast, no permutation, no negation"
        self.target = word & 0xFF
        self.sources = [word >> place & 0x1FF for place in (32, 41, 50)]
        # MFMA reads and writes the accumulation registers where these bits are set.
        mai = product.unit.lanes == 64
        self.files = [mai and word >> place & 1 for place in (59, 60, 15)]

    def read(self, files: tuple[Any, Any], number: int, count: int, dtype: Any) -> Any:
        """``[element][lane]`` of an operand: consecutive registers, or an inline constant."""
        first, lanes = self.sources[number], self.product.unit.lanes
        if first < 256:
            return np.full((count, lanes), inline_constant(first, dtype))
        size = np.dtype(dtype).itemsize
        registers = files[bool(self.files[number])][first - 256 : first - 256 + (count * size + 3) // 4]
        return np.ascontiguousarray(registers.T).view(dtype).T[:count]

    def fxn(self, scalars: Any, vectors: Any, accumulators: Any) -> None:
        product, unit = self.product, self.product.unit
        files = file_of(vectors, unit.lanes), file_of(accumulators, unit.lanes)
        a, b = self.read(files, 0, unit.per_lane, product.a), self.read(files, 1, unit.per_lane, product.b)
        result = product(a, b, self.read(files, 2, unit.results, product.result))
        words = np.ascontiguousarray(result.T).view(np.uint32).T
        files[bool(self.files[2])][self.target : self.target + len(words)] = words
        step(scalars, 8)
