"""Declarative op formats: one string that both parses and prints an op, in the notation of MLIR's `assemblyFormat`.

    $ptr (`,` $mask^)? (`,` $other^)? oilist(`cacheModifier` `=` $cache | `evictionPolicy` `=` $evict) attr-dict `:` type($ptr)

| piece | meaning |
|---|---|
| `` `word` ``, `` `,` `` | literally this; `` `` `` (nothing between the quotes): no space here |
| `$name` | operand(s), property or successor of that name; an enum property is its keyword |
| `int($p)`, `ints($p)` | an integer property without its type; an integer-array property without its wrapping |
| `type($x)`, `elided($x, !prefix)` | type(s) of operand or result; the same with `!prefix` left out |
| `type(operands)`, `functional-type(a, b)` | types of all operands; `(types of a) -> types of b` |
| `operands` | all operands |
| `token($dep, $token)` | `[%dep]` or `[]` if there is a result `$token`, nothing otherwise |
| `pairs($a, $b)` | `, %a0[%b0], %a1[%b1]`, ... |
| `attr-dict` | attributes, and properties that the format does not mention and that differ from their defaults |
| `( ... )?` with `^` behind one piece | only if that operand, property or result is there (and differs from its default) |
| `oilist(a | b)` | any of the clauses in any order |

Types that the text lacks follow from the op's `TYPES`, or from a constraint that allows one type only. A format is compiled when its
op is parsed or printed for the first time. Spacing follows the rules of MLIR's generated printers.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from xdsl.dialects.builtin import DenseArrayBase, IntegerAttr, IntegerType, UnitAttr, i32
from xdsl.ir import Attribute, Block, SSAValue
from xdsl.irdl import EqAttrConstraint, IRDLOperation, OptionalDef, VariadicDef
from xdsl.irdl.constraints import RangeLengthConstraint, RangeOf
from xdsl.parser import Parser, UnresolvedOperand
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException
from xdsl.utils.mlir_lexer import MLIRTokenKind

from tritonx.ir.define import SEGMENTS, EnumConstraint, TypeRules, sizes_of_segments

_TOKEN = re.compile(r"\s*(`[^`]*`|\$\w+|![\w.]+|attr-dict-with-keyword|attr-dict|functional-type|\w+|[()?^|,])")


class FormatError(Exception):
    """A format that cannot be compiled: a mistake in an op's declaration."""


@dataclass
class State:
    """What has been read of an op so far."""

    operands: dict[str, list[UnresolvedOperand]] = field(default_factory=dict[str, list[UnresolvedOperand]])
    all_operands: list[UnresolvedOperand] | None = None
    types: dict[str, list[Attribute]] = field(default_factory=dict[str, list[Attribute]])
    properties: dict[str, Attribute] = field(default_factory=dict[str, Attribute])
    attributes: dict[str, Attribute] = field(default_factory=dict[str, Attribute])
    successors: dict[str, Block] = field(default_factory=dict[str, Block])


ParseStep = Callable[[Any, State], None]
PrintStep = Callable[[Any, Any], None]
StartTest = Callable[[Any], bool]


@dataclass(frozen=True)
class Piece:
    """One compiled piece of a format."""

    parse: ParseStep
    print: PrintStep
    starts: StartTest
    """Whether the parser stands at this piece; what an optional group asks its first piece."""
    present: Callable[[Any], bool]
    """Whether there is something to print; what an optional group asks its anchor."""
    after_open: bool = False
    """Ends in an opening bracket or in ``: no space follows."""


