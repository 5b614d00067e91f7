"""What ops cost a multiprocessor, by its units: the model that a loop is scheduled with.

Cycles are those of a multiprocessor that runs one block. A backend brings the numbers (`UnitCosts`); they only have to
be right enough to say which unit a loop is bound by, and whether something is worth waiting for.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from math import prod

from xdsl.ir import Attribute, Operation, SSAValue

from tritonx.analysis.buffers import allocates_memory, conversion_plan, stored_bytes, tensor_layout
from tritonx.analysis.registers import RENAMING, RUN, RegisterFile, value_bytes
from tritonx.dialects import arith, math, tile
from tritonx.dialects.effects import Kind, Proxy, declared_by
from tritonx.dialects.gpu_layout import ConvertLayoutOp, MemDescType
from tritonx.dialects.layout_constraints import values_of
from tritonx.ir.types import bit_width, element_type, encoding_of, is_integer, is_tensor, shape_of, type_of
from tritonx.layouts.convert import wavefronts
from tritonx.layouts.dims import REGISTER


class Unit(IntEnum):
    """What works at the same time: the threads, and what multiplies matrices where it does so by itself."""

    THREADS = 0
    MATRIX = 1


@dataclass(frozen=True)
class UnitCosts(RegisterFile):
    """`products` and `shared_products`: multiply-adds a cycle by the operands' element type, of operands in registers
    and of those that the unit reads from shared memory; a type that is missing costs as if the threads did it.

    `copy_bytes`: what a thread's asynchronous copy to shared memory may be wide, nothing where there are none,
    `copies_blocks` whether an engine copies blocks by descriptors, and `stores_slots` whether threads that load ahead
    for products store to shared memory what has come, behind the products of another iteration. `lane_bytes`: what a
    lane's asynchronous copy may be wide where those of a warp write consecutive memory, lane after lane: what cannot be
    brought so the threads store. `alternating_side`: the least rows and columns of a loop's one product for which two
    groups of a block's warps alternate between it and memory, so that another block need not run beside it; 0: of none.
    `copied` is how many bytes arrive in a cycle, `latency` cycles after a load was issued
    the first ones.

    >>> UnitCosts(lanes=64).lanes
    64
    """

    products: tuple[tuple[str, int], ...] = ()
    shared_products: tuple[tuple[str, int], ...] = ()
    lanes: int = 128
    special_lanes: int = 16
    shared_bytes: int = 128
    copy_bytes: tuple[int, ...] = ()
    copies_blocks: bool = False
    stores_slots: bool = False
    lane_bytes: tuple[int, ...] = ()
    alternating_side: int = 0
    copied: int = 32
    latency: int = 600


UNKNOWN_COSTS = UnitCosts()
"""Of a target that says nothing: threads alone, which cannot copy asynchronously."""

SPECIAL: tuple[type[Operation], ...] = (
    *(math.ExpOp, math.Exp2Op, math.LogOp, math.Log2Op, math.SinOp, math.CosOp, math.TanhOp, math.ErfOp),
    *(math.SqrtOp, math.RsqrtOp, arith.DivfOp),
)
"""Ops of which the threads do few in a cycle."""

WARP = 32
"""Threads whose accesses to shared memory are one wavefront or several, which take a cycle each."""

ISSUE = 4
"""Cycles to issue what another unit does."""


def is_asynchronous(op: Operation) -> bool:
    """Whether a unit that reads shared memory by itself does the op, while the threads go on if they may."""
    declared = declared_by(type(op))
    return declared is not None and any(e.kind is Kind.READ and e.proxy is Proxy.ASYNC for e in declared.own(op))


def elements(value: SSAValue) -> int:
    """How many elements of a value a thread has."""
    type_ = type_of(value)
    return tensor_layout(type_).in_size(REGISTER) if is_tensor(type_) and encoding_of(type_) is not None else 0


def product_cycles(costs: UnitCosts, op: Operation) -> int:
    """How long the unit takes for a product that makes it."""
    (a,) = values_of(op, "a")
    type_ = type_of(a)
    if isinstance(type_, MemDescType):
        inner, element = type_.shape[-1], type_.element_type
    else:
        inner, element = shape_of(type_)[-1], element_type(type_)
    table = dict(costs.shared_products if is_asynchronous(op) else costs.products)
    rate = table.get(_name(element), costs.lanes)
    return max(1, prod(shape_of(type_of(op.results[0]))) * inner // rate)


def thread_cycles(costs: UnitCosts, op: Operation, threads: int) -> int:
    """How long the threads of a block are busy with an op that is no product and no load; nothing with one that only
    names things."""
    declared = declared_by(type(op))
    if declared is not None and declared.view_of:
        return 0
    if isinstance(op, RENAMING):
        return 0
    held = max((elements(value) for value in (*op.results, *op.operands)), default=0) * threads
    if isinstance(op, tile.AddPtrOp):
        return -(-held // (costs.lanes * RUN))
    if isinstance(op, ConvertLayoutOp):
        return wavefronts(conversion_plan(op)) * threads // WARP
    if allocates_memory(op):
        return 0 if op.src is None else elements(op.src) * threads * stored_bytes(type_of(op.src)) // costs.shared_bytes
    inner = sum(thread_cycles(costs, one, threads) for region in op.regions for b in region.blocks for one in b.ops)
    special = isinstance(op, SPECIAL)
    return inner + -(-held // (costs.special_lanes if special else costs.lanes))


def load_cycles(costs: UnitCosts, value: SSAValue, width: int, threads: int) -> int:
    """How long the threads take to issue a load, or copy, of `width` bytes a thread at a time: a quarter of the lanes
    compute addresses."""
    accesses = max(1, value_bytes(value) // width)
    return max(ISSUE, 4 * accesses * threads // costs.lanes)


def _name(element: Attribute) -> str:
    return f"i{bit_width(element)}" if is_integer(element) else element.name
