"""The 8-bit floating-point formats, by the bits of their codes: what converting them in integer arithmetic needs."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Float8:
    """Stored mantissa bits, exponent bias, codes of the largest finite value and of NaN."""

    mantissa: int
    bias: int
    largest: int
    nan: int
    unsigned_zero: bool = False
    """FNUZ: no -0, and the code of -0 is the NaN."""

    @property
    def infinities(self) -> bool:
        """Whether the code after the largest finite value is an infinity rather than NaN."""
        return self.largest + 1 < self.nan

    @property
    def least_normal(self) -> int:
        """Exponent of the least normal number."""
        return 1 - self.bias


FLOAT8 = {
    "f8E5M2": Float8(2, 15, 0x7B, 0x7F),
    "f8E4M3FN": Float8(3, 7, 0x7E, 0x7F),
    "f8E5M2FNUZ": Float8(2, 16, 0x7F, 0x80, True),
    "f8E4M3FNUZ": Float8(3, 8, 0x7F, 0x80, True),
    "f8E4M3B11FNUZ": Float8(3, 11, 0x7F, 0x80, True),
}
"""By the names of the IR."""
