"""What compiled code must look like on a target that says what a thread uses: its values stay in registers, and a
block gets the registers that it needs.

A backend says so in a compile's metadata. ``local``: the bytes of a thread's own memory, what it spills included. Such
memory is several hundred times slower than a register, and code gets it by accident: an index that is not a constant, a
vector that is cut through memory, a chain that is kept too long. ``thread_registers``: how many of 32 bits code can
name; tiles that do not fit them may lie there, and where it is not said it is unknown which. ``registers`` and
``max_registers``: what a thread uses, and what there is for each thread of the block; code that uses more cannot be
launched. ``traded``: the bytes of ``local`` for which a multiprocessor holds one more block, as the backend has
decided. ``shared_hint``: what takes the shared memory of a block that needs more than it may have."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Attribute, Operation

from tritonx.analysis.registers import words as thread_words
from tritonx.backends.api import Compilation
from tritonx.dialects import math, tile
from tritonx.dialects.gpu_layout import BlockedEncodingAttr, LocalDotOp
from tritonx.ir.types import bit_width, encoding_of, is_tensor, shape_of, type_of


def fault(made: Mapping[str, object], compilation: Compilation) -> str | None:
    """What is wrong with the code of a compile whose stages made ``made``; None if nothing, or if nothing is known."""
    registers, available = (compilation.metadata.get(name, 0) for name in ("registers", "max_registers"))
    if available and registers > available:
        return f"a thread uses {registers} registers, and there are {available} for each; the block cannot be launched"
    if hint := compilation.metadata.get("shared_hint"):
        shared = compilation.metadata.get("shared")
        return f"the block needs {shared} bytes of shared memory, and cannot be launched. {hint}"
    used, named = compilation.metadata.get("local"), compilation.metadata.get("thread_registers")
    if not used or not named or used <= compilation.metadata.get("traded", 0):
        return None
    modules = [artifact for artifact in made.values() if isinstance(artifact, ModuleOp)]
    if any(True for op in modules[-1].walk() for _ in _excuses(op, compilation, named)):
        return None
    spills = compilation.metadata.get("spills", 0)
    return (
        f"a thread uses {used} bytes of its own memory and {spills} bytes of spills; its values must stay in registers"
    )


def _excuses(op: Operation, compilation: Compilation, registers: int) -> Iterator[str]:
    """Why the code of an op may use memory where there are so many registers."""
    if isinstance(op, math.SinOp | math.CosOp):
        yield "the digits of 2/π that a large argument needs are a table"
    if isinstance(op, tile.PrintOp):
        yield "the values to print are handed over in memory"
    threads = compilation.options.num_warps * compilation.target.warp_size
    if isinstance(op, tile.DotOp | LocalDotOp) and isinstance(encoding_of(type_of(op.d)), BlockedEncodingAttr):
        loaded = (each for each in op.parent.ops if isinstance(each, tile.LoadOp)) if op.parent is not None else ()
        if words(type_of(op.d)) + sum(words(type_of(load.result)) for load in loaded) > registers * threads:
            yield "the result of multiply-adds and what was loaded for it do not fit the registers together"
    available = compilation.metadata.get("max_registers")
    if available and isinstance(op, tile.DotOp | LocalDotOp):
        operands = op.operand_types if isinstance(op, LocalDotOp) else (type_of(op.a), type_of(op.b))
        if sum(map(thread_words, (*operands, type_of(op.d)))) > available:
            yield "the operands and the result of a product do not fit what a thread of so wide a block has"
    if any(words(type_of(result)) >= registers * threads for result in op.results):
        yield "a tile does not fit the registers"


def words(type_: Attribute) -> int:
    """Registers that hold a tile in all threads together, if each element is held once; 0 for a scalar."""
    if not is_tensor(type_):
        return 0
    count = 1
    for extent in shape_of(type_):
        count *= extent
    return count * max(bit_width(type_), 32) // 32
