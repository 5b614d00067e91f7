"""What a store of the copy engine is waited for: that the engine has read the buffer, or that the block is in memory.

The engine reads the buffer first and writes global memory later. Who writes the buffer again needs the first alone
(`read_only`). Who reads the array afterwards, or tells another program that it is there, needs the second. Stores that
one thread gives to the engine are taken to be written in that order, as Triton takes them.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import UnitAttr
from xdsl.ir import Operation, SSAValue

from tritonx.backends.nvidia.passes.late_store_waits import arrays_of, relies_on
from tritonx.dialects import tile
from tritonx.dialects.control_flow import repeats
from tritonx.dialects.nvidia import AsyncTMACopyLocalToGlobalOp, AsyncTMAReduceOp, TMAStoreWaitOp
from tritonx.ir.walk import ops_in


def wait_for_reads(kernel: tile.FuncOp, waits: Sequence[TMAStoreWaitOp]) -> None:
    """Make waits that follow their copies wait for the reads of the buffer, where that is enough: nothing that
    may run later reads the array, writes it otherwise, or orders memory."""
    if not waits:
        return
    number = {op: n for n, op in enumerate(ops_in(kernel))}
    relying: dict[frozenset[SSAValue], list[int]] = {}
    for wait in waits:
        copy = wait.prev_op
        assert isinstance(copy, AsyncTMACopyLocalToGlobalOp | AsyncTMAReduceOp)
        arrays = arrays_of(copy.desc)
        if arrays is None:
            continue
        if arrays not in relying:
            relying[arrays] = [n for op, n in number.items() if op is not kernel and relies_on(op, arrays)]
        if all(n < _first_later(wait, number) for n in relying[arrays]):
            wait.properties["read_only"] = UnitAttr()


def _first_later(wait: Operation, number: dict[Operation, int]) -> int:
    """The number of the first op that may run behind the wait: its own, or that of the outermost loop around it."""
    first, around = number[wait], wait.parent_op()
    while around is not None:
        if repeats(around):
            first = number.get(around, first)
        around = around.parent_op()
    return first
