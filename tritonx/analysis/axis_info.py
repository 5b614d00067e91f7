"""Axis analysis: which addresses are neighbours, and how far (see `axis_value` for the facts, `axis_rules` for the
ops).

`analyze_axes(module)` follows every function from its arguments' attributes to a fixed point. Values start out as
"not there yet"; where control flow joins, facts meet, and they can only shrink, each by halving, so loops settle
after a few iterations. A function that is called starts from the meet of its callers' arguments.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Attribute, Block, Operation, SSAValue

from tritonx.analysis import axis_value as v
from tritonx.analysis.axis_rules import RULES, hint_values, is_repeatable, nothing_known, rank_of, with_hints, wrapped
from tritonx.analysis.axis_value import AxisInfo, meet
from tritonx.dialects import arith, scf, tile
from tritonx.dialects.arith import CmpiPredicate
from tritonx.dialects.control_flow import Edge, edges_from, is_per_element, regions_of
from tritonx.dialects.llvm import AssumeOp
from tritonx.ir.fold import constant_of
from tritonx.ir.types import is_integer, is_tensor, type_of
from tritonx.ir.walk import ops_in

ROUNDS = 200
"""More than any loop nest needs: facts of 62 halvings, three for each dim. Beyond it something oscillates: a
defect.
"""


NEGATIVE = "tt.negative"
"""The attribute of an integer argument that is below 0 at the launch that the kernel is compiled for."""


@dataclass(frozen=True)
class AxisFacts:
    """What is known about every value of a module."""

    _facts: Mapping[SSAValue, AxisInfo]

    def of(self, value: SSAValue) -> AxisInfo:
        """The facts about a value; nothing known for one that was made after the analysis."""
        found = self._facts.get(value)
        return found if found is not None else nothing_known(type_of(value))


def analyze_axes(module: ModuleOp) -> AxisFacts:
    """The facts about all values in all functions of a module."""
    return _Analysis(module).run()


def assumed_at_least(number: int, block: Block) -> list[SSAValue]:
    """What the assumptions of a block, in which every run comes past, say is at least this."""
    found: list[SSAValue] = []
    for op in block.ops:
        compared = op.cond.owner if isinstance(op, AssumeOp) else None
        if not isinstance(compared, arith.CmpiOp):
            continue
        large, small = compared.lhs, compared.rhs
        predicate = compared.predicate.value.data
        if predicate in (CmpiPredicate.SLT, CmpiPredicate.SLE):
            large, small = small, large
        elif predicate not in (CmpiPredicate.SGT, CmpiPredicate.SGE):
            continue
        least = constant_of(small)
        strict = predicate in (CmpiPredicate.SLT, CmpiPredicate.SGT)
        if least is not None and least + strict >= number:
            found.append(large)
    return found


class _Analysis:
    def __init__(self, module: ModuleOp) -> None:
        self.facts: dict[SSAValue, AxisInfo] = {}
        self.functions = [op for op in module.ops if isinstance(op, tile.FuncOp)]
        self.by_name = {function.sym_name.data: function for function in self.functions}
        self.called: dict[str, list[AxisInfo | None]] = {}
        self.assumed: frozenset[SSAValue] = frozenset()
        """Values of the function's first block that are at least 0."""

    def run(self) -> AxisFacts:
        for function in _callers_first(self.functions, self.by_name):
            blocks = list(function.body.blocks)
            if not blocks:
                continue
            self._enter(function, blocks[0])
            self._run(blocks)
        return AxisFacts(self.facts)

    def _enter(self, function: tile.FuncOp, entry: Block) -> None:
        attributes = function.arg_attrs.data if function.arg_attrs is not None else ()
        passed = self.called.get(function.sym_name.data)
        for number, argument in enumerate(entry.args):
            info = nothing_known(argument.type)
            stated: Mapping[str, Attribute] = attributes[number].data if number < len(attributes) else {}
            if is_integer(argument.type) and not is_tensor(argument.type) and passed is None:
                info = replace(info, sign=v.Sign.UNKNOWN if NEGATIVE in stated else v.Sign.PRESUMED)
            if passed is not None and passed[number] is not None:
                info = passed[number] or info
            if (divisor := stated.get("tt.divisibility")) is not None:
                known = max(map(v.power_of_two_part, hint_values(divisor)[:1]), default=1)
                info = replace(info, divisibility=tuple(max(known, d) for d in info.divisibility))
            self.facts[argument] = info
        self.assumed = frozenset(assumed_at_least(0, entry))
        for argument in self.assumed.intersection(entry.args):
            self.facts[argument] = replace(self.facts[argument], sign=v.Sign.NON_NEGATIVE)

    # --- control flow
    # -------------------------------------------------------------------------------------------------

    def _run(self, blocks: Sequence[Block]) -> None:
        """All blocks, until what goes back to an earlier one teaches nothing."""
        number = {block: n for n, block in enumerate(blocks)}
        for _ in range(ROUNDS):
            again = False
            for n, block in enumerate(blocks):
                if any(argument not in self.facts for argument in block.args):
                    continue  # not reached yet
                for op in block.ops:
                    self._visit(op)
                last = block.last_op
                for edge in edges_from(last) if last is not None else ():
                    taught = self._follow(edge)
                    again |= taught and isinstance(edge.target, Block) and number.get(edge.target, n + 1) <= n
            if not again:
                return
        raise RuntimeError("the axis analysis does not settle")

    def _follow(self, edge: Edge) -> bool:
        """Lets facts flow along an edge; whether that taught anything."""
        changed = False
        for given, value in edge.pairs():
            old = self.facts.get(value)
            new = meet(old, self.facts.get(given))
            if new is not None and new != old:
                self.facts[value] = new
                changed = True
        return changed

    def _structured(self, op: Operation) -> None:
        """An op whose regions control flows through. Facts of an earlier visit, with other facts around it, go."""
        blocks = [block for region in regions_of(op) for block in region.blocks]
        for value in (*op.results, *(argument for block in blocks for argument in block.args)):
            self.facts.pop(value, None)
        if isinstance(op, scf.ForOp):
            lower, step = self.of(op.lb), self.of(op.step)
            sign = (lower if op.unsigned is None else self.of(op.ub)).sign
            start = v.scalar(min(lower.every, step.every), None, sign)
            self.facts[op.body.block.args[0]] = start
        for edge in edges_from(op):
            self._follow(edge)
        self._run(blocks)
        for result in op.results:
            self.facts.setdefault(result, nothing_known(type_of(result)))

    def _call(self, op: tile.CallOp) -> None:
        name = op.callee.string_value()
        passed = self.called.setdefault(name, [None] * len(op.args))
        self.called[name] = [meet(old, new) for old, new in zip(passed, map(self.facts.get, op.args), strict=True)]
        self._set(op.results, [nothing_known(result.type) for result in op.results])

    # --- ops
    # ----------------------------------------------------------------------------------------------------------

    def of(self, value: SSAValue) -> AxisInfo:
        return self.facts.get(value) or nothing_known(type_of(value))

    def _set(self, values: Iterable[SSAValue], facts: Iterable[AxisInfo]) -> None:
        for value, info in zip(values, facts, strict=True):
            self.facts[value] = replace(info, sign=v.Sign.NON_NEGATIVE) if value in self.assumed else info

    def _visit(self, op: Operation) -> None:
        if isinstance(op, tile.CallOp):
            self._call(op)
        elif op.regions and not is_per_element(op):
            self._structured(op)
        else:
            self._compute(op)

    def _compute(self, op: Operation) -> None:
        rule = RULES.get(op.__class__)
        if rule is not None:
            info = wrapped(rule(op, [self.of(operand) for operand in op.operands]), type_of(op.results[0]))
            # The table's rules have one result, or (split) results of equal facts.
            self._set(op.results, [with_hints(op, info)] * len(op.results))
            return
        for region in op.regions:  # of scalars
            for block in region.blocks:
                for argument in block.args:
                    self.facts.setdefault(argument, nothing_known(argument.type))
            self._run(list(region.blocks))
        self._set(op.results, [with_hints(op, self._default(op, result)) for result in op.results])

    def _default(self, op: Operation, result: SSAValue) -> AxisInfo:
        """An elementwise op without effects is a function of its operands' elements; of anything else nothing is
        known.
        """
        type_ = type_of(result)
        if is_tensor(type_) and not op.regions and op.operands and is_repeatable(op):
            rank = rank_of(type_)
            shape = type_.get_shape()
            tensors = [type_of(operand) for operand in op.operands]
            if all(is_tensor(t) and t.get_shape() == shape for t in tensors):
                ones = (1,) * rank
                return AxisInfo(ones, ones, v.common_constancy(*(self.of(operand) for operand in op.operands)))
        return nothing_known(type_)


def _callers_first(functions: Sequence[tile.FuncOp], by_name: Mapping[str, tile.FuncOp]) -> list[tile.FuncOp]:
    """Every function after those that call it."""
    order: list[tile.FuncOp] = []
    seen: set[str] = set()

    def visit(function: tile.FuncOp) -> None:
        name = function.sym_name.data
        if name in seen:
            return
        seen.add(name)
        for op in ops_in(function):
            if isinstance(op, tile.CallOp) and op.callee.string_value() in by_name:
                visit(by_name[op.callee.string_value()])
        order.append(function)

    for function in functions:
        visit(function)
    order.reverse()
    return order
