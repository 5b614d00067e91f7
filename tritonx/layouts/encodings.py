"""The encodings of the GPU-layout dialect as plain values.

An *encoding* is the compact, human description of a layout in a tensor or memory-descriptor type
(`#ttg.blocked<{sizePerThread = [1, 8], ...}>`). It names no shape: the same encoding spreads tiles of any shape.
Given a shape it becomes one `LinearLayout` (`tritonx.layouts.distributed`, `tritonx.layouts.shared`), and everything
that is computed about a layout is computed on that.

The classes here are frozen, hashable and know nothing of IR; the dialect's attributes wrap them. Field names are the
words of the text format in snake case. Lists have one entry per tensor dim; `order` lists dims fastest first.

`cga` holds the bases of the block bits (`CGALayout` in the text): entry i is the step, counted in whole tiles of one
CTA, that bit i of the CTA number takes along each dim; a zero entry means that those CTAs hold copies. `()` is a
single CTA.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from tritonx.layouts.errors import LayoutError

Ints: TypeAlias = tuple[int, ...]
Bases: TypeAlias = tuple[tuple[int, ...], ...]


def _check_power_of_two(values: Ints, what: str) -> None:
    for value in values:
        if value < 1 or value & (value - 1):
            raise LayoutError(f"{what} must be powers of two, got {list(values)}")


def _check_order(order: Ints) -> None:
    if sorted(order) != list(range(len(order))):
        raise LayoutError(f"order must be a permutation of the dims, got {list(order)}")


def _check_rank(rank: int, what: str, values: Ints) -> None:
    if len(values) != rank:
        raise LayoutError(f"{what} must have {rank} entries, got {list(values)}")


def _check_bases(rank: int, what: str, bases: Bases) -> None:
    for basis in bases:
        if len(basis) != rank:
            raise LayoutError(f"{what} bases must have {rank} entries, got {list(basis)}")


@dataclass(frozen=True)
class BlockedEncoding:
    """`#ttg.blocked`: each thread a box of elements, threads a grid of boxes, warps a grid of those, repeated to the
    shape.

    Text: `CGALayout` is printed last, and only when it is not empty.

    >>> BlockedEncoding((4,), (32,), (4,), (0,)).threads_per_warp
    (32,)
    """

    size_per_thread: Ints
    threads_per_warp: Ints
    warps_per_cta: Ints
    order: Ints
    cga: Bases = ()

    def __post_init__(self) -> None:
        rank = len(self.order)
        _check_order(self.order)
        for what, values in (
            ("sizePerThread", self.size_per_thread),
            ("threadsPerWarp", self.threads_per_warp),
            ("warpsPerCTA", self.warps_per_cta),
        ):
            _check_rank(rank, what, values)
            _check_power_of_two(values, what)
        _check_bases(rank, "CGALayout", self.cga)

    @property
    def rank(self) -> int:
        return len(self.order)


@dataclass(frozen=True)
class SliceEncoding:
    """`#ttg.slice`: the parent's layout with dim `dim` removed; a reduction along `dim` yields it."""

    dim: int
    parent: DistributedEncoding

    def __post_init__(self) -> None:
        if not 0 <= self.dim < self.parent.rank:
            raise LayoutError(f"slice dim {self.dim} is outside the parent's rank {self.parent.rank}")

    @property
    def rank(self) -> int:
        return self.parent.rank - 1


@dataclass(frozen=True)
class NvidiaMmaEncoding:
    """`#ttg.nvidia_mma`: the accumulator of mma.sync (major version 2) or wgmma (3).

    `instr_shape` is [M, N] of one warp's instruction for version 2, [M, N, K] for version 3 (M counted per warp).
    """

    version_major: int
    version_minor: int
    warps_per_cta: Ints
    instr_shape: Ints
    cga: Bases = ()

    def __post_init__(self) -> None:
        if self.version_major not in (1, 2, 3):
            raise LayoutError(f"nvidia_mma has major versions 1 to 3, got {self.version_major}")
        _check_power_of_two(self.warps_per_cta, "warpsPerCTA")
        _check_bases(self.rank, "CGALayout", self.cga)

    @property
    def rank(self) -> int:
        return len(self.warps_per_cta)


