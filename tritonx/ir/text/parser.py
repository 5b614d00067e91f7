"""A parser for the text that Triton's MLIR prints: xDSL's, with what xDSL lacks and a few short cuts.

Lacking in xDSL: aliases that are used before they are defined (MLIR prints `#loc1 = ...` behind the module),
`fused<...>` and range locations, splats that are not materialised, regions that reuse the names outside them. Short
cuts: the type at a place in the text is looked up by its text, since a kernel's few types are written hundreds of
times; likewise `loc(#loc7)`.

Whatever the input, the parser ends with a module or with xDSL's `ParseError`, which has a position.
"""

from __future__ import annotations

import re
from collections.abc import Generator
from contextlib import contextmanager
from typing import Any, cast

from xdsl.context import Context
from xdsl.dialects.builtin import (
    DenseIntOrFPElementsAttr,
    FileLineColLoc,
    FloatAttr,
    FusedLoc,
    IntegerAttr,
    IntegerType,
    LocationAttr,
    ModuleOp,
    NoneAttr,
    TensorType,
)
from xdsl.ir import Attribute, Data, ParametrizedAttribute, TypeAttribute
from xdsl.utils.exceptions import ParseError, VerifyException
from xdsl.utils.lexer import Input
from xdsl.utils.mlir_lexer import MLIRTokenKind

from tritonx.ir.location import call_site, file_loc, name_loc
from tritonx.ir.splat import Number, SplatAttr
from tritonx.ir.text.aliases import LOCATION_KINDS
from tritonx.ir.text.lexer import Lexer
from tritonx.ir.text.repeated_lines import LineParser

_ALIAS_DEFINITION = re.compile(r"^[ \t]*([#!][A-Za-z_$][\w$.-]*)[ \t]*=", re.M)
_NESTED = r"<(?:[^<>]++|<(?:[^<>]++|<(?:[^<>]++|<[^<>]*+>)*+>)*+>)*+>"
_TYPE = re.compile(r"(?:tensor|!tt\.\w+|!ttg\.memdesc)" + _NESTED)
_INTEGER_TYPE = re.compile(r"[su]?i(\d+)", re.ASCII)
_ALIASED_LOCATION = re.compile(r"loc\((#loc\d*)\)")
_FILE_LOCATION = re.compile(r'\s*loc\("([^"\\\n]*)":(\d{1,18}):(\d{1,18})\)')
_NAME_LOCATION = re.compile(r'\s*loc\("([^"\\\n]*)"\((#loc\d*)\)\)')
_CALL_LOCATION = re.compile(r"\s*loc\(callsite\((#loc\d*) at (#loc\d*)\)\)")


UNKNOWN_FLOATS = ("f80", "f128")
"""Types of which xDSL can neither read nor write a number, and which no target computes with."""


WIDEST_INTEGER = 128
"""Bits of the widest integer type: twice what any target has in a register, for products. Folding computes with
Python's integers, which take as long as they are wide."""

WRITTEN_OUT = 10_000
"""The most characters of an alias in whose definition the other aliases are written out. A few lines of aliases that
each name the one before twice stand for more than any memory holds. Locations, which are kept as shared objects, have
no such limit."""


