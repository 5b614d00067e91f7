"""Two nested loops become one, where the outer one asks for it (`tl.range(flatten=True)`).

A persistent kernel goes through its tiles in a loop, and for each through K in another. A pipeline of the inner loop is
empty at the start of each tile and drained at its end; in one loop over both the first loads of a tile run beside the
last products and the stores of the tile before.

    for i in range(lb, ub, step):            for _ in range(tiles · rounds):
        prologue                                 if j == first: prologue
        for j in range(first, last, by):         body
            body                       →         if it was the last round: epilogue
        epilogue                                 i, j = those of the next round

What the prologue makes goes round with the loop, but for tiles of offsets and masks: these are made of scalars, so that
what is known of their elements is not lost, and made anew. A value that the inner loop begins with is the one of before
but in the first round of a tile: where it is the same for all tiles it is put in place behind the last round, so that
an accumulator is not looked at before products add to it. An inner loop that may have no round at all stays in a copy
of the nest, which is the outer loop alone then."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import IntegerAttr, ModuleOp, UnitAttr
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.passes import ModulePass

from tritonx.analysis.loop_graph import NotScheduled, check_schedulable
from tritonx.dialects import arith, scf, tile, ub
from tritonx.dialects.arith import CmpiPredicate
from tritonx.dialects.control_flow import is_per_element, repeats
from tritonx.ir.builder import Builder
from tritonx.ir.contract import Contract
from tritonx.ir.edit import ValueMap, clone, is_defined_inside, replace, terminator_of
from tritonx.ir.explain import explain
from tritonx.ir.fold.constants import constant_of, width_of
from tritonx.ir.types import i1, i64, is_tensor, type_of
from tritonx.ir.walk import ops_in
from tritonx.transforms.tile.simplify_control_flow import trip_count

FLATTEN = "tt.flatten"
TOPIC = "pipeline"


@dataclass(frozen=True)
class FlattenLoops(ModulePass):
    """Makes one `scf.for` of each that has the attribute ``tt.flatten`` and the loop inside it.

    There must be one loop inside, in the body itself, whose bounds do not change from one round of the outer loop to
    the next, and nothing beside it that keeps a loop from being pipelined; others stay as they are, without the
    attribute. The loop takes the attributes of the inner one, and those of the outer one that this has not. It counts
    in 64 bits."""

    name = "flatten-loops"
    contract = Contract(("tt",), on=("scf.for",), creates=("arith", "scf", "ub"), reads=(FLATTEN,))

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        loops = [inner for inner in ops_in(op) if isinstance(inner, scf.ForOp) and FLATTEN in inner.attributes]
        for loop in reversed(loops):
            del loop.attributes[FLATTEN]
            inner = _inside(loop)
            if isinstance(inner, str):
                explain(TOPIC, loop, f"not flattened: {inner}")
            else:
                _flatten(loop, inner)


def _inside(loop: scf.ForOp) -> scf.ForOp | str:
    """The one loop inside, or why there is none to be one with."""
    found = [op for op in loop.body.block.ops for each in ops_in(op) if repeats(each) and not is_per_element(each)]
    inner = found[0] if found else None
    if not isinstance(inner, scf.ForOp):
        return "there is no counted loop in its body"
    if len(found) > 1:
        return "there are several loops inside"
    if not all(0 < (width_of(each.lb.type) or 0) <= 64 for each in (loop, inner)):
        return "a loop does not count in up to 64 bits"
    if any(is_defined_inside(bound, loop) for bound in (inner.lb, inner.ub, inner.step)):
        return "the loop inside does not go round as often each time"
    return _kept_apart(loop, inner) or inner


def _kept_apart(loop: scf.ForOp, inner: scf.ForOp) -> str | None:
    """What stands around the loop inside and would keep the one loop from being pipelined, which this one can be."""
    for op in loop.body.block.ops:
        for each in () if op is inner else ops_in(op):
            if isinstance(each, tile.MakeTensorDescOp):
                return "it makes descriptors for each round"
            try:
                check_schedulable(each)
            except NotScheduled as reason:
                return str(reason)
    return None


def _flatten(outer: scf.ForOp, inner: scf.ForOp) -> None:
    builder = Builder.before(outer)
    inner_trips = trip_count(inner)
    if inner_trips == 0:
        return
    rounds = _count(builder, inner)
    if inner_trips is not None:
        replace(outer, _Flat(outer, inner, builder, rounds).run())
        return
    runs = builder.emit(
        arith.CmpiOp, (rounds, builder.constant(0, i64)), (i1,), {"predicate": IntegerAttr(CmpiPredicate.NE, i64)}
    )
    taken, otherwise = Block(), Block()
    with builder.at(taken, nested=True):
        builder.create(scf.YieldOp, _Flat(outer, inner, builder, rounds).run())
    with builder.at(otherwise, nested=True):
        values: ValueMap = {}
        alone = builder.insert(clone(outer, values))
        builder.create(scf.YieldOp, alone.results)
    without = next(op for op in alone.regions[0].block.ops if isinstance(op, scf.ForOp))
    replace(without, tuple(without.iter_args))
    types = [result.type for result in outer.results]
    made = builder.create(scf.IfOp, (runs,), types, regions=(Region(taken), Region(otherwise)))
    replace(outer, made.results)


def _count(builder: Builder, loop: scf.ForOp) -> SSAValue:
    """How often a loop goes round, as an i64: exact, wherever its bounds are."""
    type_, emit = loop.lb.type, builder.emit
    largest = arith.MaxUIOp if loop.unsigned is not None else arith.MaxSIOp
    length = emit(arith.SubiOp, (emit(largest, (loop.ub, loop.lb), (type_,)), loop.lb), (type_,))
    if constant_of(loop.step) != 1:
        whole = emit(arith.DivUIOp, (length, loop.step), (type_,))
        rest = emit(arith.RemUIOp, (length, loop.step), (type_,))
        zero = builder.constant(0, type_)
        more = emit(arith.CmpiOp, (rest, zero), (i1,), {"predicate": IntegerAttr(CmpiPredicate.NE, i64)})
        length = emit(arith.AddiOp, (whole, emit(arith.ExtUIOp, (more,), (type_,))), (type_,))
    return length if type_ == i64 else emit(arith.ExtUIOp, (length,), (i64,))


_LIGHT: tuple[type[Operation], ...] = (
    tile.SplatOp, tile.MakeRangeOp, tile.ExpandDimsOp, tile.BroadcastOp, tile.AddPtrOp, arith.AddiOp, arith.SubiOp,
    arith.MuliOp, arith.AndIOp, arith.OrIOp, arith.CmpiOp, arith.ExtSIOp, arith.ExtUIOp, arith.TruncIOp,
)  # fmt: skip


def _light(ops: Sequence[Operation], outer: scf.ForOp) -> list[Operation]:
    """The ops that make tiles of scalars, and of nothing else that changes from tile to tile, in few instructions."""
    found: list[Operation] = []
    for op in ops:
        if not isinstance(op, _LIGHT) or not is_tensor(type_of(op.results[0])):
            continue
        if all(
            not is_tensor(type_of(value)) or value.owner in found or not is_defined_inside(value, outer)
            for value in op.operands
        ):
            found.append(op)
    return found


class _Flat:
    """One loop in place of two, built where the builder is."""

    def __init__(self, outer: scf.ForOp, inner: scf.ForOp, builder: Builder, rounds: SSAValue) -> None:
        self.outer, self.inner, self.builder, self.rounds = outer, inner, builder, rounds
        ops = list(outer.body.block.ops)
        at = ops.index(inner)
        self.prologue, self.epilogue = ops[:at], ops[at + 1 : -1]
        self.outer_end, self.inner_end = terminator_of(outer.body.block), terminator_of(inner.body.block)
        self.same = [not is_defined_inside(value, outer) for value in inner.iter_args]
        """Of what goes round the inner loop: whether it begins as the same value for each tile."""
        self.light = _light(self.prologue, outer)
        """What of the prologue makes tiles of offsets and masks."""
        users = (*self.light, *inner.body.block.ops, *self.epilogue, self.outer_end)
        used = {value for op in users for each in ops_in(op) for value in each.operands}
        self.kept = [v for op in self.prologue if op not in self.light for v in op.results if v in used]
        """What the prologue makes for others than the loop's first values."""

    def run(self) -> Sequence[SSAValue]:
        """The values of the outer loop's results."""
        outer, inner, builder = self.outer, self.inner, self.builder
        total = builder.emit(arith.MuliOp, (_count(builder, outer), self.rounds), (i64,))
        carried = [
            *outer.iter_args,
            *(v if same else self._unknown(v.type) for v, same in zip(inner.iter_args, self.same, strict=True)),
            *(self._unknown(value.type) for value in self.kept),
            outer.lb,
            inner.lb,
        ]
        block = Block(arg_types=[i64, *(value.type for value in carried)])
        with builder.at(block, nested=True):
            self._body(block)
        attributes: dict[str, Attribute] = {**outer.attributes, **inner.attributes}
        zero, one = builder.constant(0, i64), builder.constant(1, i64)
        made = builder.create(
            scf.ForOp,
            (zero, total, one, *carried),
            [value.type for value in carried],
            {"unsignedCmp": UnitAttr()},
            attributes,
            [Region(block)],
        )
        return made.results[: len(outer.results)]

    def _unknown(self, type_: Attribute) -> SSAValue:
        """A value that nobody reads."""
        return self.builder.create(ub.PoisonOp, (), (type_,)).result

    def _body(self, block: Block) -> None:
        outer, inner, builder = self.outer, self.inner, self.builder
        count, begins = len(outer.iter_args), len(inner.iter_args)
        arguments = list(block.args[1:])
        held, going = arguments[:count], arguments[count : count + begins]
        kept, (i, j) = arguments[count + begins : -2], arguments[-2:]
        for old, new in zip((outer.body.block.args[0], inner.body.block.args[0]), (i, j), strict=True):
            new.name_hint = old.name_hint
        values: ValueMap = dict(zip(outer.body.block.args, (i, *held), strict=True))
        first = self._compare(CmpiPredicate.EQ, j, inner.lb)
        left = builder.emit(arith.SubiOp, (inner.ub, j), (j.type,))
        last = self._compare(CmpiPredicate.ULE, left, inner.step)
        begun = self._begin(first, values, going, kept)
        values |= dict(zip(self.kept, begun[: len(kept)], strict=True))
        values |= dict(zip(inner.body.block.args, (j, *self._begins(begun[len(kept) :], going)), strict=True))
        self._make_light(values)
        for op in inner.body.block.ops:
            if op is not self.inner_end:
                builder.insert(clone(op, values))
        results = [values.get(value, value) for value in self.inner_end.operands]
        values |= dict(zip(inner.results, results, strict=True))
        end = self._end(last, values, held)
        reset = [
            builder.emit(arith.SelectOp, (last, value, result), (result.type,)) if same else result
            for value, result, same in zip(inner.iter_args, results, self.same, strict=True)
        ]
        following = self._following(last, i, outer.step, None), self._following(last, j, inner.step, inner.lb)
        builder.create(scf.YieldOp, (*end, *reset, *begun[: len(kept)], *following))

    def _compare(self, how: CmpiPredicate, a: SSAValue, b: SSAValue) -> SSAValue:
        return self.builder.emit(arith.CmpiOp, (a, b), (i1,), {"predicate": IntegerAttr(how, i64)})

    def _following(self, last: SSAValue, now: SSAValue, step: SSAValue, anew: SSAValue | None) -> SSAValue:
        """A counter of the next round: the inner one begins anew behind the last round, the outer one goes on there."""
        more = self.builder.emit(arith.AddiOp, (now, step), (now.type,))
        taken, otherwise = (more, now) if anew is None else (anew, more)
        return self.builder.emit(arith.SelectOp, (last, taken, otherwise), (now.type,))

    def _begins(self, begun: Sequence[SSAValue], going: Sequence[SSAValue]) -> list[SSAValue]:
        """What the inner loop's arguments are in a round."""
        anew = iter(begun)
        return [argument if same else next(anew) for argument, same in zip(going, self.same, strict=True)]

    def _begin(
        self, first: SSAValue, values: ValueMap, going: Sequence[SSAValue], kept: Sequence[SSAValue]
    ) -> Sequence[SSAValue]:
        """What the prologue makes, and what the inner loop begins with, or goes on with."""
        starts = [v for v, same in zip(self.inner.iter_args, self.same, strict=True) if not same]
        goes_on = [v for v, same in zip(going, self.same, strict=True) if not same]
        taken, otherwise, inside = Block(), Block(), dict(values)
        with self.builder.at(taken, nested=True):
            for op in self.prologue:
                self.builder.insert(clone(op, inside))
            self.builder.create(scf.YieldOp, [inside.get(value, value) for value in (*self.kept, *starts)])
        return self._branch(first, taken, otherwise, (*kept, *goes_on))

    def _end(self, last: SSAValue, values: ValueMap, held: Sequence[SSAValue]) -> Sequence[SSAValue]:
        """What the epilogue makes of what the outer loop carries."""
        taken, otherwise, inside = Block(), Block(), dict(values)
        with self.builder.at(taken, nested=True):
            self._make_light(inside)
            for op in self.epilogue:
                self.builder.insert(clone(op, inside))
            self.builder.create(scf.YieldOp, [inside.get(value, value) for value in self.outer_end.operands])
        return self._branch(last, taken, otherwise, held)

    def _make_light(self, values: ValueMap) -> None:
        for op in self.light:
            self.builder.insert(clone(op, values))

    def _branch(
        self, condition: SSAValue, taken: Block, otherwise: Block, values: Sequence[SSAValue]
    ) -> Sequence[SSAValue]:
        """A branch that leaves `values` as they are where the condition does not hold."""
        if not values and taken.first_op is taken.last_op:
            return ()
        with self.builder.at(otherwise, nested=True):
            self.builder.create(scf.YieldOp, values)
        regions = Region(taken), Region(otherwise)
        return self.builder.create(scf.IfOp, (condition,), [v.type for v in values], regions=regions).results
