"""Keeping narrow tiles in registers across a reduction instead of the wide tiles that were computed from them.

A softmax over 32768 bf16 columns holds a row in the registers of 512 threads: 32 words a thread as it was loaded, but
64 as f32. Between the reductions the row must stay, and 64 words a thread leave room for one block a processor: while
it waits at a barrier or for memory nothing else runs. Kept as bf16 and widened (and exponentiated) again after each
reduction, two blocks fit, and one computes while the other loads. Arithmetic is paid for memory time, which is what
such a kernel is made of."""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import BoolAttr, IntegerAttr, ModuleOp, StringAttr
from xdsl.ir import Block, Operation, OpResult, SSAValue
from xdsl.passes import ModulePass

from tritonx.dialects import arith, math, tile
from tritonx.dialects.gpu_layout.type_encodings import distributed_encoding
from tritonx.ir.contract import Contract
from tritonx.ir.data_flow import sources_first
from tritonx.ir.edit import clone
from tritonx.ir.types import bit_width, is_float, is_tensor, shape_of, type_of
from tritonx.layouts import linear_layout
from tritonx.layouts.dims import REGISTER

_CHEAP: tuple[type[Operation], ...] = (
    arith.ExtFOp,
    arith.TruncFOp,
    arith.AddfOp,
    arith.SubfOp,
    arith.MulfOp,
    arith.NegfOp,
    arith.MaximumfOp,
    arith.MinimumfOp,
    arith.MaxnumfOp,
    arith.MinnumfOp,
    arith.SelectOp,
    math.ExpOp,
    math.Exp2Op,
    math.AbsFOp,
    math.FmaOp,
)
"""Ops that may be done again; exponentials included, because the special-function unit is otherwise idle here."""

WORKING_REGISTERS = 48
"""What such a kernel needs beside the row: addresses, masks, a run of intermediates (48 to 56 where measured)."""


