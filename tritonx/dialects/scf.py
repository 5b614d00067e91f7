"""Structured control flow, `scf`: counted loops, conditional loops, branches."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar, cast

from xdsl.dialects.builtin import IndexType, IntegerType, UnitAttr, i1
from xdsl.ir import Attribute, Block, Dialect, Operation, Region
from xdsl.irdl import (
    IRDLOperation,
    lazy_traits_def,
    operand_def,
    opt_prop_def,
    region_def,
    var_operand_def,
    var_result_def,
)
from xdsl.traits import HasParent, IsTerminator
from xdsl.utils.exceptions import VerifyException

from tritonx.dialects.control_flow import REGION_END, ConditionalLoop, ControlFlow, CountedLoop, OneOf
from tritonx.dialects.effects import PURE, REGIONS, Effects
from tritonx.dialects.layout_constraints import CARRIED_TYPES, LayoutConstraint
from tritonx.ir.define import append, define

if TYPE_CHECKING:
    from xdsl.parser import Parser
    from xdsl.printer import Printer


def _names(types: Sequence[Attribute]) -> str:
    return f"({', '.join(map(str, types))})"


def _block(region: Region, what: str) -> Block:
    block = region.blocks.first
    if block is None or block.next_block is not None:
        raise VerifyException(f"{what} must be a single block")
    return block


def _check_end(block: Block, end: type[IRDLOperation], skip: int, wanted: Sequence[Attribute], what: str) -> None:
    """The block ends in `end`, whose operands after the first `skip` have the types `wanted`."""
    last = block.last_op
    if not isinstance(last, end):
        raise VerifyException(f"{what} must end in {end.name}")
    given = [operand.type for operand in last.operands][skip:]
    if given != list(wanted):
        raise VerifyException(f"{what} must end in {end.name} of {_names(wanted)}, it has {_names(given)}")


def _check_for(op: ForOp) -> None:
    body = _block(op.body, "the loop body")
    initial = [value.type for value in op.operands][3:]
    bound: Attribute = op.operands[0].type
    is_number = isinstance(bound, IndexType) or isinstance(bound, IntegerType)
    if not is_number or any(value.type != bound for value in op.operands[:3]):
        raise VerifyException("bounds and step must have one integer type or be index")
    if [argument.type for argument in body.args] != [bound, *initial]:
        raise VerifyException(
            f"the loop body must take {_names([cast(Attribute, bound), *initial])},"
            f" it takes {_names([a.type for a in body.args])}"
        )
    if [result.type for result in op.results] != initial:
        raise VerifyException(
            f"{_names(initial)} are carried by the loop, but its results are {_names([r.type for r in op.results])}"
        )
    _check_end(body, YieldOp, 0, initial, "the loop body")


def _check_if(op: IfOp) -> None:
    results = [result.type for result in op.results]
    _check_end(_block(op.true_region, "the branch taken when true"), YieldOp, 0, results, "the branch taken when true")
    if op.false_region.blocks.first is not None:
        _check_end(
            _block(op.false_region, "the branch taken when false"), YieldOp, 0, results, "the branch taken when false"
        )
    elif results:
        raise VerifyException("an if that has results needs an else")


def _check_while(op: WhileOp) -> None:
    before, after = _block(op.before_region, "the condition"), _block(op.after_region, "the loop body")
    initial, results = [value.type for value in op.operands], [result.type for result in op.results]
    if [argument.type for argument in before.args] != initial:
        raise VerifyException(
            f"the condition must take {_names(initial)}, it takes {_names([a.type for a in before.args])}"
        )
    if [argument.type for argument in after.args] != results:
        raise VerifyException(
            f"the loop body must take {_names(results)}, it takes {_names([a.type for a in after.args])}"
        )
    _check_end(before, ConditionOp, 1, results, "the condition")
    _check_end(after, YieldOp, 0, initial, "the loop body")


def _check_execute_region(op: ExecuteRegionOp) -> None:
    if op.region.blocks.first is None:
        raise VerifyException("the region is empty")


@define
class YieldOp(IRDLOperation):
    """Ends a region of structured control flow."""

    name = "scf.yield"
    arguments = var_operand_def()
    traits = lazy_traits_def(lambda: (IsTerminator(), HasParent(ForOp, IfOp, ExecuteRegionOp, WhileOp)))
    LAYOUTS: ClassVar[LayoutConstraint] = CARRIED_TYPES
    EFFECTS: ClassVar[Effects] = PURE
    CONTROL_FLOW: ClassVar[ControlFlow] = REGION_END
    FORMAT: ClassVar[str] = "attr-dict ($arguments^ `:` type($arguments))?"


@define
class ConditionOp(IRDLOperation):
    """Ends the condition of a `while`: whether to go on, and what the body (or the result) gets."""

    name = "scf.condition"
    condition = operand_def(i1)
    args = var_operand_def()
    traits = lazy_traits_def(lambda: (HasParent(WhileOp), IsTerminator()))
    LAYOUTS: ClassVar[LayoutConstraint] = CARRIED_TYPES
    EFFECTS: ClassVar[Effects] = PURE
    CONTROL_FLOW: ClassVar[ControlFlow] = REGION_END
    FORMAT: ClassVar[str] = "`(` $condition `)` attr-dict ($args^ `:` type($args))?"


def _end_with_yield(region: Region) -> Region:
    """Adds the `scf.yield` without operands that the text leaves out."""
    block = region.blocks.last
    if block is None:
        block = Block()
        region.add_block(block)
    if block.last_op is None or not block.last_op.has_trait(IsTerminator):
        append(block, YieldOp.create())
    return region


def _parse_results(parser: Parser) -> list[Attribute]:
    if not parser.parse_optional_punctuation("->"):
        return []
    types = parser.parse_optional_comma_separated_list(parser.Delimiter.PAREN, parser.parse_type)
    return [parser.parse_type()] if types is None else list(types)


def _print_results(printer: Printer, op: Operation) -> None:
    if op.results:
        printer.print_string(" -> (")
        printer.print_list([result.type for result in op.results], printer.print_attribute)
        printer.print_string(")")


def _print_iter_args(printer: Printer, arguments: Sequence[object], operands: Sequence[object]) -> None:
    def pair(item: tuple[object, object]) -> None:
        printer.print_ssa_value(item[0])  # pyright: ignore[reportArgumentType] -- SSA values, as both callers pass
        printer.print_string(" = ")
        printer.print_ssa_value(item[1])  # pyright: ignore[reportArgumentType] -- as above

    printer.print_string("(")
    printer.print_list(list(zip(arguments, operands, strict=True)), pair)
    printer.print_string(")")


@define
class IfOp(IRDLOperation):
    """Runs one of two regions, or one or none."""

    name = "scf.if"
    cond = operand_def(i1)
    output = var_result_def()
    true_region = region_def("single_block")
    false_region = region_def()
    LAYOUTS: ClassVar[LayoutConstraint] = CARRIED_TYPES
    EFFECTS: ClassVar[Effects] = REGIONS
    CONTROL_FLOW: ClassVar[ControlFlow] = OneOf()

    def verify_(self) -> None:
        _check_if(self)

    @classmethod
    def parse(cls, parser: Parser) -> IfOp:
        condition = parser.parse_operand(IntegerType(1))
        results = _parse_results(parser)
        then = _end_with_yield(parser.parse_region())
        otherwise = _end_with_yield(parser.parse_region()) if parser.parse_optional_keyword("else") else Region()
        attributes = parser.parse_optional_attr_dict()
        return cls.create(operands=(condition,), result_types=results, attributes=attributes, regions=(then, otherwise))

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_operand(self.operands[0])
        _print_results(printer, self)
        printer.print_string(" ")
        terminators = bool(self.results)
        printer.print_region(self.true_region, print_entry_block_args=False, print_block_terminators=terminators)
        if self.false_region.blocks:
            printer.print_string(" else ")
            printer.print_region(self.false_region, print_entry_block_args=False, print_block_terminators=terminators)
        printer.print_op_attributes(self.attributes)


@define
class ForOp(IRDLOperation):
    """A counted loop with carried values; `unsignedCmp` compares the counter as an unsigned number."""

    name = "scf.for"
    lb = operand_def()
    ub = operand_def()
    step = operand_def()
    iter_args = var_operand_def()
    unsigned = opt_prop_def(UnitAttr, prop_name="unsignedCmp")
    res = var_result_def()
    body = region_def("single_block")
    LAYOUTS: ClassVar[LayoutConstraint] = CARRIED_TYPES
    EFFECTS: ClassVar[Effects] = REGIONS
    CONTROL_FLOW: ClassVar[ControlFlow] = CountedLoop()

    def verify_(self) -> None:
        _check_for(self)

    @classmethod
    def parse(cls, parser: Parser) -> ForOp:
        properties: dict[str, Attribute] = (
            {"unsignedCmp": UnitAttr()} if parser.parse_optional_keyword("unsigned") else {}
        )
        counter = parser.parse_argument(expect_type=False)
        parser.parse_punctuation("=")
        bounds = [parser.parse_unresolved_operand()]
        for word in ("to", "step"):
            parser.parse_keyword(word)
            bounds.append(parser.parse_unresolved_operand())
        position = parser.pos
        pairs: list[tuple[Parser.UnresolvedArgument, object]] = []
        types: list[Attribute] = []
        if parser.parse_optional_keyword("iter_args"):
            pairs = list(parser.parse_comma_separated_list(parser.Delimiter.PAREN, lambda: _parse_assignment(parser)))
            parser.parse_punctuation("->")
            types = list(parser.parse_comma_separated_list(parser.Delimiter.PAREN, parser.parse_type))
        carried = parser.resolve_operands([operand for _, operand in pairs], types, position)  # pyright: ignore[reportArgumentType] -- see _parse_assignment
        counter_type = parser.parse_type() if parser.parse_optional_punctuation(":") else IndexType()
        operands = [parser.resolve_operand(bound, counter_type) for bound in bounds]
        arguments = [counter.resolve(counter_type), *(a.resolve(t) for (a, _), t in zip(pairs, types, strict=True))]
        body = parser.parse_region(arguments)
        attributes = parser.parse_optional_attr_dict()
        if not pairs:
            _end_with_yield(body)
        return cls.create(
            operands=(*operands, *carried),
            result_types=types,
            properties=properties,
            attributes=attributes,
            regions=(body,),
        )

    def print(self, printer: Printer) -> None:
        counter, *arguments = self.body.block.args
        printer.print_string(" unsigned " if "unsignedCmp" in self.properties else " ")
        printer.print_ssa_value(counter)
        for word, operand in zip((" = ", " to ", " step "), self.operands, strict=False):
            printer.print_string(word)
            printer.print_ssa_value(operand)
        if arguments:
            printer.print_string(" iter_args")
            _print_iter_args(printer, arguments, tuple(self.operands)[3:])
            _print_results(printer, self)
        printer.print_string(" ")
        if not isinstance(counter.type, IndexType):
            printer.print_string(" : ")
            printer.print_attribute(counter.type)
            printer.print_string(" ")
        printer.print_region(
            self.body, print_entry_block_args=False, print_empty_block=False, print_block_terminators=bool(arguments)
        )
        printer.print_op_attributes(self.attributes)


def _parse_assignment(parser: Parser) -> tuple[Parser.UnresolvedArgument, object]:
    argument = parser.parse_argument(expect_type=False)
    parser.parse_punctuation("=")
    return argument, parser.parse_unresolved_operand()


@define
class WhileOp(IRDLOperation):
    """A loop with a condition in front: the first region decides and passes values on, the second is the body."""

    name = "scf.while"
    arguments = var_operand_def()
    res = var_result_def()
    before_region = region_def("single_block")
    after_region = region_def("single_block")
    LAYOUTS: ClassVar[LayoutConstraint] = CARRIED_TYPES
    EFFECTS: ClassVar[Effects] = REGIONS
    CONTROL_FLOW: ClassVar[ControlFlow] = ConditionalLoop()

    def verify_(self) -> None:
        _check_while(self)

    @classmethod
    def parse(cls, parser: Parser) -> WhileOp:
        position = parser.pos
        pairs = (
            parser.parse_optional_comma_separated_list(parser.Delimiter.PAREN, lambda: _parse_assignment(parser)) or []
        )
        parser.parse_punctuation(":")
        type_ = parser.parse_function_type()
        types = list(type_.inputs.data)
        operands = parser.resolve_operands([operand for _, operand in pairs], types, position)  # pyright: ignore[reportArgumentType] -- see _parse_assignment
        before = parser.parse_region([a.resolve(t) for (a, _), t in zip(pairs, types, strict=True)])
        parser.parse_keyword("do")
        after = parser.parse_region()
        attributes = parser.parse_optional_attr_dict_with_keyword()
        return cls.create(
            operands=operands,
            result_types=type_.outputs.data,
            attributes=attributes.data if attributes is not None else {},
            regions=(before, after),
        )

    def print(self, printer: Printer) -> None:
        if self.operands:
            printer.print_string(" ")
            _print_iter_args(printer, self.before_region.block.args, self.operands)
        printer.print_string(" : ")
        printer.print_function_type([o.type for o in self.operands], [r.type for r in self.results])
        printer.print_string(" ")
        printer.print_region(self.before_region, print_entry_block_args=False)
        printer.print_string(" do ")
        printer.print_region(self.after_region)
        printer.print_op_attributes(self.attributes, print_keyword=True)


@define
class ExecuteRegionOp(IRDLOperation):
    """Runs a region of unstructured control flow once."""

    name = "scf.execute_region"
    LAYOUTS: ClassVar[LayoutConstraint] = CARRIED_TYPES
    EFFECTS: ClassVar[Effects] = REGIONS
    CONTROL_FLOW: ClassVar[ControlFlow] = OneOf()
    no_inline = opt_prop_def(UnitAttr)
    outs = var_result_def()
    region = region_def()

    def verify_(self) -> None:
        _check_execute_region(self)

    @classmethod
    def parse(cls, parser: Parser) -> ExecuteRegionOp:
        results = _parse_results(parser)
        properties: dict[str, Attribute] = (
            {"no_inline": UnitAttr()} if parser.parse_optional_keyword("no_inline") else {}
        )
        region = parser.parse_region()
        attributes = parser.parse_optional_attr_dict()
        return cls.create(result_types=results, properties=properties, attributes=attributes, regions=(region,))

    def print(self, printer: Printer) -> None:
        if len(self.results) == 1:
            printer.print_string(" -> ")
            printer.print_attribute(self.results[0].type)
        else:
            _print_results(printer, self)
        printer.print_string(" no_inline " if "no_inline" in self.properties else " ")
        printer.print_region(self.region, print_entry_block_args=False)
        printer.print_op_attributes(self.attributes)


Scf = Dialect("scf", [YieldOp, ConditionOp, IfOp, ForOp, WhileOp, ExecuteRegionOp], [])

__all__ = ["ConditionOp", "ExecuteRegionOp", "ForOp", "IfOp", "Scf", "WhileOp", "YieldOp"]
