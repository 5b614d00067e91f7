"""Offsets of a store behind a crowded stretch of a program are computed there, and not kept from before
(`rematerialise`).

An epilogue loads a residual and stores a result at the same places: 16 offsets of a thread, say, which LLVM and ptxas
compute once, so that they are in registers during all of what is between, beside an accumulator of 128 and as much that
is computed of it. They are what ptxas then spills. Where a store's offsets are made of ranges of their own, which
are not known to be the thread's (`tt.anew`), there is nothing to keep but scalars; the arithmetic of a row is an
instruction or two, once a program. Behind a crowded loop, which is not looked at, it helped some kernels and made ptxas
wait for the products of others (gradients of attention: C7515).

Products with bias, GELU and a residual (128×256 and 256×128 in 8 warps, 128×128 in 4) spilled 120 to 136 bytes, nearly
all such offsets, and spill none now."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import ModuleOp, UnitAttr
from xdsl.ir import Block, Operation, SSAValue

from tritonx.analysis.registers import INDICES, SPREAD, Pressure, elements
from tritonx.dialects import scf, tile
from tritonx.dialects.tile.shape import ANEW
from tritonx.ir.data_flow import sources_first
from tritonx.ir.edit import clone, insert_before
from tritonx.ir.types import is_tensor, type_of
from tritonx.ir.walk import ops_in

STORES = (tile.StoreOp, tile.AtomicRMWOp)

_FREE: tuple[type[Operation], ...] = (*SPREAD, tile.MakeRangeOp)
"""Of no instructions."""


def remake_offsets(module: ModuleOp, room: int) -> None:
    """Compute what a store outside of innermost loops needs of indices at the store: pointers and masks that are
    made of ranges, by sums, products, comparisons and changes of shape, of ranges marked `tt.anew`.

    That is if other ops use them too, and somewhere between the last loop in front and the store the tiles that threads
    hold take, with the offsets, more than ``room`` registers."""
    stores = [inner for inner in ops_in(module) if isinstance(inner, STORES) and _is_outside(inner)]
    known: dict[Block, Pressure] = {}
    for store in reversed(stores):  # what the last one no longer shares the one before it may keep
        chain = _chain(store)
        offsets = max((elements(type_of(o.results[0])) for o in chain if _is_range(o)), default=0)
        if offsets and _is_shared(chain, store) and _pressure(store, known) + offsets > room:
            _recompute(store, chain)
            known.clear()


def _pressure(store: Operation, known: dict[Block, Pressure]) -> int:
    """``known`` keeps what was found of a block, as long as it does not change."""
    block = store.parent
    assert block is not None
    if block not in known:
        known[block] = Pressure(block)
    return known[block].up_to(store)


def _is_range(op: Operation) -> bool:
    return isinstance(op, tile.MakeRangeOp)


def _is_outside(op: Operation) -> bool:
    """Not in a loop that has no loop inside."""
    loop = op.parent_op()
    while loop is not None and not isinstance(loop, (scf.ForOp, scf.WhileOp)):
        loop = loop.parent_op()
    return loop is None or any(
        isinstance(inner, (scf.ForOp, scf.WhileOp)) for inner in ops_in(loop) if inner is not loop
    )


def _chain(store: Operation) -> list[Operation]:
    """The ops that make a store's pointers and mask of scalars and ranges, in order."""

    def makers(values: Sequence[SSAValue]) -> list[Operation]:
        return [v.owner for v in values if is_tensor(v.type) and isinstance(v.owner, INDICES)]

    roots = makers((store.operands[0], *store.operands[2:]))
    return list(sources_first(roots, lambda op: makers(op.operands)))


def _is_shared(chain: list[Operation], store: Operation) -> bool:
    """Whether something else uses what is computed for a store: what nothing else does ptxas computes late itself."""
    own = {*chain, store}
    return any(use.operation not in own for op in chain if not isinstance(op, _FREE) for use in op.results[0].uses)


def _recompute(store: Operation, chain: list[Operation]) -> None:
    values: dict[SSAValue, SSAValue] = {}
    for op in chain:
        made = clone(op, values)
        if _is_range(made):
            made.attributes[ANEW] = UnitAttr()
        insert_before(made, store)
        values[op.results[0]] = made.results[0]
    store.operands = [values.get(operand, operand) for operand in store.operands]
