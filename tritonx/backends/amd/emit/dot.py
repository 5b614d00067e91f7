"""``tt.dot`` by the matrix cores: MFMA on CDNA, WMMA on RDNA.

Both kinds of instruction take from a lane some elements of one row of A and of one column of B, and give it elements
of one column of the result (of one row, where the encoding is transposed: then the operands change places, which
computes the transposed product). Which k a lane's elements are does not matter as long as A and B agree, so those of
a row are numbered in the order of k and taken as many at a time as the instruction wants: any ``kWidth`` that the
operands share is right, and the longest instruction that divides them is used."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tritonx.backends.amd.emit.matrix_instructions import (
    SHORTENED,
    Instruction,
    ScaledInstruction,
    mfma_instructions,
    wmma_instructions,
)
from tritonx.backends.amd.emit.steps import arrange, steps
from tritonx.backends.amd.targets import Processor
from tritonx.conversion.gpu_to_llvm.dot import Position, Rows
from tritonx.conversion.gpu_to_llvm.elementwise import convert_tile
from tritonx.conversion.gpu_to_llvm.encodings import type_encoding
from tritonx.conversion.gpu_to_llvm.shape import positions
from tritonx.conversion.gpu_to_llvm.values import Tile
from tritonx.conversion.tile_to_gpu.matrix_unit import type_name
from tritonx.dialects.tile.enums import InputPrecision
from tritonx.ir.failure import PassError
from tritonx.layouts.encodings import AmdMfmaEncoding, AmdWmmaEncoding

if TYPE_CHECKING:
    from xdsl.ir import Operation

    from tritonx.conversion.gpu_to_llvm.function import FunctionEmitter
    from tritonx.conversion.gpu_to_llvm.product import DotProduct, Factor
    from tritonx.dialects.gpu_layout import LocalDotOp
    from tritonx.dialects.tile import DotOp, DotScaledOp

    Product = DotOp | LocalDotOp | DotScaledOp


AHEAD = 8
"""The part of a thread's registers on CDNA for operands that are read ahead: 64 where there is a wave a SIMD, 32 for
two. With 64 for two, attention forward of head 256 spills 22 to 62 times; with 32 for one a product of 128 by 128 waits
for 8 reads an iteration that have just been issued, and not for 2."""


def matrix(f: FunctionEmitter, processor: Processor, product: DotProduct) -> bool:
    """Emit a product if its result has a matrix-core layout; False leaves it to multiply-adds."""
    encoding = type_encoding(product.c.type)
    if not isinstance(encoding, AmdMfmaEncoding | AmdWmmaEncoding):
        return False
    first, second = (product.b, product.a) if encoding.is_transposed else (product.a, product.b)
    names = tuple(type_name(v.type) for v in (first, second))
    if names == ("f32", "f32") and _is_shortened(encoding, product.op):
        names = (SHORTENED, SHORTENED)
    result = f.get(product.c)
    # The units sum f16 products in f32.
    wide = convert_tile(f, "fpext", result, "float") if result.elem == "half" else result
    left, right = (Operand(f, v, along=-1 if v is product.a else -2) for v in (first, second))
    instruction = choose(processor, encoding, names, left.depth(product.op), product.op)
    ahead = processor.lane_registers(f.module.num_warps * processor.wave) // AHEAD if instruction.is_mfma else 0
    made = multiply(f, product.op, encoding.is_transposed, instruction, left, right, wide, ahead)
    f.result(product.op, convert_tile(f, "fptrunc", made, "half") if result.elem == "half" else made)
    return True


def _is_shortened(encoding: AmdMfmaEncoding | AmdWmmaEncoding, op: DotOp | LocalDotOp) -> bool:
    """Whether 19 bits of f32 are multiplied: where the user lets them be, and the layout is that of CDNA 3."""
    wanted = op.inputPrecision.value.data == InputPrecision.TF32
    return wanted and isinstance(encoding, AmdMfmaEncoding) and encoding.version == 3


def choose(
    processor: Processor, encoding: AmdMfmaEncoding | AmdWmmaEncoding, names: tuple[str, ...], held: int, op: Operation
) -> Instruction:
    """The instruction of ``processor`` for the operands' element types that takes most of the ``held`` elements of a
    lane at once; ``PassError`` where there is none."""
    if isinstance(encoding, AmdMfmaEncoding) != (processor.matrix == "mfma"):
        raise PassError(op, f"{processor.name} has no instructions for the layout of this product's result")
    if isinstance(encoding, AmdMfmaEncoding):
        side = encoding.instr_shape[0]
        known = mfma_instructions(processor.matrix_version, side, *names) if encoding.instr_shape[1] == side else ()
    else:
        known = wmma_instructions(processor.matrix_version, *names)
    for instruction in known:
        if held % instruction.per_lane == 0:
            return instruction
    raise PassError(
        op,
        f"{processor.name} has no matrix instruction for {' and '.join(names)} in tiles of "
        f"{encoding.instr_shape[0]} by {encoding.instr_shape[1]} with {held} elements of K a lane",
    )


class Operand(Rows):
    """An operand whose elements are handed out in the form that an instruction takes, each form made once."""

    def __init__(self, f: FunctionEmitter, operand: Factor, along: int) -> None:
        super().__init__(f, operand, along)
        self._made: dict[tuple[Position, int], str] = {}

    def part(self, row: Position, first: int, instruction: Instruction) -> str:
        """Elements ``first``, … of ``row``."""
        if (found := self._made.get((row, first))) is not None:
            return found
        count = instruction.per_lane
        packed = self.packed(self.registers[row][first : first + count])
        own = self.elem if count == 1 else f"<{count} x {self.elem}>"
        if own != instruction.operand:
            packed = self.f.inst(f"bitcast {own} {packed} to {instruction.operand}")
        self._made[row, first] = packed
        return packed


def multiply(
    f: FunctionEmitter,
    op: DotOp | LocalDotOp,
    transposed: bool,
    instruction: Instruction,
    left: Operand,
    right: Operand,
    c: Tile,
    ahead: int,
) -> Tile:
    """``c`` plus the product. ``left`` is the operand along whose rows a lane's results run. ``ahead`` registers may
    hold what is loaded for later steps.

    All tiles of the result take a step of K before the next one: the products of a step do not wait for each other, and
    only a step's operands are in registers together."""
    if not left.registers or left.depth(op) != right.depth(op):
        raise PassError(op, "the operands of the product hold different parts of K")
    totals = Totals(f, op, transposed, instruction, left, right, c)
    depth = left.depth(op)
    arrange(left, right, depth, instruction.per_lane)
    pairs = totals.tiles
    for first, i in steps(f, left, right, pairs, depth, instruction.per_lane, ahead=ahead):
        above, beside = pairs[i]
        x, y = left.part(above, first, instruction), right.part(beside, first, instruction)
        totals.held[i] = issue(f, instruction, x, y, totals.held[i])
    return totals.result()


