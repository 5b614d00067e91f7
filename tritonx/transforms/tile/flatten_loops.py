"""Two nested loops become one, where the outer one asks for it (`tl.range(flatten=True)`).

A persistent kernel goes through its tiles in a loop, and for each through K in another. A pipeline of the inner loop is
empty at the start of each tile and drained at its end; in one loop over both the first loads of a tile run beside the
last products and the stores of the tile before.

    for i in range(lb, ub, step):            for _ in range(tiles · iterations):
        prologue                                 if j == first: prologue
        for j in range(first, last, by):         body
            body                       → if it was the last iteration: epilogue
        epilogue                                 i, j = those of the next iteration

What the prologue makes is carried by the loop, but for tiles of offsets and masks: these are made of scalars, so that
what is known of their elements is not lost, and made anew. A value that the inner loop begins with is the one of before
but in the first iteration of a tile: where it is the same for all tiles it is put in place after the last iteration, so
that an accumulator is not looked at before products add to it. An inner loop that may have no iteration stays in a
copy of the nest, which is the outer loop alone then.

Where the inner bounds follow from the outer counter, a loop in front of it adds up how many iterations there are; each
iteration computes its tile's bounds again, and those of the next. If a tile might have none, and one does, the copy of
the nest runs, as it is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

from xdsl.context import Context
from xdsl.dialects.builtin import IntegerAttr, ModuleOp, UnitAttr
from xdsl.ir import Attribute, Block, BlockArgument, Operation, Region, SSAValue
from xdsl.passes import ModulePass

from tritonx.dialects import arith, scf, tile, ub
from tritonx.dialects.arith import CmpiPredicate
from tritonx.dialects.control_flow import is_per_element, repeats
from tritonx.dialects.llvm import AssumeOp
from tritonx.ir.builder import Builder
from tritonx.ir.contract import Contract
from tritonx.ir.edit import ValueMap, clone, is_defined_inside, replace, terminator_of
from tritonx.ir.effects import has_effects
from tritonx.ir.explain import explain
from tritonx.ir.fold.constants import constant_of, width_of
from tritonx.ir.types import i1, i64, is_tensor, type_of
from tritonx.ir.walk import ops_in
from tritonx.transforms.pipelining.loop_graph import NotScheduled, check_schedulable
from tritonx.transforms.tile.simplify_control_flow import simplify_region, trip_count

FLATTEN = "tt.flatten"
TOPIC = "pipeline"


@dataclass(frozen=True)
class FlattenLoops(ModulePass):
    """Makes one `scf.for` of each that has the attribute ``tt.flatten`` and the loop inside it.

    There must be one loop inside, in the body itself, whose bounds are the same in each iteration of the outer loop or
    follow from its counter alone, and nothing beside it that keeps a loop from being pipelined; others stay as they
    are, without the attribute. The loop takes the attributes of the inner one, and those of the outer one that this has
    not. It counts in 64 bits."""

    name = "flatten-loops"
    contract = Contract(("tt",), on=("scf.for",), creates=("arith", "scf", "ub"), reads=(FLATTEN,))

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        loops = [inner for inner in ops_in(op) if isinstance(inner, scf.ForOp) and FLATTEN in inner.attributes]
        for loop in reversed(loops):
            del loop.attributes[FLATTEN]
            nest = _nest(loop)
            if isinstance(nest, str):
                explain(TOPIC, loop, f"not flattened: {nest}")
            elif nest.uneven:
                _flatten_uneven(nest)
            else:
                _flatten(nest)


@dataclass(frozen=True)
class _Bounds:
    """Where a loop begins, ends, and how far it steps."""

    lb: SSAValue
    ub: SSAValue
    step: SSAValue
    unsigned: bool

    @staticmethod
    def of(loop: scf.ForOp) -> _Bounds:
        return _Bounds(loop.lb, loop.ub, loop.step, loop.unsigned is not None)


@dataclass(frozen=True)
class _Nest:
    """Two loops that become one; ``steps`` are the ops that make bounds of the inner one of the outer one's counter."""

    outer: scf.ForOp
    inner: scf.ForOp
    steps: Sequence[Operation]

    @property
    def uneven(self) -> bool:
        """Whether the trip count of the inner one follows from that counter."""
        return any(is_defined_inside(v, self.outer) for v in (self.inner.lb, self.inner.ub, self.inner.step))

    def bounds(self, builder: Builder, values: ValueMap) -> _Bounds:
        """The inner loop's where the outer one's counter is what ``values`` says; what makes them comes into it."""
        for op in self.steps:
            builder.insert(clone(op, values))
        bounds = _Bounds.of(self.inner)
        lb, ub, step = (values.get(value, value) for value in (bounds.lb, bounds.ub, bounds.step))
        return _Bounds(lb, ub, step, bounds.unsigned)

    def at(self, builder: Builder, counter: SSAValue) -> _Bounds:
        return self.bounds(builder, {self.outer.body.block.args[0]: counter})


