"""Offsets of elements that a loop loads one by one are added up in the loop, where registers are short.

A loop that moves its buffers' bases keeps the offsets of a tile, and LLVM keeps a register for each: 64 elements of
two operands are 128 registers, beside the 128 of a sum of 128×128 that 128 threads have. The register allocator spills
half of them, and loads them again in each iteration. The offsets are sums of a row's and a column's part, of which a
thread has one and 64, say; these 64 are often equal in all threads, and so in scalar registers. An addition of the
two in each iteration takes the place of a register."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import BoolAttr, IntegerAttr, ModuleOp, StringAttr
from xdsl.ir import Operation, SSAValue
from xdsl.passes import ModulePass

from tritonx.analysis.axis_info import AxisFacts, analyze_axes
from tritonx.analysis.buffers import tensor_layout
from tritonx.analysis.registers import INDICES, RENAMING, RegisterFile, carried_words, elements
from tritonx.backends.amd.emit.buffer import width
from tritonx.dialects import arith, scf, tile
from tritonx.dialects.amd import BufferLoadOp
from tritonx.ir.builder import Builder
from tritonx.ir.contract import Contract
from tritonx.ir.edit import clone, is_defined_inside
from tritonx.ir.types import bit_width, element_type, is_tensor, type_of
from tritonx.layouts import access_vectors

PARTS = 4
"""How many times fewer the elements are, of what is kept in vector registers instead, at least."""


@dataclass(frozen=True)
class RemakeLoopOffsets(ModulePass):
    """Adds offsets of loads in their loop, where registers are short.

    Of `amdg.buffer_load` in an innermost loop, whose offsets are an `arith.addi` of what stays the same, and which is
    made one element at a time; where such offsets and what the loop carries take more than `registers` of a thread. The
    code generator does not know of one part of the sum that it stays the same."""

    name = "remake-loop-offsets"
    contract = Contract(
        ("tt", "ttg"),
        on=("amdg.buffer_load",),
        creates=("tt.elementwise_inline_asm", "tt.splat", "tt.broadcast", "tt.expand_dims", "arith.addi"),
        after=("use-buffer-accesses",),
    )

    registers: int = 256 - RegisterFile.working
    """Of a thread, for sums and offsets."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        loops = [inner for inner in op.walk() if isinstance(inner, scf.ForOp)]
        innermost = [each for each in loops if sum(isinstance(inner, scf.ForOp) for inner in each.walk()) == 1]
        if not any(isinstance(inner, BufferLoadOp) for each in innermost for inner in each.body.block.ops):
            return
        facts = analyze_axes(op)
        for loop in innermost:
            self._in_loop(loop, facts)

    def _in_loop(self, loop: scf.ForOp, facts: AxisFacts) -> None:
        loads = [op for op in loop.body.block.ops if isinstance(op, BufferLoadOp)]
        kept = [op for op in loads if _stays(op.offsets, loop) and _is_by_elements(op, facts)]
        offsets = {op.offsets: elements(type_of(op.offsets)) for op in kept}
        if sum(offsets.values()) + carried_words(loop, indices=False) <= self.registers:
            return
        for op in kept:
            made = op.offsets.owner
            if isinstance(made, arith.AddiOp) and (part := _narrow_part(made)) is not None:
                _add_again(op, made, part)


def _stays(value: SSAValue, loop: scf.ForOp) -> bool:
    """Whether a value is the same in all iterations: of ops of index arithmetic in the loop, what they start from."""
    left = [value]
    while left:
        made = (each := left.pop()).owner
        if is_defined_inside(each, loop):
            if not isinstance(made, INDICES):
                return False
            left += made.operands
    return True


def _is_by_elements(op: BufferLoadOp, facts: AxisFacts) -> bool:
    """Whether the load's accesses are of one element each."""
    bits = bit_width(element_type(type_of(op.result)))
    layout = tensor_layout(type_of(op.result))
    found = width(facts, layout, op.ptr, op.offsets, op.mask, bits, may_split=True)
    return access_vectors(layout, found.dim, found.width).width == 1


def _narrow_part(made: arith.AddiOp) -> int | None:
    """The operand of which a thread has few elements; None where neither is of that kind."""
    counts = [elements(type_of(_source(operand)[0])) for operand in made.operands]
    least = min(counts)
    return counts.index(least) if least * PARTS <= elements(type_of(made.results[0])) else None


def _source(value: SSAValue) -> tuple[SSAValue, list[Operation]]:
    """What a tile's elements are found in, and the ops that make the tile of it, the last one first."""
    renaming: list[Operation] = []
    while isinstance(value.owner, RENAMING) and is_tensor(type_of(value.owner.operands[0])):
        renaming.append(value.owner)
        value = value.owner.operands[0]
    return value, renaming


def _add_again(op: BufferLoadOp, made: arith.AddiOp, part: int) -> None:
    builder = Builder.before(op)
    value, renaming = _source(made.operands[part])
    kept = tile.ElementwiseInlineAsmOp.create(
        operands=(value,),
        result_types=(type_of(value),),
        properties={
            "asm_string": StringAttr(""),
            "constraints": StringAttr("=v,0"),
            "pure": BoolAttr.from_bool(False),
            "packed_element": IntegerAttr(1, 32),
        },
        location=op.location,
    )
    builder.insert(kept)
    values: dict[SSAValue, SSAValue] = {value: kept.results[0]}
    for each in (*reversed(renaming), made):
        copy = clone(each, values)
        builder.insert(copy)
        values[each.results[0]] = copy.results[0]
    op.operands = [values[made.results[0]] if operand is op.offsets else operand for operand in op.operands]
