"""Ops whose line was read before but for the names of values: made from what the first such line became.

Most of a large module is a few lines over and over, with other names::

    %7 = arith.addf %6, %2 : tensor<1024xf32, #blocked> loc(#loc3)
    %8 = arith.addf %7, %3 : tensor<1024xf32, #blocked> loc(#loc5)

The first is read token by token. When an op without regions and successors is all of its line, and its operands are the
names of the line in their order, its `_Template` is kept under the line without names and location. A later line that
is the same there, and whose names stand for values of the same types, is an op of the same class, with the same
properties, attributes and types of results. Whatever differs (a name that is not defined yet or is defined twice, a
type, an op that goes on in the next line) is read token by token, and so has the same meaning and the same errors.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import LocationAttr
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.utils.exceptions import VerifyException

from tritonx.ir.spelling import spellings_of
from tritonx.ir.text.aliases import LOCATION_KINDS
from tritonx.ir.text.lexer import SKIP
from tritonx.ir.text.regions import RegionParser

_LONGEST = 1000
"""Characters of a line beyond which it is not looked at as a whole."""

_NAME = re.compile(r"%([\w$.-]+(?:#\d+)?)", re.ASCII)
_LOCATION = re.compile(r" loc\((#loc\d*)\)[ \t\r]*$")
_FOLLOWING = re.compile(r'%[^\n"]* = |\}|\^|[a-z_]\w*\.[a-z_]|"[a-z_]\w*\.[\w.]+" ?\(|\Z', re.ASCII)
"""What can only begin another op or end a block; anything else may belong to the op of the line before."""

Key = str | tuple[str, tuple[int, ...]]


@dataclass(frozen=True, slots=True)
class _Line:
    """A line of the text from where an op begins."""

    key: Key
    """What lines of one template have in common: all but the names and the location, and which names are the same."""
    names: list[str]
    start: int
    end: int
    location: str | None


@dataclass(frozen=True, slots=True)
class _Template:
    """The op of a line."""

    kind: type[Operation]
    sizes: tuple[int, ...]
    """The number of results that each of the line's first names stands for."""
    operand_types: tuple[Attribute, ...]
    result_types: tuple[Attribute, ...]
    properties: dict[str, Attribute]
    attributes: dict[str, Attribute]
    location: LocationAttr


class LineParser(RegionParser):
    """See the module's docstring."""

    def __init__(self, ctx: Context, text: str, name: str) -> None:
        super().__init__(ctx, "", name)
        self._text = text
        self._templates: dict[Key, _Template] = {}

    def parse_operation(self) -> Operation:
        """The op at the current token; raises ``ParseError``."""
        line = self._line(self._current_token.span.start)
        if line is None:
            return self._read_op()
        template = self._templates.get(line.key)
        op = None if template is None else self._parse_again(line, template)
        if op is None:
            op = self._read_op()
            if template is None:
                self._keep(line, op)
        return op

    def _read_op(self) -> Operation:
        """The op at the current token, in the form that the IR has of it whatever version of Triton wrote it."""
        start = self.pos
        op = super().parse_operation()
        declared = spellings_of(type(op))
        if declared is None or declared.read is None:
            return op
        try:
            return declared.read(op)
        except VerifyException as error:
            self.raise_error(str(error), start)

    def _alias(self, name: str) -> Attribute | None:
        raise NotImplementedError

    def _line(self, start: int) -> _Line | None:
        end = self._text.find("\n", start, start + _LONGEST)
        if end < 0:
            return None
        text, location = self._text[start:end], None
        if text.endswith(")") and (match := _LOCATION.search(text)) is not None:
            text, location = text[: match.start()], match[1]
        parts = _NAME.split(text)
        names = parts[1::2]
        key: Key = "%".join(parts[::2])
        if len(set(names)) < len(names):
            key = key, tuple(map(names.index, names))
        return _Line(key, names, start, end, location)

    def _value(self, name: str) -> SSAValue | None:
        """The value of a name on a line, as ``7`` or ``7#1``."""
        values = self.ssa_values.get(name)
        if values is None:
            name, _, index = name.partition("#")
            values = self.ssa_values.get(name)
            return values[int(index)] if values is not None and index and int(index) < len(values) else None
        return values[0]

    def _parse_again(self, line: _Line, template: _Template) -> Operation | None:
        """The op of a line that ``template`` fits; None (and nothing has changed) where it may not."""
        skipped = SKIP.match(self._text, line.end)
        position = line.end if skipped is None else skipped.end()
        if _FOLLOWING.match(self._text, position) is None:
            return None
        count = len(template.sizes)
        results = line.names[:count]
        for name in results:
            if name in self.ssa_values or name in self.forward_ssa_references:
                return None
        operands: list[SSAValue] = []
        for name, type_ in zip(line.names[count:], template.operand_types, strict=True):
            value = self._value(name)
            if value is None or (value.type is not type_ and value.type != type_):
                return None
            operands.append(value)
        location: Attribute | None = template.location
        if line.location is not None:
            location = self._alias(line.location)
            if not isinstance(location, LOCATION_KINDS):
                return None
        op = template.kind.create(
            operands=operands,
            result_types=template.result_types,
            properties=template.properties,
            attributes=template.attributes,
            location=location,
        )
        first = 0
        for name, size in zip(results, template.sizes, strict=True):
            self._define(name, op.results[first : first + size])
            first += size
        self._resume_from(position)
        return op

    def _keep(self, line: _Line, op: Operation) -> None:
        """Keep the op that was just read as a template, if it is all of its line and its operands follow the names."""
        if op.regions or op.successors or op.name not in (line.key if isinstance(line.key, str) else line.key[0]):
            return
        skipped = SKIP.match(self._text, line.end)
        if skipped is None or skipped.end() != self._current_token.span.start:
            return
        sizes: list[int] = []
        left = len(op.results)
        for name in line.names:
            if left <= 0:
                break
            sizes.append(len(self.ssa_values.get(name, ())))
            left -= sizes[-1]
        values = [self._value(name) for name in line.names[len(sizes) :]]
        if left or len(values) != len(op.operands) or any(a is not b for a, b in zip(values, op.operands, strict=True)):
            return
        self._templates[line.key] = _Template(
            type(op),
            tuple(sizes),
            tuple(operand.type for operand in op.operands),
            tuple(result.type for result in op.results),
            op.properties,
            op.attributes,
            op.location,
        )
