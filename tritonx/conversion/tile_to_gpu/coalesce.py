"""The layout in which each access to global memory is made.

Neighbouring addresses go to neighbouring threads, as many to one thread as an access can move. Accesses of one shape
and order in a function agree on one width, so that what flows between them keeps its layout:
the largest that any of them can use, but no more than a store moves at once: a wider share per thread would leave
gaps between the threads of each of its accesses.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from xdsl.ir import Operation, SSAValue

from tritonx.analysis.axis_info import AxisFacts
from tritonx.conversion.tile_to_gpu.blocked import blocked
from tritonx.conversion.tile_to_gpu.target import GpuTarget
from tritonx.dialects import tile
from tritonx.ir.types import PointerType, bit_width, element_type, is_tensor, shape_of, type_of
from tritonx.layouts.encodings import BlockedEncoding, Ints

LOADS = (tile.LoadOp,)
STORES = (tile.StoreOp, tile.AtomicRMWOp, tile.AtomicCASOp)


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
    accesses = [access for op in ops if (access := _access(op, facts, target)) is not None]
    widths: dict[tuple[Ints, Ints], int] = {}
    limits: dict[tuple[Ints, Ints], int] = {}
    for access in accesses:
        key = access.shape, access.order
        widths[key] = max(widths.get(key, 1), access.width)
        limits[key] = min(limits.get(key, 1 << 30), access.limit)
    result: dict[Operation, BlockedEncoding] = {}
    for access in accesses:
        key = access.shape, access.order
        per_thread = [1] * len(access.shape)
        if access.shape:
            per_thread[access.order[0]] = max(1, min(widths[key], limits[key], access.shape[access.order[0]]))
        result[access.op] = blocked(
            access.shape, tuple(per_thread), access.order, target.num_warps, target.warp_size, target.num_ctas
        )
    return result


def pointer_of(op: Operation) -> SSAValue | None:
    """The tile of pointers that an op accesses memory through."""
    if isinstance(op, LOADS + STORES):
        pointer: SSAValue = op.operands[0]
        return pointer if is_tensor(type_of(pointer)) else None
    return None


def _access(op: Operation, facts: AxisFacts, target: GpuTarget) -> _Access | None:
    pointer = pointer_of(op)
    if pointer is None:
        return None
    info = facts.of(pointer)
    shape = shape_of(type_of(pointer))
    element = element_type(type_of(pointer))
    assert isinstance(element, PointerType)
    bits = max(8, bit_width(element.pointee))
    order = tuple(sorted(range(len(shape)), key=lambda d: (-info.contiguity[d], -d)))
    fast = order[0]
    most = max(1, target.vector_bits // bits)
    width = min(info.contiguity[fast], max(1, info.divisibility[fast] * 8 // bits), most)
    elements = 1
    for size in shape:
        elements *= size
    width = max(1, min(width, elements // (target.num_warps * target.warp_size)))
    is_store = isinstance(op, STORES)
    if isinstance(op, tile.AtomicRMWOp | tile.AtomicCASOp):
        width = 1  # one element an instruction: neighbours in neighbouring lanes
        return _Access(op, shape, order, 1, most)
    return _Access(op, shape, order, width, most if is_store else 1 << 30)
