"""Layouts of tensors in registers: `BlockedLayout`, slices, operands, explicit bases, NVIDIA's matrix instructions, and
the two that leave the choice to the compiler."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar, NoReturn

from tritonx.experimental.gluon.layouts.base import DistributedLayout, chosen_later, frozen, frozen_bases, require
from tritonx.experimental.gluon.layouts.bases import check_reach
from tritonx.layouts.encodings import (
    BlockedEncoding,
    DotOperandEncoding,
    LinearEncoding,
    NvidiaMmaEncoding,
    SliceEncoding,
)
from tritonx.layouts.tiling import operand_cga


@dataclass(frozen=True, eq=False)
class AutoLayout(DistributedLayout):
    """The layout follows from the operations that use the tensor.

    >>> from tritonx.experimental.gluon.layouts import AutoLayout
    >>> AutoLayout().mangle()
    'ALAL'
    """

    TAG: ClassVar[str] = "AL"
    VIEWED: ClassVar[bool] = False

    @property
    def rank(self) -> int:
        """Raises ValueError."""
        raise ValueError("AutoLayout has no rank")

    def encoding(self) -> NoReturn:
        """Raises TypeError."""
        chosen_later(self)


@dataclass(frozen=True, eq=False)
class CoalescedLayout(DistributedLayout):
    """The layout in which neighbouring threads access neighbouring elements of global memory; the compiler chooses it.

    >>> from tritonx.experimental.gluon.layouts import CoalescedLayout
    >>> CoalescedLayout() == CoalescedLayout()
    True
    """

    TAG: ClassVar[str] = "CL"
    VIEWED: ClassVar[bool] = False

    @property
    def rank(self) -> int:
        """Raises ValueError."""
        raise ValueError("CoalescedLayout has no rank")

    def encoding(self) -> NoReturn:
        """Raises TypeError."""
        chosen_later(self)


@dataclass(frozen=True, eq=False)
class BlockedLayout(DistributedLayout):
    """Each thread has a box of elements, a warp a grid of boxes, a block a grid of those; repeated to a tensor's shape.

    Each list has one entry for each dim. `size_per_thread` is in elements, `threads_per_warp` in threads and
    `warps_per_cta` in warps, all powers of two; `order` lists the dims, fastest first. `cga_layout` has a basis for
    each bit of the block's number: the step along each dim in tiles of one block. Raises GluonLayoutError where lists
    have different lengths, and TypeError where an entry is no integer.

    >>> from tritonx.experimental.gluon.layouts import BlockedLayout
    >>> BlockedLayout(size_per_thread=[1, 4], threads_per_warp=[4, 8], warps_per_cta=[4, 1], order=[1, 0]).rank
    2
    """

    TAG: ClassVar[str] = "B"
    size_per_thread: list[int]
    threads_per_warp: list[int]
    warps_per_cta: list[int]
    order: list[int]
    cga_layout: list[list[int]] = field(default_factory=list[list[int]])

    def __post_init__(self) -> None:
        super().__post_init__()
        rank = len(self.size_per_thread)
        self._require_entries(rank, "order", "threads_per_warp", "warps_per_cta", "cga_layout")

    @property
    def rank(self) -> int:
        return len(self.order)

    def encoding(self) -> BlockedEncoding:
        return BlockedEncoding(
            frozen(self.size_per_thread),
            frozen(self.threads_per_warp),
            frozen(self.warps_per_cta),
            frozen(self.order),
            frozen_bases(self.cga_layout),
        )


@dataclass(frozen=True, eq=False)
class SliceLayout(DistributedLayout):
    """The parent's layout without dim `dim`: what a reduction along that dim yields, and `expand_dims` takes.

    >>> from tritonx.experimental.gluon.layouts import BlockedLayout, SliceLayout
    >>> SliceLayout(1, BlockedLayout([1, 4], [4, 8], [4, 1], [1, 0], [[1, 0]])).cga_layout
    [[1]]
    """

    TAG: ClassVar[str] = "SL"
    dim: int
    parent: DistributedLayout

    @property
    def rank(self) -> int:
        return self.parent.rank - 1

    @property
    def cga_layout(self) -> list[list[int]]:
        """The parent's, without the entries of `dim`. Raises AttributeError where the parent has none."""
        bases: list[list[int]] = getattr(self.parent, "cga_layout")  # noqa: B009 -- not every layout has it
        rank = self.parent.rank
        require(not bases or 0 <= self.dim < rank, f"dim {self.dim} of a SliceLayout is outside its parent of {rank}")
        return [basis[: self.dim] + basis[self.dim + 1 :] for basis in bases]

    def encoding(self) -> SliceEncoding:
        return SliceEncoding(self.dim, self.parent.encoding())


