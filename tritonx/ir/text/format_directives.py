"""The directives of a format: types in full, elided or as a function type, bare integers, tokens. See
`tritonx.ir.text.format`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, cast

from xdsl.dialects.builtin import DenseArrayBase, IntegerAttr, i32
from xdsl.ir import Attribute, Data
from xdsl.irdl import IRDLOperation
from xdsl.utils.mlir_lexer import MLIRTokenKind

from tritonx.ir.declaration import SEGMENTS
from tritonx.ir.properties import integer_property, integers_property
from tritonx.ir.spelling import TextLevel, since
from tritonx.ir.text.format_pieces import (
    FormatError,
    Piece,
    State,
    always,
    arity_of,
    at_integer,
    at_operand,
    current_token,
    fixed_type,
    integer_type,
    never,
    operands_of,
    property_present,
)
from tritonx.ir.types import element_type, type_of
from tritonx.ir.types import pointer as pointer_type

if TYPE_CHECKING:
    from xdsl.parser import Parser
    from xdsl.printer import Printer


class Directives:
    """The declarations of an op, where spaces go, and a method `directive_<name>` for each directive."""

    def __init__(self, op: type[IRDLOperation], tokens: list[str]) -> None:
        self.op = op
        self.tokens = tokens
        self.position: int = 0
        definition = op.get_irdl_definition()
        self.operands = dict(definition.operands)
        self.results = dict(definition.results)
        self.properties = definition.properties
        self.attribute_names = definition.attributes
        self.successors = dict(definition.successors)
        self.mentioned = {token[1:] for token in tokens if token.startswith("$")} | {SEGMENTS}
        self.space = True
        self.after_punctuation = False

    def prefix(self) -> str:
        """The space, if any, in front of anything that is no literal."""
        text = " " if self.space or not self.after_punctuation else ""
        self.space, self.after_punctuation = True, False
        return text

    def assign_types(self, parser: Parser, state: State) -> None:
        """Splits the types of all operands by the operands that were read by name before."""
        types = state.types.pop("operands")
        count = sum(len(given) for given in state.operands.values())
        if count != len(types):
            parser.raise_error(f"{count} operands but {len(types)} types")
        position = 0
        for name in self.operands:
            here = len(state.operands.get(name, []))
            state.types[name] = types[position : position + here]
            position += here

    def value_types(self, argument: str) -> tuple[str, Callable[[IRDLOperation], Sequence[Attribute]], int]:
        """Name, reader of the types, arity of `$x`, `operands` or `results`."""
        if argument == "operands":
            return argument, lambda op: [type_of(value) for value in operands_of(op)], -1
        if argument == "results":
            names = list(self.results)
            if len(names) != 1:
                return argument, lambda op: [type_of(value) for value in op.results], -1
            argument = "$" + names[0]
        name = argument[1:]
        definition = self.operands.get(name) or self.results.get(name)
        if definition is None:
            raise FormatError(f"{self.op.name} has no operand or result '{name}'")
        arity = arity_of(definition)
        if arity == 1:
            return name, lambda op: (type_of(getattr(op, name)),), arity
        if arity == 0:
            return name, lambda op: () if getattr(op, name) is None else (type_of(getattr(op, name)),), arity
        return name, lambda op: [type_of(value) for value in getattr(op, name)], arity

    def assign_result_types(self, parser: Parser, state: State) -> None:
        """Splits the types of all results by the declared ones; optional ones fill from the left."""
        types = state.types.pop("results")
        fixed = sum(arity_of(d) == 1 for d in self.results.values())
        spare = len(types) - fixed
        for name, definition in self.results.items():
            arity = arity_of(definition)
            count = 1 if arity == 1 else spare if arity < 0 else min(spare, 1)
            spare -= 0 if arity == 1 else count
            state.types[name], types = types[: max(count, 0)], types[max(count, 0) :]
        if spare != 0 or types:
            parser.raise_error("the number of result types does not fit the operation")

    def directive_type(self, argument: str) -> Piece:
        name, types, arity = self.value_types(argument)
        before = self.prefix()
        if arity == 1:

            def parse(parser: Parser, state: State) -> None:
                state.types[name] = [parser.parse_type()]

            def print_(printer: Printer, op: IRDLOperation) -> None:
                printer.print_string(before)
                printer.print_attribute(type_of(getattr(op, name)))

            return Piece(parse, print_, never, always)

        def parse_many(parser: Parser, state: State) -> None:
            first = parser.parse_optional_type()
            found: list[Attribute] = [] if first is None else [first]
            while found and arity < 0 and parser.parse_optional_punctuation(",") is not None:
                found.append(parser.parse_type())
            state.types[name] = found
            if name == "operands" and state.all_operands is None:
                self.assign_types(parser, state)

        def print_many(printer: Printer, op: IRDLOperation) -> None:
            printer.print_string(before)
            printer.print_list(types(op), printer.print_attribute)

        return Piece(parse_many, print_many, never, lambda op: len(types(op)) > 0)

    def directive_elided(self, argument: str, prefix: str) -> Piece:
        name, types, _ = self.value_types(argument)
        before = self.prefix()

        def parse(parser: Parser, state: State) -> None:
            type_ = parser.parse_optional_type()
            if type_ is None:
                kind = cast("type[Data[object]]", parser.ctx.get_optional_type(prefix[1:]))
                type_ = kind.new(kind.parse_parameter(parser))
            state.types[name] = [type_]

        def print_(printer: Printer, op: IRDLOperation) -> None:
            printer.print_string(before)
            for type_ in types(op):
                cast(Data[object], type_).print_parameter(printer)

        return Piece(parse, print_, never, always)

    def directive_behind(self, pointer: str, value: str) -> Piece:
        """The type of a value, and since 3.9 that of the pointer to it in front; read in both forms."""
        (name, types, _), (value_name, value_types, _) = self.value_types(pointer), self.value_types(value)
        before = self.prefix()

        def parse(parser: Parser, state: State) -> None:
            first = parser.parse_type()
            if parser.parse_optional_punctuation("->") is not None:
                state.types[name] = [first]
                first = parser.parse_type()
            else:
                state.types[name] = [pointer_type(element_type(first))]
            state.types[value_name] = [first]

        def print_(printer: Printer, op: IRDLOperation) -> None:
            printer.print_string(before)
            if since(printer, TextLevel.V3_9):
                printer.print_list(types(op), printer.print_attribute)
                printer.print_string(" -> ")
            printer.print_list(value_types(op), printer.print_attribute)

        return Piece(parse, print_, never, always)

    def directive_pointer(self, argument: str) -> Piece:
        """The type of a pointer, since 3.9 in full, before without its name."""
        elided, name = self.directive_elided(argument, "!tt.ptr"), argument[1:]

        def print_(printer: Printer, op: IRDLOperation) -> None:
            if since(printer, TextLevel.V3_9):
                printer.print_string(" ")
                printer.print_attribute(type_of(getattr(op, name)))
            else:
                elided.print(printer, op)

        return Piece(elided.parse, print_, never, always)

    def directive_functional_type(self, inputs: str, outputs: str) -> Piece:
        in_name, in_types, _ = self.value_types(inputs)
        out_name, out_types, out_arity = self.value_types(outputs)
        before = self.prefix()

        def parse(parser: Parser, state: State) -> None:
            type_ = parser.parse_function_type()
            results = list(type_.outputs.data)
            if out_arity == 1 and len(results) != 1:
                parser.raise_error(f"expected one result type, got {len(results)}")
            state.types[in_name] = list(type_.inputs.data)
            state.types[out_name] = results
            if out_name == "results":
                self.assign_result_types(parser, state)
            if in_name == "operands" and state.all_operands is None:
                self.assign_types(parser, state)

        def print_(printer: Printer, op: IRDLOperation) -> None:
            printer.print_string(before)
            printer.print_function_type(in_types(op), out_types(op))

        return Piece(parse, print_, lambda parser: current_token(parser).kind is MLIRTokenKind.L_PAREN, always)

    def directive_token(self, dependency: str, result: str) -> Piece:
        in_name, out_name = dependency[1:], result[1:]
        token = fixed_type(self.results[out_name])
        if token is None:
            raise FormatError(f"{self.op.name}: the type of '{out_name}' must be fixed")
        before = self.prefix()

        def parse(parser: Parser, state: State) -> None:
            if parser.parse_optional_punctuation("[") is None:
                return
            if at_operand(parser):
                state.operands[in_name] = [parser.parse_unresolved_operand()]
            parser.parse_punctuation("]")
            state.types[out_name] = [token]

        def print_(printer: Printer, op: IRDLOperation) -> None:
            operand = getattr(op, in_name)
            if operand is None and getattr(op, out_name) is None:
                return
            printer.print_string(before + "[")
            if operand is not None:
                printer.print_ssa_value(operand)
            printer.print_string("]")

        return Piece(parse, print_, never, always)

    def directive_pairs(self, first: str, second: str) -> Piece:
        a, b = first[1:], second[1:]
        self.prefix()

        def parse(parser: Parser, state: State) -> None:
            state.operands[a], state.operands[b] = [], []
            while parser.parse_optional_punctuation(",") is not None:
                state.operands[a].append(parser.parse_unresolved_operand())
                parser.parse_punctuation("[")
                state.operands[b].append(parser.parse_unresolved_operand())
                parser.parse_punctuation("]")

        def print_(printer: Printer, op: IRDLOperation) -> None:
            for left, right in zip(getattr(op, a), getattr(op, b), strict=True):
                printer.print_string(", ")
                printer.print_ssa_value(left)
                printer.print_string("[")
                printer.print_ssa_value(right)
                printer.print_string("]")

        return Piece(parse, print_, never, lambda op: len(getattr(op, a)) > 0)

    def directive_int(self, argument: str) -> Piece:
        name = argument[1:]
        default = self.properties[name].default_value
        type_ = integer_type(self.properties[name].constr)
        before = self.prefix()

        def parse(parser: Parser, state: State) -> None:
            state.properties[name] = IntegerAttr(parser.parse_integer(allow_boolean=False), type_)

        def print_(printer: Printer, op: IRDLOperation) -> None:
            printer.print_string(f"{before}{integer_property(op, name)}")

        return Piece(parse, print_, at_integer, property_present(name, default))

    def directive_ints(self, argument: str) -> Piece:
        name = argument[1:]
        before = self.prefix()

        def parse(parser: Parser, state: State) -> None:
            values: list[int] = []
            if at_integer(parser):
                values.append(parser.parse_integer(allow_boolean=False))
                while parser.parse_optional_punctuation(",") is not None:
                    values.append(parser.parse_integer(allow_boolean=False))
            state.properties[name] = DenseArrayBase.from_list(i32, values)

        def print_(printer: Printer, op: IRDLOperation) -> None:
            printer.print_string(before + ", ".join(map(str, integers_property(op, name))))

        return Piece(parse, print_, at_integer, property_present(name, None))
