"""Where a tile that is written when it is asked for may be written: not after a wait that follows its op.

Copies and products go on while threads compute. What a program computes before it waits for one of them costs nothing
there, and behind the wait all of its time: the product that waited for is delayed by it. So an *interval* of a block
ends with each op that waits for what is under way (`EFFECTS`); a tile is written in the interval of its op. (A barrier
ends none. What it waits for is other threads of the same program, and what follows is often a reduction, which takes
its operand a few elements at a time.)"""

from __future__ import annotations

from xdsl.ir import Block, Operation

from tritonx.dialects.effects import Kind, effects_of


def wait_intervals_of(block: Block) -> dict[Operation, int]:
    """The number of each op's interval."""
    found: dict[Operation, int] = {}
    number = 0
    for op in block.ops:
        found[op] = number
        number += _waits(op)
    return found


def _waits(op: Operation) -> bool:
    return not op.regions and any(effect.kind is Kind.WAIT for effect in effects_of(op) or ())