def _nest(loop: scf.ForOp) -> _Nest | str:
    """The loop and the one inside it, or why there is none to be one with."""
    found = [op for op in loop.body.block.ops for each in ops_in(op) if repeats(each) and not is_per_element(each)]
    inner = found[0] if found else None
    if not isinstance(inner, scf.ForOp):
        return "there is no counted loop in its body"
    if len(found) > 1:
        return "there are several loops inside"
    if not all(0 < (width_of(each.lb.type) or 0) <= 64 for each in (loop, inner)):
        return "a loop does not count in up to 64 bits"
    steps = _steps(loop, inner)
    if isinstance(steps, str):
        return steps
    return _kept_apart(loop, inner) or _Nest(loop, inner, steps)


def _steps(loop: scf.ForOp, inner: scf.ForOp) -> list[Operation] | str:
    """What makes the bounds of the loop inside, in its order, or why it cannot be made in front of the loop. It is made
    for the tile behind the last one too: integer ops have a meaning for all operands (docs/guide.md, "Integers")."""
    body = loop.body.block
    found, left = set[Operation](), [inner.lb, inner.ub, inner.step]
    while left:
        value = left.pop()
        if not is_defined_inside(value, loop) or value is body.args[0] or value.owner in found:
            continue
        if isinstance(value, BlockArgument):
            return "the trip count of the loop inside follows from what the outer loop carries"
        op = cast("Operation", value.owner)
        if op.regions or has_effects(op) or any(is_tensor(type_of(v)) for v in (*op.operands, *op.results)):
            return f"the trip count of the loop inside follows from {op.name}"
        found.add(op)
        left += op.operands
    return [op for op in body.ops if op in found]


def _kept_apart(loop: scf.ForOp, inner: scf.ForOp) -> str | None:
    """The ops around the inner loop that would keep the one loop from being pipelined, which this one can be."""
    for op in loop.body.block.ops:
        for each in () if op is inner else ops_in(op):
            if isinstance(each, tile.MakeTensorDescOp):
                return "it makes descriptors for each round"
            try:
                check_schedulable(each)
            except NotScheduled as reason:
                return str(reason)
    return None


def _flatten(nest: _Nest) -> None:
    """Each tile has the same number of iterations."""
    builder = Builder.before(nest.outer)
    inner_trips = trip_count(nest.inner)
    if inner_trips == 0:
        return
    rounds = _count(builder, _Bounds.of(nest.inner))

    def run() -> Sequence[SSAValue]:
        tiles = _count(builder, _Bounds.of(nest.outer))
        return _Flat(nest, builder, builder.emit(arith.MuliOp, (tiles, rounds), (i64,))).run()

    if inner_trips is not None:
        replace(nest.outer, run())
        return
    runs = _differ(builder, rounds, builder.constant(0, i64))
    taken = Block()
    with builder.at(taken, nested=True):
        builder.create(scf.YieldOp, run())
    alone = _either(nest, builder, runs, taken)
    without = next(op for op in alone.regions[0].block.ops if isinstance(op, scf.ForOp))
    replace(without, tuple(without.iter_args))
    region = alone.parent_region()
    assert region is not None
    simplify_region(region)  # what only the loop inside changed need not be carried


