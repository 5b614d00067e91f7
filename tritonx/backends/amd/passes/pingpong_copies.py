"""The clusters of a loop of `block-pingpong` whose operands are copied to the LDS past the registers.

Nothing is stored, so that an iteration is one memory and one matrix cluster:

    mem    operands of iteration i from the LDS, copies for iteration i + d, wait for the copies for iteration i + 1
    dot    the product

A wait is for the copies of the warp that waits. What others copy is visible behind a barrier that follows their wait.
The halves are a cluster apart, so *two* barriers must be between a wait and what reads, and between what reads and a
copy that overwrites. So the wait moves from the start of an iteration to the memory cluster of the iteration before,
where it is for the same copies, and the first one is in front of the loop:

    warps 0–3         mem i | dot i   | mem i + 1 | dot i + 1
    warps 4–7         …     | mem i   | dot i     | mem i + 1
                        wait ^          ^ all warps have waited for the copies for i + 1

It asks for three slots or more: with two, the copies for the next iteration are waited for in the cluster that issues
them."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.ir import Operation, SSAValue

from tritonx.backends.amd.passes.pingpong_clusters import hold_half, meet, multiply, only_computes, users_of
from tritonx.backends.amd.passes.product_slices import Operand, operands_of
from tritonx.dialects import scf
from tritonx.dialects.amd import BufferLoadToLocalOp
from tritonx.dialects.gpu_layout import (
    AsyncCommitGroupOp,
    AsyncCopyGlobalToLocalOp,
    AsyncWaitOp,
    LocalBarrierOp,
    LocalDotOp,
    LocalLoadOp,
)
from tritonx.ir.builder import Builder
from tritonx.ir.edit import clone, erase, insert_before, move_before, replace, terminator_of

COPIES = (AsyncCopyGlobalToLocalOp, BufferLoadToLocalOp)


@dataclass(frozen=True)
class CopyRound:
    """A loop's iteration: its wait, the copies with their groups, the product, the barriers, and what is computed from
    the product's result."""

    loop: scf.ForOp
    product: LocalDotOp
    operands: tuple[Operand, Operand]
    wait: AsyncWaitOp
    copies: tuple[Operation, ...]
    barriers: tuple[Operation, ...]
    results: frozenset[Operation]


def copies_operands(loop: scf.ForOp) -> bool:
    """Whether a loop copies to the LDS past the registers."""
    return any(isinstance(op, COPIES) for op in loop.body.block.ops)


def copy_round(loop: scf.ForOp, product: LocalDotOp) -> CopyRound | str:
    """The iteration of a loop that waits, copies for a later iteration, multiplies, and computes; else what is in the
    way."""
    operands = operands_of(product)
    if operands is None:
        return "an operand is in registers"
    waits, copies, barriers = list[AsyncWaitOp](), list[Operation](), list[Operation]()
    results, behind = users_of(product), False
    for op in list(loop.body.block.ops)[:-1]:
        if op is product:
            behind = True
        elif isinstance(op, LocalBarrierOp):
            barriers.append(op)
        elif isinstance(op, AsyncWaitOp):
            if copies:
                return "copies are waited for in the iteration that issues them, with two slots"
            waits.append(op)
        elif isinstance(op, (*COPIES, AsyncCommitGroupOp)):
            if behind:
                return "a copy is behind the product"
            copies.append(op)
        elif not only_computes(op):
            return f"'{op.name}' is in the loop"
    if len(waits) != 1:
        return f"the loop has {len(waits)} waits for copies"
    if waits[0].operands or waits[0].results[0].first_use is not None:
        return "what is waited for is a token"
    return CopyRound(loop, product, operands, waits[0], tuple(copies), tuple(barriers), frozenset(results))


def write_copy_clusters(found: CopyRound, group: int) -> None:
    """Cuts the loop into two clusters, and has the warps from number `group` on follow the others by one."""
    product, end = found.product, terminator_of(found.loop.body.block)
    for barrier in found.barriers:
        erase(barrier)
    ops = list(found.loop.body.block.ops)
    for op in ops[ops.index(product) + 1 : -1]:
        if op not in found.results:
            move_before(op, product)
    builder = Builder.before(product)
    builder.location = product.location
    tiles = [_read(builder, operand) for operand in found.operands]
    for op in (*found.copies, found.wait):
        move_before(op, product)
    insert_before(clone(found.wait, {}), found.loop)
    meet(builder)
    total = multiply(builder, product, (tiles[0], tiles[1]), product.c)
    last = Builder.before(end)
    last.location = product.location
    replace(product, (total,))
    meet(last)
    hold_half(found.loop, group)


def _read(builder: Builder, operand: Operand) -> SSAValue:
    return builder.create(LocalLoadOp, (operand.value,), (operand.tile,)).results[0]