@dataclass(frozen=True)
class AmdMfmaEncoding:
    """`#ttg.amd_mfma`: the accumulator of a matrix-core instruction of a 64-lane wave.

    Text: then `CGALayout` when not empty, `tilesPerWarp` when not all 1, `elementBitWidth` when not 32.
    """

    version: int
    warps_per_cta: Ints
    instr_shape: Ints
    is_transposed: bool
    cga: Bases = ()
    tiles_per_warp: Ints = ()
    element_bit_width: int = 32

    def __post_init__(self) -> None:
        if not self.tiles_per_warp:
            object.__setattr__(self, "tiles_per_warp", (1,) * self.rank)
        if not 1 <= self.version <= 4:
            raise LayoutError(f"amd_mfma has versions 1 to 4, got {self.version}")
        if self.instr_shape[:2] not in ((32, 32), (16, 16), (64, 4), (4, 64)):
            raise LayoutError(f"amd_mfma has no instruction of shape {list(self.instr_shape)}")
        _check_power_of_two(self.warps_per_cta, "warpsPerCTA")
        _check_rank(self.rank, "tilesPerWarp", self.tiles_per_warp)
        _check_bases(self.rank, "CGALayout", self.cga)

    @property
    def rank(self) -> int:
        return len(self.warps_per_cta)


@dataclass(frozen=True)
class AmdWmmaEncoding:
    """`#ttg.amd_wmma`: the accumulator of a wave-matrix instruction of a 32-lane wave.

    Text: `version`, `isTranspose`, `warpsPerCTA`, then `CGALayout` when not empty, `tilesPerWarp` when not all 1,
    `instrShape` when not [16, 16, 16].

    `tile_bases` replaces the order in which `warps_per_cta` and `tiles_per_warp` count: the steps, in instructions, of
    the bits of the number of a warp's instruction, and of a warp's number; a zero warp basis is of warps that hold
    copies. `tritonx.layouts.cta_layout` makes encodings of bases.
    """

    version: int
    is_transposed: bool
    warps_per_cta: Ints
    instr_shape: Ints = (16, 16, 16)
    cga: Bases = ()
    tiles_per_warp: Ints = ()
    tile_bases: tuple[Bases, Bases] | None = None

    def __post_init__(self) -> None:
        if not self.tiles_per_warp:
            object.__setattr__(self, "tiles_per_warp", (1,) * self.rank)
        for bases in self.tile_bases or ():
            _check_bases(self.rank, "ctaLayout", bases)
        if not 1 <= self.version <= 3:
            raise LayoutError(f"amd_wmma has versions 1 to 3, got {self.version}")
        _check_power_of_two(self.warps_per_cta, "warpsPerCTA")
        _check_rank(self.rank, "tilesPerWarp", self.tiles_per_warp)
        _check_bases(self.rank, "CGALayout", self.cga)

    @property
    def rank(self) -> int:
        return len(self.warps_per_cta)


@dataclass(frozen=True)
class DotOperandEncoding:
    """`#ttg.dot_op`: the form in which operand `op_idx` (0 is A, 1 is B) enters a dot whose result is laid out as
    `parent`.

    `k_width` is the number of consecutive K elements that one register group holds; text prints it when it is not 0
    (a blocked parent has none).
    """

    op_idx: int
    parent: DistributedEncoding
    k_width: int = 0

    def __post_init__(self) -> None:
        if self.op_idx not in (0, 1):
            raise LayoutError(f"opIdx must be 0 or 1, got {self.op_idx}")

    @property
    def rank(self) -> int:
        return self.parent.rank


@dataclass(frozen=True)
class LinearEncoding:
    """`#ttg.linear`: the layout's bases themselves. Repeated or clipped to a shape as every other encoding is.

    >>> LinearEncoding(((1,),), ((2,), (4,)), (), ()).lane
    ((2,), (4,))
    """

    register: Bases
    lane: Bases
    warp: Bases
    block: Bases

    def __post_init__(self) -> None:
        ranks = {len(basis) for bases in (self.register, self.lane, self.warp, self.block) for basis in bases}
        if len(ranks) != 1:
            raise LayoutError("the bases of a linear encoding must all have the same, known rank")

    @property
    def rank(self) -> int:
        for bases in (self.register, self.lane, self.warp, self.block):
            if bases:
                return len(bases[0])
        raise LayoutError("a linear encoding without bases has no rank")


