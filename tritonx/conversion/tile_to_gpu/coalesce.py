"""The layout in which each access to global memory is made.

Neighbouring addresses go to neighbouring threads, as many to one thread as an access can move. Accesses of one shape
and order in a function agree on one width, so that what flows between them keeps its layout:
the largest that any of them can use, but no more than a store moves at once that what is loaded goes to: a wider share
per thread would leave gaps between the threads of each of its accesses. What only a product takes goes to none: the
product has a layout of its own. An atomic is as wide as one instruction of the target does it. Where a unit takes
neighbours along K (`GpuTarget.packs_along_k`), a thread loads neighbours of both dims; not of what copies past the
registers bring, which reads of shared memory may transpose.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import prod

from xdsl.ir import Attribute, Operation, SSAValue

from tritonx.analysis.axis_info import AxisFacts
from tritonx.analysis.axis_value import AxisInfo
from tritonx.analysis.neighbour_steps import Multiple, NeighbourSteps, Step
from tritonx.conversion.tile_to_gpu.blocked import blocked
from tritonx.conversion.tile_to_gpu.target import GpuTarget
from tritonx.dialects import gpu_layout, tile
from tritonx.dialects.control_flow import becomes
from tritonx.dialects.layout_constraints import DotOperands, constraint_of, is_elementwise
from tritonx.dialects.tile.enums import RMWOp
from tritonx.ir.types import PointerType, bit_width, element_type, is_tensor, shape_of, type_of
from tritonx.layouts.encodings import BlockedEncoding, Ints

LOADS = (tile.LoadOp,)
STORES = (tile.StoreOp, *tile.ATOMICS, gpu_layout.AsyncCopyGlobalToLocalOp)
"""What is done by one of the threads that hold an element."""

LINE = 128
"""Bytes of memory that a cache looks up at a time. A warp's load of 32 halves of an H200 took about 30 cycles where
each lay in another line (a stride of 3456 bytes), 7 where they lay in 14 (one of 54)."""

WORD = 4
"""Bytes of a register."""

TAKEN = 16
"""Bytes of neighbours along K that a unit takes of a lane at once, the most of any (units of 8 take two such parts one
after another). With a register of them the other words of an operand lie further along K, and what lies along K
in memory has to be put in that order: 155 instead of 123 instructions in the loop of a product of f16, 128×128×64 in 4
warps on gfx942."""

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
    ops: Iterable[Operation], facts: AxisFacts, target: GpuTarget, *, by_facts: bool = False
) -> dict[Operation, BlockedEncoding]:
    """The encoding of the pointers of every load, store and atomic through a tile of pointers.

    Under `by_facts` the order of dims is by what is certain of neighbours, and not by what is likely: accesses whose
    values are connected without conversions have one order more often."""
    steps, ops = None if by_facts else NeighbourSteps(facts), list(ops)
    summed = _summed_dims(ops) if target.packs_along_k else {}
    accesses = [access for op in ops if (access := _access(op, facts, steps, target)) is not None]
    widths: dict[tuple[Ints, Ints], int] = {}
    stores: dict[tuple[Ints, Ints], dict[Operation, int]] = {}
    for access in accesses:
        key = access.shape, access.order
        widths[key] = max(widths.get(key, 1), access.width)
        if isinstance(access.op, STORES):
            stores.setdefault(key, {})[access.op] = access.limit
    reached = _Reached.of([access.op for access in accesses if isinstance(access.op, LOADS)])
    limits = {key: reached.limits(of_key) for key, of_key in stores.items()}
    result: dict[Operation, BlockedEncoding] = {}
    for access in accesses:
        key = access.shape, access.order
        per_thread = [1] * len(access.shape)
        if access.shape:
            limit = _limit(access, stores.get(key, {}), limits.get(key, {}))
            per_thread[access.order[0]] = max(1, min(widths[key], limit, access.shape[access.order[0]]))
            if isinstance(access.op, LOADS):
                _fill_along_k(access, per_thread, summed.get(access.op.results[0]), target)
        result[access.op] = blocked(
            access.shape, tuple(per_thread), access.order, target.num_warps, target.warp_size, target.num_ctas
        )
    return result


def _fill_along_k(access: _Access, per_thread: list[int], along: int | None, target: GpuTarget) -> None:
    """Gives a thread neighbours along K as well, as many as a product takes at once, of an operand that lies along
    another dim in memory, or whose neighbours are loaded one by one: it makes the words that the product takes of its
    own registers."""
    if along is None or _is_copied(access, per_thread, target) or _is_turned(access, per_thread, along, target):
        return
    own = per_thread[along]
    share = own * prod(access.shape) // (target.num_warps * target.warp_size * prod(per_thread))
    per_thread[along] = max(own, min(8 * TAKEN // _bits(access), share, access.shape[along]))


def _is_turned(access: _Access, per_thread: Sequence[int], along: int, target: GpuTarget) -> bool:
    """Whether a thread has so many neighbours along another dim that reads of shared memory make words of them."""
    fast = access.order[0]
    return 0 < 8 * target.transposed_bytes <= per_thread[fast] * _bits(access) and along != fast


def _bits(access: _Access) -> int:
    return max(8, bit_width(element_type(type_of(access.op.results[0]))))


def _is_copied(access: _Access, per_thread: Sequence[int], target: GpuTarget) -> bool:
    """Whether copies past the registers are wide enough for what threads would load, which goes to products as it is;
    the same limit as in `lane_copies.loaded_by_lanes`."""
    if not target.costs.lane_bytes:
        return False
    (result,) = access.op.results
    nbytes = per_thread[access.order[0]] * _bits(access) // 8
    least = min(max(target.costs.lane_bytes), nbytes) // 2
    wide = any(least <= one <= nbytes for one in target.costs.lane_bytes)
    return wide and all(isinstance(use.operation, tile.DotOp | tile.DotScaledOp) for use in result.uses)


def _summed_dims(ops: Sequence[Operation]) -> dict[SSAValue, int | None]:
    """Of the values that products take, also of what these are computed from element by element or transposed, the dim
    that is K; None where a value also has other uses."""
    found: dict[SSAValue, int | None] = {}
    for op in reversed(ops):  # users first
        if len(op.results) == 1 and is_tensor(type_of(op.results[0])):
            dims = {_summed_by(use.operation, use.index, found) for use in op.results[0].uses}
            found[op.results[0]] = dims.pop() if len(dims) == 1 else None
    return found


def _summed_by(op: Operation, index: int, found: Mapping[SSAValue, int | None]) -> int | None:
    """The dim of an operand that its use sums over."""
    if isinstance(op, tile.DotOp | tile.DotScaledOp):
        return len(shape_of(type_of(op.operands[index]))) - 1 - index if index < 2 else None
    along = found.get(op.results[0]) if len(op.results) == 1 else None
    if isinstance(op, tile.TransOp):
        return None if along is None else int(op.order.get_values()[along])
    return along if is_elementwise(op) else None


def _limit(access: _Access, stores: Mapping[Operation, int], limits: Mapping[SSAValue, int]) -> int:
    """The least of what the stores move at once that an access's data goes to; a store is with all others."""
    if isinstance(access.op, LOADS) and stores:
        return min((limits[result] for result in access.op.results if result in limits), default=1 << 30)
    return min(stores.values(), default=1 << 30)