class Format:
    """A compiled format of one op class."""

    def __init__(self, op: type[IRDLOperation], pieces: Sequence[Piece]) -> None:
        self.op = op
        self._parse_steps = [piece.parse for piece in pieces]
        self._print_steps = [piece.print for piece in pieces]
        definition = op.get_irdl_definition()
        self._operands = [(name, _arity(d), _fixed_type(d)) for name, d in definition.operands]
        self._results = [(name, _arity(d), _fixed_type(d)) for name, d in definition.results]
        self._rules = cast(TypeRules, getattr(op, "TYPES", {}))
        self._successors = [name for name, _ in definition.successors]
        self._has_segments = cast(bool, cast(Any, op)._has_segments)  # pyright: ignore[reportPrivateUsage] -- set by define

    def print(self, printer: Printer, op: IRDLOperation) -> None:
        for step in self._print_steps:
            step(printer, op)

    def parse(self, parser: Parser) -> IRDLOperation:
        state = State()
        start = parser.pos
        for step in self._parse_steps:
            step(parser, state)
        if state.all_operands is not None:
            self._distribute(parser, state, start)
        operands: list[SSAValue] = []
        sizes: list[int] = []
        for name, arity, fixed in self._operands:
            given = state.operands.get(name, [])
            if arity == 1 and not given:
                parser.raise_error(f"operand '{name}' is missing", start)
            types = self._types(parser, state, name, len(given), fixed, start)
            if len(types) != len(given):
                parser.raise_error(f"'{name}' has {len(given)} operands but {len(types)} types", start)
            operands.extend(parser.resolve_operand(o, t) for o, t in zip(given, types, strict=True))
            sizes.append(len(given))
        results: list[Attribute] = []
        for name, arity, fixed in self._results:
            count = 1 if arity == 1 else len(state.types.get(name, self._source_types(state, name)))
            results.extend(self._types(parser, state, name, count, fixed, start))
        if self._has_segments:
            state.properties[SEGMENTS] = sizes_of_segments(sizes)
        return self.op.create(
            operands=operands,
            result_types=results,
            properties=state.properties,
            attributes=state.attributes,
            successors=[state.successors[name] for name in self._successors],
        )

    def _types(
        self, parser: Parser, state: State, name: str, count: int, fixed: Attribute | None, start: int
    ) -> list[Attribute]:
        types = state.types.get(name)
        if types is not None:
            return types
        if count == 0:
            return []
        if fixed is not None:
            return [fixed] * count
        rule = self._rules.get(name)
        if rule is None:
            parser.raise_error(f"the type of '{name}' is missing", start)
        source, function = rule
        known = state.types.get(source)
        if known is None:
            if source == name:
                parser.raise_error(f"the type of '{name}' is missing", start)
            fixed_source = next((f for n, _, f in (*self._operands, *self._results) if n == source), None)
            known = self._types(parser, state, source, 1, fixed_source, start)
        if len(known) not in (1, count):
            parser.raise_error(f"the type of '{name}' follows from '{source}', which has {len(known)} types", start)
        try:
            types = [function(type_) for type_ in (known if len(known) == count else known * count)]
        except VerifyException as error:
            parser.raise_error(f"no type for '{name}': {error}", start)
        state.types[name] = types
        return types

    def _source_types(self, state: State, name: str) -> list[Attribute]:
        """The types that those of a variadic result follow from, one for one."""
        rule = self._rules.get(name)
        return [] if rule is None else state.types.get(rule[0], [])

    def _distribute(self, parser: Parser, state: State, start: int) -> None:
        """Gives the operands of an `operands` piece to the declared names."""
        given = state.all_operands or []
        types = state.types.pop("operands", None)
        fixed = sum(arity == 1 for _, arity, _ in self._operands)
        spare = len(given) - fixed
        if spare < 0 or (spare > 0 and fixed == len(self._operands)):
            parser.raise_error(f"expected {fixed} operands, got {len(given)}", start)
        position = 0
        for name, arity, _ in self._operands:
            count = 1 if arity == 1 else spare if arity < 0 else min(spare, 1)
            if arity != 1:
                spare -= count
            state.operands[name] = given[position : position + count]
            if types is not None:
                state.types[name] = types[position : position + count]
            position += count


def _arity(definition: object) -> int:
    """1 for a single value, 0 for an optional one, -1 for any number."""
    if isinstance(definition, OptionalDef):
        return 0
    return -1 if isinstance(definition, VariadicDef) else 1


def _fixed_type(definition: Any) -> Attribute | None:
    """The only type that a definition allows, if there is just one."""
    constraint = definition.constr
    if isinstance(constraint, RangeLengthConstraint):
        constraint = cast(Any, constraint).constraint
    if isinstance(constraint, RangeOf):
        constraint = cast(Any, constraint).constr
    return constraint.attr if isinstance(constraint, EqAttrConstraint) else None


def compile_format(op: type[IRDLOperation], text: str) -> Format:
    """Compiles `text` for `op`; raises `FormatError` where the format or a name in it is wrong."""
    tokens: list[str] = []
    position = 0
    while position < len(text.rstrip()):
        match = _TOKEN.match(text, position)
        if match is None:
            raise FormatError(f"{op.name}: cannot read the format at {text[position:]!r}")
        tokens.append(match[1])
        position = match.end()
    compiler = _Compiler(op, tokens)
    return Format(op, compiler.sequence(()))


