"""Axis analysis: which addresses are neighbours, and how far (see `axis_value` for the facts, `axis_rules` for the
ops).

`analyze_axes(module)` follows every function from its arguments' attributes to a fixed point. Values start out as
"not there yet"; where control flow joins, facts meet, and they can only shrink, each by halving, so loops settle
after a few rounds. A function that is called starts from the meet of its callers' arguments.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Operation, Region, SSAValue

from tritonx.analysis import axis_value as v
from tritonx.analysis.axis_rules import RULES, hint_values, is_repeatable, nothing_known, rank_of, with_hints
from tritonx.analysis.axis_value import AxisInfo, meet
from tritonx.dialects import arith, cf, scf, tile
from tritonx.dialects.arith import CmpiPredicate
from tritonx.dialects.llvm import AssumeOp
from tritonx.ir.fold import constant_of
from tritonx.ir.types import is_tensor, type_of

ROUNDS = 200
"""More than any loop nest needs: facts of 62 halvings, three for each dim. Beyond it something oscillates: a
defect.
"""


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


def _assumed_non_negative(block: Block) -> list[SSAValue]:
    """What the assumptions of a block, in which every run comes past, say is at least 0 or more than -1."""
    found: list[SSAValue] = []
    for op in block.ops:
        compared: Any = op.cond.owner if isinstance(op, AssumeOp) else None
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
        if least is not None and least + strict >= 0:
            found.append(large)
    return found


class _Analysis:
    def __init__(self, module: ModuleOp) -> None:
        self.facts: dict[SSAValue, AxisInfo] = {}
        self.functions = [op for op in module.ops if isinstance(op, tile.FuncOp)]
        self.by_name = {function.sym_name.data: function for function in self.functions}
        self.called: dict[str, list[AxisInfo | None]] = {}
        self.changed = False

    def run(self) -> AxisFacts:
        for function in _callers_first(self.functions, self.by_name):
            blocks = list(function.body.blocks)
            if not blocks:
                continue
            self._enter(function, blocks[0])
            self._region(function.body)
        return AxisFacts(self.facts)

    def _enter(self, function: tile.FuncOp, entry: Block) -> None:
        attributes: Sequence[Any] = function.arg_attrs.data if function.arg_attrs is not None else ()
        passed = self.called.get(function.sym_name.data)
        for number, argument in enumerate(entry.args):
            info = nothing_known(argument.type)
            if passed is not None and passed[number] is not None:
                info = passed[number] or info
            if number < len(attributes):
                stated = attributes[number].data.get("tt.divisibility")
                if stated is not None:
                    known = max(map(v.power_of_two_part, hint_values(stated)[:1]), default=1)
                    info = replace(info, divisibility=tuple(max(known, d) for d in info.divisibility))
            self.facts[argument] = info
        for argument in _assumed_non_negative(entry):
            if argument in self.facts:
                self.facts[argument] = replace(self.facts[argument], non_negative=True)

    # --- control flow
    # -------------------------------------------------------------------------------------------------

    def _region(self, region: Region) -> None:
        """All blocks; with branches between them, until nothing changes."""
        blocks = list(region.blocks)
        for _ in range(ROUNDS):
            self.changed = False
            for block in blocks:
                if any(argument not in self.facts for argument in block.args):
                    continue  # not reached yet
                for op in block.ops:
                    self._visit(op)
            if len(blocks) == 1 or not self.changed:
                return
        raise RuntimeError("the axis analysis does not settle")

    def _join(self, values: Iterable[SSAValue], facts: Iterable[AxisInfo | None]) -> bool:
        """Lets facts flow into values; whether that taught anything."""
        changed = False
        for value, info in zip(values, facts, strict=True):
            old = self.facts.get(value)
            new = meet(old, info)
            if new is not None and new != old:
                self.facts[value] = new
                changed = True
        self.changed |= changed
        return changed

    def _known(self, values: Iterable[SSAValue]) -> list[AxisInfo | None]:
        return [self.facts.get(value) for value in values]

    def _for(self, op: scf.ForOp) -> None:
        block = op.body.block
        lower, step = self.of(op.lb), self.of(op.step)
        start = v.scalar(min(lower.every, step.every), None, lower.non_negative)
        self.facts[block.args[0]] = start
        for argument in block.args[1:]:
            self.facts.pop(argument, None)
        self._join(block.args[1:], self._known(op.iter_args))
        end = block.last_op
        assert end is not None
        for _ in range(ROUNDS):
            self._block(block)
            if not self._join(block.args[1:], self._known(end.operands)):
                break
        self._set(op.results, [self.facts.get(argument) for argument in block.args[1:]])

    def _while(self, op: scf.WhileOp) -> None:
        before, after = op.before_region.block, op.after_region.block
        for argument in (*before.args, *after.args):
            self.facts.pop(argument, None)
        self._join(before.args, self._known(op.arguments))
        condition, end = before.last_op, after.last_op
        assert condition is not None and end is not None
        for _ in range(ROUNDS):
            self._block(before)
            self._join(after.args, self._known(condition.operands[1:]))
            self._block(after)
            if not self._join(before.args, self._known(end.operands)):
                break
        self._set(op.results, self._known(condition.operands[1:]))

    def _if(self, op: scf.IfOp) -> None:
        yields: list[list[AxisInfo | None]] = []
        for region in op.regions:
            block = region.blocks.first
            if block is None:
                continue
            self._block(block)
            last = block.last_op
            assert last is not None
            yields.append(self._known(last.operands))
        for i, result in enumerate(op.results):
            info: AxisInfo | None = None
            for facts in yields:
                info = meet(info, facts[i])
            self._set([result], [info])

    def _branch(self, op: Operation) -> None:
        if isinstance(op, cf.BranchOp):
            self._join(op.successors[0].args, self._known(op.operands))
            return
        assert isinstance(op, cf.ConditionalBranchOp)
        self._join(op.successors[0].args, self._known(op.then_arguments))
        self._join(op.successors[1].args, self._known(op.else_arguments))

    def _call(self, op: tile.CallOp) -> None:
        name = op.callee.string_value()
        passed = self.called.setdefault(name, [None] * len(op.args))
        self.called[name] = [meet(old, new) for old, new in zip(passed, self._known(op.args), strict=True)]
        self._set(op.results, [nothing_known(result.type) for result in op.results])

    def _block(self, block: Block) -> None:
        for op in block.ops:
            self._visit(op)

    # --- ops
    # ----------------------------------------------------------------------------------------------------------

    def of(self, value: SSAValue) -> AxisInfo:
        return self.facts.get(value) or nothing_known(type_of(value))

    def _set(self, values: Iterable[SSAValue], facts: Iterable[AxisInfo | None]) -> None:
        for value, info in zip(values, facts, strict=True):
            new = info or nothing_known(type_of(value))
            if self.facts.get(value) != new:
                self.facts[value] = new
                self.changed = True

    def _visit(self, op: Operation) -> None:
        match op:
            case scf.ForOp():
                self._for(op)
            case scf.WhileOp():
                self._while(op)
            case scf.IfOp():
                self._if(op)
            case cf.BranchOp() | cf.ConditionalBranchOp():
                self._branch(op)
            case tile.CallOp():
                self._call(op)
            case _:
                self._compute(op)

    def _compute(self, op: Operation) -> None:
        rule = RULES.get(op.__class__)
        if rule is not None:
            info = rule(op, [self.of(operand) for operand in op.operands])
            # The table's rules have one result, or (split) results of equal facts.
            self._set(op.results, [with_hints(op, info)] * len(op.results))
            return
        for region in op.regions:
            for block in region.blocks:
                for argument in block.args:
                    self.facts.setdefault(argument, nothing_known(argument.type))
            self._region(region)
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
        for op in function.walk():
            if isinstance(op, tile.CallOp) and op.callee.string_value() in by_name:
                visit(by_name[op.callee.string_value()])
        order.append(function)

    for function in functions:
        visit(function)
    order.reverse()
    return order
