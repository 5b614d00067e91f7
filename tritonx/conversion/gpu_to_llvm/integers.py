"""Division and shifts of integers, which LLVM leaves undefined where the language does not.

What they give is in docs/guide.md ("Integers"): a quotient by 0 is 0 and its remainder the dividend, the least integer
by -1 wraps, a shift by the width or more leaves 0 or the sign. The divisor that LLVM sees is never one of those: it is
made 1 first, which is once a thread where the divisor is the same for all elements (a kernel's argument), and the
result is put right by a select."""

from __future__ import annotations

from xdsl.ir import Operation

from tritonx.conversion.gpu_to_llvm.elementwise import call_intrinsic, combine, of, select_tile
from tritonx.conversion.gpu_to_llvm.function import Emit, FunctionEmitter
from tritonx.conversion.gpu_to_llvm.types import int_literal
from tritonx.conversion.gpu_to_llvm.values import Tile
from tritonx.dialects import arith


def _apply(f: FunctionEmitter, opcode: str, a: Tile, b: Tile) -> Tile:
    return combine(f, a.elem, [a, b], lambda s, x: f"{opcode} {of(s, a.elem)} {x[0]}, {x[1]}")


def _test(f: FunctionEmitter, predicate: str, a: Tile, number: int) -> Tile:
    b = _number(a, number)
    return combine(f, "i1", [a, b], lambda s, x: f"icmp {predicate} {of(s, a.elem)} {x[0]}, {x[1]}")


def _number(like: Tile, number: int) -> Tile:
    return Tile.splat(like.elem, like.n, int_literal(number, int(like.elem[1:])))


def divide(f: FunctionEmitter, op: Operation, opcode: str, a: Tile, b: Tile) -> Tile:
    """``a`` by ``b``, the operands of ``op``: ``sdiv``, ``udiv``, ``srem`` or ``urem``."""
    signed, remainder = opcode[0] == "s", opcode.endswith("rem")
    left, right = (f.module.axis_info.of(value) for value in op.operands)
    if right.constant is not None and right.constant not in (0, -1):
        return _apply(f, opcode, a, b)
    wraps = signed and not left.non_negative and not right.non_negative
    is_zero = _test(f, "eq", b, 0)
    # -1 and 0 are the divisors that are below 2 when 1 is added to them.
    unsafe = _test(f, "ult", _apply(f, "add", b, _number(b, 1)), 2) if wraps else is_zero
    result = _apply(f, opcode, a, select_tile(f, unsafe, _number(b, 1), b))
    if wraps and not remainder:
        negated = _apply(f, "sub", _number(a, 0), a)
        result = select_tile(f, _test(f, "eq", b, -1), negated, result)
    return select_tile(f, is_zero, a if remainder else _number(a, 0), result)


def division(opcode: str) -> Emit:
    def emit(op: Operation, f: FunctionEmitter) -> None:
        f.result(op, divide(f, op, opcode, *(f.get(value) for value in op.operands)))

    return emit


def rounded_division(opcode: str, *, up: bool) -> Emit:
    """The quotient rounded up or down: one from the truncated one where something is left and the exact one lies on
    that side. By 0 it is 0, as nothing is there to round."""

    def emit(op: Operation, f: FunctionEmitter) -> None:
        a, b = (f.get(value) for value in op.operands)
        quotient = divide(f, op, opcode, a, b)
        rest = _apply(f, "sub", a, _apply(f, "mul", quotient, b))
        moves = _apply(f, "and", _test(f, "ne", rest, 0), _test(f, "ne", b, 0))
        if opcode == "sdiv":
            is_on_side = _test(f, "sge" if up else "slt", _apply(f, "xor", a, b), 0)
            moves = _apply(f, "and", moves, is_on_side)
        moved = _apply(f, "add" if up else "sub", quotient, _number(a, 1))
        f.result(op, select_tile(f, moves, moved, quotient))

    return emit


def shift(opcode: str) -> Emit:
    """``shl``, ``ashr`` or ``lshr``; where the machine's own instruction does as the language says, just that."""

    def emit(op: Operation, f: FunctionEmitter) -> None:
        a, count = f.get(op.operands[0]), f.get(op.operands[1])
        last = int(a.elem[1:]) - 1
        if not last:  # of one bit only 0 is no shift by the width, and an arithmetic one leaves the sign
            kept = _apply(f, "and", a, _apply(f, "xor", count, _number(count, 1)))
            f.result(op, a if opcode == "ashr" else kept)
            return
        known = f.module.axis_info.of(op.operands[1]).constant
        if (known is None and last < f.machine.shifts_saturate) or (known is not None and 0 <= known <= last):
            f.result(op, _apply(f, opcode, a, count))
            return
        shifted = _apply(f, opcode, a, call_intrinsic(f, "umin", [count, _number(count, last)]))
        if opcode != "ashr":
            shifted = select_tile(f, _test(f, "ugt", count, last), _number(a, 0), shifted)
        f.result(op, shifted)

    return emit


TABLE: dict[type[Operation], Emit] = {
    arith.DivSIOp: division("sdiv"),
    arith.DivUIOp: division("udiv"),
    arith.FloorDivSIOp: rounded_division("sdiv", up=False),
    arith.CeilDivSIOp: rounded_division("sdiv", up=True),
    arith.CeilDivUIOp: rounded_division("udiv", up=True),
    arith.RemSIOp: division("srem"),
    arith.RemUIOp: division("urem"),
    arith.ShLIOp: shift("shl"),
    arith.ShRSIOp: shift("ashr"),
    arith.ShRUIOp: shift("lshr"),
}
