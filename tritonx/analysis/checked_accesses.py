"""What a launch must know of a module whose accesses are checked (`check-bounds`)."""

from __future__ import annotations

from typing import cast

from xdsl.dialects.builtin import (
    ArrayAttr,
    DenseArrayBase,
    DictionaryAttr,
    IntegerAttr,
    IntegerType,
    ModuleOp,
    StringAttr,
)

from tritonx.dialects import tile

ACCESSES = "tt.accesses"
"""The module's attribute that describes each checked access, in the order of their numbers."""

RANGES = "tt.ranges"
"""The module's attribute that says for how many ranges the kernel reads the table."""

TABLE_ARGUMENT = "tt.access_table"
"""The attribute of the argument that is the table."""


def table_argument(function: tile.FuncOp) -> int | None:
    """The number of the argument that is the table of accesses; None where accesses are not checked."""
    given = function.arg_attrs.data if function.arg_attrs is not None else ()
    return next((number for number, own in enumerate(given) if TABLE_ARGUMENT in own.data), None)


def checks_of(module: ModuleOp) -> dict[str, object]:
    """The kernel's metadata on checked accesses; nothing where there are none."""
    accesses, ranges = module.attributes.get(ACCESSES), module.attributes.get(RANGES)
    if not isinstance(accesses, ArrayAttr) or not isinstance(ranges, IntegerAttr):
        return {}
    described = cast("ArrayAttr[DictionaryAttr]", accesses)
    return {"access_ranges": ranges.value.data, "accesses": [_fields(one) for one in described]}


def _fields(access: DictionaryAttr) -> dict[str, object]:
    """An access as JSON holds it."""
    found: dict[str, object] = {}
    for name, value in access.data.items():
        match value:
            case StringAttr():
                found[name] = value.data
            case IntegerAttr():
                found[name] = value.value.data
            case DenseArrayBase():
                found[name] = list(cast("DenseArrayBase[IntegerType]", value).get_values())
            case _:
                found[name] = [one.data for one in cast("ArrayAttr[StringAttr]", value)]
    return found