@dataclass(frozen=True)
class _PhasedSharedEncoding:
    """Rows in `order`; groups of `vec` elements of a row are XORed with the row's phase, of which there are
    `max_phase`.
    """

    vec: int
    per_phase: int
    max_phase: int
    order: Ints
    cga: Bases = ()

    def __post_init__(self) -> None:
        _check_order(self.order)
        _check_power_of_two((self.vec, self.per_phase, self.max_phase), "vec, perPhase and maxPhase")
        _check_bases(self.rank, "CGALayout", self.cga)

    @property
    def rank(self) -> int:
        return len(self.order)


@dataclass(frozen=True)
class SwizzledSharedEncoding(_PhasedSharedEncoding):
    """`#ttg.swizzled_shared`: the phase is (row / per_phase) % max_phase."""


@dataclass(frozen=True)
class RotatingSharedEncoding(_PhasedSharedEncoding):
    """`#ttg.amd_rotating_shared`: like swizzled_shared, and the phase is also XORed with the number of the block of
    rows.
    """


@dataclass(frozen=True)
class NvmmaSharedEncoding:
    """`#ttg.nvmma_shared`: the shared-memory form that tensor-memory copies and wgmma read, swizzled over 0, 32, 64
    or 128 bytes.

    Text: `swizzlingByteWidth`, `transposed`, `elementBitWidth`, then `fp4Padded` when true, `CGALayout` when not
    empty, `rank` when it is not 2 and `CGALayout` does not say it.
    """

    swizzling_byte_width: int
    transposed: bool
    element_bit_width: int
    fp4_padded: bool = False
    cga: Bases = ()
    rank: int = 2

    def __post_init__(self) -> None:
        if self.swizzling_byte_width not in (0, 32, 64, 128):
            raise LayoutError(f"swizzlingByteWidth must be 0, 32, 64 or 128, got {self.swizzling_byte_width}")
        _check_power_of_two((self.element_bit_width,), "elementBitWidth")
        _check_bases(self.rank, "CGALayout", self.cga)


@dataclass(frozen=True)
class PaddedSharedEncoding:
    """`#ttg.padded_shared`: a linear layout whose offset o is stored at o + sum((o / interval) * padding), all in
    elements.

    `intervals` pairs with `paddings`. The linear part is either the row-major layout of `shape` in `order` (both
    given, `offset` None), or the bases `offset` and `block`. Text follows the same choice.
    """

    intervals: Ints
    paddings: Ints
    order: Ints | None = None
    shape: Ints | None = None
    offset: Bases | None = None
    block: Bases = ()
    cga: Bases = ()

    def __post_init__(self) -> None:
        if len(self.intervals) != len(self.paddings) or not self.intervals:
            raise LayoutError("padded_shared needs as many intervals as paddings, and at least one")
        _check_power_of_two(self.intervals, "padding intervals")
        _check_power_of_two(self.paddings, "paddings")
        if self.offset is None and (self.order is None or self.shape is None):
            raise LayoutError("padded_shared needs either order and shape, or offset bases")
        if self.order is not None:
            _check_order(self.order)

    @property
    def rank(self) -> int:
        if self.offset is None:
            assert self.order is not None
            return len(self.order)
        return len((self.offset or self.block)[0])


@dataclass(frozen=True)
class SharedLinearEncoding:
    """`#ttg.shared_linear`: the bases of offset (in elements) and block; `alignment` of the allocation is in bytes.

    Text: `<{offset = [...], block = [...]}, alignment = 16>`; `block` is printed when not empty.
    """

    offset: Bases
    block: Bases = ()
    alignment: int = 16

    def __post_init__(self) -> None:
        if len({len(basis) for basis in self.offset + self.block}) != 1:
            raise LayoutError("the bases of a shared_linear encoding must all have the same, known rank")

    @property
    def rank(self) -> int:
        return len((self.offset or self.block)[0])


DistributedEncoding: TypeAlias = (
    BlockedEncoding
    | SliceEncoding
    | NvidiaMmaEncoding
    | AmdMfmaEncoding
    | AmdWmmaEncoding
    | DotOperandEncoding
    | LinearEncoding
)
"""An encoding that spreads a tensor over registers, lanes, warps and blocks."""

SharedEncoding: TypeAlias = (
    SwizzledSharedEncoding | RotatingSharedEncoding | NvmmaSharedEncoding | PaddedSharedEncoding | SharedLinearEncoding
)
"""An encoding that places a tensor in shared memory."""

Encoding: TypeAlias = DistributedEncoding | SharedEncoding

MmaEncoding: TypeAlias = NvidiaMmaEncoding | AmdMfmaEncoding | AmdWmmaEncoding
"""The encodings of a matrix instruction's accumulator."""
