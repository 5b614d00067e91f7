"""What explicit bases must hold, and how blocks share a shape."""

from __future__ import annotations

from collections.abc import Sequence

from tritonx.experimental.gluon.layouts.base import frozen_bases, is_power_of_two, require
from tritonx.layouts.dims import tensor_dims
from tritonx.layouts.encodings import Bases, Ints
from tritonx.layouts.errors import LayoutError
from tritonx.layouts.linear import LinearLayout
from tritonx.layouts.tiling import bases_extent, shape_per_cta


def check_reach(what: str, shape: Ints, *groups: Bases) -> None:
    """Raises LayoutError unless the bases together reach each element of the shape and none outside."""
    dims = tensor_dims(len(shape))
    if not all(map(is_power_of_two, shape)):
        raise LayoutError(f"the shape of a {what} must be powers of two, got {list(shape)}")
    extent = bases_extent(len(shape), *groups)
    if any(size > most for size, most in zip(extent, shape, strict=True)):
        raise LayoutError(f"the bases of a {what} step out of its shape: {list(extent)} is more than {list(shape)}")
    together = tuple(basis for bases in groups for basis in bases)
    if not LinearLayout.from_bases({"all": together}, dict(zip(dims, shape, strict=True))).is_surjective:
        raise LayoutError(f"the bases of a {what} do not reach all elements of its shape {list(shape)}")


def block_share(shape: Sequence[int], cga_layout: list[list[int]]) -> list[int]:
    """The part of a shape that one block holds; raises GluonLayoutError where it is no whole part."""
    bases = frozen_bases(cga_layout)
    for basis in bases:
        require(len(basis) == len(shape), f"cga_layout {cga_layout} is not of the rank of the shape {list(shape)}")
    splits = bases_extent(len(shape), bases)
    whole = all(size % split == 0 for size, split in zip(shape, splits, strict=True))
    require(whole, f"the shape {list(shape)} is not divisible by the blocks of cga_layout {cga_layout}")
    return [*shape_per_cta(bases, shape)]


def row_bases(shape: Sequence[int], order: Sequence[int]) -> list[list[int]]:
    """The bases that count through a shape of powers of two, dims in `order`."""
    rank = len(shape)
    return [
        [1 << bit if at == dim else 0 for at in range(rank)]
        for dim in order
        for bit in range(shape[dim].bit_length() - 1)
    ]


def row_order(shape: Ints, bases: list[list[int]]) -> Ints | None:
    """The `order` in which `row_bases` gives these bases, dims of extent 1 last; None where there is none."""
    found = dict.fromkeys(at for basis in bases for at, step in enumerate(basis) if step)
    order = (*found, *(dim for dim in reversed(range(len(shape))) if dim not in found))
    return order if row_bases(shape, order) == bases else None
