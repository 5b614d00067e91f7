"""Products are computed transposed where the threads have less to turn then: (B^T · A^T)^T is A · B.

A matrix unit that reads its operands from shared memory may want K contiguous in both, and take the first one from the
threads' registers as well. An operand in registers may lie in memory as it likes: each thread loads the elements that
it multiplies. So it should be the first operand that lies the other way round, and A · B is asked for its transpose
where that is B. The tiles are none the worse for it: operands are viewed transposed where they lie, and the result has
the transposed layout of the unit's.

    for ...:  acc : M x N                        for ...:  acc' : N x M
      acc = dot(a, b, acc)                         acc' = dot(trans(b), trans(a), acc')
                                                 acc = trans(acc')

A loop that carries the sum carries the transposed one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import DenseArrayBase, ModuleOp
from xdsl.ir import Attribute, Operation, SSAValue

from tritonx.analysis.axis_info import analyze_axes
from tritonx.conversion.tile_to_gpu.coalesce import coalesced_encodings
from tritonx.conversion.tile_to_gpu.dots import Chains, product_of
from tritonx.conversion.tile_to_gpu.matrix_unit import Product
from tritonx.conversion.tile_to_gpu.target import GpuTarget
from tritonx.dialects import scf, tile
from tritonx.dialects.control_flow import Carried, carried_by
from tritonx.ir.builder import Builder
from tritonx.ir.contract import Contract
from tritonx.ir.edit import erase, set_type
from tritonx.ir.target_pass import TargetModulePass
from tritonx.ir.types import element_type, i32, shape_of, tensor, type_of
from tritonx.ir.walk import ops_in
from tritonx.layouts.encodings import BlockedEncoding

SWAP = {"order": DenseArrayBase.from_list(i32, [1, 0])}


@dataclass(frozen=True)
class TransposeDots(TargetModulePass[GpuTarget]):
    """Computes products transposed where threads then turn fewer bytes of operands.

    A `tt.dot` of which the target's unit would have fewer bytes turned by the threads if it were computed
    transposed becomes a `tt.trans` of one of its operands' `tt.trans`. An `scf.for` that carries the result carries the
    transposed one.

    Products of which one's result is an operand of another one stay as they are: that result is in registers already,
    as the next product reads it."""

    name = "transpose-dots"
    contract = Contract(("tt",), on=("tt.dot",), creates=("tt.trans",), after=("decompose-dots", "split-dots"))

    def chosen(self) -> dict[str, int]:
        return {"num_warps": self.target.num_warps, "num_ctas": self.target.num_ctas}

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        if not any(isinstance(inner, tile.DotOp) for inner in ops_in(op)):
            return
        facts = analyze_axes(op)
        for function in op.ops:
            if isinstance(function, tile.FuncOp):
                ops = ops_in(function)
                accesses = coalesced_encodings(ops, facts, self.target)
                _Function(self.target, ops, accesses).run()


class _Function:
    def __init__(self, target: GpuTarget, ops: list[Operation], accesses: Mapping[Operation, BlockedEncoding]) -> None:
        self.target, self.ops, self.accesses = target, ops, accesses
        self.dots = [op for op in ops if isinstance(op, tile.DotOp)]
        self.made: set[Operation] = set()
        """What turns a transposed result back."""

    def run(self) -> None:
        chains = Chains.of(self.dots)
        for dot in [dot for dot in self.dots if self._gains(product_of(dot, chains, self.accesses))]:
            self._transpose(dot)
        if not self.made:
            return
        for loop in reversed([op for op in self.ops if isinstance(op, scf.ForOp)]):  # inner ones first
            for carried in carried_by(loop):
                if carried.yielded.value.owner in self.made:
                    self._carry(loop, carried)
        for back in self.made:
            if back.results[0].first_use is None:
                erase(back)

    def _gains(self, product: Product) -> bool:
        if len(product.shape) != 2 or product.chained:
            return False
        unit, other = self.target.unit_for(product), product.transposed
        return self.target.unit_for(other) == unit and unit.turned_bytes(other) < unit.turned_bytes(product)

    def _transpose(self, dot: tile.DotOp) -> None:
        builder = Builder.before(dot)
        operands = [transposed(builder, value) for value in (dot.b, dot.a, dot.c)]
        result = builder.create(tile.DotOp, operands, (_turned(type_of(dot.d)),), dict(dot.properties)).results[0]
        back = builder.create(tile.TransOp, (result,), (type_of(dot.d),), dict(SWAP))
        self.made.add(back)
        dot.results[0].replace_all_uses_with(back.result)
        erase(dot)

    def _carry(self, loop: scf.ForOp, carried: Carried) -> None:
        """The loop carries what is turned in its place."""
        back, argument, result = carried.yielded.value.owner, carried.argument, carried.result
        assert isinstance(back, tile.TransOp)
        type_ = type_of(argument)
        inside, behind = Builder.before(_first(loop)), Builder.before(_next(loop))
        carried.initial.set(transposed(Builder.before(loop), carried.initial.value))
        carried.yielded.set(back.src)
        for value, builder in ((argument, inside), (result, behind)):
            uses = list(value.uses)
            set_type(value, _turned(type_))
            turned = None
            for use in uses:
                user = use.operation
                if isinstance(user, tile.TransOp) and user.order == SWAP["order"]:
                    user.result.replace_all_uses_with(value)
                    self.made.add(user)
                    continue
                if turned is None:
                    turned = builder.create(tile.TransOp, (value,), (type_,), dict(SWAP))
                    self.made.add(turned)
                user.operands[use.index] = turned.result


def transposed(builder: Builder, value: SSAValue) -> SSAValue:
    """A tile of two dims transposed, without an op where it is one turned back, or the same everywhere."""
    return builder.emit(tile.TransOp, (value,), (_turned(type_of(value)),), dict(SWAP))


def _turned(type_: Attribute) -> Attribute:
    rows, columns = shape_of(type_)
    return tensor(element_type(type_), (columns, rows))


def _first(loop: scf.ForOp) -> Operation:
    first = loop.body.block.first_op
    assert first is not None
    return first


def _next(loop: scf.ForOp) -> Operation:
    following = loop.next_op
    assert following is not None
    return following
