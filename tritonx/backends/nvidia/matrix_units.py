"""The matrix unit of each compute capability, as layout assignment sees it; `dot` has the instructions."""

from __future__ import annotations

from dataclasses import dataclass

from tritonx.conversion.tile_to_gpu.matrix_unit import (
    DotLayout,
    MatrixUnit,
    Product,
    Threads,
    has_types,
    warps_over,
)
from tritonx.layouts.encodings import NvidiaMmaEncoding

_AMPERE = frozenset({"f16", "bf16", "f32", "i8", "f64"})
_TYPES = {75: frozenset({"f16"}), 80: _AMPERE, 89: _AMPERE | {"f8E4M3FN", "f8E5M2"}}
"""Operand types of mma.sync from each compute capability on; f32 is multiplied as tf32."""

_RATES = {"f16": 512, "bf16": 512, "f32": 256, "i8": 1024, "f64": 16}
"""Multiply-adds a cycle of a multiprocessor of 8.6 (CUDA C++ programming guide, "Arithmetic instructions"; the tuning
guides): 8.0 and 9.0 have twice as many, which ranks nothing else."""


@dataclass(frozen=True)
class WarpMatrixUnit(MatrixUnit):
    """``mma.sync``: a warp multiplies into tiles of 16x8, from registers, that ``ldmatrix`` fills from shared
    memory."""

    capability: int

    @property
    def types(self) -> frozenset[str]:
        return _TYPES[max(n for n in _TYPES if n <= self.capability)]

    def takes(self, product: Product) -> bool:
        if not has_types(product, self.types) or (product.a == "f32" and product.exact):
            return False
        return product.rows >= 16 and product.columns >= 8 and product.k * product.bits >= 256

    def cycles(self, product: Product) -> int:
        return product.cycles(_RATES.get(product.a, 1024))

    def layout(self, product: Product, threads: Threads) -> DotLayout:
        rank = len(product.shape)
        warps = warps_over(product, 16, 8, threads.num_warps)
        copies = ((0,) * rank,) * (threads.num_ctas.bit_length() - 1)
        result = NvidiaMmaEncoding(2, 0, warps, (*(1,) * (rank - 2), 16, 8), copies)
        return DotLayout.of(result, max(1, min(32 // product.loaded_bits, product.k // 8)))
