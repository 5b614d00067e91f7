"""Accumulators of AMD's matrix instructions."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

from tritonx.experimental.gluon.layouts.base import DistributedLayout, frozen, frozen_bases, require
from tritonx.language.values.constexpr import unwrap
from tritonx.layouts.cta_layout import encoding_of
from tritonx.layouts.encodings import AmdMfmaEncoding, AmdWmmaEncoding

MFMA_SHAPES = ([32, 32], [16, 16], [64, 4], [4, 64])
"""M and N of the instructions."""


@dataclass(frozen=True, eq=False)
class AMDMFMALayout(DistributedLayout):
    """The accumulator of a matrix instruction of 64 lanes: `version` is 1 for gfx908, 2 for gfx90a, 3 for gfx942, 4 for
    gfx950.

    `instr_shape` is [M, N, K] in elements. `transposed`: a thread holds neighbours of a row instead of a column.
    `warps_per_cta` is in warps, `tiles_per_warp` in instructions (1 along each dim unless given), `element_bitwidth`
    is 32 (unless given) or 64. `cga_layout` as in `BlockedLayout`. Raises GluonLayoutError for other numbers.

    >>> from tritonx.experimental.gluon.layouts import AMDMFMALayout
    >>> AMDMFMALayout(version=3, instr_shape=[32, 32, 8], transposed=True, warps_per_cta=[2, 2]).tiles_per_warp
    [1, 1]
    """

    TAG: ClassVar[str] = "MFMA"
    version: int
    instr_shape: list[int]
    transposed: bool
    warps_per_cta: list[int]
    element_bitwidth: int | None = None
    tiles_per_warp: list[int] | None = None
    cga_layout: list[list[int]] = field(default_factory=list[list[int]])

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.element_bitwidth is None:
            self._set("element_bitwidth", 32)
        if self.tiles_per_warp is None:
            self._set("tiles_per_warp", [1] * self.rank)
        require(1 <= self.version <= 4, f"version must be 1, 2, 3 or 4, got {self.version}")
        require(len(self.instr_shape) == 3, f"instr_shape is [M, N, K], got {self.instr_shape}")
        require(self.instr_shape[:2] in MFMA_SHAPES, f"there is no instruction of shape {self.instr_shape}")
        require(self.element_bitwidth in (32, 64), f"element_bitwidth must be 32 or 64, got {self.element_bitwidth}")
        self._require_entries(self.rank, "cga_layout")

    @property
    def rank(self) -> int:
        return len(self.warps_per_cta)

    def encoding(self) -> AmdMfmaEncoding:
        return AmdMfmaEncoding(
            self.version,
            frozen(self.warps_per_cta),
            frozen(self.instr_shape),
            self.transposed,
            frozen_bases(self.cga_layout),
            frozen(self.tiles_per_warp or []),
            self.element_bitwidth or 32,
        )


@dataclass(frozen=True, eq=False)
class AMDWMMALayout(DistributedLayout):
    """The accumulator of a matrix instruction of 32 lanes: `version` is 1 for gfx11, 2 for gfx12, 3 for gfx1250.

    `warp_bases` and `reg_bases` hold the step along each dim, in instructions, of each bit of a warp's number and of
    the number of an instruction of a warp. `instr_shape` is [M, N, K] in elements, [16, 16, 16] unless given; `rank`
    is 2 unless given; `cga_layout` as in `BlockedLayout`. Raises GluonLayoutError for other numbers.

    >>> from tritonx.experimental.gluon.layouts import AMDWMMALayout
    >>> AMDWMMALayout(2, transposed=True, warp_bases=[[0, 1], [1, 0]]).instr_shape
    [16, 16, 16]
    """

    TAG: ClassVar[str] = "WMMA"
    version: int
    transposed: bool
    warp_bases: list[list[int]]
    reg_bases: list[list[int]] = field(default_factory=list[list[int]])
    instr_shape: list[int] = field(default_factory=lambda: [16, 16, 16])
    cga_layout: list[list[int]] = field(default_factory=list[list[int]])
    rank: int = 2  # pyright: ignore[reportIncompatibleMethodOverride, reportAssignmentType] -- a field, as Triton has it

    def __post_init__(self) -> None:
        for name, value in (("instr_shape", [16, 16, 16]), ("rank", 2)):
            if unwrap(getattr(self, name)) is None:
                self._set(name, value)
        super().__post_init__()
        require(1 <= self.version <= 3, f"version must be 1, 2 or 3, got {self.version}")
        require(len(self.instr_shape) == 3, f"instr_shape is [M, N, K], got {self.instr_shape}")
        self._require_entries(self.rank, "warp_bases", "reg_bases", "cga_layout")

    def encoding(self) -> AmdWmmaEncoding:
        register, warp, cga = (frozen_bases(b) for b in (self.reg_bases, self.warp_bases, self.cga_layout))
        shape = frozen(self.instr_shape)
        return encoding_of(self.version, self.transposed, register, warp, shape, cga, self.rank)
