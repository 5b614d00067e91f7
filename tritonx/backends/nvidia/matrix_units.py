"""The matrix units of the compute capabilities, as layout assignment sees them; `dot` and `warp_group` have the
instructions."""

from __future__ import annotations

from dataclasses import dataclass, replace

from tritonx.conversion.tile_to_gpu.blocked import block_bases
from tritonx.conversion.tile_to_gpu.matrix_unit import (
    DotLayout,
    ExplainingUnit,
    Product,
    Threads,
    extent_refusal,
    type_refusal,
    warps_over,
)
from tritonx.dialects.nvidia import WarpGroupDotOp
from tritonx.layouts.encodings import DotOperandEncoding, Ints, NvidiaMmaEncoding, NvmmaSharedEncoding
from tritonx.layouts.tiling import shape_per_cta

_AMPERE = frozenset({"f16", "bf16", "f32", "i8", "f64"})
_TYPES = {75: frozenset({"f16"}), 80: _AMPERE, 89: _AMPERE | {"f8E4M3FN", "f8E5M2"}}
"""Operand types of mma.sync from each compute capability on; f32 is multiplied as tf32."""

_GROUP_TYPES = frozenset({"f16", "bf16", "f32", "i8", "f8E4M3FN", "f8E5M2"})
"""Operand types of wgmma (PTX ISA 9.0, section 9.7.15.5); f32 is multiplied as tf32."""

_GROUP_RATES = {"f16": 2048, "bf16": 2048, "f32": 1024}
"""Multiply-adds a cycle of a multiprocessor of 9.0, 4096 for what has 8 bits: m64n256k16 takes 128 cycles."""

GROUP_WARPS, GROUP_ROWS, MOST_COLUMNS = 4, 64, 256
"""Of one wgmma: its warps, and the largest tile of the result that it multiplies into."""

_RATES = {"f16": 512, "bf16": 512, "f32": 256, "i8": 1024, "f64": 16}
"""Multiply-adds a cycle of a multiprocessor of 8.6 (CUDA C++ programming guide, "Arithmetic instructions"; the tuning
guides): 8.0 and 9.0 have twice as many, which ranks nothing else."""


def _type_refusal(product: Product, types: frozenset[str]) -> str | None:
    if product.a == "f32" and product.exact:
        return 'f32 is multiplied as tf32, and input_precision="ieee" does not allow that'
    return type_refusal(product, types)


@dataclass(frozen=True)
class WarpMatrixUnit(ExplainingUnit):
    """``mma.sync``: a warp multiplies into tiles of 16x8, from registers, that ``ldmatrix`` fills from shared
    memory."""

    capability: int

    @property
    def types(self) -> frozenset[str]:
        return _TYPES[max(n for n in _TYPES if n <= self.capability)]

    @property
    def name(self) -> str:
        return "mma.sync (MMA version 2)"

    def refusal(self, product: Product, threads: Threads) -> str | None:
        return _type_refusal(product, self.types) or extent_refusal(product, 16, 8, 256 // product.bits)

    def cycles(self, product: Product) -> int:
        return product.cycles(_RATES.get(product.a, 1024))

    def layout(self, product: Product, threads: Threads) -> DotLayout:
        tile = (*(1,) * (len(product.shape) - 2), 16, 8)
        blocks = block_bases(product.shape, product.shape if product.is_wanted_whole else tile, threads.num_ctas)
        part = replace(product, shape=shape_per_cta(blocks, product.shape))
        result = NvidiaMmaEncoding(2, 0, warps_over(part, 16, 8, threads.num_warps), tile, blocks)
        return DotLayout.of(result, max(1, min(32 // product.loaded_bits, product.k // 8)))


@dataclass(frozen=True)
class WarpGroupUnit(ExplainingUnit):
    """``wgmma`` of 9.0: four warps multiply into 64 rows. The unit reads B from shared memory by itself, and A too,
    unless that is another product's result, which stays in registers, or words that lie in memory the other way round
    than the unit reads them, which the threads then load one by one."""

    @property
    def types(self) -> frozenset[str]:
        return _GROUP_TYPES

    @property
    def name(self) -> str:
        return "wgmma (MMA version 3)"

    def refusal(self, product: Product, threads: Threads) -> str | None:
        groups, rest = divmod(threads.num_warps, GROUP_WARPS)
        if rest:
            return f"{threads.num_warps} warps are no whole groups of {GROUP_WARPS}"
        if threads.num_ctas > 1:
            return f"{threads.num_ctas} blocks share the program"
        if len(product.shape) != 2:
            return "there are batches"
        columns = 8 * self._across(product, groups)
        return _type_refusal(product, self.types) or extent_refusal(product, GROUP_ROWS, columns, 256 // product.bits)

    def cycles(self, product: Product) -> int:
        return product.cycles(_GROUP_RATES.get(product.a, 4096))

    def layout(self, product: Product, threads: Threads) -> DotLayout:
        groups = threads.num_warps // GROUP_WARPS
        across = self._across(product, groups)
        columns = min(product.columns // across, MOST_COLUMNS)
        warps = (GROUP_WARPS * groups // across, across)
        result = NvidiaMmaEncoding(3, 0, warps, (16, columns, 256 // product.bits))
        b = _in_memory(product, product.b_order, k=0)
        if product.a_is_made or _is_loaded_by_threads(product):
            return DotLayout(result, DotOperandEncoding(0, result, 32 // product.bits), b, WarpGroupDotOp)
        return DotLayout(result, _in_memory(product, product.a_order, k=1), b, WarpGroupDotOp)

    def turned_bytes(self, product: Product) -> int:
        turned = 0
        if not product.a_is_made and not _is_loaded_by_threads(product) and not _is_read(product, product.a_order, k=1):
            turned += product.rows
        if not _is_read(product, product.b_order, k=0):
            turned += product.columns
        return turned * product.k * product.bits // 8

    def _across(self, product: Product, groups: int) -> int:
        """How many groups lie next to each other: as few as there are rows for."""
        return max(1, groups * GROUP_ROWS // product.rows)


def _is_loaded_by_threads(product: Product) -> bool:
    """Whether A is best in registers, where it comes from memory: a thread multiplies words of it, which it can load
    wherever they lie."""
    return product.bits == 32 and product.a_is_loaded and not _is_read(product, product.a_order, k=1)


def _is_read(product: Product, order: Ints, k: int) -> bool:
    """Whether the unit reads an operand, of which ``k`` is the dim of K, in the order in which it is loaded."""
    return _in_memory(product, order, k).transposed == (order[0] == 0)


def _in_memory(product: Product, order: Ints, k: int) -> NvmmaSharedEncoding:
    """An operand of which ``k`` is the dim of K, in the order in which it is loaded where the unit can read that: of 16
    bits all, of others K must be contiguous. Rows are swizzled over as many bytes as they have, 128 at most."""
    extents = {k: product.k, 1 - k: product.columns if k == 0 else product.rows}
    inner = order[0]
    if product.bits != 16 or extents[inner] * product.bits < 256:
        inner = k
    nbytes = extents[inner] * product.bits // 8
    return NvmmaSharedEncoding(min(128, nbytes), inner == 0, product.bits)
