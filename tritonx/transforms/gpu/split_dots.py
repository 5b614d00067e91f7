"""Products whose operands do not fit shared memory together become products of parts of K, one after another."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Operation, SSAValue
from xdsl.passes import ModulePass

from tritonx.analysis.shared_budget import SharedBudget
from tritonx.dialects import scf, tile
from tritonx.ir.contract import Contract
from tritonx.ir.edit import replace
from tritonx.ir.types import bit_width, element_type, is_tensor, shape_of, type_of
from tritonx.ir.walk import ops_in
from tritonx.transforms.gpu.tile_parts import TileParts
from tritonx.transforms.tile.dce import remove_dead_ops

SMALLEST_K = 32
"""What is left of K: every matrix unit takes that much of every type."""


@dataclass(frozen=True)
class SplitDots(ModulePass):
    """Splits products whose operands do not fit a block's shared memory along K.

    Where the operands take more than `shared_memory` bytes the product becomes two of half of K each, the sum of the
    first the accumulator of the second, and so on until they fit. Sums keep their order. What another product of the
    block makes is not counted: it mostly lies in registers as the next one needs it. Nor is what is made outside the
    loop of the product, if all `kept` bytes suffice for it: threads keep it in registers, and the parts would have to
    be stored again in each iteration. Operands without other uses are loaded and computed in parts, each in front of
    its product: threads have no registers for all of them."""

    name = "split-dots"
    contract = Contract(
        ("tt",), on=("tt.dot",), creates=("tt.reshape", "tt.trans", "tt.split"), after=("decompose-dots",)
    )

    shared_memory: int = 48 * 1024
    """Bytes of shared memory that a block may have."""
    kept: int = 0
    """Bytes that the registers of a block may keep of an operand; 0 where units read no operands from registers."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        known: dict[SSAValue, bool] = {}
        split = [self._split(inner, known) for inner in ops_in(op) if isinstance(inner, tile.DotOp)]
        if any(split):
            remove_dead_ops(op.body)  # what was loaded whole

    def _split(self, op: tile.DotOp, known: dict[SSAValue, bool]) -> bool:
        k = shape_of(type_of(op.a))[-1]
        parts = 1
        staged = (v for v in (op.a, op.b) if not self._stays(v, op) and not _from_product(v, op, known))
        counted = sum(map(_bytes, staged))
        budget = SharedBudget(self.shared_memory)
        while not budget.holds(-(-counted // parts)) and k // parts > SMALLEST_K:
            parts *= 2
        if parts == 1:
            return False
        made = TileParts(op, parts)
        total = op.c
        for number in range(parts):
            operands = (made.part(op.a, -1, number), made.part(op.b, -2, number), total)
            total = made.builder.create(tile.DotOp, operands, (type_of(op.d),), dict(op.properties)).results[0]
        replace(op, (total,))
        return True

    def _stays(self, value: SSAValue, user: tile.DotOp) -> bool:
        """Whether registers keep an operand that is made outside the loop of its product."""
        loop = user.parent_op()
        made = value.owner
        inside = made if isinstance(made, Block) else made.parent
        return isinstance(loop, scf.ForOp) and inside is not user.parent and _bytes(value) <= self.kept


def _bytes(value: SSAValue) -> int:
    type_ = type_of(value)
    count = max(8, bit_width(element_type(type_))) // 8
    for size in shape_of(type_):
        count *= size
    return count


def _from_product(value: SSAValue, user: Operation, known: dict[SSAValue, bool]) -> bool:
    """Whether a product in the block of `user` makes `value`, or what it is computed from. The answer is kept
    in `known`, where it ends later walks."""
    work, seen = [value], set[SSAValue]()
    while work:
        current = work.pop()
        made = current.owner
        if current in seen or known.get(current) is False:
            continue
        if not isinstance(made, Operation) or made.parent is not user.parent:
            continue
        if known.get(current) or isinstance(made, tile.DotOp):
            known[value] = True
            return True
        seen.add(current)
        work += [operand for operand in made.operands if is_tensor(type_of(operand))]
    known.update(dict.fromkeys(seen, False))
    return False
