"""Compiling the string of a format into pieces: literals, operands, properties, groups; see `format`."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, cast

from xdsl.dialects.builtin import UnitAttr
from xdsl.ir import Data
from xdsl.irdl import IRDLOperation
from xdsl.utils.mlir_lexer import MLIRTokenKind, PunctuationSpelling

from tritonx.ir.declaration import EnumConstraint
from tritonx.ir.properties import integer_property
from tritonx.ir.text.format_directives import Directives
from tritonx.ir.text.format_pieces import (
    FormatError,
    Piece,
    State,
    always,
    arity_of,
    at_operand,
    current_token,
    never,
    no_parse,
    no_print,
    operand_list,
    operands_of,
    property_present,
)

if TYPE_CHECKING:
    from xdsl.parser import Parser
    from xdsl.printer import Printer

_TOKEN = re.compile(r"\s*(`[^`]*`|\$\w+|![\w.]+|attr-dict-with-keyword|attr-dict|functional-type|\w+|[()?^|,])")


def pieces_of(op: type[IRDLOperation], text: str) -> list[Piece]:
    """Compiles `text` for `op`; raises `FormatError` where the format or a name in it is wrong."""
    tokens: list[str] = []
    position = 0
    while position < len(text.rstrip()):
        match = _TOKEN.match(text, position)
        if match is None:
            raise FormatError(f"{op.name}: cannot read the format at {text[position:]!r}")
        tokens.append(match[1])
        position = match.end()
    return Compiler(op, tokens).sequence(())


class Compiler(Directives):
    """Turns the tokens of a format into pieces, keeping track of where MLIR's printers put spaces."""

    # -- reading the tokens

    def peek(self) -> str | None:
        return self.tokens[self.position] if self.position < len(self.tokens) else None

    def take(self, expected: str | None = None) -> str:
        token = self.peek()
        if token is None or (expected is not None and token != expected):
            raise FormatError(f"{self.op.name}: expected {expected or 'more'} in the format, got {token}")
        self.position = self.position + 1
        return token

    def sequence(self, ends: tuple[str, ...]) -> list[Piece]:
        pieces: list[Piece] = []
        while (token := self.peek()) is not None and token not in ends:
            pieces.append(self.group() if token == "(" else self.piece())
        return pieces

    def group(self) -> Piece:
        self.take("(")
        pieces: list[Piece] = []
        anchor: Piece | None = None
        while self.peek() != ")":
            pieces.append(self.piece())
            if self.peek() == "^":
                self.take()
                anchor = pieces[-1]
        self.take(")")
        self.take("?")
        if anchor is None:
            raise FormatError(f"{self.op.name}: an optional group needs an anchor (^)")
        starts, present = pieces[0].starts, anchor.present
        parse_steps, print_steps = [p.parse for p in pieces], [p.print for p in pieces]

        def parse(parser: Parser, state: State) -> None:
            if starts(parser):
                for step in parse_steps:
                    step(parser, state)

        def print_(printer: Printer, op: IRDLOperation) -> None:
            if present(op):
                for step in print_steps:
                    step(printer, op)

        return Piece(parse, print_, starts, present)

    def piece(self) -> Piece:
        token = self.take()
        if token.startswith("`"):
            return self.literal(token[1:-1])
        if token.startswith("$"):
            return self.variable(token[1:])
        if token in ("attr-dict", "attr-dict-with-keyword"):
            return self.attr_dict(token == "attr-dict-with-keyword")
        if token == "operands":
            return self.all_operands()
        if token == "oilist":
            return self.oilist()
        if token in ("type", "elided", "functional-type", "int", "ints", "token", "pairs", "behind", "pointer"):
            self.take("(")
            arguments = [self.take()]
            while self.peek() == ",":
                self.take()
                arguments.append(self.take())
            self.take(")")
            directive = cast(Callable[..., Piece], getattr(self, "directive_" + token.replace("-", "_")))
            return directive(*arguments)
        raise FormatError(f"{self.op.name}: {token!r} means nothing in a format")

    # -- the pieces

    def literal(self, word: str) -> Piece:
        if word == "":
            self.space, self.after_punctuation = False, True
            return Piece(no_parse, no_print, never, always)
        before = ""
        if self.space:
            if len(word) != 1 and word != "->":
                before = " "
            else:
                tight = ">)}]," if self.after_punctuation else "<>(){}[],"
                before = "" if word[0] in tight else " "
        self.space = len(word) != 1 or word not in "<({["
        self.after_punctuation = not (word[0].isalpha() or word[0] == "_")
        text = before + word
        if word[0].isalpha() or word[0] == "_":

            def parse(parser: Parser, state: State) -> None:
                parser.parse_keyword(word)

            def starts(parser: Parser) -> bool:
                token = current_token(parser)
                return token.kind is MLIRTokenKind.BARE_IDENT and token.text == word

        else:
            spelling = cast(PunctuationSpelling, word)
            kind = MLIRTokenKind.get_punctuation_kind_from_name(spelling)

            def parse(parser: Parser, state: State) -> None:
                parser.parse_punctuation(spelling)

            def starts(parser: Parser) -> bool:
                return current_token(parser).kind is kind

        return Piece(parse, lambda printer, op: printer.print_string(text), starts, always)

    def variable(self, name: str) -> Piece:
        if name in self.operands:
            return self.operand(name, arity_of(self.operands[name]))
        if name in self.successors:
            return self.successor(name)
        if name in self.properties:
            return self.property(name)
        raise FormatError(f"{self.op.name} has no operand, property or successor '{name}'")

    def operand(self, name: str, arity: int) -> Piece:
        before = self.prefix()
        if arity == 1:

            def parse_one(parser: Parser, state: State) -> None:
                state.operands[name] = [parser.parse_unresolved_operand()]

            def print_one(printer: Printer, op: IRDLOperation) -> None:
                printer.print_string(before)
                printer.print_ssa_value(getattr(op, name))

            return Piece(parse_one, print_one, at_operand, always)
        if arity == 0:

            def parse_optional(parser: Parser, state: State) -> None:
                if at_operand(parser):
                    state.operands[name] = [parser.parse_unresolved_operand()]

            def print_optional(printer: Printer, op: IRDLOperation) -> None:
                value = getattr(op, name)
                if value is not None:
                    printer.print_string(before)
                    printer.print_ssa_value(value)

            return Piece(parse_optional, print_optional, at_operand, lambda op: getattr(op, name) is not None)

        def parse_many(parser: Parser, state: State) -> None:
            state.operands[name] = operand_list(parser)

        def print_many(printer: Printer, op: IRDLOperation) -> None:
            printer.print_string(before)
            printer.print_list(getattr(op, name), printer.print_ssa_value)

        return Piece(parse_many, print_many, at_operand, lambda op: len(getattr(op, name)) > 0)

    def successor(self, name: str) -> Piece:
        before = self.prefix()

        def parse(parser: Parser, state: State) -> None:
            state.successors[name] = parser.parse_successor()

        def print_(printer: Printer, op: IRDLOperation) -> None:
            printer.print_string(before)
            printer.print_block_name(getattr(op, name))

        return Piece(parse, print_, lambda parser: current_token(parser).kind is MLIRTokenKind.CARET_IDENT, always)

    def property(self, name: str) -> Piece:
        definition = self.properties[name]
        constraint: object = definition.constr
        default = definition.default_value
        if getattr(constraint, "attr", None) in (UnitAttr, UnitAttr()):  # of a BaseAttr or an EqAttrConstraint
            return self.unit(name)
        present = property_present(name, default)
        before = self.prefix()
        if isinstance(constraint, EnumConstraint):
            words, spelled = constraint.by_keyword, constraint.by_value

            def parse_enum(parser: Parser, state: State) -> None:
                word = parser.parse_optional_identifier_or_str_literal()
                if word not in words:
                    parser.raise_error(f"expected one of {', '.join(words)}")
                state.properties[name] = words[word]

            def print_enum(printer: Printer, op: IRDLOperation) -> None:
                printer.print_string(before + spelled[integer_property(op, name)])

            return Piece(parse_enum, print_enum, lambda parser: current_token(parser).text in words, present)
        if isinstance(getattr(default, "data", None), frozenset):  # flags: `<fast>`, without a name
            kind = cast("type[Data[object]]", type(default))

            def parse_flags(parser: Parser, state: State) -> None:
                state.properties[name] = kind(kind.parse_parameter(parser))

            def print_flags(printer: Printer, op: IRDLOperation) -> None:
                printer.print_string(before)
                cast("Data[object]", op.properties[name]).print_parameter(printer)

            return Piece(parse_flags, print_flags, lambda parser: current_token(parser).text == "<", present)

        def parse(parser: Parser, state: State) -> None:
            state.properties[name] = parser.parse_attribute()

        def print_(printer: Printer, op: IRDLOperation) -> None:
            printer.print_string(before)
            printer.print_attribute(op.properties[name])

        return Piece(parse, print_, never, present)

    def unit(self, name: str) -> Piece:
        """A property that is there or not: the literal in front of it in its group stands for it."""

        def parse(parser: Parser, state: State) -> None:
            state.properties[name] = UnitAttr()

        return Piece(parse, no_print, never, lambda op: name in op.properties)

    def attr_dict(self, with_keyword: bool) -> Piece:
        self.after_punctuation = False
        hidden = self.mentioned
        shown = [(name, d.default_value) for name, d in self.properties.items() if name not in hidden]
        names = {name for name, _ in shown}
        known = set(self.properties)

        def parse(parser: Parser, state: State) -> None:
            if with_keyword and parser.parse_optional_keyword("attributes") is None:
                return
            for name, value in parser.parse_optional_attr_dict().items():
                if name in names:
                    state.properties[name] = value
                elif name in known:
                    parser.raise_error(f"'{name}' is no part of the attribute dictionary here")
                else:
                    state.attributes[name] = value

        def print_(printer: Printer, op: IRDLOperation) -> None:
            entries = op.attributes
            if shown:
                properties = op.properties
                extra = {
                    name: properties[name]
                    for name, default in shown
                    if name in properties and properties[name] != default
                }
                entries = {**entries, **extra} if extra else entries
            if entries:
                printer.print_op_attributes(entries, print_keyword=with_keyword)

        return Piece(parse, print_, lambda parser: current_token(parser).kind is MLIRTokenKind.L_BRACE, always)

    def all_operands(self) -> Piece:
        before = self.prefix()

        def parse(parser: Parser, state: State) -> None:
            state.all_operands = operand_list(parser)

        def print_(printer: Printer, op: IRDLOperation) -> None:
            printer.print_string(before)
            printer.print_list(operands_of(op), printer.print_ssa_value)

        return Piece(parse, print_, at_operand, lambda op: len(operands_of(op)) > 0)

    def oilist(self) -> Piece:
        self.take("(")
        clauses: list[tuple[list[Piece], Piece]] = []
        while True:
            pieces = self.sequence(("|", ")"))
            variables = [p for p in pieces if p.present is not always]
            if not variables:
                raise FormatError(f"{self.op.name}: a clause of an oilist needs a property")
            clauses.append((pieces, variables[-1]))
            self.space, self.after_punctuation = True, False
            if self.take() == ")":
                break

        def parse(parser: Parser, state: State) -> None:
            left = list(clauses)
            while True:
                clause = next((c for c in left if c[0][0].starts(parser)), None)
                if clause is None:
                    return
                left.remove(clause)
                for piece in clause[0]:
                    piece.parse(parser, state)

        def print_(printer: Printer, op: IRDLOperation) -> None:
            for pieces, anchor in clauses:
                if anchor.present(op):
                    for piece in pieces:
                        piece.print(printer, op)

        return Piece(parse, print_, lambda parser: any(c[0][0].starts(parser) for c in clauses), always)
