"""The layout in which each access to global memory is made.

Neighbouring addresses go to neighbouring threads, as many to one thread as an access can move. Accesses of one shape
and order in a function agree on one width, so that what flows between them keeps its layout:
the largest that any of them can use, but no more than a store moves at once that what is loaded goes to: a wider share
per thread would leave gaps between the threads of each of its accesses. What only a product takes goes to none: the
product's result is made elsewhere. An atomic is as wide as one instruction of the target does it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from xdsl.ir import Attribute, Operation, SSAValue

from tritonx.analysis.axis_info import AxisFacts
from tritonx.analysis.axis_value import AxisInfo
from tritonx.analysis.neighbour_steps import Multiple, NeighbourSteps, Step
from tritonx.conversion.tile_to_gpu.blocked import blocked
from tritonx.conversion.tile_to_gpu.target import GpuTarget
from tritonx.dialects import tile
from tritonx.dialects.control_flow import becomes
from tritonx.dialects.layout_constraints import DotOperands, constraint_of
from tritonx.dialects.tile.enums import RMWOp
from tritonx.ir.types import PointerType, bit_width, element_type, is_tensor, shape_of, type_of
from tritonx.layouts.encodings import BlockedEncoding, Ints

LOADS = (tile.LoadOp,)
STORES = (tile.StoreOp, tile.AtomicRMWOp, tile.AtomicCASOp)

LINE = 128
"""Bytes of memory that a cache looks up at a time. A warp's load of 32 halves of an H200 took about 30 cycles where
each lay in another line (a stride of 3456 bytes), 7 where they lay in 14 (one of 54)."""

WORD = 4
"""Bytes of a register."""

_OF_FLOATS = (RMWOp.FADD, RMWOp.MAX, RMWOp.MIN)
"""The atomics that there are of several floats at once."""


@dataclass(frozen=True)
class _Access:
    op: Operation
    shape: Ints
    order: Ints
    width: int
    limit: int


def coalesced_encodings(
    ops: Iterable[Operation], facts: AxisFacts, target: GpuTarget
) -> dict[Operation, BlockedEncoding]:
    """The encoding of the pointers of every load, store and atomic through a tile of pointers."""
    steps = NeighbourSteps(facts)
    accesses = [access for op in ops if (access := _access(op, facts, steps, target)) is not None]
    widths: dict[tuple[Ints, Ints], int] = {}
    stores: dict[tuple[Ints, Ints], dict[Operation, int]] = {}
    for access in accesses:
        key = access.shape, access.order
        widths[key] = max(widths.get(key, 1), access.width)
        if isinstance(access.op, STORES):
            stores.setdefault(key, {})[access.op] = access.limit
    result: dict[Operation, BlockedEncoding] = {}
    for access in accesses:
        key = access.shape, access.order
        per_thread = [1] * len(access.shape)
        if access.shape:
            limit = _limit(access, stores.get(key, {}))
            per_thread[access.order[0]] = max(1, min(widths[key], limit, access.shape[access.order[0]]))
        result[access.op] = blocked(
            access.shape, tuple(per_thread), access.order, target.num_warps, target.warp_size, target.num_ctas
        )
    return result


def _limit(access: _Access, stores: Mapping[Operation, int]) -> int:
    """The least of what the stores move at once that an access's data goes to; a store is with all others."""
    if isinstance(access.op, LOADS) and stores:
        reached = _reached(access.op)
        return min((limit for op, limit in stores.items() if op in reached), default=1 << 30)
    return min(stores.values(), default=1 << 30)


def _reached(load: Operation) -> set[Operation]:
    """The ops that what is loaded goes to, up to products."""
    found: set[Operation] = set()
    values = set[SSAValue](load.results)
    work = list(values)
    while work:
        for use in work.pop().uses:
            op = use.operation
            if isinstance(constraint_of(op), DotOperands) or isinstance(op, tile.DotScaledOp):
                continue
            found.add(op)
            made = (set(becomes(op, use.index)) or set(op.results)) - values
            values |= made
            work += made
    return found


def pointer_of(op: Operation) -> SSAValue | None:
    """The tile of pointers that an op accesses memory through."""
    if isinstance(op, LOADS + STORES):
        pointer: SSAValue = op.operands[0]
        return pointer if is_tensor(type_of(pointer)) else None
    return None


def _access(op: Operation, facts: AxisFacts, steps: NeighbourSteps, target: GpuTarget) -> _Access | None:
    pointer = pointer_of(op)
    if pointer is None:
        return None
    info = facts.of(pointer)
    shape = shape_of(type_of(pointer))
    element = element_type(type_of(pointer))
    assert isinstance(element, PointerType)
    bits = max(8, bit_width(element.pointee))
    order = _order(pointer, info, steps, bits // 8)
    fast = order[0]
    most = max(1, target.vector_bits // bits)
    width = min(info.contiguity[fast], max(1, info.divisibility[fast] * 8 // bits), most)
    elements = 1
    for size in shape:
        elements *= size
    width = max(1, min(width, elements // (target.num_warps * target.warp_size)))
    is_store = isinstance(op, STORES)
    if isinstance(op, tile.AtomicRMWOp | tile.AtomicCASOp):
        # As many elements as an instruction takes, most often one: neighbours in neighbouring lanes.
        together = _together(op, element.pointee, fast, facts, target)
        return _Access(op, shape, order, min(width, together), most)
    return _Access(op, shape, order, width, most if is_store else 1 << 30)


def _order(pointer: SSAValue, info: AxisInfo, steps: NeighbourSteps, nbytes: int) -> Ints:
    """The dims, that of the longest runs of neighbours in memory first; where several have the longest, that along
    which elements of so many bytes are closest mostly, then the last."""
    dims = range(len(info.contiguity))
    is_settled = info.contiguity.count(max(info.contiguity, default=1)) == 1
    likely = (None,) * len(dims) if is_settled else steps.of(pointer)
    return tuple(sorted(dims, key=lambda d: (-info.contiguity[d], _distance(likely[d], nbytes), -d)))


def _distance(step: Step, nbytes: int) -> tuple[int, ...]:
    """What orders steps by how many lines of a cache the threads of a warp touch: known ones; those of which a part is
    known; those by which each thread has a line of its own, or of which nothing is known. The same element for all is
    as good as the next but one. Of words and wider ones a part of a step says nothing: few share a line, and what
    copies them for products lays them in shared memory as it takes them, where most products read along the last dim.
    """
    if isinstance(step, Multiple):
        is_close = nbytes < WORD and step.times * nbytes < LINE
        return (1, step.factors, step.times, step.place) if is_close else (2,)
    return (0, abs(step) or 2) if step is not None and abs(step) * nbytes < LINE else (2,)


def _together(
    op: tile.AtomicRMWOp | tile.AtomicCASOp, element: Attribute, fast: int, facts: AxisFacts, target: GpuTarget
) -> int:
    """How many neighbours along a dim one instruction takes: to add or order floats, under one value of the mask."""
    if isinstance(op, tile.AtomicCASOp) or RMWOp(op.atomic_rmw_op.value.data) not in _OF_FLOATS:
        return 1
    most = dict(target.summed).get(str(element), 1)
    return most if op.mask is None else min(most, facts.of(op.mask).constancy[fast])
