"""Whether a kernel's PTX has a loop."""

from __future__ import annotations

import re
from graphlib import CycleError, TopologicalSorter

_STEP = re.compile(
    r"^\s*(?P<label>\$[\w$]+):"
    r"|(?P<guard>@!?%p\d+\s+)?(?:\bbra(?:\.uni)?\s+(?P<target>\$[\w$]+)|\b(?:ret|exit|trap)\b)",
    re.MULTILINE,
)


def has_loop(ptx: str) -> bool:
    """Whether control can come back to a label. A block at the end, for a path that is hardly ever taken,
    and goes on where it was left is no loop.

    >>> has_loop("$a:\\n @%p1 bra $a;\\n")
    True
    >>> has_loop("@%p1 bra $cold;\\n$a:\\n ret;\\n$cold:\\n bra.uni $a;\\n")
    False
    """
    blocks = TopologicalSorter[str]()
    block: str | None = ""
    for step in _STEP.finditer(ptx):
        label, target = step["label"], step["target"]
        if label is not None:
            if block is not None:
                blocks.add(label, block)
            block = label
        elif block is not None:
            if target is not None:
                blocks.add(target, block)
            if step["guard"] is None:
                block = None
    try:
        blocks.prepare()
    except CycleError:
        return True
    return False
