"""The axes that an op goes along: one, or several as in NumPy."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import prod
from numbers import Integral

from tritonx.frontend.semantics.base import invalid_axis, unwrapped_list


def is_several(axis: object) -> bool:
    """Whether ``axis`` names any number of axes in a tuple or a list, rather than one."""
    return hasattr(axis, "__len__")


def wrap_axis(axis: object, rank: int) -> int:
    """``axis`` counted from the front."""
    if not isinstance(axis, Integral):
        raise TypeError(f"an axis is an integer known at compile time, not {axis}")
    number = int(axis)
    if not -rank <= number < rank:
        raise invalid_axis(number, rank)
    return number % rank


def wrap_axes(axes: object, rank: int) -> list[int]:
    """One axis or several counted from the front, in ascending order."""
    wrapped = sorted(wrap_axis(axis, rank) for axis in unwrapped_list(axes))
    for left, right in pairwise(wrapped):
        if left == right:
            raise ValueError(f"axis {left} is named twice")
    return wrapped


@dataclass(frozen=True)
class JoinedAxes:
    """Several axes of a block seen as one: the block is permuted by ``order``, which brings them together (where they
    already are, it moves nothing), and has then the extents ``parted``; as ``shape`` they are its axis ``axis``."""

    order: tuple[int, ...]
    parted: tuple[int, ...]
    shape: tuple[int, ...]
    axis: int

    @staticmethod
    def of(extents: Sequence[int], axes: Sequence[int]) -> JoinedAxes:
        """``axes`` are in ascending order."""
        others = [a for a in range(len(extents)) if a not in axes]
        axis = len(others) if axes[-1] - axes[0] >= len(axes) else axes[0]
        order = (*others[:axis], *axes, *others[axis:])
        parted = tuple(extents[a] for a in order)
        behind = axis + len(axes)
        return JoinedAxes(order, parted, (*parted[:axis], prod(parted[axis:behind]), *parted[behind:]), axis)

    @property
    def inverse(self) -> tuple[int, ...]:
        """The permutation that undoes ``order``."""
        return tuple(self.order.index(axis) for axis in range(len(self.order)))