class _Compiler:
    """Turns the tokens of a format into pieces, keeping track of where MLIR's printers put spaces."""

    def __init__(self, op: type[IRDLOperation], tokens: list[str]) -> None:
        self.op = op
        self.tokens = tokens
        self.position = 0
        definition = op.get_irdl_definition()
        self.operands = dict(definition.operands)
        self.results = dict(definition.results)
        self.properties = definition.properties
        self.attribute_names = definition.attributes
        self.successors = dict(definition.successors)
        self.mentioned = {token[1:] for token in tokens if token.startswith("$")} | {SEGMENTS}
        self.space = True
        self.after_punctuation = False

    # -- reading the tokens

    def peek(self) -> str | None:
        return self.tokens[self.position] if self.position < len(self.tokens) else None

    def take(self, expected: str | None = None) -> str:
        token = self.peek()
        if token is None or (expected is not None and token != expected):
            raise FormatError(f"{self.op.name}: expected {expected or 'more'} in the format, got {token}")
        self.position += 1
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

        def parse(parser: Any, state: State) -> None:
            if starts(parser):
                for step in parse_steps:
                    step(parser, state)

        def print_(printer: Any, op: Any) -> None:
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
        if token in ("type", "elided", "functional-type", "int", "ints", "token", "pairs"):
            self.take("(")
            arguments = [self.take()]
            while self.peek() == ",":
                self.take()
                arguments.append(self.take())
            self.take(")")
            directive = cast(Callable[..., Piece], getattr(self, "directive_" + token.replace("-", "_")))
            return directive(*arguments)
        raise FormatError(f"{self.op.name}: {token!r} means nothing in a format")

    # -- spacing

    def prefix(self) -> str:
        """The space, if any, in front of anything that is no literal."""
        text = " " if self.space or not self.after_punctuation else ""
        self.space, self.after_punctuation = True, False
        return text

    # -- the pieces

    def literal(self, word: str) -> Piece:
        if word == "":
            self.space, self.after_punctuation = False, True
            return Piece(_no_parse, _no_print, _never, _always)
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

            def parse(parser: Any, state: State) -> None:
                parser.parse_keyword(word)

            def starts(parser: Any) -> bool:
                token = parser._current_token
                return token.kind is MLIRTokenKind.BARE_IDENT and token.text == word

        else:

            def parse(parser: Any, state: State) -> None:
                parser.parse_punctuation(word)

            kind = MLIRTokenKind.get_punctuation_kind_from_name(cast(Any, word))

            def starts(parser: Any) -> bool:
                return parser._current_token.kind is kind

        return Piece(parse, lambda printer, op: printer.print_string(text), starts, _always)

    def variable(self, name: str) -> Piece:
        if name in self.operands:
            return self.operand(name, _arity(self.operands[name]))
        if name in self.successors:
            return self.successor(name)
        if name in self.properties:
            return self.property(name)
        raise FormatError(f"{self.op.name} has no operand, property or successor '{name}'")

    def operand(self, name: str, arity: int) -> Piece:
        before = self.prefix()
        if arity == 1:

            def parse_one(parser: Any, state: State) -> None:
                state.operands[name] = [parser.parse_unresolved_operand()]

            def print_one(printer: Any, op: Any) -> None:
                printer.print_string(before)
                printer.print_ssa_value(getattr(op, name))

            return Piece(parse_one, print_one, _at_operand, _always)
        if arity == 0:

            def parse_optional(parser: Any, state: State) -> None:
                if _at_operand(parser):
                    state.operands[name] = [parser.parse_unresolved_operand()]

            def print_optional(printer: Any, op: Any) -> None:
                value = getattr(op, name)
                if value is not None:
                    printer.print_string(before)
                    printer.print_ssa_value(value)

            return Piece(parse_optional, print_optional, _at_operand, lambda op: getattr(op, name) is not None)

        def parse_many(parser: Any, state: State) -> None:
            state.operands[name] = _operand_list(parser)

        def print_many(printer: Any, op: Any) -> None:
            printer.print_string(before)
            printer.print_list(getattr(op, name), printer.print_ssa_value)

        return Piece(parse_many, print_many, _at_operand, lambda op: len(getattr(op, name)) > 0)

    def successor(self, name: str) -> Piece:
        before = self.prefix()

        def parse(parser: Any, state: State) -> None:
            state.successors[name] = parser.parse_successor()

        def print_(printer: Any, op: Any) -> None:
            printer.print_string(before)
            printer.print_block_name(getattr(op, name))

        return Piece(parse, print_, lambda parser: parser._current_token.kind is MLIRTokenKind.CARET_IDENT, _always)

    def property(self, name: str) -> Piece:
        definition = self.properties[name]
        constraint: Any = definition.constr
        default = definition.default_value
        if getattr(constraint, "attr", None) in (UnitAttr, UnitAttr()):  # of a BaseAttr or an EqAttrConstraint
            return self.unit(name)
        present = _property_present(name, default)
        before = self.prefix()
        if isinstance(constraint, EnumConstraint):
            words, spelled = constraint.by_keyword, constraint.by_value

            def parse_enum(parser: Any, state: State) -> None:
                word = parser.parse_optional_identifier_or_str_literal()
                attribute = words.get(word)
                if attribute is None:
                    parser.raise_error(f"expected one of {', '.join(words)}")
                state.properties[name] = attribute

            def print_enum(printer: Any, op: Any) -> None:
                printer.print_string(before + spelled[op.properties[name].value.data])

            return Piece(parse_enum, print_enum, lambda parser: parser._current_token.text in words, present)
        if hasattr(default, "separator_value"):  # a bit enum: its parameter alone, `<fast>`, without its name
            kind = cast(Any, type(default))

            def parse_flags(parser: Any, state: State) -> None:
                state.properties[name] = kind(kind.parse_parameter(parser))

            def print_flags(printer: Any, op: Any) -> None:
                printer.print_string(before)
                op.properties[name].print_parameter(printer)

            return Piece(parse_flags, print_flags, lambda parser: parser._current_token.text == "<", present)

        def parse(parser: Any, state: State) -> None:
            state.properties[name] = parser.parse_attribute()

        def print_(printer: Any, op: Any) -> None:
            printer.print_string(before)
            printer.print_attribute(op.properties[name])

        return Piece(parse, print_, _never, present)

    def unit(self, name: str) -> Piece:
        """A property that is there or not: the literal in front of it in its group stands for it."""

        def parse(parser: Any, state: State) -> None:
            state.properties[name] = UnitAttr()

        return Piece(parse, _no_print, _never, lambda op: name in op.properties)

    def attr_dict(self, with_keyword: bool) -> Piece:
        self.after_punctuation = False
        hidden = self.mentioned
        shown = [(name, d.default_value) for name, d in self.properties.items() if name not in hidden]
        names = {name for name, _ in shown}
        known = set(self.properties)

        def parse(parser: Any, state: State) -> None:
            if with_keyword and parser.parse_optional_keyword("attributes") is None:
                return
            for name, value in parser.parse_optional_attr_dict().items():
                if name in names:
                    state.properties[name] = value
                elif name in known:
                    parser.raise_error(f"'{name}' is no part of the attribute dictionary here")
                else:
                    state.attributes[name] = value

        def print_(printer: Any, op: Any) -> None:
            entries = op.attributes
            if shown:
                properties = op.properties
                extra = {
                    name: properties[name] for name, default in shown if name in properties and properties[name] != default
                }
                entries = {**entries, **extra} if extra else entries
            if entries:
                printer.print_op_attributes(entries, print_keyword=with_keyword)

        return Piece(parse, print_, lambda parser: parser._current_token.kind is MLIRTokenKind.L_BRACE, _always)

    def all_operands(self) -> Piece:
        before = self.prefix()

        def parse(parser: Any, state: State) -> None:
            state.all_operands = _operand_list(parser)

        def print_(printer: Any, op: Any) -> None:
            printer.print_string(before)
            printer.print_list(op._operands, printer.print_ssa_value)

        return Piece(parse, print_, _at_operand, lambda op: len(op._operands) > 0)

    def oilist(self) -> Piece:
        self.take("(")
        clauses: list[tuple[list[Piece], Piece]] = []
        while True:
            pieces = self.sequence(("|", ")"))
            variables = [p for p in pieces if p.present is not _always]
            if not variables:
                raise FormatError(f"{self.op.name}: a clause of an oilist needs a property")
            clauses.append((pieces, variables[-1]))
            self.space, self.after_punctuation = True, False
            if self.take() == ")":
                break

        def parse(parser: Any, state: State) -> None:
            left = list(clauses)
            while True:
                clause = next((c for c in left if c[0][0].starts(parser)), None)
                if clause is None:
                    return
                left.remove(clause)
                for piece in clause[0]:
                    piece.parse(parser, state)

        def print_(printer: Any, op: Any) -> None:
            for pieces, anchor in clauses:
                if anchor.present(op):
                    for piece in pieces:
                        piece.print(printer, op)

        return Piece(parse, print_, lambda parser: any(c[0][0].starts(parser) for c in clauses), _always)

    # -- directives

    def assign_types(self, parser: Any, state: State) -> None:
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

    def value_types(self, argument: str) -> tuple[str, Callable[[Any], Sequence[Attribute]], int]:
        """Name, reader of the types, arity of `$x`, `operands` or `results`."""
        if argument == "operands":
            return argument, lambda op: [value._type for value in op._operands], -1
        if argument == "results":
            names = list(self.results)
            if len(names) != 1:
                return argument, lambda op: [value._type for value in op.results], -1
            argument = "$" + names[0]
        name = argument[1:]
        definition = self.operands.get(name) or self.results.get(name)
        if definition is None:
            raise FormatError(f"{self.op.name} has no operand or result '{name}'")
        arity = _arity(definition)
        if arity == 1:
            return name, lambda op: (getattr(op, name)._type,), arity
        if arity == 0:
            return name, lambda op: () if getattr(op, name) is None else (getattr(op, name)._type,), arity
        return name, lambda op: [value._type for value in getattr(op, name)], arity

    def assign_result_types(self, parser: Any, state: State) -> None:
        """Splits the types of all results by the declared ones; optional ones fill from the left."""
        types = state.types.pop("results")
        fixed = sum(_arity(d) == 1 for d in self.results.values())
        spare = len(types) - fixed
        for name, definition in self.results.items():
            arity = _arity(definition)
            count = 1 if arity == 1 else spare if arity < 0 else min(spare, 1)
            spare -= 0 if arity == 1 else count
            state.types[name], types = types[: max(count, 0)], types[max(count, 0) :]
        if spare != 0 or types:
            parser.raise_error("the number of result types does not fit the operation")

    def directive_type(self, argument: str) -> Piece:
        name, types, arity = self.value_types(argument)
        before = self.prefix()
        if arity == 1:

            def parse(parser: Any, state: State) -> None:
                state.types[name] = [parser.parse_type()]

            def print_(printer: Any, op: Any) -> None:
                printer.print_string(before)
                printer.print_attribute(getattr(op, name)._type)

            return Piece(parse, print_, _never, _always)

        def parse_many(parser: Any, state: State) -> None:
            first = parser.parse_optional_type()
            found: list[Attribute] = [] if first is None else [first]
            while found and arity < 0 and parser.parse_optional_punctuation(",") is not None:
                found.append(parser.parse_type())
            state.types[name] = found
            if name == "operands" and state.all_operands is None:
                self.assign_types(parser, state)

        def print_many(printer: Any, op: Any) -> None:
            printer.print_string(before)
            printer.print_list(types(op), printer.print_attribute)

        return Piece(parse_many, print_many, _never, lambda op: len(types(op)) > 0)

    def directive_elided(self, argument: str, prefix: str) -> Piece:
        name, types, _ = self.value_types(argument)
        before = self.prefix()

        def parse(parser: Any, state: State) -> None:
            type_ = parser.parse_optional_type()
            if type_ is None:
                kind = parser.ctx.get_optional_type(prefix[1:])
                type_ = kind.new(kind.parse_parameter(parser))
            state.types[name] = [type_]

        def print_(printer: Any, op: Any) -> None:
            printer.print_string(before)
            for type_ in types(op):
                cast(Any, type_).print_parameter(printer)

        return Piece(parse, print_, _never, _always)

    def directive_functional_type(self, inputs: str, outputs: str) -> Piece:
        in_name, in_types, _ = self.value_types(inputs)
        out_name, out_types, out_arity = self.value_types(outputs)
        before = self.prefix()

        def parse(parser: Any, state: State) -> None:
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

        def print_(printer: Any, op: Any) -> None:
            printer.print_string(before)
            printer.print_function_type(in_types(op), out_types(op))

        return Piece(parse, print_, lambda parser: parser._current_token.kind is MLIRTokenKind.L_PAREN, _always)

    def directive_token(self, dependency: str, result: str) -> Piece:
        in_name, out_name = dependency[1:], result[1:]
        token = _fixed_type(self.results[out_name])
        if token is None:
            raise FormatError(f"{self.op.name}: the type of '{out_name}' must be fixed")
        before = self.prefix()

        def parse(parser: Any, state: State) -> None:
            if parser.parse_optional_punctuation("[") is None:
                return
            if _at_operand(parser):
                state.operands[in_name] = [parser.parse_unresolved_operand()]
            parser.parse_punctuation("]")
            state.types[out_name] = [token]

        def print_(printer: Any, op: Any) -> None:
            operand = getattr(op, in_name)
            if operand is None and getattr(op, out_name) is None:
                return
            printer.print_string(before + "[")
            if operand is not None:
                printer.print_ssa_value(operand)
            printer.print_string("]")

        return Piece(parse, print_, _never, _always)

    def directive_pairs(self, first: str, second: str) -> Piece:
        a, b = first[1:], second[1:]
        self.prefix()

        def parse(parser: Any, state: State) -> None:
            state.operands[a], state.operands[b] = [], []
            while parser.parse_optional_punctuation(",") is not None:
                state.operands[a].append(parser.parse_unresolved_operand())
                parser.parse_punctuation("[")
                state.operands[b].append(parser.parse_unresolved_operand())
                parser.parse_punctuation("]")

        def print_(printer: Any, op: Any) -> None:
            for left, right in zip(getattr(op, a), getattr(op, b), strict=True):
                printer.print_string(", ")
                printer.print_ssa_value(left)
                printer.print_string("[")
                printer.print_ssa_value(right)
                printer.print_string("]")

        return Piece(parse, print_, _never, lambda op: len(getattr(op, a)) > 0)

    def directive_int(self, argument: str) -> Piece:
        name = argument[1:]
        default = self.properties[name].default_value
        type_ = _integer_type(self.properties[name].constr)
        before = self.prefix()

        def parse(parser: Any, state: State) -> None:
            state.properties[name] = IntegerAttr(parser.parse_integer(allow_boolean=False), type_)

        def print_(printer: Any, op: Any) -> None:
            printer.print_string(f"{before}{op.properties[name].value.data}")

        return Piece(parse, print_, _at_integer, _property_present(name, default))

    def directive_ints(self, argument: str) -> Piece:
        name = argument[1:]
        before = self.prefix()

        def parse(parser: Any, state: State) -> None:
            values: list[int] = []
            if _at_integer(parser):
                values.append(parser.parse_integer(allow_boolean=False))
                while parser.parse_optional_punctuation(",") is not None:
                    values.append(parser.parse_integer(allow_boolean=False))
            state.properties[name] = DenseArrayBase.from_list(i32, values)

        def print_(printer: Any, op: Any) -> None:
            printer.print_string(before + ", ".join(map(str, op.properties[name].get_values())))

        return Piece(parse, print_, _at_integer, _property_present(name, None))


