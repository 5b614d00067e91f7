"""Declarative op formats: one string that both parses and prints an op, in the notation of MLIR's `assemblyFormat`.

    $ptr (`,` $mask^)? oilist(`cacheModifier` `=` $cache | `evictionPolicy` `=` $evict) attr-dict `:` type($ptr)

| piece | meaning |
|---|---|
| `` `word` ``, `` `,` `` | literally this; `` `` `` (nothing between the quotes): no space here |
| `$name` | operand(s), property or successor of that name; an enum property is its keyword |
| `int($p)`, `ints($p)` | an integer property without its type; an integer-array property without its wrapping |
| `type($x)`, `elided($x, !prefix)` | type(s) of operand or result; the same with `!prefix` left out |
| `behind($p, $x)` | type of `$x`; since Triton 3.9 `type of $p -> type of $x` |
| `pointer($p)` | type of a pointer without `!tt.ptr`; since Triton 3.9 with it |
| `type(operands)`, `functional-type(a, b)` | types of all operands; `(types of a) -> types of b` |
| `operands` | all operands |
| `token($dep, $token)` | `[%dep]` or `[]` if there is a result `$token`, nothing otherwise |
| `pairs($a, $b)` | `, %a0[%b0], %a1[%b1]`, ... |
| `attr-dict` | attributes, and properties that the format does not mention and that differ from their defaults |
| `( ... )?` with `^` behind one piece | only if that operand, property or result is there and no default |
| `oilist(a | b)` | any of the clauses in any order |

Types that the text lacks follow from the op's `TYPES`, or from a constraint that allows one type only. A format is
compiled when its op is parsed or printed for the first time. Spacing follows the rules of MLIR's generated printers.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, cast

from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import IRDLOperation
from xdsl.utils.exceptions import VerifyException

from tritonx.ir.declaration import SEGMENTS, TypeRules, sizes_of_segments
from tritonx.ir.text.format_compiler import pieces_of
from tritonx.ir.text.format_pieces import Piece, State, arity_of, fixed_type

if TYPE_CHECKING:
    from xdsl.parser import Parser
    from xdsl.printer import Printer


class Format:
    """A compiled format of one op class."""

    def __init__(self, op: type[IRDLOperation], pieces: Sequence[Piece]) -> None:
        self.op = op
        self._parse_steps = [piece.parse for piece in pieces]
        self._print_steps = [piece.print for piece in pieces]
        definition = op.get_irdl_definition()
        self._operands = [(name, arity_of(d), fixed_type(d)) for name, d in definition.operands]
        self._results = [(name, arity_of(d), fixed_type(d)) for name, d in definition.results]
        self._rules = cast(TypeRules, getattr(op, "TYPES", {}))
        self._successors = [name for name, _ in definition.successors]
        self._has_segments = cast(bool, cast(Any, op)._has_segments)  # pyright: ignore[reportPrivateUsage]  # xDSL's private fields are touched in tritonx/ir

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


def compile_format(op: type[IRDLOperation], text: str) -> Format:
    """Compiles `text` for `op`; raises `FormatError` where the format or a name in it is wrong."""
    return Format(op, pieces_of(op, text))