class Totals:
    """The tiles of a result in the registers that instructions add to, at first those of ``c``. ``tiles`` are the rows
    of ``left`` and of ``right`` that each is the product of, ``held`` the names of their registers."""

    def __init__(
        self,
        f: FunctionEmitter,
        op: Product,
        transposed: bool,
        instruction: Instruction | ScaledInstruction,
        left: Rows,
        right: Rows,
        c: Tile,
    ) -> None:
        self.f, self.c, self.instruction = f, c, instruction
        self.places = positions(f.layout(op.c.type))
        where = self.where = dict[Position, int]()
        for r, p in enumerate(self.places):
            where.setdefault(p, r)
        self.out = list(f.scalars(c))
        inside = 0
        for offset in instruction.offsets:
            inside |= offset
        self.tiles: list[tuple[Position, Position]] = []
        self.registers: list[list[int]] = []
        for p in where:
            *batch, row, column = p
            tall, broad = (column, row) if transposed else (row, column)
            if tall & inside:
                continue
            cells = [(*batch, *((broad, tall | o) if transposed else (tall | o, broad))) for o in instruction.offsets]
            above, beside = (*batch, tall), (*batch, broad)
            if above not in left.registers or beside not in right.registers or any(cell not in where for cell in cells):
                raise PassError(op, "the operands of the product are not laid out for its result")
            self.tiles.append((above, beside))
            self.registers.append([where[cell] for cell in cells])
        self.held = [f.pack(instruction.element, [self.out[r] for r in registers]) for registers in self.registers]

    def result(self) -> Tile:
        f = self.f
        for total, registers in zip(self.held, self.registers, strict=True):
            for i, r in enumerate(registers):
                self.out[r] = f.inst(f"extractelement {self.instruction.accumulator} {total}, i32 {i}")
        return f.gathered(self.c.elem, [self.out[self.where[p]] for p in self.places])


def issue(f: FunctionEmitter, instruction: Instruction, x: str, y: str, total: str) -> str:
    """One instruction: ``total + x·y``."""
    operand, accumulator = instruction.operand, instruction.accumulator
    parts = [(operand, x), (operand, y), (accumulator, total)]
    if instruction.formats is not None:  # types, and no scales
        parts += [("i32", str(code)) for code in (*instruction.formats, 0, 0, 0, 0)]
    elif instruction.is_mfma:  # cbsz, abid, blgp: no broadcast, no permutation
        parts += [("i32", "0")] * 3
    elif instruction.is_integer:  # both signed; wrap around
        parts = [("i1", "true"), parts[0], ("i1", "true"), parts[1], parts[2], ("i1", "false")]
    symbol = f.module.declare(accumulator, instruction.symbol, [type_ for type_, _ in parts])
    return f.inst(f"call {accumulator} {symbol}({', '.join(f'{type_} {value}' for type_, value in parts)})")


__all__ = ["Totals", "choose", "matrix"]
