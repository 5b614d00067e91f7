"""The suite: all families, in order."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module

from tritonx_testing.conformance.case import Case
from tritonx_testing.conformance.cover import Cover
from tritonx_testing.conformance.random_blocks import ARITHMETIC, random_case

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
        for case in import_module(f"tritonx_testing.conformance.families.{family}").cases(cover):
            if case.name in found:
                raise ValueError(f"two conformance cases are named {case.name}")
            found[case.name] = case
    return list(found.values())


RANDOM = ("random_blocks/", "random_blocks/", ARITHMETIC)
"""What the names of random cases begin with, by turns; the rest is a case's seed."""


def random_names(count: int, seed: int) -> list[str]:
    """`count` random cases, others for each seed."""
    return [f"{RANDOM[number % len(RANDOM)]}{seed}.{number}" for number in range(count)]


def finder() -> Callable[[str], Case]:
    """What gives the case of a name: one of the suite's, or a random one. Raises `KeyError` for a name of neither."""
    known = {case.name: case for case in cases()}
    return lambda name: random_case(name) if name.startswith(RANDOM) else known[name]
