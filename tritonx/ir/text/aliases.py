"""Which attributes of a module get an alias (`#blocked`, `#shared1`, `#loc7`) and what it is called."""

from __future__ import annotations

from typing import Any

from xdsl.dialects.builtin import CallSiteLoc, DictionaryAttr, FileLineColLoc, FusedLoc, NameLoc, UnknownLoc
from xdsl.ir import Attribute, Data, Operation, ParametrizedAttribute

from tritonx.ir.alias import Aliased
from tritonx.ir.walk import ops_in

LOCATION_KINDS = (UnknownLoc, FileLineColLoc, CallSiteLoc, NameLoc, FusedLoc)


def collect_aliases(root: Operation, *, locations: bool) -> dict[Attribute, str]:
    """Attribute → alias for everything below `root`, those that others are made of first. Unknown locations get no
    alias.
    """
    aliases: dict[Attribute, str] = {}
    counts: dict[str, int] = {}
    seen: set[Attribute] = set()

    held: dict[int, Attribute] = {}

    def visit_held(attribute: Attribute) -> None:
        # Most stand at many places, as one object: equal ones are found by what they are made of, which takes longer.
        if id(attribute) not in held:
            held[id(attribute)] = attribute
            visit(attribute)

    def visit(attribute: Any) -> None:
        if isinstance(attribute, tuple | list | frozenset):
            for part in attribute:  # pyright: ignore[reportUnknownVariableType] -- parameters of attributes are of any type
                visit(part)
            return
        if not isinstance(attribute, Attribute) or attribute in seen:
            return
        seen.add(attribute)
        if isinstance(attribute, FileLineColLoc):
            pass  # a string and numbers
        elif isinstance(attribute, ParametrizedAttribute):
            for part in attribute.parameters:
                visit_held(part)
        elif isinstance(attribute, DictionaryAttr):
            for part in attribute.data.values():
                visit(part)
        elif isinstance(attribute, Data):
            parts = getattr(attribute, "parts", None)  # pyright: ignore[reportUnknownArgumentType] -- as above
            visit(attribute.data if parts is None else parts())  # pyright: ignore[reportUnknownMemberType] -- as above
        if isinstance(attribute, Aliased):
            stem = attribute.ALIAS
        elif locations and isinstance(attribute, LOCATION_KINDS) and not isinstance(attribute, UnknownLoc):
            stem = "loc"
        else:
            return
        count = counts.get(stem, 0)
        counts[stem] = count + 1
        aliases[attribute] = f"#{stem}{count or ''}"

    for op in ops_in(root):
        for result in op.results:
            visit_held(result.type)
        for region in op.regions:
            for block in region.blocks:
                for argument in block.args:
                    visit_held(argument.type)
                    if locations:
                        visit_held(argument.location)
        for values in (op.properties, op.attributes):
            for value in values.values():
                visit_held(value)
        if locations:
            visit_held(op.location)
    return aliases
