"""The matrix units of the processors, as layout assignment sees them; `matrix_instructions` has the instructions.

Results are transposed in both: a lane holds neighbours of a row, so that stores are vectors."""

from __future__ import annotations

from dataclasses import dataclass, replace

from tritonx.backends.amd.emit.matrix_instructions import MFMA_TYPES, SCALED_K, SCALED_MFMA_FORMATS, WMMA_TYPES
from tritonx.conversion.tile_to_gpu.matrix_unit import (
    CannotMultiply,
    DotLayout,
    ExplainingUnit,
    Product,
    Threads,
    extent_refusal,
    type_refusal,
    warps_over,
)
from tritonx.dialects.tile import DotScaledOp
from tritonx.layouts.encodings import AmdMfmaEncoding, AmdWmmaEncoding, Ints
from tritonx.layouts.product_scales import LANE_BYTES, scale_encoding
from tritonx.layouts.transposed_access import CHUNK_BITS, TRANSPOSING_VERSION

_MFMA_K = {
    "f16": (8, 16),
    "bf16": (8, 16),
    "f32": (2, 4),
    "i8": (16, 32),
    "f8E4M3FN": (16, 32),
    "f8E5M2": (16, 32),
    "f8E4M3FNUZ": (16, 32),
    "f8E5M2FNUZ": (16, 32),
    "f64": (0, 4),
}
"""K of the 32x32 and of the 16x16 instruction (CDNA3 instruction set, "Matrix Arithmetic Instructions")."""

_LONGER_K = {"f16": 2, "bf16": 2, "i8": 2, "f8E4M3FN": 4, "f8E5M2": 4}
"""Of CDNA 4's longest instructions, as a multiple (CDNA 4 ISA, "Matrix Arithmetic Instructions")."""

_MADE = 4
"""Neighbours that a lane has of a result. An operand of which it has as many along K may be one as it is; what is
multiplied with it is transposed as it is read, four at a time."""

_MFMA_RATES = {"f16": 512, "bf16": 512, "f32": 128, "f64": 64}
"""Multiply-adds a cycle of a compute unit of CDNA 2 (its white paper), 512 for what has 8 bits; later ones have as many
or more, which ranks nothing else."""

_WMMA_RATE = 256
"""Multiply-adds a cycle of a compute unit (the RDNA 3 white paper)."""


@dataclass(frozen=True)
class WaveMatrixCore(ExplainingUnit):
    """MFMA of CDNA: a wave of 64 multiplies into tiles of 32x32 or 16x16.

    ``side`` is that of the tiles, 0 for the largest that the product fills. ``packing`` is how many steps of K a lane
    holds as neighbours: they come in wider loads.
    """

    version: int
    side: int = 0
    packing: int = 1

    @property
    def types(self) -> frozenset[str]:
        return MFMA_TYPES[self.version]

    @property
    def name(self) -> str:
        return "MFMA"

    @property
    def packs_along_k(self) -> bool:
        return True

    @property
    def transposed_bytes(self) -> int:
        return CHUNK_BITS // 8 if self.version >= TRANSPOSING_VERSION else 0

    @property
    def scaled_formats(self) -> frozenset[str]:
        return frozenset(SCALED_MFMA_FORMATS.get(self.version, ()))

    @property
    def scaled_instructions(self) -> tuple[Ints, ...]:
        if not self.scaled_formats:
            return ()
        return tuple((side, side, k) for side, k in SCALED_K.items() if self.side in (0, side))

    def refusal(self, product: Product, threads: Threads) -> str | None:
        return type_refusal(product, self.types) or extent_refusal(product, 16, 16, _MFMA_K[product.a][1])

    def cycles(self, product: Product) -> int:
        return product.cycles(_MFMA_RATES.get(product.a, 512))

    def layout(self, product: Product, threads: Threads) -> DotLayout:
        side, depth = self._instruction(product)
        warps = warps_over(product, side, side, threads.num_warps)
        width = 64 if product.a == "f64" else 32
        result = AmdMfmaEncoding(self.version, warps, (side, side, depth), True, (), (), width)
        packing = self.packing if product.k % (depth * self.packing) == 0 else 1
        together = min(packing * depth * side // 64, 8 * LANE_BYTES // product.bits)
        return DotLayout.of(result, min(together, _MADE) if product.a_is_made and product.bits == 16 else together)

    def scaled_layout(self, product: Product, threads: Threads) -> DotLayout:
        """Of the largest instruction whose tile the product fills: its lanes have 16 bytes of neighbours along K."""
        known = [shape for shape in self.scaled_instructions if extent_refusal(product, *shape) is None]
        if not known or not {product.a, product.b} <= self.scaled_formats:
            return super().scaled_layout(product, threads)
        side = max(known)[0]
        warps = warps_over(product, side, side, threads.num_warps)
        result = AmdMfmaEncoding(self.version, warps, (side, side, SCALED_K[side]), True)
        a_scale, b_scale = (scale_encoding(result, index, product.shape, product.k) for index in range(2))
        return replace(DotLayout.of(result, LANE_BYTES), op=DotScaledOp, a_scale=a_scale, b_scale=b_scale)

    def _instruction(self, product: Product) -> tuple[int, int]:
        """Side of the tile and K of the instruction."""
        (large, small), k = _MFMA_K[product.a], product.k
        fits = min(product.rows, product.columns) >= 32 and large and k >= large
        if self.side == 32 and not fits:
            raise CannotMultiply(
                f"the matrix unit has no 32x32 instruction for a {product.rows}x{product.columns}x{k} product of"
                f" {product.a}",
                f"it takes 32x32 results and K of {large}; let the compiler choose (0), or ask for 16"
                if large
                else "ask for 16",
            )
        side = 32 if fits and self.side != 16 else 16
        depth = large if side == 32 else small
        longer = _LONGER_K.get(product.a, 1) if self.version >= 4 else 2 if self.shortens(product) else 1
        return side, depth * longer if k >= longer * depth else depth

    def shortens(self, product: Product) -> bool:
        """Whether the unit may multiply 19 bits of f32: twice as many of K an instruction, four times as fast (the CDNA
        3 white paper)."""
        return self.version == 3 and product.a == "f32" and not product.exact


@dataclass(frozen=True)
class WaveMatrixMultiply(ExplainingUnit):
    """WMMA of RDNA: a wave of 32 multiplies into tiles of 16x16."""

    version: int

    @property
    def types(self) -> frozenset[str]:
        return WMMA_TYPES[self.version]

    @property
    def name(self) -> str:
        return "WMMA"

    @property
    def packs_along_k(self) -> bool:
        return True

    def refusal(self, product: Product, threads: Threads) -> str | None:
        return type_refusal(product, self.types) or extent_refusal(product, 16, 16, 16)

    def cycles(self, product: Product) -> int:
        return product.cycles(_WMMA_RATE)

    def layout(self, product: Product, threads: Threads) -> DotLayout:
        warps = warps_over(product, 16, 16, threads.num_warps)
        result = AmdWmmaEncoding(self.version, True, warps, (16, 16, 32 if self.version == 3 else 16))
        return DotLayout.of(result, 16 if self.version == 1 else 8)
