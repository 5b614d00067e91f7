"""Consecutive conversions through shared memory wait once, together.

A conversion that exchanges data between warps writes its scratch memory, waits for the block, and reads. A second one
in the same memory must first wait for the first one's reads, and then for its own writes: a transposed store with a
transposed mask waits three times. Given memory of its own and written before the first one is read, the second needs
no barrier at all.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation
from xdsl.passes import ModulePass

from tritonx.analysis.shared_budget import Room, SharedBudget
from tritonx.dialects.gpu_layout import ConvertLayoutOp
from tritonx.ir.contract import Contract
from tritonx.ir.walk import ops_in
from tritonx.layouts import LinearLayout
from tritonx.transforms.gpu.conversions_in_memory import (
    conversion_bytes,
    matrix_arrangement,
    plain_arrangement,
    write_through_buffers,
)
from tritonx.transforms.gpu.neighbours import neighbours


@dataclass(frozen=True)
class ShareBarriers(ModulePass):
    """Has independent layout conversions share one barrier.

    Groups of conversions through shared memory, in one block and independent of each other, become `ttg.local_alloc`
    and `ttg.local_load`, all stores before the first load, so that one barrier serves them all.

    What a store needs may be computed earlier than it was, where that cannot be told. A group takes what a block with
    `shared_memory` bytes has for them (`Room.for_conversions`). Conversions that are alone, or stay in their warps, are
    left. For the flags see `convert-by-matrices`."""

    name = "share-barriers"
    contract = Contract(("ttg",), on=("ttg.convert_layout",), creates=("ttg.local_alloc", "ttg.local_load"))

    shared_memory: int = 48 * 1024
    """Bytes of shared memory that a block may have."""
    matrix_loads: bool = False
    """Whether the target has matrix loads."""
    matrix_stores: bool = False
    """Whether the target has matrix stores."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for room in SharedBudget(self.shared_memory).rooms(op):
            for block in [b for each in ops_in(room.function) for region in each.regions for b in region.blocks]:
                for group in neighbours(block, _through_memory, partial(_fit, room)):
                    write_through_buffers([(each, self._arrangement(each)) for each in group])

    def _arrangement(self, op: ConvertLayoutOp) -> LinearLayout:
        return matrix_arrangement(op, self.matrix_loads, self.matrix_stores) or plain_arrangement(op)


def _through_memory(op: Operation) -> ConvertLayoutOp | None:
    return op if isinstance(op, ConvertLayoutOp) and conversion_bytes(op) else None


def _fit(room: Room, group: list[ConvertLayoutOp]) -> bool:
    """Whether the tiles of all may be in memory at the same time."""
    return sum(map(conversion_bytes, group)) <= room.for_conversions(group)
