"""Triton's ``triton.tools.LinearLayout``: linear layouts under the methods of its bindings.

The algebra is that of `tritonx.layouts.linear`, which has more operations and an essay on what layouts are.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tritonx.layouts.errors import LayoutError
from tritonx.layouts.linear import LinearLayout as Layout

_EMPTY = Layout.empty()

Bases = Sequence[tuple[str, Sequence[Sequence[int]]]]


@dataclass(frozen=True, repr=False)
class LinearLayout:
    """A linear map over GF(2) from named input dims to named output dims, all of sizes that are powers of two.

    Where Triton ends the process (sizes that do not fit, no inverse) this raises a ValueError.

    >>> from tritonx.tools import LinearLayout
    >>> rows = LinearLayout.from_bases([("lane", [[0, 1], [1, 0]])], ["dim0", "dim1"])
    >>> rows.apply({"lane": 3})
    {'dim0': 1, 'dim1': 1}
    >>> (rows * LinearLayout.identity_1d(2, "warp", "dim0")).out_dims
    [('dim0', 4), ('dim1', 2)]
    """

    layout: Layout = _EMPTY

    @staticmethod
    def identity_1d(size: int, inDim: str, outDim: str) -> LinearLayout:
        """i ↦ i."""
        return LinearLayout(Layout.identity(size, inDim, outDim))

    @staticmethod
    def strided_1d(size: int, stride: int, inDim: str, outDim: str) -> LinearLayout:
        """i ↦ i · ``stride``, a power of two."""
        steps = [[stride << bit] for bit in range(Layout.identity(size, inDim, outDim).total_in_bits)]
        return LinearLayout(Layout.from_bases({inDim: steps}, {outDim: size * stride}))

    @staticmethod
    def zeros_1d(size: int, inDim: str, outDim: str, outDimSize: int = 1) -> LinearLayout:
        """i ↦ 0."""
        return LinearLayout(Layout.zeros(size, inDim, outDim, outDimSize))

    @staticmethod
    def from_bases(
        bases: Bases,
        out_dim_names: Sequence[str],
        out_dim_sizes: Sequence[int] | None = None,
        require_surjective: bool = True,
    ) -> LinearLayout:
        """Of each input dim what its bits 0, 1, ... select: a coordinate for each output dim. Without sizes the output
        dims are as large as these need."""
        if out_dim_sizes is None:
            if not require_surjective:
                raise LayoutError("out_dim_sizes must be provided when require_surjective is false")
            out_dim_sizes = _sizes(bases, len(out_dim_names))
        if len(out_dim_names) != len(out_dim_sizes):
            raise LayoutError("out_dim_names and out_dim_sizes must have the same length")
        if len({dim for dim, _ in bases}) != len(bases) or len({*out_dim_names}) != len(out_dim_names):
            raise LayoutError("a dim is named twice")
        made = Layout.from_bases(dict(bases), dict(zip(out_dim_names, out_dim_sizes, strict=True)))
        if require_surjective and not made.is_surjective:
            raise LayoutError(f"no place has some of the coordinates:\n{made}")
        return LinearLayout(made)

    @property
    def bases(self) -> list[tuple[str, list[list[int]]]]:
        return [(dim, [list(basis) for basis in bases]) for dim, bases in self.layout]

    @property
    def out_dims(self) -> list[tuple[str, int]]:
        return [(dim, 1 << bits) for dim, bits in self.layout.outs]

    @property
    def num_in_dims(self) -> int:
        return len(self.layout.ins)

    @property
    def num_out_dims(self) -> int:
        return len(self.layout.outs)

    def get_in_dim_names(self) -> list[str]:
        return list(self.layout.in_dims)

    def get_out_dim_names(self) -> list[str]:
        return list(self.layout.out_dims)

    def is_surjective(self) -> bool:
        """Whether every coordinate has a place."""
        return self.layout.is_surjective

    def is_injective(self) -> bool:
        """Whether no two places have the same coordinates."""
        return self.layout.is_injective

    def is_invertible(self) -> bool:
        return self.layout.is_invertible

    def apply(self, inputs: Mapping[str, int]) -> dict[str, int]:
        """The coordinates of one place, which is given in all input dims; bits beyond a dim's are dropped."""
        _same_dims([*inputs], self.layout.in_dims)
        places = {dim: value & (self.layout.in_size(dim) - 1) for dim, value in inputs.items()}
        return dict(zip(self.layout.out_dims, self.layout.unpack(self.layout.apply_packed(places)), strict=True))

    def compose(self, outer: LinearLayout) -> LinearLayout:
        """First this map, then ``outer``."""
        _same_dims(self.layout.out_dims, outer.layout.in_dims)
        return LinearLayout(self.layout.compose(outer.layout))

    def invert(self) -> LinearLayout:
        return LinearLayout(self.layout.invert())

    def pseudoinvert(self) -> LinearLayout:
        """From coordinates to a place that has them."""
        return LinearLayout(self.layout.pseudo_inverse())

    def invert_and_compose(self, outer: LinearLayout) -> LinearLayout:
        """From a place here to a place of ``outer`` with the same coordinates."""
        return LinearLayout(self.layout.invert_and_compose(outer.layout))

    def get_matrix_view(self) -> list[list[int]]:
        """The map as a matrix of bits: a row for each bit of the coordinates, a column for each bit of a place."""
        return [[column >> row & 1 for column in self.layout.all_columns] for row in range(self.layout.total_out_bits)]

    def __mul__(self, other: LinearLayout) -> LinearLayout:
        """``other`` counts in whole tiles of this one."""
        return LinearLayout(self.layout * other.layout)

    def __repr__(self) -> str:
        sizes = ", ".join(f"{dim} (size {size})" for dim, size in self.out_dims)
        if not self.layout.ins:
            return f"\n(empty layout{f' with out-dims [{sizes}]' if sizes else ''})"
        lines = [line for dim, bases in self.bases for line in _lines(dim, bases)]
        return "\n".join(["", *lines, f"where out dims are: [{sizes}]"])


def _lines(dim: str, bases: list[list[int]]) -> list[str]:
    """What one input dim's bits select."""
    if not bases:
        return [f" - {dim} is a size 1 dimension"]
    rows = [f"{dim}={1 << bit} -> ({', '.join(map(str, basis))})" for bit, basis in enumerate(bases)]
    return [f" - {rows[0]}", *(f"   {row}" for row in rows[1:])]


def _sizes(bases: Bases, count: int) -> list[int]:
    """The smallest powers of two above all coordinates."""
    every = [basis for _, dim_bases in bases for basis in dim_bases]
    if any(len(basis) != count for basis in every):
        raise LayoutError(f"a basis does not have one coordinate for each of {count} output dims")
    return [1 << max((basis[dim] for basis in every), default=0).bit_length() for dim in range(count)]


def _same_dims(given: Sequence[str], wanted: Sequence[str]) -> None:
    if sorted(given) != sorted(wanted):
        raise LayoutError(f"dims {[*given]} are given where there are {[*wanted]}")
