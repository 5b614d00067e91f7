"""A printer that writes MLIR's text: attribute aliases at the top, dictionaries in order of their keys, locations on
demand.

xDSL's printer has no aliases and prints what it is given in the given order. Texts of types and locations
are kept while a module is printed, and text goes to the stream in one piece for each op.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping, Sequence
from io import StringIO
from typing import IO, cast

from xdsl.dialects.builtin import AnyFloat, CallSiteLoc, FileLineColLoc, NameLoc, NoneAttr, StringAttr
from xdsl.ir import Attribute, BlockArgument, Operation, SSAValue, TypeAttribute
from xdsl.printer import Printer as XDSLPrinter
from xdsl.traits import IsolatedFromAbove

from tritonx.ir.context import dialect_interface
from tritonx.ir.spelling import LevelError, Respelling, TextLevel, respell
from tritonx.ir.text.aliases import LOCATION_KINDS, collect_aliases
from tritonx.ir.text.floats import float_text

_ESCAPES = {byte: f"\\{byte:02X}" for byte in (*range(0x20), 0x22, *range(0x7F, 0x100))} | {0x5C: "\\\\"}
"""The escape of a byte in a literal, where there is one."""


def _literal(text: bytes) -> str:
    return f'"{text.decode("latin-1").translate(_ESCAPES)}"'


_REPEATED = (TypeAttribute, *LOCATION_KINDS)


class Printer(XDSLPrinter):
    """See the module's docstring; `print_module` is the entry."""

    def __init__(
        self,
        stream: IO[str],
        *,
        print_generic_format: bool = False,
        print_debuginfo: bool = False,
        level: TextLevel | None = None,
    ) -> None:
        """``level``: of which version of Triton the text is; see `tritonx.ir.spelling`."""
        super().__init__(stream, print_generic_format=print_generic_format, print_debuginfo=print_debuginfo)
        self.level = level
        self._aliases: dict[Attribute, str] = {}
        self._known: dict[int, tuple[Attribute, str]] = {}
        """Texts of types and locations, by what they are as objects: most occur at many places as one."""

    def print_module(self, module: Operation) -> None:
        """Prints the aliases, the module and a newline."""
        aliases = collect_aliases(module, locations=self.print_debuginfo)
        before = {a: n for a, n in aliases.items() if not isinstance(a, LOCATION_KINDS)}
        behind: dict[Attribute, str] = {a: n for a, n in aliases.items() if isinstance(a, LOCATION_KINDS)}
        # An alias may use those printed before it, nested first; location aliases follow the module, except the
        # first.
        for attribute, name in before.items():
            self._print_alias(attribute, name)
        self._aliases.update(behind)
        self.print_op(module)
        self.print_string("\n")
        self._known.clear()
        for attribute, name in behind.items():
            del self._aliases[attribute]
            self._print_alias(attribute, name)

    def _print_alias(self, attribute: Attribute, name: str) -> None:
        if (text := self._location_text(attribute)) is not None:
            self.print_string(f"{name} = loc({text})\n")
        else:
            self.print_string(f"{name} = ")
            self._aliases.pop(attribute, None)
            super().print_attribute(attribute)
            self.print_string("\n")
        self._aliases[attribute] = name

    def _location_text(self, attribute: Attribute) -> str | None:
        """The text in `loc(…)`; None for what is not made of places, names and calls alone."""
        match attribute:
            case FileLineColLoc():
                return f"{_literal(attribute.filename.data.encode())}:{attribute.line.data}:{attribute.column.data}"
            case CallSiteLoc():
                parts = self._part_text(attribute.callee), self._part_text(attribute.caller)
                return None if None in parts else f"callsite({parts[0]} at {parts[1]})"
            case NameLoc() if isinstance(attribute.location, NoneAttr):
                return _literal(attribute.desc.data.encode())
            case NameLoc():
                part = self._part_text(attribute.location)
                return None if part is None else f"{_literal(attribute.desc.data.encode())}({part})"
            case _:
                return None

    def _part_text(self, attribute: Attribute) -> str | None:
        return self._aliases.get(attribute) or self._location_text(attribute)

    # -- text

    def print_string(self, text: str, *, indent: int | None = None) -> None:
        if "\n" in text or self._next_line_callback:
            super().print_string(text, indent=indent)
            return
        self._current_column += len(text)
        (self.stream or sys.stdout).write(text)  # xDSL 0.74 says that there may be none

    def print_attribute(self, attribute: Attribute) -> None:
        known = None if self.printing_location else self._known.get(id(attribute))
        if known is None:
            if self.printing_location or not isinstance(attribute, _REPEATED):
                self._print_anew(attribute)
                return
            stream, self.stream = self.stream, StringIO()
            self._print_anew(attribute)
            text, self.stream = self.stream.getvalue(), stream
            self._current_column -= len(text)
            known = self._known[id(attribute)] = attribute, text
        self.print_string(known[1])

    def _print_anew(self, attribute: Attribute) -> None:
        alias = self._aliases.get(attribute)
        if alias is None:
            super().print_attribute(attribute)
            return
        if isinstance(attribute, LOCATION_KINDS) and not self.printing_location:
            alias = f"loc({alias})"
        self.print_string(alias)

    def print_attr_dict(self, attr_dict: Mapping[str, Attribute]) -> None:
        super().print_attr_dict(dict(sorted(attr_dict.items())))

    def print_bytes_literal(self, bytestring: bytes) -> None:
        self.print_string(_literal(bytestring))

    def print_float(self, value: float, type: AnyFloat) -> None:
        self.print_string(float_text(value, type))

    # -- operations

    def print_op(self, op: Operation) -> None:
        if self.diagnostic.op_messages:
            super().print_op(op)
            return
        isolated = op.has_trait(IsolatedFromAbove, value_if_unregistered=False)
        self._print_results(op)
        if isolated:
            self.enter_scope()
        custom = type(op).print is not Operation.print and not self.print_generic_format
        if custom:
            self.print_string("module" if op.name == "builtin.module" else op.name)
            op.print(self)
            if self.print_debuginfo:
                self.print_string(" ")
                self.print_attribute(op.location)
        elif op.name == "builtin.unregistered":
            self._print_unregistered(op)
        else:
            self.print_string(f'"{op.name}"')
            self.print_op_with_default_format(op)
        if isolated:
            self.exit_scope()

    def _print_unregistered(self, op: Operation) -> None:
        name = op.attributes.pop("op_name__")
        self.print_string(f'"{cast(StringAttr, name).data}"')
        self.print_op_with_default_format(op)
        op.attributes["op_name__"] = name

    def print_operation_type(self, op: Operation) -> None:
        # xDSL prints the location here, and so in the middle of ops whose printers call this before they are done.
        self.print_function_type([o.type for o in op.operands], [r.type for r in op.results])

    def print_op_with_default_format(self, op: Operation) -> None:
        super().print_op_with_default_format(op)
        if self.print_debuginfo:
            self.print_string(" ")
            self.print_attribute(op.location)

    def _print_results(self, op: Operation) -> None:
        results = op.results
        if not results:
            return
        hint = results[0].name_hint
        if len(results) > 1 and all(result.name_hint == hint for result in results):
            self._print_result_pack(results, hint)
        else:
            self.print_list(results, self.print_ssa_value)
        self.print_string(" = ")

    def _print_result_pack(self, results: Sequence[SSAValue], hint: str | None) -> None:
        """`%pack:2`, whose parts are then called `%pack#0` and `%pack#1`."""
        if hint is None:
            name = self._get_new_valid_name_id()
        else:
            used = self.ssa_names.get(hint, 0)
            self.ssa_names[hint] = used + 1
            name = f"{hint}_{used}" if used else hint
        for index, result in enumerate(results):
            self._ssa_values[result] = f"{name}#{index}"
        self.print_string(f"%{name}:{len(results)}")

    def print_block_arguments(self, arguments: Sequence[SSAValue]) -> None:
        """`(%a: i32, %b: f32)`, with locations if they are printed."""
        with self.in_parens():
            self.print_list(cast(Iterable[BlockArgument], arguments), self.print_block_argument)


def _respelled(op: Operation, level: TextLevel) -> Operation:
    """A copy in which everything is what the level's text can say. A `LevelError` is at the op that was given."""
    copy = op.clone()
    originals = dict(zip(copy.walk(), op.walk(), strict=True))
    try:
        dialect_interface("ttg", Respelling).write(copy, level)
        respell(copy, level)
    except LevelError as error:
        error.op = None if error.op is None else originals.get(error.op)
        raise
    return copy


def print_op_text(
    op: Operation, *, debuginfo: bool = False, generic: bool = False, level: TextLevel | None = None
) -> str:
    """An op as text, with the aliases it needs in front. Raises `LevelError` for what the level cannot say."""
    if level is not None:
        op = _respelled(op, level)
    stream = StringIO()
    Printer(stream, print_debuginfo=debuginfo, print_generic_format=generic, level=level).print_module(op)
    return stream.getvalue()
