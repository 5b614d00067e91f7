"""The layouts of tiles and buffers, found where a text of IR has them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from tritonx.explain.facts import LayoutFacts, LayoutSpan
from tritonx.ir.context import new_context
from tritonx.ir.text.parser import Parser
from tritonx.layouts import LayoutError, linear_layout
from tritonx.layouts.dims import OFFSET
from tritonx.layouts.encodings import Encoding

_TYPE = re.compile(r"(?:tensor|memdesc)<((?:\d+x)+)")
_SHAPE_ONLY = re.compile(r"(?<![\w.])<((?:\d+x)+)(?=[a-z!])")
_ALIAS = re.compile(r"#[A-Za-z_]\w*")
_DEFINITION = re.compile(r"^(#[A-Za-z_]\w*) = (.*)$")
_MOST = 1 << 16
"""Elements of a tile that is drawn."""


class LayoutTable:
    """Each layout that was met, once, by the text of its encoding and the shape."""

    def __init__(self) -> None:
        self.facts: list[LayoutFacts] = []
        self._number: dict[tuple[str, tuple[int, ...]], int | None] = {}

    def spans(self, lines: Sequence[str]) -> Iterator[LayoutSpan]:
        """The types in the lines of a module's text that have a layout."""
        aliases = {found[1]: found[2] for line in lines if (found := _DEFINITION.match(line)) is not None}
        for number, line in enumerate(lines):
            if _DEFINITION.match(line):
                continue
            for pattern in (_TYPE, _SHAPE_ONLY):
                for found in pattern.finditer(line):
                    span = self._span(number, line, found, aliases)
                    if span is not None:
                        yield span

    def _span(self, number: int, line: str, found: re.Match[str], aliases: dict[str, str]) -> LayoutSpan | None:
        start = line.index("<", found.start())
        parts, end = _arguments(line, start)
        encoding = next((part for part in parts[1:] if part.startswith("#")), None)
        if encoding is None:
            return None
        shape = tuple(map(int, found[1].rstrip("x").split("x")))
        layout = self._layout(_expanded(encoding, aliases), shape)
        return None if layout is None else LayoutSpan(number, found.start(), end, layout)

    def _layout(self, encoding: str, shape: tuple[int, ...]) -> int | None:
        key = encoding, shape
        if key not in self._number:
            facts = _facts(encoding, shape)
            self._number[key] = None if facts is None else len(self.facts)
            if facts is not None:
                self.facts.append(facts)
        return self._number[key]


def _facts(text: str, shape: tuple[int, ...]) -> LayoutFacts | None:
    """None for what is no encoding that lays out this shape, or too large to draw."""
    try:
        value: Encoding | None = getattr(Parser(new_context(), text).parse_attribute(), "data", None)
        layout = None if value is None else linear_layout(value, shape)
    except (LayoutError, ValueError, TypeError, AssertionError):
        return None
    except Exception as error:  # whatever a parser raises for a text that is no attribute
        if type(error).__name__ not in ("ParseError", "VerifyException"):
            raise
        return None
    if layout is None or 1 << sum(bits for _, bits in layout.outs) > _MOST:
        return None
    bases = {str(dim): tuple(columns) for dim, columns in layout.ins}
    return LayoutFacts(text, shape, OFFSET in layout.in_dims, bases, tuple(bits for _, bits in layout.outs))


def _arguments(line: str, start: int) -> tuple[list[str], int]:
    """What stands between the bracket at `start` and its end, cut at the commas of that level, and the end."""
    depth, parts, begin = 0, list[str](), start + 1
    for at in range(start, len(line)):
        if line[at] in "<{[(":
            depth += 1
        elif line[at] in ">}])" and not line.startswith("->", at - 1):
            depth -= 1
            if not depth:
                return [*parts, line[begin:at].strip()], at + 1
        elif line[at] == "," and depth == 1:
            parts.append(line[begin:at].strip())
            begin = at + 1
    return parts, len(line)


def _expanded(text: str, aliases: dict[str, str]) -> str:
    """Without aliases, those in aliases as well."""
    while any(name in aliases for name in _ALIAS.findall(text)):
        text = _ALIAS.sub(lambda found: aliases.get(found[0], found[0]), text)
    return text