class Parser(LineParser):
    """See the module's docstring."""

    def __init__(self, ctx: Context, input: str | bytes, name: str = "<input>") -> None:
        text = input.decode("utf-8", "replace") if isinstance(input, bytes) else input
        super().__init__(ctx, text, name)
        self._parser_state.lexer = Lexer(Input(text, name))
        self._parser_state.current_token = self._parser_state.lexer.lex()
        self._definitions: dict[str, int] = {}
        for match in _ALIAS_DEFINITION.finditer(text):
            self._definitions.setdefault(match[1], match.end())
        self._pending: set[str] = set()
        self._ends: dict[str, int] = {}
        """Where the definition of an alias ends that has been read before its turn."""
        self._written_out: dict[str, int] = {}
        """The characters of each alias's definition with all other aliases written out."""
        self._inside: int = 0
        """The characters of the aliases that were named so far in the definition that is being read."""
        self._types: dict[str, TypeAttribute] = {}

    def parse_module(self, allow_implicit_module: bool = True) -> ModuleOp:
        """The module in the input; raises `ParseError` for anything that is none."""
        try:
            return super().parse_module(allow_implicit_module)
        except ParseError:
            raise
        except RecursionError as error:
            raise self._error("nested too deeply") from error
        except Exception as error:  # attribute constructors raise what they like; a reader of text wants the position
            raise self._error(f"{error}" or type(error).__name__) from error

    def _error(self, message: str) -> ParseError:
        return ParseError(self._current_token.span, message)

    # -- aliases

    def _alias(self, name: str) -> Attribute | None:
        """The attribute or type of an alias, which may be defined further down."""
        known = self.attribute_aliases.get(name)
        if known is not None:
            self._inside += self._written_out.get(name, 0)
            return known
        position = self._definitions.get(name)
        if position is None:
            return None
        if name in self._pending:
            self.raise_error(f"the alias {name} is defined by itself")
        self._pending.add(name)
        value = self._simple_location(position, name)
        if value is None:
            value = self._definition(name, position)
        self._pending.discard(name)
        self.attribute_aliases[name] = value
        return value

    def _definition(self, name: str, position: int) -> Attribute:
        """The attribute or type that the definition of an alias at ``position`` describes."""
        token, resume = self._parser_state.current_token, self.lexer.pos
        self._resume_from(position)
        with self._measured(name):
            value = self.parse_attribute()
        self._ends[name] = self._current_token.span.start
        self._parser_state.current_token, self.lexer.pos = token, resume
        return value

    @contextmanager
    def _measured(self, name: str) -> Generator[None]:
        """Inside, the definition of an alias is read: its size is kept, and refused beyond ``WRITTEN_OUT``."""
        around, self._inside, start = self._inside, 0, self.pos
        yield
        end = self._current_token.span.start
        size = self._inside + end - start
        if self._text.startswith("loc", start):
            size = 0
        elif self._inside and size > WRITTEN_OUT:
            message = f"the alias {name} stands for more than {WRITTEN_OUT} characters of text"
            self.raise_error(message, start, end)
        self._written_out[name] = size
        self._inside = around + size

    def _simple_location(self, position: int, name: str) -> LocationAttr | None:
        """The commonest kinds of locations, which make up half of a module's text, without making tokens of them."""
        match = _FILE_LOCATION.match(self._text, position)
        if match is not None:
            self._ends[name] = match.end()
            return file_loc(match[1], int(match[2]), int(match[3]))
        match = _NAME_LOCATION.match(self._text, position)
        if match is not None:
            child = self._alias(match[2])
            if isinstance(child, LOCATION_KINDS):
                self._ends[name] = match.end()
                return name_loc(match[1], child)
        match = _CALL_LOCATION.match(self._text, position)
        if match is not None:
            callee, caller = self._alias(match[1]), self._alias(match[2])
            if isinstance(callee, LOCATION_KINDS) and isinstance(caller, LOCATION_KINDS):
                self._ends[name] = match.end()
                return call_site(callee, caller)
        return None

    def _parse_extended_type_or_attribute(self, attr_or_dialect_name: str, is_type: bool) -> Any:
        if "." not in attr_or_dialect_name and self._current_token.kind is not MLIRTokenKind.LESS:
            value = self._alias(("!" if is_type else "#") + attr_or_dialect_name)
            if value is not None:
                if is_type and not isinstance(value, TypeAttribute):
                    self.raise_error(f"!{attr_or_dialect_name} is no type")
                return value
        return super()._parse_extended_type_or_attribute(attr_or_dialect_name, cast(Any, is_type))

    def _parse_alias_def(self) -> None:
        name = self._current_token.text
        position = self._definitions.get(name)
        here = position is not None and self._text[self._current_token.span.end : position].strip() == "="
        if here:
            self._alias(name)
        if here and name in self._ends:
            self._resume_from(self._ends.pop(name))
        else:
            with self._measured(name):
                super()._parse_alias_def()

    def _parse_dialect_type_or_attribute_body(
        self, attr_name: str, is_type: bool, is_opaque: bool, starting_opaque_pos: int | None
    ) -> Any:
        # xDSL calls the class with the parameter; ours have constructors of their own, `new` is the generic way in.
        if "." in attr_name:
            kind = self.ctx.get_optional_type(attr_name) if is_type else self.ctx.get_optional_attr(attr_name)
            if kind is not None and issubclass(kind, Data):
                start = self.pos
                try:
                    return cast(Any, kind).new(cast(Any, kind).parse_parameter(self))
                except VerifyException as error:
                    self.raise_error(str(error), start)
            if kind is not None and issubclass(kind, ParametrizedAttribute):
                start = self.pos
                try:
                    return super()._parse_dialect_type_or_attribute_body(
                        attr_name, is_type, is_opaque, starting_opaque_pos
                    )
                except VerifyException as error:
                    self.raise_error(str(error), start)
        return super()._parse_dialect_type_or_attribute_body(attr_name, is_type, is_opaque, starting_opaque_pos)

    # -- types

    def parse_optional_type(self) -> TypeAttribute | None:
        token = self._current_token
        match = _TYPE.match(self._text, token.span.start)
        if match is None:
            if token.kind is MLIRTokenKind.BARE_IDENT:
                self._check_bare_type(token.text)
            return super().parse_optional_type()
        text = match[0]
        type_ = self._types.get(text)
        if type_ is not None:
            self._resume_from(match.end())
            return type_
        type_ = super().parse_optional_type()
        if type_ is not None:
            self._types[text] = type_
        return type_

    def _check_bare_type(self, name: str) -> None:
        if name in UNKNOWN_FLOATS:
            self.raise_error(f"{name} is a type without values here")
        integer = _INTEGER_TYPE.fullmatch(name)
        if integer is not None and (len(integer[1]) > 9 or int(integer[1]) > WIDEST_INTEGER):
            self.raise_error(f"an integer of this type is wider than {WIDEST_INTEGER} bits, the most that is supported")

    # -- locations

    def parse_optional_location(self) -> LocationAttr | None:
        token = self._current_token
        if token.kind is not MLIRTokenKind.BARE_IDENT or token.text != "loc":
            return None
        match = _ALIASED_LOCATION.match(self._text, token.span.start)
        if match is None:
            return super().parse_optional_location()
        location = self._alias(match[1])
        if not isinstance(location, LOCATION_KINDS):
            self.raise_error(f"{match[1]} is no location")
        self._resume_from(match.end())
        return location

    def _parse_location(self) -> LocationAttr:
        if self._current_token.kind is MLIRTokenKind.BARE_IDENT and self._current_token.text == "fused":
            self._consume_token()
            metadata: Attribute = NoneAttr()
            if self.parse_optional_punctuation("<"):
                metadata = self.parse_attribute()
                self.parse_punctuation(">")
            parts = self.parse_comma_separated_list(self.Delimiter.SQUARE, self._parse_location)
            return FusedLoc(tuple(parts), metadata)
        location = super()._parse_location()
        if isinstance(location, FileLineColLoc) and self.parse_optional_keyword("to"):
            self.parse_optional_integer(allow_boolean=False, allow_negative=False)
            self.parse_punctuation(":")
            self.parse_integer(allow_boolean=False, allow_negative=False)
        return location

    # -- attributes

    def _parse_builtin_dense_attr(self) -> DenseIntOrFPElementsAttr | SplatAttr:  # pyright: ignore[reportIncompatibleMethodOverride] -- a splat stands where xDSL has the materialised attribute
        splat = self._parse_optional_splat()
        return splat if splat is not None else super()._parse_builtin_dense_attr()

    def _parse_optional_splat(self) -> SplatAttr | None:
        """`<number> : tensor<...>`, or None (and nothing is consumed) for a list of elements or other shaped types."""
        token, resume = self._parser_state.current_token, self.lexer.pos
        self.parse_punctuation("<", " in dense attribute")
        start = self.pos
        hexadecimal = self._current_token.text[:2] in ("0x", "0X")
        truth = self.parse_optional_boolean()
        value = int(truth) if truth is not None else self.parse_optional_number()
        if value is not None and self.parse_optional_punctuation(">") and self.parse_optional_punctuation(":"):
            type_ = self.parse_type()
            if isinstance(type_, TensorType):
                tensor = cast("TensorType[Attribute]", type_)
                return SplatAttr(self._number(value, tensor.element_type, hexadecimal, start), tensor)
        self._parser_state.current_token, self.lexer.pos = token, resume
        return None

    def _number(self, value: int | float, type_: Attribute, hexadecimal: bool, start: int) -> Number:
        """A number as an attribute of a type; a hexadecimal one is the bit pattern of a float."""
        if isinstance(type_, IntegerType):
            if isinstance(value, float):
                self.raise_error(f"{value} is no {type_}", start)
            return IntegerAttr(value, cast(IntegerType, type_))
        floating = cast(Any, type_)
        if not hasattr(floating, "iter_unpack") or not hasattr(floating, "bitwidth"):
            self.raise_error(f"a constant of {type_} is not supported", start)
        if hexadecimal and isinstance(value, int):
            size = floating.compile_time_size
            if value < 0 or value.bit_length() > 8 * size:
                self.raise_error(f"the bit pattern does not fit {type_}", start)
            return FloatAttr(next(floating.iter_unpack(value.to_bytes(size, "little"))), floating)
        if isinstance(value, int):
            self.raise_error(f"a constant of {type_} needs a decimal point", start)
        return FloatAttr(value, floating)
