"""Placing what a program asks for in global memory for the time of a launch."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import IntegerAttr, ModuleOp
from xdsl.passes import ModulePass

from tritonx.analysis.frames import Bases, functions_of
from tritonx.analysis.memory_plan import align
from tritonx.dialects.gpu_layout import GlobalScratchAllocOp
from tritonx.ir.contract import Contract
from tritonx.ir.failure import PassError
from tritonx.ir.types import i32
from tritonx.ir.walk import ops_in

OFFSET = "ttg.global_scratch_memory_offset"
"""Attribute of an allocation: its byte offset in what one block has. Triton's name."""

SIZE = "ttg.global_scratch_memory_size"
"""Attribute of a module: the bytes that one block has. Triton's name."""

ALIGNMENT = "ttg.global_scratch_memory_alignment"
"""Attribute of a module: what the address of the first block's bytes is a multiple of. Triton's name."""


MOST = (1 << 31) - 1
"""Bytes that a block may have: what the attributes can say."""


@dataclass(frozen=True)
class AllocateGlobalScratch(ModulePass):
    """Gives every `ttg.global_scratch_alloc` its bytes of a launch's global scratch memory.

    The op gets its byte offset in what a block has of it, a module with such an op the size and the alignment of one
    block's bytes. No two share bytes: what is written there may be read until the kernel ends. An op in a loop has the
    same bytes in every iteration. A function that is called has its bytes above those of all its callers. The size is
    a multiple of the alignment, so that the blocks' bytes lie one after another.
    """

    name = "allocate-global-scratch"
    contract = Contract(
        ("ttg",),
        on=("ttg.global_scratch_alloc",),
        writes=(
            "ttg.global_scratch_memory_alignment",
            "ttg.global_scratch_memory_offset",
            "ttg.global_scratch_memory_size",
        ),
        after=("copy-blocks",),
        placed=True,
    )

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        functions = functions_of(op)
        bases = Bases(functions)
        total, alignment = 0, 1
        for function in functions:
            end = bases.of(function)
            for alloc in ops_in(function):
                if isinstance(alloc, GlobalScratchAllocOp):
                    own = alloc.alignment.value.data
                    start = align(end, own)
                    end, alignment = start + alloc.nbytes.value.data, max(alignment, own)
                    if align(end, alignment) > MOST:
                        raise PassError(alloc, f"a program would have more than {MOST} bytes of global scratch memory")
                    alloc.attributes[OFFSET] = IntegerAttr(start, i32)
            total = max(total, end)
            bases.end(function, end)
        if total:
            op.attributes[SIZE] = IntegerAttr(align(total, alignment), i32)
            op.attributes[ALIGNMENT] = IntegerAttr(alignment, i32)
