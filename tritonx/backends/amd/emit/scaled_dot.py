"""``tt.dot_scaled`` by the matrix cores of CDNA 4, which multiply narrow floats by scales of powers of two.

Unlike those of ``tt.dot``, a step's elements are not any that both operands share: a scale belongs to 32 neighbours of
K, so a step takes the instruction's K from the first element on, and each lane has the bytes that the instruction reads
there (``layouts/product_scales``)."""

from __future__ import annotations

from xdsl.ir import Operation

from tritonx.backends.amd.emit.dot import Totals
from tritonx.backends.amd.emit.machine import AmdMachine
from tritonx.backends.amd.emit.matrix_instructions import SCALED_K, ScaledInstruction, scaled_mfma
from tritonx.conversion.gpu_to_llvm.dot import Position, Rows
from tritonx.conversion.gpu_to_llvm.encodings import type_encoding
from tritonx.conversion.gpu_to_llvm.function import Emit, FunctionEmitter
from tritonx.conversion.gpu_to_llvm.product import Factor
from tritonx.conversion.gpu_to_llvm.shape import positions
from tritonx.conversion.gpu_to_llvm.values import Tile
from tritonx.dialects import tile
from tritonx.dialects.tile.enums import ScaleDotElemType
from tritonx.ir.dispatch import case
from tritonx.ir.failure import PassError
from tritonx.ir.types import element_type, i8, shape_of, type_of
from tritonx.layouts import linear_layout
from tritonx.layouts.dims import BLOCK, LANE, WARP
from tritonx.layouts.encodings import AmdMfmaEncoding, DotOperandEncoding
from tritonx.layouts.product_scales import GROUP, LANE_BYTES, scale_encoding

ONE = 127
"""The code of the scale 1 in e8m0."""


class ScaledOperand(Rows):
    """Operand ``index`` of a product (0 is A, 1 is B), with its scales."""

    def __init__(self, f: FunctionEmitter, op: tile.DotScaledOp, index: int, result: AmdMfmaEncoding) -> None:
        value, scale = ((op.a, op.a_scale), (op.b, op.b_scale))[index]
        if type_encoding(value.type) != DotOperandEncoding(index, result, LANE_BYTES):
            raise PassError(op, f"operand {index} of the product is not laid out for its instruction: {value.type}")
        super().__init__(f, Factor.of(f, value), along=-1 - index)
        kind = (op.a_elem_type, op.b_elem_type)[index].value.data
        self.format = ScaleDotElemType(kind).name.lower()
        self.at_once = 64 // result.instr_shape[0]
        self._made: dict[tuple[Position, int], str] = {}
        self._scales: dict[Position, tuple[str, int]] | None = None
        if scale is None:
            return
        shape, type_ = shape_of(type_of(op.d)), type_of(scale)
        held = f.layout(type_)
        wanted = linear_layout(scale_encoding(result, index, shape, op.depth), shape_of(type_))
        if element_type(type_) != i8 or shape_of(type_)[-1] * GROUP != op.depth:
            raise PassError(op, f"the unit takes an i8 as the scale of {GROUP} elements of K, not {type_}")
        if any(held.bases(dim) != wanted.bases(dim) for dim in (LANE, WARP, BLOCK)):
            raise PassError(op, f"the scales of operand {index} are not laid out for the product: {type_}")
        codes = _in_registers(f, f.get(scale))
        self._scales = {place: codes[r] for r, place in reversed(list(enumerate(positions(held))))}

    def part(self, row: Position, step: int, count: int, type_: str) -> str:
        """The ``count`` bytes of ``row`` that an instruction takes in a step, as LLVM's ``type_``."""
        found = self._made.get((row, step))
        if found is None:
            packed = self.packed(self.registers[row][step * count : (step + 1) * count])
            found = self._made[row, step] = self.f.inst(f"bitcast <{count} x {self.elem}> {packed} to {type_}")
        return found

    def scale(self, row: Position, step: int) -> tuple[str, int] | None:
        """The register with the scale that the lane gives for ``row`` in a step, and which of its bytes that is."""
        return None if self._scales is None else self._scales[(*row, step * self.at_once)]


def _in_registers(f: FunctionEmitter, codes: Tile) -> list[tuple[str, int]]:
    """Of every scale of a thread an i32 that has it, and its byte there: as many are in one as were loaded together."""
    if not codes.prefers_vector or codes.n == 1:
        return [(f.inst(f"zext i8 {name} to i32"), 0) for name in f.scalars(codes)]
    count = min(4, codes.n)
    found: list[tuple[str, int]] = []
    for first in range(0, codes.n, count):
        word = f.slice("i8", codes.n, f.wide(codes), first, count)
        word = f.inst(f"bitcast <{count} x i8> {word} to i{8 * count}")
        word = word if count == 4 else f.inst(f"zext i{8 * count} {word} to i32")
        found += [(word, byte) for byte in range(count)]
    return found


def scaled_dot(op: tile.DotScaledOp, f: FunctionEmitter) -> None:
    """All tiles of the result take a step of K before the next one."""
    machine, encoding = f.machine, type_encoding(op.c.type)
    assert isinstance(machine, AmdMachine)
    processor = machine.processor
    if not isinstance(encoding, AmdMfmaEncoding) or processor.matrix != "mfma":
        raise PassError(op, f"{processor.name} has no instructions for the layout of this product's result")
    turned = encoding.is_transposed
    left, right = (ScaledOperand(f, op, index, encoding) for index in ((1, 0) if turned else (0, 1)))
    side = encoding.instr_shape[0]
    instruction = scaled_mfma(processor.matrix_version, side, left.format, right.format)
    if instruction is None or encoding.instr_shape[1] != side:
        raise PassError(
            op, f"{processor.name} does not multiply {left.format} and {right.format} with scales in tiles of {side}"
        )
    steps = op.depth // SCALED_K[side]
    if not steps or any(
        rows.depth(op) != steps * count for rows, count in zip((left, right), instruction.per_lane, strict=True)
    ):
        raise PassError(op, "the lanes do not hold whole steps of K of the operands")
    totals = Totals(f, op, turned, instruction, left, right, f.get(op.c))
    for step in range(steps):
        for i, rows in enumerate(totals.tiles):
            totals.held[i] = _issue(f, instruction, (left, right), rows, step, totals.held[i])
    f.result(op, totals.result())


def _issue(
    f: FunctionEmitter,
    instruction: ScaledInstruction,
    sides: tuple[ScaledOperand, ScaledOperand],
    rows: tuple[Position, Position],
    step: int,
    total: str,
) -> str:
    """One instruction: ``total`` plus a step of the product of two rows."""
    parts: list[tuple[str, str]] = []
    for side, row, count, type_ in zip(sides, rows, instruction.per_lane, instruction.operands, strict=True):
        parts.append((type_, side.part(row, step, count, type_)))
    parts += [(instruction.accumulator, total), *(("i32", str(code)) for code in instruction.formats)]
    scales = [side.scale(row, step) for side, row in zip(sides, rows, strict=True)]
    # With two constants of 0 LLVM chooses the instruction without scales.
    absent = str(ONE if any(scale is not None for scale in scales) else 0), 0
    for register, byte in (scale or absent for scale in scales):
        parts += [("i32", str(byte)), ("i32", register)]
    symbol = f.module.declare(instruction.accumulator, instruction.symbol, [type_ for type_, _ in parts])
    arguments = ", ".join(f"{type_} {value}" for type_, value in parts)
    return f.inst(f"call {instruction.accumulator} {symbol}({arguments})")


TABLE: dict[type[Operation], Emit] = {**case(tile.DotScaledOp, scaled_dot)}
