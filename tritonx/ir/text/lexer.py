"""xDSL's MLIR lexer with one regular expression for all tokens, which halves the time of parsing."""

from __future__ import annotations

import re
from typing import Any, cast

from xdsl.utils.exceptions import ParseError
from xdsl.utils.lexer import Input, Span, Token
from xdsl.utils.mlir_lexer import MLIRLexer, MLIRToken, MLIRTokenKind, PunctuationSpelling

SKIP = re.compile(r"(?://[^\n]*|\s+)*", re.ASCII)
_TOKEN = re.compile(
    r"(?P<bare>[a-zA-Z_][\w$.]*)"
    r"|(?P<percent>%(?:\d+|[a-zA-Z$._-][\w$.-]*))"
    r"|(?P<hash>\#(?:\d+|[a-zA-Z$._][\w$.-]*))"
    r"|(?P<integer>(?:0x[0-9a-fA-F]+)|\d+(?![\d.]))"
    r"|(?P<arrow>->)"
    r"|(?P<punctuation>[:,()}\[\]<>=+/*?|])"
    r"|(?P<exclamation>!(?:\d+|[a-zA-Z$._-][\w$.-]*))"
    r"|(?P<caret>\^(?:\d+|[a-zA-Z$._-][\w$.-]*))",
    re.ASCII,
)

_KINDS = {
    "bare": MLIRTokenKind.BARE_IDENT,
    "percent": MLIRTokenKind.PERCENT_IDENT,
    "hash": MLIRTokenKind.HASH_IDENT,
    "integer": MLIRTokenKind.INTEGER_LIT,
    "arrow": MLIRTokenKind.ARROW,
    "exclamation": MLIRTokenKind.EXCLAMATION_IDENT,
    "caret": MLIRTokenKind.CARET_IDENT,
}

_PUNCTUATION = {
    word: MLIRTokenKind.get_punctuation_kind_from_name(cast(PunctuationSpelling, word)) for word in ":,()}[]<>=+/*?|"
}

LONGEST_INTEGER = 64
"""Characters of an integer, which has at most 128 bits, with some zeros in front."""

_allocate = object.__new__


class _Span(Span[str]):
    """A span that holds its text instead of slicing the input at every question."""

    text = ""  # pyright: ignore[reportAssignmentType, reportIncompatibleMethodOverride] -- a value in place of the property, set for each span below


class _Token(Token[MLIRTokenKind, str]):
    """A token that holds its text; see `_Span`."""

    text = ""  # pyright: ignore[reportAssignmentType, reportIncompatibleMethodOverride] -- as above


def _token(kind: MLIRTokenKind, start: int, end: int, source: Input[str]) -> MLIRToken:
    """`Token(kind, Span(start, end, source))` without the cost of two frozen dataclasses' constructors."""
    text = source.content[start:end]
    span: Any = _allocate(_Span)
    fields: dict[str, Any] = span.__dict__
    fields["start"], fields["end"], fields["input"], fields["line_offset"], fields["text"] = start, end, source, 0, text
    token: Any = _allocate(_Token)
    fields = token.__dict__
    fields["kind"], fields["span"], fields["text"] = kind, span, text
    return token


class Lexer(MLIRLexer):
    """Gives the same tokens as xDSL's lexer; what the expression does not cover (strings, floats, `-`, `{`, `@`) goes
    there.
    """

    # xDSL's expression takes exponential time on a string that is not closed; the possessive `++` never tries another
    # way.
    _unescaped_characters_regex = re.compile(r'"(?:[^"\\\n\v\f]++|\\(?:["nt\\]|[0-9A-Fa-f]{2}))*+"')

    def lex(self) -> MLIRToken:
        content = self.input.content
        skipped = SKIP.match(content, self.pos)
        start = self.pos if skipped is None else skipped.end()
        match = _TOKEN.match(content, start)
        if match is None:
            self.pos = start
            try:
                return super().lex()
            except IndexError as error:
                raise ParseError(Span(start, start + 1, self.input), "unexpected end of the input") from error
        group = cast(str, match.lastgroup)
        end = match.end()
        self.pos = end
        if group == "integer" and end - start > LONGEST_INTEGER:
            message = f"an integer of {end - start} characters is not supported; the widest have 128 bits"
            raise ParseError(Span(start, end, self.input), message)
        if group == "hash" and end - start > LONGEST_INTEGER and content[start + 1 : end].isdecimal():
            raise ParseError(Span(start, end, self.input), f"an index of {end - start - 1} characters is not supported")
        kind = _PUNCTUATION[content[start]] if group == "punctuation" else _KINDS[group]
        return _token(kind, start, end, self.input)
