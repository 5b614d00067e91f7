"""Placing buffers in shared memory."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import IntegerAttr, ModuleOp
from xdsl.passes import ModulePass

from tritonx.analysis.buffers import OFFSET
from tritonx.analysis.frames import Bases, functions_of
from tritonx.analysis.shared_budget import SharedBudget
from tritonx.ir.contract import Contract
from tritonx.ir.types import i32


@dataclass(frozen=True)
class AllocateSharedMemory(ModulePass):
    """Writes down where everything lies in shared memory.

    Every op that needs some gets its byte offset (`allocation.offset`), the module the total (`ttg.shared`). Buffers
    that are alive at the same time (`analysis/lifetimes`), what is under way included, do not overlap
    (`analysis/memory_plan`); small ones overlap with none while they fit `shared_memory`, the bytes that a block may
    have. A function that is called has its buffers above those of all its callers. What does not fit is placed all the
    same: a launch refuses it, with the largest buffers' lines. `make-room` is what moves something.
    """

    name = "allocate-shared-memory"
    contract = Contract(
        ("ttg",),
        writes=("allocation.offset", "ttg.shared"),
        after=("share-barriers", "convert-by-matrices", "make-room", "fuse-operand-loads"),
    )

    shared_memory: int = 48 * 1024
    """Bytes of shared memory that a block may have."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        functions = functions_of(op)
        budget, bases = SharedBudget(self.shared_memory).within(op), Bases(functions)
        total = 0
        for function in functions:
            frame = budget.frame(function, bases.of(function))
            bases.end(function, frame.end)
            for buffer, offset in zip(frame.buffers, frame.plan.offsets, strict=True):
                buffer.op.attributes[OFFSET] = IntegerAttr(offset, i32)
            total = max(total, frame.top)
        op.attributes["ttg.shared"] = IntegerAttr(total, i32)