@dataclass(frozen=True, eq=False)
class DistributedLinearLayout(DistributedLayout):
    """Explicit bases: the step in elements along each dim that each bit of a register's, lane's, warp's and block's
    number takes. Steps are combined with exclusive or.

    The bases must reach each element of `shape`, which is what `encoding` checks (LayoutError). Raises
    GluonLayoutError where a basis and the shape have different lengths.

    >>> from tritonx.experimental.gluon.layouts import DistributedLinearLayout
    >>> DistributedLinearLayout([[1]], [[2], [4], [8], [16], [32]], [[0]], [], [64]).rank
    1
    """

    TAG: ClassVar[str] = "DLL"
    reg_bases: list[list[int]]
    lane_bases: list[list[int]]
    warp_bases: list[list[int]]
    block_bases: list[list[int]]
    shape: list[int]

    def __post_init__(self) -> None:
        super().__post_init__()
        self._require_entries(self.rank, "reg_bases", "lane_bases", "warp_bases", "block_bases")

    @property
    def rank(self) -> int:
        return len(self.shape)

    def encoding(self) -> LinearEncoding:
        register, lane = frozen_bases(self.reg_bases), frozen_bases(self.lane_bases)
        warp, block = frozen_bases(self.warp_bases), frozen_bases(self.block_bases)
        check_reach(type(self).__name__, frozen(self.shape), register, lane, warp, block)
        return LinearEncoding(register, lane, warp, block)


@dataclass(frozen=True, eq=False)
class DotOperandLayout(DistributedLayout):
    """The form in which an operand of a matrix product enters the instruction: `operand_index` 0 is the left one, 1 the
    right one; `parent` is the layout of the result; `k_width` counts neighbours along K that a register group holds.

    >>> from tritonx.experimental.gluon.layouts import DotOperandLayout, NVMMADistributedLayout
    >>> result = NVMMADistributedLayout([2, 0], [2, 2], [16, 8], [[1, 0], [0, 1]])
    >>> DotOperandLayout(0, result, 2).cga_layout
    [[1, 0], [0, 0]]
    """

    TAG: ClassVar[str] = "DO"
    operand_index: int
    parent: DistributedLayout
    k_width: int

    @property
    def rank(self) -> int:
        return self.parent.rank

    @property
    def cga_layout(self) -> list[list[int]]:
        """The parent's, with no steps along K: blocks that differ there hold copies."""
        bases: list[list[int]] = getattr(self.parent, "cga_layout", [])
        rank = self.parent.rank
        wrong = f"operand_index is 0 or 1 and an operand has two dims or more, got {self.operand_index} and {rank}"
        require(not bases or (rank > 1 and self.operand_index in (0, 1)), wrong)
        return [list(basis) for basis in operand_cga(frozen_bases(bases), self.operand_index, rank)]

    def encoding(self) -> DotOperandEncoding:
        return DotOperandEncoding(self.operand_index, self.parent.encoding(), self.k_width)


@dataclass(frozen=True, eq=False)
class NVMMADistributedLayout(DistributedLayout):
    """The accumulator of NVIDIA's matrix instructions: `version` is [2, 0] for ``mma.sync``, [3, 0] for ``wgmma``.

    `warps_per_cta` is in warps; `instr_shape` is [M, N] or [M, N, K] of one warp's instruction, in elements.
    `cga_layout` as in `BlockedLayout`.

    >>> from tritonx.experimental.gluon.layouts import NVMMADistributedLayout
    >>> NVMMADistributedLayout(version=[3, 0], warps_per_cta=[4, 1], instr_shape=[16, 64, 16]).rank
    2
    """

    TAG: ClassVar[str] = "MMA"
    version: list[int]
    warps_per_cta: list[int]
    instr_shape: list[int]
    cga_layout: list[list[int]] = field(default_factory=list[list[int]])

    def __post_init__(self) -> None:
        super().__post_init__()
        self._require_entries(2, "version")
        self._require_entries(self.rank, "cga_layout")

    @property
    def rank(self) -> int:
        return len(self.warps_per_cta)

    def encoding(self) -> NvidiaMmaEncoding:
        major, minor = self.version
        return NvidiaMmaEncoding(
            major, minor, frozen(self.warps_per_cta), frozen(self.instr_shape), frozen_bases(self.cga_layout)
        )
