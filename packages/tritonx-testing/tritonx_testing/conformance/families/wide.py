"""Cases of other families in blocks of 16 and 32 warps, in which tiles are often smaller than the block."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from importlib import import_module

from tritonx_testing.conformance.case import Case
from tritonx_testing.conformance.cover import Cover

FROM = {"dot": 4, "reduce": 7, "scan": 5, "shape": 6, "sorting": 7, "rows": 4}
"""Families, and of how many of their cases one is taken."""


def cases(cover: Cover) -> Iterator[Case]:
    """A block of 32 warps is more than some targets have. Cases that differ in their warps alone become one."""
    yield from {case.name: case for case in _widened(cover)}.values()


def _widened(cover: Cover) -> Iterator[Case]:
    for family, share in FROM.items():
        module = import_module(f"tritonx_testing.conformance.families.{family}")
        for number, case in enumerate(module.cases(cover)):
            if not cover.full and number % share:
                continue
            for warps in cover.choose([(16, 32)[number // share % 2]], [16, 32]):
                if warps > case.max_warps:
                    continue
                name = re.sub(r"-w\d+$", "", case.name).replace("/", "-", 1)
                options = {**case.options, "num_warps": warps}
                yield replace(case, name=f"wide/{name}-w{warps}", options=options, optional=case.optional or warps > 16)