def _flatten_uneven(nest: _Nest) -> None:
    """The number of iterations of a tile follows from the tile's number."""
    builder = Builder.before(nest.outer)
    total, runs = _add_up(nest, builder, some=_states_some(nest))
    if runs is None:
        replace(nest.outer, _Flat(nest, builder, total).run())
        return
    taken = Block()
    with builder.at(taken, nested=True):
        builder.create(scf.YieldOp, _Flat(nest, builder, total).run())
    _either(nest, builder, runs, taken)


def _either(nest: _Nest, builder: Builder, condition: SSAValue, taken: Block) -> Operation:
    """A branch in place of the nest, and the copy of it that is where the condition does not hold."""
    otherwise, values = Block(), ValueMap()
    with builder.at(otherwise, nested=True):
        alone = builder.insert(clone(nest.outer, values))
        builder.create(scf.YieldOp, alone.results)
    types = [result.type for result in nest.outer.results]
    made = builder.create(scf.IfOp, (condition,), types, regions=(Region(taken), Region(otherwise)))
    replace(nest.outer, made.results)
    return alone


def _add_up(nest: _Nest, builder: Builder, *, some: bool) -> tuple[SSAValue, SSAValue | None]:
    """The iterations of all tiles, and where a tile may have none (not ``some``) whether each has one."""
    outer, zero = nest.outer, builder.constant(0, i64)
    begins = [zero] if some else [zero, builder.constant(1, i1)]
    block = Block(arg_types=[outer.lb.type, *(value.type for value in begins)])
    with builder.at(block, nested=True):
        rounds = _count(builder, nest.at(builder, block.args[0]))
        added = [builder.emit(arith.AddiOp, (block.args[1], rounds), (i64,))]
        if not some:
            added.append(builder.emit(arith.AndIOp, (block.args[2], _differ(builder, rounds, zero)), (i1,)))
        builder.create(scf.YieldOp, added)
    signs = {} if outer.unsigned is None else {"unsignedCmp": UnitAttr()}
    operands = (outer.lb, outer.ub, outer.step, *begins)
    made = builder.create(scf.ForOp, operands, [v.type for v in begins], signs, {}, [Region(block)]).results
    return made[0], None if some else made[1]


def _states_some(nest: _Nest) -> bool:
    """Whether the program states (`tl.assume`) that the loop inside runs at least once for each tile."""
    unsigned = nest.inner.unsigned is not None
    less, more = (CmpiPredicate.ULT, CmpiPredicate.UGT) if unsigned else (CmpiPredicate.SLT, CmpiPredicate.SGT)
    lb, ub = nest.inner.lb, nest.inner.ub
    for op in nest.outer.body.block.ops:
        stated = op.cond.owner if isinstance(op, AssumeOp) else None
        if isinstance(stated, arith.CmpiOp):
            said = stated.predicate.value.data, stated.lhs, stated.rhs
            if said in ((less, lb, ub), (more, ub, lb)):
                return True
    return False


def _differ(builder: Builder, a: SSAValue, b: SSAValue) -> SSAValue:
    return builder.emit(arith.CmpiOp, (a, b), (i1,), {"predicate": IntegerAttr(CmpiPredicate.NE, i64)})


