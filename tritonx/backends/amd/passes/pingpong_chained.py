"""The clusters of a loop of `block-pingpong` with two products, of which the second one multiplies what is computed of
the first one's result: attention.

One half of the warps multiplies while the other one computes: a matrix cluster is the second product of an iteration
and the first one of the next, the other cluster is what is between them.

    dot    second product of iteration i - 1, first product of iteration i
    rest   what the second product of iteration i needs, its operand from the LDS

So a cluster begins in one iteration and ends in the next, and an iteration is, a line for each barrier:

    first product, wait for the copies for iteration i + 1
    rest, operand of the second product
    copies for iteration i + d, second product

As in `pingpong_copies` two barriers are between a wait and what reads, and between what reads and a copy that
overwrites: copies for an iteration are issued behind the second barrier of the one before."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.dialects.builtin import IntegerAttr
from xdsl.ir import Operation, SSAValue

from tritonx.analysis.registers import words
from tritonx.backends.amd.passes.pingpong_clusters import (
    hold_half,
    meet,
    only_computes,
    prioritise,
    product_of_registers,
    users_of,
)
from tritonx.backends.amd.passes.pingpong_copies import COPIES
from tritonx.dialects import scf, tile
from tritonx.dialects.effects import Kind, Resource, effects_of
from tritonx.dialects.gpu_layout import AsyncCommitGroupOp, AsyncWaitOp, LocalBarrierOp, LocalDotOp, LocalLoadOp
from tritonx.ir.builder import Builder
from tritonx.ir.edit import clone, erase, insert_before, move_before, replace, terminator_of
from tritonx.ir.types import i32, is_tensor, type_of
from tritonx.transforms.gpu.placed_memory import scratch_of

OPERAND_WORDS = 64
"""Registers of a lane for an operand that is read in front of its product: that of 128 columns and 64 ks of halves."""


@dataclass(frozen=True)
class ChainedRound:
    """A loop's iteration: its wait, the copies with their groups, the two products and the barriers."""

    loop: scf.ForOp
    wait: AsyncWaitOp
    copies: tuple[Operation, ...]
    first: LocalDotOp
    second: LocalDotOp
    barriers: tuple[Operation, ...]

    @property
    def groups(self) -> int:
        return sum(isinstance(op, AsyncCommitGroupOp) for op in self.copies)


def products_of(loop: scf.ForOp) -> list[LocalDotOp]:
    return [op for op in loop.body.block.ops if isinstance(op, LocalDotOp)]


def chained_round(loop: scf.ForOp) -> ChainedRound | str:
    """The iteration of a loop that waits, copies for a later iteration, and multiplies twice; else what is in the
    way."""
    first, second = products_of(loop)
    later = users_of(first)
    if second not in later:
        return "the second product needs no result of the first one"
    waits, copies, barriers = list[AsyncWaitOp](), list[Operation](), list[Operation]()
    behind = False
    for op in list(loop.body.block.ops)[:-1]:
        if op is first or op is second:
            behind = True
        elif isinstance(op, LocalBarrierOp):
            barriers.append(op)
        elif isinstance(op, AsyncWaitOp):
            if copies or op.operands or op.results[0].first_use is not None:
                return "copies are waited for in the iteration that issues them"
            waits.append(op)
        elif isinstance(op, (*COPIES, AsyncCommitGroupOp)):
            if behind:
                return "a copy is behind a product"
            copies.append(op)
        elif not only_computes(op) and not _computes_in_warps(op):
            return f"'{op.name}' is in the loop"
    if len(waits) != 1:
        return f"the loop has {len(waits)} waits for copies"
    found = ChainedRound(loop, waits[0], tuple(copies), first, second, tuple(barriers))
    if waits[0].num.value.data < found.groups:
        return "the copies for the next iteration are issued in this one"
    return found


def _computes_in_warps(op: Operation) -> bool:
    """Whether an op that may exchange values between warps needs no shared memory for it."""
    effects = effects_of(op)
    scratch = effects is not None and all(
        effect.resource is Resource.SCRATCH or effect.kind is Kind.TRAP for effect in effects
    )
    return scratch and scratch_of(op) is None


def write_chained_clusters(found: ChainedRound, group: int) -> None:
    """Cuts the loop, and has the warps from number `group` on follow the others by a cluster."""
    loop, first, second = found.loop, found.first, found.second
    for barrier in found.barriers:
        erase(barrier)
    results, needed = users_of(second), _needed(first)
    kept = {first, second, found.wait, *found.copies, *results, *needed}
    ops, end = list(loop.body.block.ops)[:-1], terminator_of(loop.body.block)
    rest = [op for op in ops if op not in kept]
    behind = [op for op in ops if op in results]
    insert_before(clone(found.wait, {}), loop)
    for op in (first, found.wait, *rest, *found.copies, second, *behind):
        move_before(op, end)
    found.wait.properties["num"] = IntegerAttr(found.wait.num.value.data - found.groups, i32)
    _meet_before(rest[0], first)
    prioritise(first)
    prioritise(_with_operand(found.copies[0], second))
    _meet_before(found.copies[0], first)
    hold_half(loop, group)


def _needed(product: LocalDotOp) -> set[Operation]:
    """The ops of the body that a product needs."""
    found: set[Operation] = set()
    work: list[SSAValue] = list(product.operands)
    while work:
        owner = work.pop().owner
        if isinstance(owner, Operation) and owner.parent is product.parent and owner not in found:
            found.add(owner)
            work += owner.operands
    return found


def _meet_before(op: Operation, product: Operation) -> None:
    builder = Builder.before(op)
    builder.location = product.location
    meet(builder)


def _with_operand(place: Operation, product: LocalDotOp) -> LocalDotOp | tile.DotOp:
    """The product with its second operand read before `place`, if registers have room for it."""
    _, type_ = product.operand_types
    if not is_tensor(type_of(product.a)) or is_tensor(type_of(product.b)) or words(type_) > OPERAND_WORDS:
        return product
    builder = Builder.before(place)
    builder.location = product.location
    read = builder.create(LocalLoadOp, (product.b,), (type_,)).results[0]
    at = Builder.before(product)
    at.location = product.location
    total = product_of_registers(at, product, (product.a, read), product.c)
    replace(product, (total,))
    assert isinstance(total.owner, tile.DotOp)
    return total.owner
