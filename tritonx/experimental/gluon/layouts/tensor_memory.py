"""Layouts of the tensor memory of NVIDIA's Blackwell."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

from tritonx.experimental.gluon.layouts.base import LayoutValue, is_power_of_two, require
from tritonx.layouts.errors import LayoutError
from tritonx.layouts.tensor_memory import TensorMemoryEncoding, TensorMemoryScalesEncoding, bases_of_parts


def _parts(cga_layout: list[list[int]]) -> tuple[int, int]:
    """The numbers of parts of rows and of columns that blocks hold. Raises LayoutError where blocks hold copies, or
    count parts of columns before parts of rows."""
    rows, columns = (1 << sum(bool(basis[dim]) for basis in cga_layout) for dim in (0, 1))
    if [tuple(basis) for basis in cga_layout] != bases_of_parts(rows, columns):
        expected = [list(basis) for basis in bases_of_parts(rows, columns)]
        raise LayoutError(f"tensor memory that blocks share as {cga_layout} is not supported, only as {expected}")
    return rows, columns


def _bases(rows: int, columns: int) -> list[list[int]]:
    return [list(basis) for basis in bases_of_parts(rows, columns)]


@dataclass(frozen=True, eq=False)
class TensorMemoryLayout(LayoutValue):
    """Blocks of ``block[0]`` rows by ``block[1]`` columns of a matrix of tensor memory.

    `block` is in elements; `col_stride` says how many elements' places of a 32-bit column lie between neighbours of a
    row: 1 where they are packed, 32 / bits where each has a column. `two_ctas`: two blocks share each product.
    `fp4_padded`: bytes of 4-bit pairs, each pair in the room of two. `cga_layout` as in `BlockedLayout`. Raises
    GluonLayoutError where a list has other than two entries, or the stride is no power of two.

    >>> from tritonx.experimental.gluon.layouts import TensorMemoryLayout
    >>> TensorMemoryLayout(block=(128, 64), col_stride=1).mangle()
    'TL128x64_1__F_FTL'
    """

    TAG: ClassVar[str] = "TL"
    block: tuple[int, ...]
    col_stride: int
    cga_layout: list[list[int]] = field(default_factory=list[list[int]])
    two_ctas: bool = False
    fp4_padded: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        require(len(self.block) == 2, f"block is (rows, columns), got {self.block}")
        self._require_entries(2, "cga_layout")
        require(is_power_of_two(self.col_stride), f"col_stride must be a power of two, got {self.col_stride}")

    def encoding(self) -> TensorMemoryEncoding:
        """What a buffer's type says of it. Raises LayoutError where blocks hold copies, or count columns first."""
        rows, columns = self.block
        return TensorMemoryEncoding(
            rows, columns, self.col_stride, *_parts(self.cga_layout), self.two_ctas, self.fp4_padded
        )


@dataclass(frozen=True, eq=False)
class TensorMemoryScalesLayout(LayoutValue):
    """The scales of a scaled matrix product in tensor memory; `cga_layout` as in `BlockedLayout`.

    >>> from tritonx.experimental.gluon.layouts import TensorMemoryScalesLayout
    >>> TensorMemoryScalesLayout() == TensorMemoryScalesLayout(cga_layout=[])
    True
    """

    TAG: ClassVar[str] = "TLS"
    cga_layout: list[list[int]] = field(default_factory=list[list[int]])

    def __post_init__(self) -> None:
        super().__post_init__()
        self._require_entries(2, "cga_layout")

    def encoding(self) -> TensorMemoryScalesEncoding:
        """What a buffer's type says of it. Raises LayoutError where blocks hold copies, or count columns first."""
        return TensorMemoryScalesEncoding(*_parts(self.cga_layout))


def tensor_memory_layout_of(encoding: object) -> TensorMemoryLayout | TensorMemoryScalesLayout | None:
    """The layout of an encoding of tensor memory; None for any other. Raises LayoutError for scales in an order that
    Gluon has no layout of."""
    match encoding:
        case TensorMemoryEncoding(m, n, stride, rows, columns, two_ctas, padded):
            return TensorMemoryLayout((m, n), stride, _bases(rows, columns), two_ctas, padded)
        case TensorMemoryScalesEncoding(rows, columns, order):
            if order:
                raise LayoutError(f"Gluon has no layout of scales whose blocks are in the order {order}")
            return TensorMemoryScalesLayout(_bases(rows, columns))
        case _:
            return None
