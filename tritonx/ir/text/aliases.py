"""Which attributes of a module get an alias (`#blocked`, `#shared1`, `#loc7`) and what it is called."""

from __future__ import annotations

from typing import Any

from xdsl.dialects.builtin import CallSiteLoc, DictionaryAttr, FileLineColLoc, FusedLoc, NameLoc, UnknownLoc
from xdsl.ir import Attribute, Data, Operation, ParametrizedAttribute

LOCATION_KINDS = (UnknownLoc, FileLineColLoc, CallSiteLoc, NameLoc, FusedLoc)

ALIAS_NAMES: dict[str, str] = {
    "ttg.blocked": "blocked",
    "ttg.linear": "linear",
    "ttg.generic_linear": "linear",
    "ttg.nvidia_mma": "mma",
    "ttg.amd_mfma": "mma",
    "ttg.amd_wmma": "mma",
    "ttg.swizzled_shared": "shared",
    "ttg.nvmma_shared": "shared",
    "ttg.padded_shared": "shared",
    "ttg.shared_linear": "shared",
    "ttg.amd_rotating_shared": "shared",
    "ttg.partitioned_shared": "shared",
    "ttg.shared_memory": "smem",
    "ttng.tensor_memory": "ttng.tensor_memory",
    "ttng.tensor_memory_encoding": "tmem",
    "ttng.tensor_memory_scales_encoding": "tmem_scales",
}
"""Attributes that are given an alias, and its stem; the second of a stem gets a 1 behind it, and so on."""


def collect_aliases(root: Operation, *, locations: bool) -> dict[Attribute, str]:
    """Attribute → alias for everything below `root`, those that others are made of first. Unknown locations get no
    alias.
    """
    aliases: dict[Attribute, str] = {}
    counts: dict[str, int] = {}
    seen: set[Attribute] = set()

    def visit(attribute: Any) -> None:
        if isinstance(attribute, tuple | list | frozenset):
            for part in attribute:  # pyright: ignore[reportUnknownVariableType] -- parameters of attributes are of any type
                visit(part)
            return
        if not isinstance(attribute, Attribute) or attribute in seen:
            return
        seen.add(attribute)
        if isinstance(attribute, ParametrizedAttribute):
            for part in attribute.parameters:
                visit(part)
        elif isinstance(attribute, DictionaryAttr):
            for part in attribute.data.values():
                visit(part)
        elif isinstance(attribute, Data):
            parts = getattr(attribute, "parts", None)  # pyright: ignore[reportUnknownArgumentType] -- as above
            visit(attribute.data if parts is None else parts())  # pyright: ignore[reportUnknownMemberType] -- as above
        stem = ALIAS_NAMES.get(attribute.name)
        if stem is None:
            if not locations or not isinstance(attribute, LOCATION_KINDS) or isinstance(attribute, UnknownLoc):
                return
            stem = "loc"
        count = counts.get(stem, 0)
        counts[stem] = count + 1
        aliases[attribute] = f"#{stem}{count or ''}"

    for op in root.walk():
        for result in op.results:
            visit(result.type)
        for region in op.regions:
            for block in region.blocks:
                for argument in block.args:
                    visit(argument.type)
                    if locations:
                        visit(argument.location)
        for values in (op.properties, op.attributes):
            for value in values.values():
                visit(value)
        if locations:
            visit(op.location)
    return aliases
