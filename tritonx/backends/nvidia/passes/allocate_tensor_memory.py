"""Placing tiles in tensor memory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import IntegerAttr, ModuleOp
from xdsl.passes import ModulePass

from tritonx.analysis.buffers import aliases_of
from tritonx.analysis.lifetimes import points_of
from tritonx.backends.nvidia.tensor_memory.plan import Request, allocated, places
from tritonx.dialects import tile
from tritonx.dialects.gpu_layout import MemDescType
from tritonx.dialects.nvidia import TCGen5MMAOp, TCGen5MMAScaledOp, TMEMAllocOp
from tritonx.dialects.nvidia.tensor_memory import COLUMNS, FIRST_COLUMN, FIRST_ROW, extent_of, is_tensor_memory
from tritonx.ir.contract import Contract
from tritonx.ir.failure import PassError
from tritonx.ir.properties import stated_number
from tritonx.ir.types import i32, type_as, type_of
from tritonx.ir.walk import ops_in
from tritonx.layouts import LayoutError

SIZE = "ttg.tensor_memory_size"
"""Attribute of a module: the columns that a block allocates. Triton's name."""

ADDRESS_BYTES = 16
"""Of shared memory, in which the chip says where the columns begin."""


@dataclass(frozen=True)
class AllocateTensorMemory(ModulePass):
    """Gives every `ttng.tmem_alloc` its columns and rows of tensor memory.

    An allocation gets its first column and row, the module the columns that a block allocates in all: a power of two
    from 32 to 512. Allocations that are alive at the same time, accesses that are under way included, do not overlap
    (`nvidia/tensor_memory/plan`). The kernel has at least 16 bytes of shared memory then. What does not fit is refused.
    """

    name = "allocate-tensor-memory"
    contract = Contract(
        ("ttg",),
        on=("ttng.tmem_alloc",),
        writes=(FIRST_COLUMN, FIRST_ROW, SIZE, "ttg.shared"),
        after=("allocate-shared-memory",),
        placed=True,
    )

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        total = 0
        for function in op.ops:
            if not isinstance(function, tile.FuncOp) or function.body.blocks.first is None:
                continue
            allocs = [each for each in ops_in(function) if isinstance(each, TMEMAllocOp)]
            if allocs and not function.is_kernel:
                raise PassError(allocs[0], "a function that is called has tensor memory", "let it be inlined")
            total = max(total, _place(function, allocs))
        if total:
            op.attributes[SIZE] = IntegerAttr(total, i32)
            shared = stated_number(op.attributes, "ttg.shared") or 0
            op.attributes["ttg.shared"] = IntegerAttr(max(shared, ADDRESS_BYTES), i32)


def _place(function: tile.FuncOp, allocs: Sequence[TMEMAllocOp]) -> int:
    """Writes down where each lies; the columns to allocate."""
    if not allocs:
        return 0
    groups = _groups(function, allocs)
    requests: list[Request] = []
    for number, (alloc, (first, last)) in enumerate(zip(allocs, points_of(function, allocs), strict=True)):
        try:
            extent = extent_of(type_as(alloc.result, MemDescType))
        except LayoutError as error:
            raise PassError(alloc, str(error)) from error
        requests.append(Request(extent, first, last, groups[number]))
    top, last_alloc = 0, allocs[0]
    for alloc, request, place in zip(allocs, requests, places(requests), strict=True):
        alloc.attributes[FIRST_COLUMN] = IntegerAttr(place.column, i32)
        alloc.attributes[FIRST_ROW] = IntegerAttr(place.row, i32)
        if place.column + request.extent.columns > top:
            top, last_alloc = place.column + request.extent.columns, alloc
    size = allocated(top)
    if size is None:
        raise PassError(last_alloc, f"{top} columns of tensor memory are in use at a time, and a block has {COLUMNS}")
    return size


def _groups(function: tile.FuncOp, allocs: Sequence[TMEMAllocOp]) -> list[int]:
    """Numbers that are equal for the operand A of a product and its result, where both have 64 rows."""
    views = [set(aliases_of(alloc.result)) for alloc in allocs]
    group = list(range(len(allocs)))
    for op in ops_in(function):
        if not isinstance(op, TCGen5MMAOp | TCGen5MMAScaledOp) or not is_tensor_memory(type_of(op.a)):
            continue
        joined = {group[i] for i in range(len(allocs)) if op.a in views[i] or op.d in views[i]}
        group = [min(joined) if each in joined else each for each in group]
    return group
