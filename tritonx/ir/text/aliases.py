"""Which attributes of a module get an alias (`#blocked`, `#shared1`, `#loc7`) and what it is called."""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

from xdsl.dialects.builtin import (
    CallSiteLoc,
    DictionaryAttr,
    FileLineColLoc,
    FusedLoc,
    IntegerAttr,
    IntegerType,
    NameLoc,
    UnknownLoc,
)
from xdsl.ir import Attribute, Data, Operation, ParametrizedAttribute

from tritonx.ir.alias import Aliased
from tritonx.ir.walk import ops_in

LOCATION_KINDS = (UnknownLoc, FileLineColLoc, CallSiteLoc, NameLoc, FusedLoc)


class _Kind(NamedTuple):
    """What aliases of a class of attributes are called, "" where it has none, and whether it is made of attributes that
    may have one."""

    stem: str
    is_location: bool
    has_parts: bool


@cache
def _kind_of(cls: type[Attribute]) -> _Kind:
    is_location = issubclass(cls, LOCATION_KINDS)
    stem = cls.ALIAS if issubclass(cls, Aliased) else "loc" if is_location and cls is not UnknownLoc else ""
    return _Kind(stem, is_location, cls not in (FileLineColLoc, IntegerAttr, IntegerType))


def collect_aliases(root: Operation, *, locations: bool) -> dict[Attribute, str]:
    """Attribute → alias for everything below `root`, those that others are made of first. Unknown locations get no
    alias.
    """
    aliases: dict[Attribute, str] = {}
    counts: dict[str, int] = {}
    seen: set[Attribute] = set()

    held: dict[int, Attribute] = {}

    def visit_held(attribute: Attribute) -> None:
        # Most occur at many places, as one object: equal ones are found by what they are made of, which takes longer.
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
        kind = _kind_of(attribute.__class__)  # pyright: ignore[reportUnknownMemberType, reportUnknownArgumentType] -- as above
        if isinstance(attribute, ParametrizedAttribute):
            for part in attribute.parameters if kind.has_parts else ():
                visit_held(part)
        elif isinstance(attribute, DictionaryAttr):
            for part in attribute.data.values():
                visit(part)
        elif isinstance(attribute, Data):
            parts = getattr(attribute, "parts", None)  # pyright: ignore[reportUnknownArgumentType] -- as above
            visit(attribute.data if parts is None else parts())  # pyright: ignore[reportUnknownMemberType] -- as above
        if not kind.stem or (kind.is_location and not locations):
            return
        count = counts.get(kind.stem, 0)
        counts[kind.stem] = count + 1
        aliases[attribute] = f"#{kind.stem}{count or ''}"

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
