"""Numbers that ops have under a name: properties, for what serves many classes (an op of a known class is asked by its
own fields), and attributes that may be there."""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

from xdsl.dialects.builtin import DenseArrayBase, IntegerAttr, IntegerType
from xdsl.ir import Attribute, Operation


def integer_property(op: Operation, name: str) -> int:
    """The number that an op must have as the property ``name``: an axis, a case of an enum, a truth value."""
    found = op.properties[name]
    assert isinstance(found, IntegerAttr), f"{op.name} has a number as '{name}'"
    return found.value.data


def integers_property(op: Operation, name: str) -> tuple[int, ...]:
    """The numbers that an op must have as the property ``name``: an order, offsets."""
    found = op.properties[name]
    assert isinstance(found, DenseArrayBase), f"{op.name} has numbers as '{name}'"
    return tuple(map(int, cast("DenseArrayBase[IntegerType]", found).get_values()))


def stated_number(attributes: Mapping[str, Attribute], name: str) -> int | None:
    """The integer that attributes of an op, or of a parameter, hold under ``name``; None where none is there.

    >>> from tritonx.backends.tile import parse_module
    >>> module = parse_module('module attributes {"ttg.num-warps" = 4 : i32} {}')
    >>> stated_number(module.attributes, "ttg.num-warps"), stated_number(module.attributes, "ttg.shared")
    (4, None)
    """
    found = attributes.get(name)
    return found.value.data if isinstance(found, IntegerAttr) else None
