"""The suite: all families, in order."""

from __future__ import annotations

from importlib import import_module

from tritonx.testing.conformance.case import Case
from tritonx.testing.conformance.cover import Cover

FAMILIES = (
    "elementwise", "integers", "casts", "fp8", "fp8_arithmetic", "fp8e4b15", "functions", "memory", "blocks", "shape",
    "indexing", "extents", "extents_moved", "reduce", "scan", "several_axes", "dot", "dot_cuts", "tiles", "atomic",
    "control", "leaving", "rows", "sorting", "random_numbers", "debug", "wide",
)  # fmt: skip
"""Modules of ``families``, one an op family, each with ``cases(cover)``."""


def cases(cover: Cover | None = None) -> list[Case]:
    """Every case; what the environment asks for unless ``cover`` is given. Names are unique.

    >>> sorted({case.name.partition("/")[0] for case in cases()})[:3]
    ['atomic', 'blocks', 'casts']
    """
    cover = Cover.from_environment() if cover is None else cover
    found: dict[str, Case] = {}
    for family in FAMILIES:
        for case in import_module(f"tritonx.testing.conformance.families.{family}").cases(cover):
            if case.name in found:
                raise ValueError(f"two conformance cases are named {case.name}")
            found[case.name] = case
    return list(found.values())
