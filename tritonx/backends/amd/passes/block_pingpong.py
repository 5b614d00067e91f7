"""Ping-pong: two groups of warps of a block, on the same SIMDs, of which one multiplies while the other one accesses
memory.

A SIMD of CDNA has one matrix unit and issues for one wave a cycle; with eight warps it runs two waves of a block. In a
pipelined loop all waves meet at a barrier, load operands from the LDS at once, multiply at once, and store the next
tiles at once: while they load and store, no matrix unit works. Here a loop's iteration is cut into *clusters*, memory
and matrix in turn, with a barrier behind each:

    mem 0    loads of A, operands of slice 0       dot 0    slice 0
    mem 1    loads of B, operands of slice 1       dot 1    slice 1
    mem 2    operands of slices 2 and 3            dot 2    slice 2
    mem 3    stores of what was loaded             dot 3    slice 3

The upper half of the warps waits at one more barrier in front of the loop (`amdg.cond_barrier`), the lower half at one
behind it. So the upper half is one cluster late, and one half is in a matrix cluster whenever the other one is in a
memory cluster:

    warps 0–3         mem 0 | dot 0 | mem 1 | dot 1 | …
    warps 4–7   cond        | mem 0 | dot 0 | mem 1 | …

`rocdl.s.setprio` lets the half that multiplies issue first, `rocdl.sched.barrier` keeps LLVM's scheduler from moving
instructions between clusters.

**Order.** What a half does between its barriers j and j + 1 runs beside what the other half does between j − 1 and j,
or j + 1 and j + 2. So accesses of different halves to the same memory are in the order of the program if at least *two*
barriers are between them, where one is enough when all meet at the same one. The clusters are made so: operands are
read in memory clusters 0 to n − 2, stores are in the last one, and a matrix cluster with a barrier on both sides is
between any two memory clusters. In front of the loop all warps meet at a barrier; behind it the lower half has waited
until the upper one has arrived at its last barrier.

With 4 warps a SIMD has one wave of a block, and the other one, if it has room, is another block's, which no barrier
reaches: there the product has the higher priority, and no more is done.

Operands that are copied past the registers have clusters of their own (`pingpong_copies`), with 8 warps, three slots
and 128 rows and columns or more, as Triton 3.9 has them with three stages.

Which other loops: a product of operands in shared memory, which are loaded by the threads and stored behind it
(`buffer-values` with two stages). Everything else of the body must be computed, or be masks and addresses; the products
of a masked K are no others. What is loaded by halves or bytes takes a register each, beside which two slices of the
operands have no room: such loops stay. Sizes are those of Triton 3.9 (`TWO`, `FOUR`, `SINGLE`): a smaller tile
multiplies for less time than its operands take to come, in every order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation
from xdsl.passes import ModulePass

from tritonx.analysis.access_width import pointer_accesses
from tritonx.analysis.axis_info import AxisFacts, analyze_axes
from tritonx.analysis.buffers import tensor_layout
from tritonx.backends.amd.costs import ALTERNATING_SIDE
from tritonx.backends.amd.emit.buffer import width
from tritonx.backends.amd.passes.pingpong_chained import (
    ChainedRound,
    chained_round,
    products_of,
    write_chained_clusters,
)
from tritonx.backends.amd.passes.pingpong_clusters import GROUP, Round, prioritise, taken_apart, write_clusters
from tritonx.backends.amd.passes.pingpong_copies import CopyRound, copies_operands, copy_round, write_copy_clusters
from tritonx.backends.amd.passes.product_slices import k_order
from tritonx.dialects import scf
from tritonx.dialects.amd import BufferLoadOp
from tritonx.dialects.gpu_layout import LocalDotOp
from tritonx.dialects.tile import LoadOp
from tritonx.ir.contract import Contract
from tritonx.ir.explain import explain
from tritonx.ir.properties import stated_number
from tritonx.ir.types import bit_width, element_type, shape_of, type_of
from tritonx.ir.walk import ops_in

TOPIC = "pipeline"
SINGLE = range(2**18, 2**24 + 1)
"""Sizes of products in bits (rows × columns × K × bits of an element) that 4 warps give a priority: up to 128×128×64
halves."""
TWO, FOUR = 2**25, 2**26
"""Sizes from which on 8 warps take a product in two and in four slices: 256×128×64 and 256×256×64 halves."""
WORD = 32
"""Bits of a register. Of 128×256×64 halves that are loaded one by one, with the slices of ping-pong a thread spills 26
registers; 256×256 spills without it as well, and more with it."""


@dataclass(frozen=True)
class BlockPingpong(ModulePass):
    """Has two groups of warps alternate between memory and products in pipelined loops.

    A loop with one `ttg.local_dot`, whose operands its threads load and store, or copy to three slots or more, is cut
    into clusters with barriers, for two halves of 8 warps that are a cluster apart. With 4 warps a product of what is
    stored gets a priority. Other loops stay, and
    `TRITONX_EXPLAIN=pipeline` says why. The barriers take the place of those that `insert-barriers` put in the loop."""

    name = "block-pingpong"
    contract = Contract(
        ("ttg",),
        on=("ttg.local_dot",),
        creates=(
            "amdg.cond_barrier",
            "arith",
            "rocdl.s.setprio",
            "rocdl.sched.barrier",
            "tt.dot",
            "ttg.async_wait",
            "ttg.local_barrier",
            "ttg.local_load",
            "ttg.memdesc_reinterpret",
            "ttg.memdesc_subslice",
            "ttg.warp_id",
        ),
        reads=("ttg.num-warps",),
        needs=("insert-barriers",),
    )

    slices: int = 0
    """Slices of K that 8 warps take a product in, of any size; 0: as its size says."""
    attention: bool = False
    """Whether loops with two products are cut too, of which one half of the warps multiplies and one computes."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        warps = stated_number(op.attributes, "ttg.num-warps") or 1
        done = self._alternate_chained(op, warps) if self.attention else ()
        for inner in ops_in(op):
            if isinstance(inner, LocalDotOp) and isinstance(loop := inner.parent_op(), scf.ForOp) and loop not in done:
                explain(TOPIC, loop, self._schedule(loop, inner, warps))

    @staticmethod
    def _alternate_chained(module: ModuleOp, warps: int) -> Sequence[scf.ForOp]:
        """The loops with two products, which it changes or says why not."""
        loops = [op for op in ops_in(module) if isinstance(op, scf.ForOp) and len(products_of(op)) == 2]
        for loop in loops:
            found = chained_round(loop) if warps == 2 * GROUP else f"{warps} warps are no two groups of {GROUP}"
            if isinstance(found, ChainedRound):
                write_chained_clusters(found, GROUP)
                explain(TOPIC, loop, f"ping-pong of two groups of {GROUP} warps, one of which multiplies")
            else:
                explain(TOPIC, loop, f"no ping-pong of two products: {found}")
        return loops

    @staticmethod
    def _facts(loop: Operation) -> AxisFacts:
        module = loop
        while (parent := module.parent_op()) is not None:
            module = parent
        assert isinstance(module, ModuleOp)
        return analyze_axes(module)

    def _schedule(self, loop: scf.ForOp, product: LocalDotOp, warps: int) -> str:
        """Changes a loop, and says how; or why not."""
        if copies_operands(loop):
            return self._schedule_copies(loop, product, warps)
        size = _bits(product)
        single, several = warps == GROUP and size in SINGLE, warps == 2 * GROUP and (self.slices or size >= TWO)
        if not single and not several:
            return f"no ping-pong: a product of {size} bits in {warps} warps"
        found = taken_apart(loop, product)
        if not isinstance(found, Round):
            return f"no ping-pong: {found}"
        if single:
            prioritise(product)
            return "the product has a priority"
        if not self.slices and not all(_by_words(load, self._facts(loop)) for load in found.loads):
            return "no ping-pong: operands are loaded by less than words, and so take too many registers"
        slices = self.slices or (4 if size >= FOUR else 2)
        order = k_order(*found.operands, slices)
        if order is None:
            return f"no ping-pong: K does not come in {slices} slices"
        write_clusters(found, order, slices, GROUP)
        return f"ping-pong of two groups of {GROUP} warps, {slices} slices of K"

    def _schedule_copies(self, loop: scf.ForOp, product: LocalDotOp, warps: int) -> str:
        if warps != 2 * GROUP:
            return f"no ping-pong of copies: {warps} warps are no two groups of {GROUP}"
        side = min(shape_of(type_of(product.d)))
        if not self.slices and side < ALTERNATING_SIDE:
            return f"no ping-pong of copies: {side} rows or columns"
        found = copy_round(loop, product)
        if not isinstance(found, CopyRound):
            return f"no ping-pong of copies: {found}"
        write_copy_clusters(found, GROUP)
        return f"ping-pong of two groups of {GROUP} warps, copies ahead"


def _by_words(load: Operation, facts: AxisFacts) -> bool:
    """Whether a load's accesses are of 32 bits or more."""
    size = bit_width(element_type(type_of(load.results[0])))
    layout = tensor_layout(type_of(load.results[0]))
    if isinstance(load, BufferLoadOp):
        found = width(facts, layout, load.ptr, load.offsets, load.mask, size, may_split=True)
    else:
        assert isinstance(load, LoadOp)
        found = pointer_accesses(facts, layout, load.ptr, load.mask, size, may_split=True)
    return found.width * size >= WORD


def _bits(product: LocalDotOp) -> int:
    a, b = product.operand_types
    (rows, depth), columns = shape_of(a)[-2:], shape_of(b)[-1]
    return rows * columns * depth * bit_width(element_type(a))
