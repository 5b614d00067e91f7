"""What the loop emitter must know about the host's instruction set.

LLVM legalises any vector, so these numbers steer the shape of the code and never its meaning: the same kernel compiled
for AVX2 and for AVX-512 differs in its chunk width and register tile only, and computes the same bits.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class HostIsa:
    """``cpu`` and ``features`` are LLVM's names; ``vector_bytes`` is the width of a vector register.

    ``vector_registers`` bounds the accumulators of the matrix product: 16 on AVX2, 32 on AVX-512 and AArch64.
    """

    name: str
    triple: str
    cpu: str
    features: str
    vector_bytes: int
    vector_registers: int
    native_half: bool = True
    """Conversions between f16 and f32 are instructions (F16C, or any AArch64)."""

    @property
    def scales(self) -> bool:
        """Whether an instruction multiplies floats by powers of two (AVX-512's ``vscalef``)."""
        return self.vector_bytes == 64 and self.triple.startswith("x86_64")

    def lanes(self, element_bytes: int) -> int:
        """Elements of one vector register; never fewer than 4, never more than 64."""
        return max(4, min(64, self.vector_bytes // element_bytes))

    def function_attributes(self) -> str:
        """Attributes of every emitted function: keep 512-bit vectors whole where the CPU's tuning would halve them."""
        bits = self.vector_bytes * 8
        return f'nounwind "prefer-vector-width"="{bits}" "min-legal-vector-width"="{bits}"'


AVX2 = HostIsa("x86-64-v3", "x86_64-unknown-linux-gnu", "x86-64-v3", "", 32, 16)
AVX512 = HostIsa("x86-64-v4", "x86_64-unknown-linux-gnu", "x86-64-v4", "", 64, 32)
