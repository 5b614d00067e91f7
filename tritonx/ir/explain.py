"""What passes decided, for who asks: ``TRITONX_EXPLAIN=pipeline`` prints a line for each loop, with its position.

Several topics are separated by commas. Only a compile explains itself: what comes out of the cache was explained then
(``TRITONX_ALWAYS_COMPILE=1``).
"""

from __future__ import annotations

import sys

from xdsl.ir import Operation

from tritonx.ir.source import source_of
from tritonx.runtime import knobs


def is_asked(topic: str) -> bool:
    """Whether somebody wants to know."""
    return topic in (knobs.getenv("TRITON_EXPLAIN") or "").replace(" ", "").split(",")


def explain(topic: str, op: Operation, text: str) -> None:
    """Print what was decided about an op, to standard error, if the topic is asked for."""
    if is_asked(topic):
        positions = source_of(op)
        print(f"{f'{positions[0]}: ' if positions else ''}{topic}: {text}", file=sys.stderr)
