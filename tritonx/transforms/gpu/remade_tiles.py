"""Narrow tiles are kept across a reduction instead of the wide tiles that were computed from them (`rematerialise`).

A softmax over 32768 bf16 columns holds a row in the registers of 512 threads: 32 words a thread as it was loaded, but
64 as f32. Between the reductions the row must stay, and 64 words a thread leave room for one block a processor: while
it waits at a barrier or for memory nothing else runs. Kept as bf16 and widened (and exponentiated) again after each
reduction, two blocks fit, and one computes while the other loads. Arithmetic is paid for memory time, which is what
such a kernel is made of."""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence

from xdsl.dialects.builtin import BoolAttr, IntegerAttr, ModuleOp, StringAttr
from xdsl.ir import Block, Operation, OpResult, SSAValue

from tritonx.analysis.registers import Pressure, words
from tritonx.dialects import arith, math, tile
from tritonx.ir.data_flow import sources_first
from tritonx.ir.edit import clone
from tritonx.ir.types import bit_width, is_float, is_tensor, type_of

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


def remake_tiles(module: ModuleOp, least: int, room: int) -> bool:
    """Compute tiles of at least so many registers behind reductions again, where a thread has ``room`` for fewer and
    what must be kept instead is at most half as wide; whether there are any.

    The narrow tile passes through an empty piece of inline assembly, so that the code generator cannot merge the two
    computations again."""
    blocks = [b for function in module.ops for region in function.regions for b in region.blocks]
    changed = [_in_block(block, least, room) for block in blocks]
    return any(changed)


def _in_block(block: Block, least: int, room: int) -> bool:
    before: set[Operation] = set()
    wide: list[Operation] = []
    changed = False
    at = block.first_op
    for reduction in [o for o in block.ops if isinstance(o, tile.ReduceOp)]:
        while at is not None and at is not reduction:
            before.add(at)
            if isinstance(at, _CHEAP):
                held = _words(at.results[0])
                if held >= least:
                    wide.append(at)
            at = at.next_op
        # A tile that nothing behind this reduction reads is not looked at again.
        wide = [op for op in wide if _users_behind(op, block, before)]
        if not wide or Pressure(block).across(reduction) <= room:
            continue
        for op in wide:
            users = [user for user in _users_behind(op, block, before) if user[0] is not reduction]
            changed |= _across(op, users, reduction)
    return changed


def _across(op: Operation, users: Sequence[tuple[Operation, int]], reduction: Operation) -> bool:
    """Compute a tile anew behind ``reduction`` for its users there."""
    if not users:
        return False
    chain, leaves = _slice_of(op, _words(op.results[0]) // 2)
    if chain is None or not leaves or sum(map(_words, leaves)) * 2 > _words(op.results[0]):
        return False
    copy = _made_again(chain, leaves, reduction)
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


def _words(value: SSAValue) -> int:
    """32-bit words of registers that a float tile takes in a thread; 0 for other tiles, which are indices or
    masks.
    """
    type_ = type_of(value)
    if not is_tensor(type_) or not is_float(type_):
        return 0
    return words(type_)


def _slice_of(op: Operation, narrow: int) -> tuple[list[Operation] | None, list[SSAValue]]:
    """The ops to rematerialise for ``op``, in order, and the tiles of at most ``narrow`` words that they start from.

    None where the slice meets a wider tile that cannot be recomputed.
    """
    chain: list[Operation] = []
    leaves: dict[SSAValue, None] = {}
    wide = False

    def makers(current: Operation) -> Iterator[Operation]:
        nonlocal wide
        for operand in current.operands:
            held = _words(operand)
            maker = operand.owner if isinstance(operand, OpResult) else None
            if held == 0 or isinstance(maker, tile.SplatOp | arith.ConstantOp):
                continue  # a scalar, a mask, or one number for all
            if held <= narrow:
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


def _made_again(chain: list[Operation], leaves: list[SSAValue], after: Operation) -> SSAValue:
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