@dataclass(frozen=True)
class _Reached:
    """The values and stores that loaded data goes to, up to products, as a graph from each to what it is made of."""

    made_of: Mapping[SSAValue, Sequence[SSAValue]]
    stored: Mapping[Operation, Sequence[SSAValue]]

    @classmethod
    def of(cls, loads: Iterable[Operation]) -> _Reached:
        work: list[SSAValue] = [result for load in loads for result in load.results]
        made_of: dict[SSAValue, list[SSAValue]] = {value: [] for value in work}
        stored: dict[Operation, list[SSAValue]] = {}
        while work:
            value = work.pop()
            for use in value.uses:
                op = use.operation
                if isinstance(constraint_of(op), DotOperands) or isinstance(op, tile.DotScaledOp):
                    continue
                if isinstance(op, STORES):
                    stored.setdefault(op, []).append(value)
                for made in becomes(op, use.index) or op.results:
                    if made not in made_of:
                        made_of[made] = []
                        work.append(made)
                    made_of[made].append(value)
        return cls(made_of, stored)

    def limits(self, stores: Mapping[Operation, int]) -> dict[SSAValue, int]:
        """Of each value the least limit of the stores that it goes to; each value is looked at once, by the least."""
        limits: dict[SSAValue, int] = {}
        for op, limit in sorted(stores.items(), key=lambda item: item[1]):
            work = list(self.stored.get(op, ()))
            while work:
                value = work.pop()
                if value not in limits:
                    limits[value] = limit
                    work += self.made_of[value]
        return limits


def pointer_of(op: Operation) -> SSAValue | None:
    """The tile of pointers that an op accesses memory through."""
    if isinstance(op, LOADS + STORES):
        pointer: SSAValue = op.operands[0]
        return pointer if is_tensor(type_of(pointer)) else None
    return None


def _access(op: Operation, facts: AxisFacts, steps: NeighbourSteps | None, target: GpuTarget) -> _Access | None:
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
    width = max(1, min(width, prod(shape) // (target.num_warps * target.warp_size)))
    is_store = isinstance(op, STORES)
    if isinstance(op, tile.ATOMICS):
        # As many elements as an instruction takes, most often one: neighbours in neighbouring lanes.
        together = _together(op, element.pointee, fast, facts, target)
        return _Access(op, shape, order, min(width, together), most)
    return _Access(op, shape, order, width, most if is_store else 1 << 30)


def _order(pointer: SSAValue, info: AxisInfo, steps: NeighbourSteps | None, nbytes: int) -> Ints:
    """The dims, that of the longest runs of neighbours in memory first; where several have the longest, that along
    which elements of so many bytes are closest mostly, then the last."""
    dims = range(len(info.contiguity))
    is_settled = info.contiguity.count(max(info.contiguity, default=1)) == 1
    likely = (None,) * len(dims) if is_settled or steps is None else steps.of(pointer)
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


def _together(op: Operation, element: Attribute, fast: int, facts: AxisFacts, target: GpuTarget) -> int:
    """How many neighbours along a dim one instruction takes: to add or order floats, under one value of the mask."""
    if not isinstance(op, tile.AtomicRMWOp) or RMWOp(op.atomic_rmw_op.value.data) not in _OF_FLOATS:
        return 1
    most = dict(target.summed).get(str(element), 1)
    return most if op.mask is None else min(most, facts.of(op.mask).constancy[fast])
