"""Tiles of programs of several blocks: data stays in its block, so that what other blocks want as well, they make.

A value that is wanted in a layout in which the blocks hold other parts of it is made once more, from where it can be:
each block computes, and loads, what it needs of it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from functools import cached_property

from xdsl.ir import Operation, SSAValue

from tritonx.analysis.pointer_sources import Roots, pointers_of, roots_of
from tritonx.conversion.tile_to_gpu.propagation import plain
from tritonx.conversion.tile_to_gpu.target import GpuTarget
from tritonx.dialects import tile
from tritonx.ir.effects import may_write
from tritonx.layouts import linear_layout
from tritonx.layouts.dims import BLOCK
from tritonx.layouts.encodings import Bases, BlockedEncoding, DistributedEncoding, Ints
from tritonx.layouts.tiling import storage_shape


def in_blocks_of(
    wanted: DistributedEncoding, native: DistributedEncoding, shape: Ints, target: GpuTarget
) -> BlockedEncoding | None:
    """`native`, or a plain encoding, with the blocks of `wanted`; None where no blocked encoding has them."""
    blocks = _bases(wanted, shape)
    if blocks is None:
        return None
    encoding = native if isinstance(native, BlockedEncoding) else plain(shape, target)
    assert isinstance(encoding, BlockedEncoding)
    return replace(encoding, cga=blocks)


def _bases(encoding: DistributedEncoding, shape: Ints) -> Bases | None:
    """The block bases by which a blocked encoding gives each block what it has in `encoding`, if there are any."""
    steps = linear_layout(encoding, shape).bases(BLOCK)
    bases: list[Ints] = []
    parts = [min((step[d] for step in steps if step[d]), default=size) for d, size in enumerate(storage_shape(shape))]
    for step in steps:
        bases.append(tuple(at // part for at, part in zip(step, parts, strict=True)))
    whole = [part * (1 << max((b[d].bit_length() for b in bases), default=0)) for d, part in enumerate(parts)]
    return tuple(bases) if tuple(whole) == storage_shape(shape) else None


class Reread:
    """Which loads of a function other blocks may do once more: those of arrays that it does not write, for blocks do
    not wait for each other."""

    def __init__(self, ops: Iterable[Operation]) -> None:
        self._ops = ops
        self._known: dict[Operation, bool] = {}
        self._roots: dict[SSAValue, Roots] = {}

    def allows(self, load: tile.LoadOp) -> bool:
        """Whether nothing in the function may write what is loaded."""
        if load not in self._known:
            self._known[load] = self._is_only_read(load)
        return self._known[load]

    def _is_only_read(self, load: tile.LoadOp) -> bool:
        read = roots_of((load.ptr,), self._roots)
        return read is not None and self._written is not None and not self._written & read

    @cached_property
    def _written(self) -> Roots:
        """The arguments whose arrays the function may write; None where that may be any array."""
        found: set[SSAValue] = set()
        for op in self._ops:
            if not op.regions and may_write(op) and (pointers := pointers_of(op)):
                written = roots_of(pointers, self._roots)
                if written is None:
                    return None
                found |= written
        return frozenset(found)