@dataclass(frozen=True)
class RecomputeNarrow(ModulePass):
    """Recomputes wide float tiles from narrower ones after each reduction.

    Tiles of at least ``words`` words, and only where what must be kept instead is at most half as wide. The narrow
    tile passes through an empty piece of inline assembly, so that the code generator cannot merge the two computations
    again. Sets ``ttg.maxnreg`` to what lets ``blocks`` blocks share the ``registers`` of a processor. Where nobody says
    how many there are, or with ``words`` 0, it does nothing."""

    name = "recompute-narrow"
    contract = Contract(
        ("ttg",),
        on=("tt.reduce",),
        creates=("tt.elementwise_inline_asm",),
        reads=("ttg.num-warps", "ttg.threads-per-warp"),
        writes=("ttg.maxnreg",),
        needs=("assign-layouts",),
    )

    words: int = 64
    """32-bit words that a tile takes in a thread at least; 0 for no tile."""
    registers: int | None = None
    """Registers of a processor; None where nobody says."""
    blocks: int = 2
    """Blocks that are to share it."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        if not self.words or self.registers is None:
            return
        threads = _attribute(op, "ttg.num-warps") * _attribute(op, "ttg.threads-per-warp")
        share = self.registers // (self.blocks * threads)
        changed = False
        for block in [b for function in op.ops for region in function.regions for b in region.blocks]:
            changed |= self._in_block(block, share)
        if changed and "ttg.maxnreg" not in op.attributes:
            limit = share // 8 * 8
            if limit >= self.words // 2 + 24:
                op.attributes["ttg.maxnreg"] = IntegerAttr(min(limit, 248), 32)

    def _in_block(self, block: Block, share: int) -> bool:
        """``share`` are the registers of a thread with which a processor has room for all blocks."""
        before: set[Operation] = set()
        wide: list[Operation] = []
        changed = False
        at = block.first_op
        for reduction in [o for o in block.ops if isinstance(o, tile.ReduceOp)]:
            while at is not None and at is not reduction:
                before.add(at)
                if isinstance(at, _CHEAP):
                    words = words_of(at.results[0])
                    if words >= self.words and words + WORKING_REGISTERS > share:
                        wide.append(at)
                at = at.next_op
            # A tile that nothing behind this reduction reads is not looked at again.
            wide = [op for op in wide if _users_behind(op, block, before)]
            for op in wide:
                users = [user for user in _users_behind(op, block, before) if user[0] is not reduction]
                changed |= self._across(op, users, reduction)
        return changed

    def _across(self, op: Operation, users: Sequence[tuple[Operation, int]], reduction: Operation) -> bool:
        """Compute a tile anew behind ``reduction`` for its users there."""
        if not users:
            return False
        chain, leaves = slice_of(op, words_of(op.results[0]) // 2)
        if chain is None or not leaves or sum(map(words_of, leaves)) * 2 > words_of(op.results[0]):
            return False
        copy = rematerialise(chain, leaves, reduction)
        for user, index in users:
            user.operands[index] = copy
        return True


def _users_behind(op: Operation, block: Block, before: Container[Operation]) -> list[tuple[Operation, int]]:
    """The uses of a tile in its block by ops that are not ``before``."""
    return [
        (use.operation, use.index)
        for use in op.results[0].uses
        if use.operation.parent is block and use.operation not in before
    ]


def _attribute(op: ModuleOp, name: str) -> int:
    found = op.attributes.get(name)
    return int(found.value.data) if isinstance(found, IntegerAttr) else 1


def words_of(value: SSAValue) -> int:
    """32-bit words of registers that a float tile takes in a thread; 0 for other tiles, which are indices or
    masks.
    """
    type_ = type_of(value)
    if not is_tensor(type_) or not is_float(type_):
        return 0
    layout = linear_layout(distributed_encoding(type_), shape_of(type_))
    return (1 << layout.in_bits(REGISTER)) * bit_width(type_) // 32


def slice_of(op: Operation, narrow: int) -> tuple[list[Operation] | None, list[SSAValue]]:
    """The ops to rematerialise for ``op``, in order, and the tiles of at most ``narrow`` words that they start from.

    None where the slice meets a wider tile that cannot be recomputed.
    """
    chain: list[Operation] = []
    leaves: dict[SSAValue, None] = {}
    wide = False

    def makers(current: Operation) -> Iterator[Operation]:
        nonlocal wide
        for operand in current.operands:
            words = words_of(operand)
            maker = operand.owner if isinstance(operand, OpResult) else None
            if words == 0 or isinstance(maker, tile.SplatOp | arith.ConstantOp):
                continue  # a scalar, a mask, or one number for all
            if words <= narrow:
                leaves[operand] = None
            elif isinstance(maker, _CHEAP):
                yield maker
            else:
                wide = True
                return

    for made in sources_first((op,), makers):
        if wide:
            return None, []
        chain.append(made)
    return chain, list(leaves)


def rematerialise(chain: list[Operation], leaves: list[SSAValue], after: Operation) -> SSAValue:
    """A copy of ``chain`` behind ``after``, from opaque copies of its leaves; the result of its last op."""
    block = after.parent
    assert block is not None
    place: Operation = after
    values: dict[SSAValue, SSAValue] = {}

    def insert(op: Operation) -> None:
        nonlocal place
        op.location = after.location
        block.insert_op_after(op, place)
        place = op

    for leaf in leaves:
        pack = 32 // bit_width(type_of(leaf))
        kept = tile.ElementwiseInlineAsmOp.create(
            operands=(leaf,),
            result_types=(type_of(leaf),),
            properties={
                "asm_string": StringAttr(""),
                "constraints": StringAttr("=r,0"),
                "pure": BoolAttr.from_bool(False),
                "packed_element": IntegerAttr(pack, 32),
            },
        )
        insert(kept)
        values[leaf] = kept.results[0]
    for op in chain:
        insert(clone(op, values))
    return place.results[0]