def _integer_type(constraint: Any) -> IntegerType:
    """The integer type that an `IntegerAttr.constr(type)` names."""
    for part in getattr(constraint, "param_constrs", ()):
        if isinstance(part, EqAttrConstraint) and isinstance(part.attr, IntegerType):  # pyright: ignore[reportUnknownMemberType] -- xDSL's generic is open
            return part.attr
    return i32


def _property_present(name: str, default: Attribute | None) -> Callable[[Any], bool]:
    def present(op: Any) -> bool:
        value = op.properties.get(name)
        return value is not None and value != default

    return present


def _operand_list(parser: Any) -> list[UnresolvedOperand]:
    if not _at_operand(parser):
        return []
    operands = [parser.parse_unresolved_operand()]
    while parser.parse_optional_punctuation(",") is not None:
        operands.append(parser.parse_unresolved_operand())
    return operands


def _at_operand(parser: Any) -> bool:
    return parser._current_token.kind is MLIRTokenKind.PERCENT_IDENT


def _at_integer(parser: Any) -> bool:
    return parser._current_token.kind in (MLIRTokenKind.INTEGER_LIT, MLIRTokenKind.MINUS)


def _no_parse(parser: Any, state: State) -> None:
    return None


def _no_print(printer: Any, op: Any) -> None:
    return None


def _never(parser: Any) -> bool:
    return False


def _always(op: Any) -> bool:
    return True
