"""Offsets of a store behind a crowded stretch of a program are computed there, and not kept from before.

An epilogue loads a residual and stores a result at the same places: 16 offsets of a thread, say, which LLVM and ptxas
compute once, so that they are in registers during all of what is between, beside an accumulator of 128 and as much that
is computed of it. They are what ptxas then spills. Where a store's offsets are made of ranges of their own, of which
nobody knows that they are the thread's (`tt.anew`), there is nothing to keep but scalars; the arithmetic of a row is an
instruction or two, once a program. Behind a crowded loop, which is not looked at, it helped some kernels and made ptxas
wait for the products of others (gradients of attention: C7515).

Products with bias, GELU and a residual (128×256 and 256×128 in 8 warps, 128×128 in 4) spilled 120 to 136 bytes, nearly
all such offsets, and spill none now."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, UnitAttr
from xdsl.ir import Block, Operation, SSAValue
from xdsl.passes import ModulePass

from tritonx.analysis.buffers import scratch_size
from tritonx.analysis.thread_words import thread_elements, thread_words
from tritonx.dialects import arith, scf, tile
from tritonx.dialects.gpu_layout import ConvertLayoutOp, LocalLoadOp
from tritonx.dialects.gpu_layout.encodings import DotOperandEncodingAttr
from tritonx.dialects.layout_constraints import is_elementwise
from tritonx.dialects.tile.shape import ANEW
from tritonx.ir.contract import Contract
from tritonx.ir.data_flow import sources_first
from tritonx.ir.edit import clone, insert_before
from tritonx.ir.effects import has_effects
from tritonx.ir.types import encoding_of, is_tensor, type_of
from tritonx.ir.walk import ops_in

BESIDE = 40
"""Registers of a thread for what is neither tile nor offset. With 208 for these a product with int8 weights takes 214,
and with 224 and 240 those with GELU and a residual spilled (cuda:90, 128 and 256 columns)."""

_SPREAD: tuple[type[Operation], ...] = (tile.SplatOp, tile.BroadcastOp, tile.ExpandDimsOp, arith.ConstantOp)
"""Of fewer numbers than their result has elements."""

_FREE: tuple[type[Operation], ...] = (*_SPREAD, tile.MakeRangeOp)
"""Of no instructions."""

_INDICES: tuple[type[Operation], ...] = (
    *_FREE,
    tile.AddPtrOp,
    arith.AddiOp,
    arith.SubiOp,
    arith.MuliOp,
    arith.ExtSIOp,
    arith.ExtUIOp,
    arith.CmpiOp,
    arith.AndIOp,
    arith.OrIOp,
)
"""What offsets and masks are made with, an instruction or two each."""

_STORES = (tile.StoreOp, tile.AtomicRMWOp)


@dataclass(frozen=True)
class RecomputeOffsets(ModulePass):
    """Computes what a store needs of indices where it stands, if registers are short before it.

    Of `tt.store` and `tt.atomic_rmw` outside of innermost loops: pointers and masks that are made of ranges, by sums,
    products, comparisons and changes of shape, are made again in front of it, of ranges marked `tt.anew`. That is if
    other ops use them too, and somewhere between the last loop in front and the store the tiles that threads hold take,
    with the offsets and 40 registers more, more than the ``registers`` of a thread; where nobody says how many there
    are, never."""

    name = "recompute-offsets"
    contract = Contract(
        ("ttg",), on=("tt.store", "tt.atomic_rmw"), creates=(), writes=(ANEW,), needs=("assign-layouts",)
    )

    registers: int | None = None
    """Of 32 bits, that a thread can have."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        if self.registers is None:
            return
        stores = [inner for inner in ops_in(op) if isinstance(inner, _STORES) and _is_outside(inner)]
        crowds: dict[Block, Crowd] = {}
        for store in reversed(stores):  # what the last one no longer shares the one before it may keep
            chain = _chain(store)
            offsets = max((thread_elements(type_of(o.results[0])) for o in chain if _is_range(o)), default=0)
            if offsets and _is_shared(chain, store) and crowd(store, crowds) + offsets + BESIDE > self.registers:
                _recompute(store, chain)
                crowds.clear()


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
        return [v.owner for v in values if is_tensor(v.type) and isinstance(v.owner, _INDICES)]

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


# --- what registers hold


def crowd(store: Operation, known: dict[Block, Crowd] | None = None) -> int:
    """The most words of a thread that tiles take at once between a store and the last loop or branch in front of it.

    ``known`` keeps what was found of a block, as long as it does not change.
    """
    block = store.parent
    assert block is not None
    found = None if known is None else known.get(block)
    if found is None:
        found = Crowd(block)
        if known is not None:
            known[block] = found
    return found.at(store)


class Crowd:
    """How many words of a thread the tiles of a block take at once."""

    def __init__(self, block: Block) -> None:
        self.block = block
        self.ops = list(block.ops)
        self.number = {op: n for n, op in enumerate(self.ops)}
        self.late = {op for op in self.ops if _is_written_late(op)}
        self.ends: dict[SSAValue, int] = {}
        for op in reversed(self.ops):  # users first, so that no chain of ops is followed
            if op in self.late:
                self.end(op.results[0])
        self.most: dict[int, list[int]] = {}
        """From the op behind each loop or branch on: the most words up to each op."""

    def end(self, value: SSAValue) -> int:
        """The last op of the block that needs a value, for what is computed of it an element at a time as well."""
        if value not in self.ends:
            found = -1
            for use in value.uses:
                op = self.block.find_ancestor_op_in_block(use.operation)
                if op is not None:
                    computed = op is use.operation and op in self.late
                    found = max(found, self.number[op], self.end(op.results[0]) if computed else -1)
            self.ends[value] = found
        return self.ends[value]

    def at(self, store: Operation) -> int:
        last = self.number[store]
        first = self._first(last)
        if first not in self.most:
            self.most[first] = self._most(first)
        return self.most[first][last - first]

    def _first(self, last: int) -> int:
        """The op behind the last one in front of ``last`` that has regions."""
        at = bisect_left(self._regions, last)
        return self._regions[at - 1] + 1 if at else 0

    @cached_property
    def _regions(self) -> list[int]:
        return [n for n, op in enumerate(self.ops) if op.regions]

    def _most(self, first: int) -> list[int]:
        changes = [0] * (len(self.ops) + 2)
        for value in {operand for op in self.ops[first:] for operand in op.operands}:
            if words := _words(value):
                made = self.number.get(value.owner, -1) + 1 if isinstance(value.owner, Operation) else 0
                changes[max(first, made)] += words
                changes[self.end(value) + 1] -= words
        return list(accumulate(accumulate(changes[first:]), max))


def _is_written_late(op: Operation) -> bool:
    """Whether its elements are computed one by one, when they are asked for, or the operand's registers renumbered: no
    register holds them."""
    if isinstance(op, ConvertLayoutOp):
        return not scratch_size(op)
    return isinstance(op, _SPREAD) or (is_elementwise(op) and not has_effects(op))


def _words(value: SSAValue) -> int:
    """Registers of a tile; none of those that are indices or computed where they are used, nor of a product's operands
    in shared memory, which it reads in steps."""
    made = value.owner
    if not is_tensor(value.type) or isinstance(made, _INDICES):
        return 0
    if isinstance(made, LocalLoadOp) and isinstance(encoding_of(value.type), DotOperandEncodingAttr):
        return 0
    return 0 if isinstance(made, Operation) and _is_written_late(made) else thread_words(type_of(value))
