"""Global scratch memory: what each block of a launch has of it for as long as the kernel runs.

A kernel that needs some has one parameter more than its function in the IR, the last: where the memory of all blocks
begins. The launch provides the bytes of one block (`ttg.global_scratch_memory_size`, which `allocate-global-scratch`
writes) times the number of blocks; a block's begin at its number in the grid times that. Functions that are called are
given the address of their block's bytes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xdsl.dialects.builtin import IntegerAttr

from tritonx.conversion.gpu_to_llvm.elementwise import scalar_ops
from tritonx.conversion.gpu_to_llvm.values import Tile
from tritonx.conversion.scalar.integers import resized
from tritonx.dialects.gpu_layout import GlobalScratchAllocOp
from tritonx.ir.dispatch import case
from tritonx.ir.failure import PassError
from tritonx.transforms.gpu.allocate_global_scratch import OFFSET

if TYPE_CHECKING:
    from xdsl.ir import Operation

    from tritonx.conversion.gpu_to_llvm.function import Emit, FunctionEmitter

PARAMETER = "%global_scratch"


def base(f: FunctionEmitter) -> str:
    """Where the bytes of this block begin."""
    return f.threads.once("global scratch", lambda: _of_block(f)) if f.is_kernel else PARAMETER


def _of_block(f: FunctionEmitter) -> str:
    index = f"i{f.pointer_bits(f.global_)}"
    offset = f.inst(f"mul {index} {block_number(f)}, {f.module.global_scratch_bytes}")
    return f.inst(f"getelementptr i8, {f.global_} {PARAMETER}, {index} {offset}")


def block_number(f: FunctionEmitter) -> str:
    """The number of this block in the grid, as wide as an address. The blocks of a program's cluster follow one
    another."""
    number = f.program_id(2)
    for axis in (1, 0):
        number = f.inst(f"add i32 {f.inst(f'mul i32 {number}, {f.num_programs(axis)}')}, {f.program_id(axis)}")
    ops, index = scalar_ops(f), f"i{f.pointer_bits(f.global_)}"
    wide = resized(ops, "i32", number, index)
    if (blocks := f.module.blocks_per_program) > 1:
        rank = resized(ops, "i32", f.machine.cluster_rank(f), index)
        wide = f.inst(f"add {index} {f.inst(f'mul {index} {wide}, {blocks}')}, {rank}")
    return wide


def alloc(op: GlobalScratchAllocOp, f: FunctionEmitter) -> None:
    if not f.machine.has_global_scratch:
        raise PassError(op, "a launch on this target has no global scratch memory")
    offset = op.attributes.get(OFFSET)
    if not isinstance(offset, IntegerAttr):
        raise PassError(op, f"{op.name} has no bytes allocated", "run the pass allocate-global-scratch first")
    start = base(f)
    if at := offset.value.data:
        start = f.inst(f"getelementptr i8, {f.global_} {start}, i{f.pointer_bits(f.global_)} {at}")
    f.set(op.result, Tile.of(f.global_, [start]))


TABLE: dict[type[Operation], Emit] = {**case(GlobalScratchAllocOp, alloc)}
