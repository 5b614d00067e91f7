"""Which lanes use what a program loads as a scalar. Each lane loads it, but scalars are stored, and added atomically,
by the first lane alone: where nothing else is done with the value, what the other lanes have loaded does not matter."""

from __future__ import annotations

from xdsl.ir import Operation, SSAValue

from tritonx.dialects import tile
from tritonx.dialects.control_flow import becomes
from tritonx.ir.types import is_tensor, type_of

_BY_FIRST_LANE = (tile.StoreOp, tile.AtomicRMWOp, tile.AtomicCASOp, tile.AtomicStoreOp)
_FOR_ALL_LANES = (tile.LoadOp, tile.AtomicLoadOp, tile.AtomicPollOp, tile.CallOp)


def reaches_all_lanes(load: Operation) -> bool:
    """Whether more than the first lane uses the result of a scalar load: in a tile, an address to load from, a
    condition or a bound of a loop."""
    left, seen = list[SSAValue](load.results), set[SSAValue]()
    while left:
        value = left.pop()
        if value in seen:
            continue
        seen.add(value)
        for use in value.uses:
            op = use.operation
            if isinstance(op, _BY_FIRST_LANE) and not any(is_tensor(type_of(v)) for v in op.operands):
                continue
            moved = becomes(op, use.index)
            if not moved:
                if not op.results or op.regions or isinstance(op, _FOR_ALL_LANES):
                    return True
                if any(is_tensor(type_of(result)) for result in op.results):
                    return True
            left += moved or op.results
    return False
