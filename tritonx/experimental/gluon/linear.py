"""Layouts on a shape, by their bases."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tritonx.experimental.gluon.layouts import (
    DistributedLayout,
    DistributedLinearLayout,
    SharedLayout,
    SharedLinearLayout,
)
from tritonx.layouts import linear_encoding, linear_layout
from tritonx.layouts.dims import BLOCK, OFFSET
from tritonx.layouts.memory_views import alignment


def on_shape(layout: DistributedLayout | SharedLayout, shape: Sequence[int]) -> Any:
    """The `DistributedLinearLayout` or `SharedLinearLayout` that ``layout`` is on ``shape``.

    >>> from tritonx.experimental.gluon import language as ttgl
    >>> on_shape(ttgl.BlockedLayout([2], [32], [1], [0]), [64]).reg_bases
    [[1]]
    """
    if isinstance(layout, DistributedLinearLayout | SharedLinearLayout):
        return layout
    if isinstance(layout, SharedLayout):
        memory = layout.encoding()
        found = linear_layout(memory, tuple(shape))
        return SharedLinearLayout(_lists(found.bases(OFFSET)), _lists(found.bases(BLOCK)), alignment(memory))
    bases = linear_encoding(linear_layout(layout.encoding(), tuple(shape)))
    register, lane, warp, block = map(_lists, (bases.register, bases.lane, bases.warp, bases.block))
    return DistributedLinearLayout(register, lane, warp, block, [*shape])


def _lists(bases: Sequence[Sequence[int]]) -> list[list[int]]:
    return [[*basis] for basis in bases]
