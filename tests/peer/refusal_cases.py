"""All cases of the refusal table, by name."""

from __future__ import annotations

import refusals_arithmetic
import refusals_control
import refusals_host
import refusals_memory
import refusals_shapes
from refusal_case import Case

FILES = (refusals_arithmetic, refusals_control, refusals_host, refusals_memory, refusals_shapes)


def _all() -> dict[str, Case]:
    cases: dict[str, Case] = {}
    for file in FILES:
        twice = cases.keys() & file.CASES.keys()
        assert not twice, f"two cases are named {sorted(twice)}"
        cases |= file.CASES
    return cases


CASES: dict[str, Case] = _all()