def _count(builder: Builder, loop: _Bounds) -> SSAValue:
    """A loop's trip count, as an i64: exact, wherever its bounds are."""
    type_, emit = loop.lb.type, builder.emit
    largest = arith.MaxUIOp if loop.unsigned else arith.MaxSIOp
    length = emit(arith.SubiOp, (emit(largest, (loop.ub, loop.lb), (type_,)), loop.lb), (type_,))
    if constant_of(loop.step) != 1:
        whole = emit(arith.DivUIOp, (length, loop.step), (type_,))
        rest = emit(arith.RemUIOp, (length, loop.step), (type_,))
        zero = builder.constant(0, type_)
        more = emit(arith.ExtUIOp, (_differ(builder, rest, zero),), (type_,))
        length = emit(arith.AddiOp, (whole, more), (type_,))
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
    """One loop of ``total`` iterations in place of two, built where the builder is."""

    def __init__(self, nest: _Nest, builder: Builder, total: SSAValue) -> None:
        self.nest, self.builder, self.total = nest, builder, total
        self.outer, self.inner = outer, inner = nest.outer, nest.inner
        ops = list(outer.body.block.ops)
        at = ops.index(inner)
        self.prologue, self.epilogue = [op for op in ops[:at] if op not in nest.steps], ops[at + 1 : -1]
        self.outer_end, self.inner_end = terminator_of(outer.body.block), terminator_of(inner.body.block)
        self.same = [not is_defined_inside(value, outer) for value in inner.iter_args]
        """Of what the inner loop carries: whether it begins as the same value for each tile."""
        self.light = _light(self.prologue, outer)
        """What of the prologue makes tiles of offsets and masks."""
        users = (*self.light, *inner.body.block.ops, *self.epilogue, self.outer_end)
        used = {value for op in users for each in ops_in(op) for value in each.operands}
        self.kept = [v for op in self.prologue if op not in self.light for v in op.results if v in used]
        """What the prologue makes for others than the loop's first values."""

    def run(self) -> Sequence[SSAValue]:
        """The values of the outer loop's results."""
        outer, inner, builder = self.outer, self.inner, self.builder
        first = self.nest.at(builder, outer.lb)
        carried = [
            *outer.iter_args,
            *(v if same else self._unknown(v.type) for v, same in zip(inner.iter_args, self.same, strict=True)),
            *(self._unknown(value.type) for value in self.kept),
            outer.lb,
            first.lb,
        ]
        block = Block(arg_types=[i64, *(value.type for value in carried)])
        with builder.at(block, nested=True):
            self._body(block)
        attributes: dict[str, Attribute] = {**outer.attributes, **inner.attributes}
        zero, one = builder.constant(0, i64), builder.constant(1, i64)
        made = builder.create(
            scf.ForOp,
            (zero, self.total, one, *carried),
            [value.type for value in carried],
            {"unsignedCmp": UnitAttr()},
            attributes,
            [Region(block)],
        )
        return made.results[: len(outer.results)]

    def _unknown(self, type_: Attribute) -> SSAValue:
        """A value without uses."""
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
        bounds = self.nest.bounds(builder, values)
        first = self._compare(CmpiPredicate.EQ, j, bounds.lb)
        left = builder.emit(arith.SubiOp, (bounds.ub, j), (j.type,))
        last = self._compare(CmpiPredicate.ULE, left, bounds.step)
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
        tile_ = self._following(last, i, outer.step, None)
        round_ = self._following(last, j, bounds.step, self.nest.at(builder, tile_).lb)
        builder.create(scf.YieldOp, (*end, *reset, *begun[: len(kept)], tile_, round_))

    def _compare(self, how: CmpiPredicate, a: SSAValue, b: SSAValue) -> SSAValue:
        return self.builder.emit(arith.CmpiOp, (a, b), (i1,), {"predicate": IntegerAttr(how, i64)})

    def _following(self, last: SSAValue, now: SSAValue, step: SSAValue, anew: SSAValue | None) -> SSAValue:
        """A counter of the next iteration: the inner one restarts after the last, where the outer one advances."""
        more = self.builder.emit(arith.AddiOp, (now, step), (now.type,))
        taken, otherwise = (more, now) if anew is None else (anew, more)
        return self.builder.emit(arith.SelectOp, (last, taken, otherwise), (now.type,))

    def _begins(self, begun: Sequence[SSAValue], going: Sequence[SSAValue]) -> list[SSAValue]:
        """The values of the inner loop's arguments in an iteration."""
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
