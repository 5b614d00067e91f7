"""Regions and blocks of the text, in time that is linear in it.

xDSL copies the names of all values that are known for each region, and all arguments of a block for each further one.
Here a region's names are listed as they are defined, and forgotten at its end.
"""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Generator, Iterable, Sequence
from contextlib import contextmanager

from xdsl.context import Context
from xdsl.dialects.builtin import LocationAttr, ModuleOp
from xdsl.ir import Attribute, AttributeInvT, Block, BlockArgument, Region, SSAValue
from xdsl.parser import Parser as XDSLParser
from xdsl.parser import UnresolvedOperand
from xdsl.utils.exceptions import MultipleSpansParseError, ParseError
from xdsl.utils.lexer import Span
from xdsl.utils.mlir_lexer import MLIRTokenKind

from tritonx.ir.define import append
from tritonx.ir.value_names import is_numbers


class RegionParser(XDSLParser):
    """What of a parser concerns the scopes of names; see the module's docstring."""

    def __init__(self, ctx: Context, input: str, name: str) -> None:
        super().__init__(ctx, input, name)
        self._defined: list[str] = []
        """The names in ``ssa_values``, in the order of their definitions."""
        self._first_uses: dict[str, Span] = {}
        """Where each name is used that has no definition so far."""

    def parse_module(self, allow_implicit_module: bool = True) -> ModuleOp:
        """The module in the input; raises `ParseError`, for a value without definition where it is first used."""
        try:
            return super().parse_module(allow_implicit_module)
        except ParseError as error:
            uses = [each for each in self._first_uses.items() if each[0] in self.forward_ssa_references]
            if not uses or not error.msg.startswith("values used but not defined"):
                raise
            (name, span), *others = uses
            nor = ", nor are " + ", ".join(f"%{other}" for other, _ in others) if others else ""
            raise ParseError(span, f"%{name} is used and not defined{nor}") from None

    def resolve_operand(self, operand: UnresolvedOperand, type: AttributeInvT) -> SSAValue[AttributeInvT]:
        """The value of a name, which may be defined further down."""
        name = operand.operand_name
        if name not in self.ssa_values:
            self._first_uses.setdefault(name, operand.span)
        return super().resolve_operand(operand, type)

    @contextmanager
    def isolated_names(self) -> Generator[None]:
        """Inside, values may have the names of values outside: for regions that are isolated from above."""
        outer, defined = self.ssa_values, self._defined
        self.ssa_values, self._defined = {}, []
        try:
            yield
        finally:
            self.ssa_values, self._defined = outer, defined

    def _register_ssa_definition(self, name: str, values: Sequence[SSAValue], span: Span) -> None:
        super()._register_ssa_definition(name, values, span)
        self._first_uses.pop(name, None)
        self._defined.append(name)
        if is_numbers(name):
            for value in values:
                value.name_hint = None

    def _define(self, name: str, values: Sequence[SSAValue]) -> None:
        """Give a name, which has neither a definition nor references so far, to values."""
        self.ssa_values[name] = tuple(values)
        self._defined.append(name)
        if not name.isdecimal() and SSAValue.is_valid_name(name) and not is_numbers(name):
            for value in values:
                value.name_hint = name

    def parse_optional_region(self, arguments: Iterable[XDSLParser.Argument] | None = None) -> Region | None:
        """A region with the given arguments of its entry block, if one begins here. Its names end with it."""
        if self.parse_optional_punctuation("{") is None:
            return None
        known = len(self._defined)
        blocks, references = self.blocks, self.forward_block_references
        self.blocks, self.forward_block_references = {}, defaultdict(list)
        region = Region(self._blocks(arguments))
        if self.forward_block_references:
            self._raise_missing_blocks()
        self.blocks, self.forward_block_references = blocks, references
        for name in itertools.islice(self._defined, known, None):
            self.ssa_values.pop(name, None)
        del self._defined[known:]
        return region

    def _blocks(self, arguments: Iterable[XDSLParser.Argument] | None) -> list[Block]:
        """The blocks up to the brace that closes the region."""
        blocks: list[Block] = []
        if arguments is not None:
            if self._current_token.kind is MLIRTokenKind.CARET_IDENT:
                self.raise_error("invalid block name in region with named arguments")
            blocks.append(self._entry_block(list(arguments)))
        elif self._current_token.kind not in (MLIRTokenKind.CARET_IDENT, MLIRTokenKind.R_BRACE):
            blocks.append(self._entry_block(()))
        while self.parse_optional_punctuation("}") is None:
            blocks.append(self._parse_block())
        return blocks

    def _entry_block(self, arguments: Sequence[XDSLParser.Argument]) -> Block:
        block = Block(arg_types=[argument.type for argument in arguments])
        for value, argument in zip(block.args, arguments, strict=True):
            self._register_ssa_definition(argument.name.text[1:], (value,), argument.name)
            if argument.location is not None:
                value.location = argument.location
        self._parse_block_body(block)
        return block

    def _raise_missing_blocks(self) -> None:
        spans = itertools.chain(*self.forward_block_references.values())
        raise MultipleSpansParseError(
            Span(self.pos, self.pos + 1, self.lexer.input),
            f"the region branches to blocks that it does not have: {', '.join(self.forward_block_references)}",
            "branches:",
            [(span, f"no block has the name {span.text}") for span in spans],
        )

    def _parse_block_body(self, block: Block) -> None:
        while (op := self.parse_optional_operation()) is not None:
            append(block, op)

    def _parse_optional_block_arg_list(self, block: Block) -> Block | None:
        if self._current_token.kind is not MLIRTokenKind.L_PAREN:
            return None
        names: list[Span] = []
        types: list[Attribute] = []
        locations: list[LocationAttr | None] = []

        def argument() -> None:
            names.append(self._parse_token(MLIRTokenKind.PERCENT_IDENT, "block argument expected").span)
            self.parse_punctuation(":")
            types.append(self.parse_attribute())
            locations.append(self.parse_optional_location())

        self.parse_comma_separated_list(self.Delimiter.PAREN, argument)
        values = tuple(BlockArgument(type_, block, index) for index, type_ in enumerate(types))
        block._args = values  # pyright: ignore[reportPrivateUsage] -- one by one takes time in their square
        for value, name, location in zip(values, names, locations, strict=True):
            if location is not None:
                value.location = location
            self._register_ssa_definition(name.text[1:], (value,), name)
        return block
