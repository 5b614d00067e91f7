"""What the layout stages need to know of a device, in words that name no vendor."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

MatrixUnit = Literal["", "mma", "mfma", "wmma"]


@dataclass(frozen=True)
class GpuTarget:
    """A device and a launch shape.

    `name` is the text of the module's `ttg.target`. `matrix` is the family of matrix instructions whose results
    `tt.dot` may have: "mma" (warp-wide, 16x8), "mfma" (64-lane waves), "wmma" (32-lane waves), or "" for none;
    `matrix_version` tells generations of a family apart (the version of the encoding). `matrix_types` lists the
    operand types that the unit multiplies, as element type names of the IR ("f16", "bf16", "f32" for its
    reduced-precision form, "i8", "f8E4M3FN", "f8E5M2", "f64"). `matrix_f16_accumulator` says whether it can sum f16
    products in f16.
    """

    name: str
    warp_size: int = 32
    num_warps: int = 4
    num_ctas: int = 1
    matrix: MatrixUnit = ""
    matrix_version: int = 0
    matrix_types: frozenset[str] = field(default_factory=frozenset[str])
    matrix_f16_accumulator: bool = False
    vector_bits: int = 128
    """Widest access of a thread to global memory."""
    matrix_side: int = 0
    """Side of the matrix unit's tiles where it has several, 0 for the largest that the product fills."""
    shared_memory: int = 48 * 1024
    """Bytes of shared memory that a block may have; every GPU gives it what stands here."""
    operand_packing: int = 1
    """Steps of K of a product whose operands a lane holds as neighbours: they come in wider loads."""
