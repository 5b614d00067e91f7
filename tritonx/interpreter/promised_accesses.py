"""Accesses that are as wide as they are because of `tl.multiple_of`, `tl.max_contiguous` and `tl.max_constancy`.

Generated code accesses neighbours at once where the axis analysis takes them for neighbours, and it believes what a
kernel promises. A promise that does not hold where no access goes by it does nothing and is not looked at: tutorials
promise runs of indices that wrap around along a dimension with a stride.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from tritonx.analysis.axis_info import analyze_axes
from tritonx.analysis.axis_rules import HINTS
from tritonx.dialects import tile
from tritonx.dialects.tile.control import STATED
from tritonx.interpreter.values import Array

MOST_BYTES = 16
"""Of one instruction of a thread."""


@dataclass(frozen=True)
class WideAccess:
    """`count` neighbours along `axis`, of `size` bytes each, are one access, at a multiple of its bytes."""

    axis: int
    count: int
    size: int

    def holds(self, addresses: Array, active: Array | None) -> bool:
        """Whether the addresses of a tile are such, as far as lanes are active."""
        shape = np.shape(addresses)
        if len(shape) <= self.axis or shape[self.axis] % self.count:
            return True
        runs = np.moveaxis(addresses, self.axis, -1).reshape(-1, self.count)
        on = np.ones(shape, np.bool_) if active is None else np.broadcast_to(active, shape)
        on = np.moveaxis(on, self.axis, -1).reshape(-1, self.count)
        firsts = (runs - self.size * np.arange(self.count))[on]
        begins = np.repeat(np.arange(len(runs)), on.sum(1))
        same = (firsts[1:] == firsts[:-1]) | (begins[1:] != begins[:-1])
        return bool(same.all() and (firsts % (self.count * self.size) == 0).all())


def wide_accesses(module: ModuleOp) -> dict[Operation, WideAccess]:
    """The loads and stores of tiles that access neighbours at once, of a module with promises; {} without one, since
    what the analysis finds by itself is so."""
    ops = list(module.walk())
    if not any(_promises(op) for op in ops):
        return {}
    facts = analyze_axes(module)
    found: dict[Operation, WideAccess] = {}
    for op in ops:
        if not isinstance(op, tile.LoadOp | tile.StoreOp):
            continue
        info = facts.of(op.ptr)
        if not info.rank:
            continue
        axis = max(range(info.rank), key=lambda each: info.contiguity[each])
        size = max(1, info.unit)
        count = min(info.contiguity[axis], info.divisibility[axis] // size, MOST_BYTES // size)
        if op.mask is not None:
            count = min(count, facts.of(op.mask).constancy[axis])
        if count > 1:
            found[op] = WideAccess(axis, 1 << (count.bit_length() - 1), size)
    return found


def _promises(op: Operation) -> bool:
    """Whether the kernel's text promises something of a result, of what a loop carries, or of a parameter."""
    if isinstance(op, tile.FuncOp) and op.arg_attrs is not None:
        return any(STATED in stated.data for stated in op.arg_attrs.data)
    return any(name.startswith(tuple(HINTS)) for name in op.attributes)
