"""Integers, where LLVM leaves undefined what the language does not.

What they give is in docs/guide.md ("Integers"): a quotient by 0 is 0 and its remainder the dividend, the least integer
by -1 wraps, a shift by the width or more leaves 0 or the sign. The divisor that LLVM sees is never one of those: it is
made 1 first, and the result is put right by a select."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import Operation

from tritonx.conversion.llvm_text import ICMP_PREDICATES
from tritonx.conversion.scalar.ops import Ops, Rule, operand_element, result_element
from tritonx.dialects import arith
from tritonx.ir.types import PointerType


def binary(opcode: str) -> Rule:
    """One instruction on two operands of the result's type."""
    return lambda ops, op, x: ops.binary(opcode, ops.target.held(result_element(op)), x[0], x[1])


def intrinsic(name: str, *flags: str) -> Rule:
    """One of LLVM's functions of the result's type."""
    return lambda ops, op, x: ops.intrinsic(name, ops.target.held(result_element(op)), *x, flags=flags)


def extremum(name: str, of_truth_values: str) -> Rule:
    """The function ``name``; of i1, where there is none, the instruction ``of_truth_values``."""

    def rule(ops: Ops, op: Operation, x: Sequence[str]) -> str:
        elem = ops.target.held(result_element(op))
        if elem == "i1" and not ops.target.orders_truth_values:
            return ops.binary(of_truth_values, elem, x[0], x[1])
        return ops.intrinsic(name, elem, *x)

    return rule


def compare(ops: Ops, op: arith.CmpiOp, x: Sequence[str]) -> str:
    predicate = ICMP_PREDICATES[op.predicate.value.data]
    return ops.binary(f"icmp {predicate}", ops.target.held(operand_element(op)), x[0], x[1])


def divide(ops: Ops, opcode: str, elem: str, a: str, b: str) -> str:
    """``a`` by ``b``, the operands of the op: ``sdiv``, ``udiv``, ``srem`` or ``urem``."""
    signed, remainder = opcode[0] == "s", opcode.endswith("rem")
    divisor = ops.fact(1).constant
    if divisor is not None and divisor not in (0, -1):
        return ops.binary(opcode, elem, a, b)
    is_zero, zero, one = ops.test("eq", elem, b, 0), ops.number(elem, 0), ops.number(elem, 1)
    if (own := ops.target.division(elem, ops.width)) is not None:
        quotient = own(ops, elem, a, ops.select(is_zero, elem, one, b), signed)
        if remainder:
            return ops.binary("sub", elem, a, ops.binary("mul", elem, quotient, b))
        return ops.select(is_zero, elem, zero, quotient)
    wraps = signed and not ops.fact(0).non_negative and not ops.fact(1).non_negative
    # -1 and 0 are the divisors that are below 2 when 1 is added to them.
    unsafe = ops.test("ult", elem, ops.binary("add", elem, b, one), 2) if wraps else is_zero
    result = ops.binary(opcode, elem, a, ops.select(unsafe, elem, one, b))
    if wraps and not remainder:
        negated = ops.binary("sub", elem, zero, a)
        result = ops.select(ops.test("eq", elem, b, -1), elem, negated, result)
    return ops.select(is_zero, elem, a if remainder else zero, result)


def division(opcode: str) -> Rule:
    return lambda ops, op, x: divide(ops, opcode, ops.target.held(result_element(op)), x[0], x[1])


def rounded_division(opcode: str, *, up: bool) -> Rule:
    """The quotient rounded up or down: one from the truncated one where something is left and the exact one lies on
    that side. By 0 it is 0, as nothing is there to round."""

    def rule(ops: Ops, op: Operation, x: Sequence[str]) -> str:
        elem, (a, b) = ops.target.held(result_element(op)), x
        quotient = divide(ops, opcode, elem, a, b)
        rest = ops.binary("sub", elem, a, ops.binary("mul", elem, quotient, b))
        moves = ops.binary("and", "i1", ops.test("ne", elem, rest, 0), ops.test("ne", elem, b, 0))
        if opcode == "sdiv":
            is_on_side = ops.test("sge" if up else "slt", elem, ops.binary("xor", elem, a, b), 0)
            moves = ops.binary("and", "i1", moves, is_on_side)
        moved = ops.binary("add" if up else "sub", elem, quotient, ops.number(elem, 1))
        return ops.select(moves, elem, moved, quotient)

    return rule


def shift(opcode: str) -> Rule:
    """``shl``, ``ashr`` or ``lshr``; where the target's own instruction does as the language says, just that."""

    def rule(ops: Ops, op: Operation, x: Sequence[str]) -> str:
        elem, (a, count) = ops.target.held(result_element(op)), x
        last = int(elem[1:]) - 1
        if not last:  # of one bit only 0 is no shift by the width, and an arithmetic one leaves the sign
            return (
                a
                if opcode == "ashr"
                else ops.binary("and", elem, a, ops.binary("xor", elem, count, ops.number(elem, 1)))
            )
        known = ops.fact(1).constant
        if (known is None and last < ops.target.shifts_saturate) or (known is not None and 0 <= known <= last):
            return ops.binary(opcode, elem, a, count)
        shifted = ops.binary(opcode, elem, a, ops.intrinsic("umin", elem, count, ops.number(elem, last)))
        if opcode == "ashr":
            return shifted
        return ops.select(ops.test("ugt", elem, count, last), elem, ops.number(elem, 0), shifted)

    return rule


def multiply_high(ops: Ops, op: Operation, x: Sequence[str]) -> str:
    """The upper half of the product of unsigned integers."""
    elem = ops.target.held(result_element(op))
    bits = int(elem[1:])
    if 2 * bits > ops.target.widest_integer:
        return _multiply_high_by_halves(ops, elem, bits // 2, x)
    wide = f"i{2 * bits}"
    a, b = (ops.cast("zext", elem, v, wide) for v in x)
    high = ops.binary("lshr", wide, ops.binary("mul", wide, a, b), ops.splat(wide, str(bits)))
    return ops.cast("trunc", wide, high, elem)


def _multiply_high_by_halves(ops: Ops, elem: str, half: int, x: Sequence[str]) -> str:
    """As `multiply_high`, in integers no wider than the operands: no sum of these products is too long for them."""
    shift, mask = ops.number(elem, half), ops.number(elem, (1 << half) - 1)
    (a, b), (c, d) = ((ops.binary("lshr", elem, v, shift), ops.binary("and", elem, v, mask)) for v in x)
    low = ops.binary("lshr", elem, ops.binary("mul", elem, b, d), shift)
    middle = ops.binary("add", elem, ops.binary("mul", elem, a, d), low)
    carried = ops.binary("add", elem, ops.binary("mul", elem, b, c), ops.binary("and", elem, middle, mask))
    high = ops.binary("add", elem, ops.binary("mul", elem, a, c), ops.binary("lshr", elem, middle, shift))
    return ops.binary("add", elem, high, ops.binary("lshr", elem, carried, shift))


def cast(opcode: str) -> Rule:
    """One conversion instruction, from the operand's type to the result's."""

    def rule(ops: Ops, op: Operation, x: Sequence[str]) -> str:
        held = ops.target.held
        return ops.cast(opcode, held(operand_element(op)), x[0], held(result_element(op)))

    return rule


def index_cast(ops: Ops, op: Operation, x: Sequence[str]) -> str:
    """Sign-extends or truncates; ``index`` has 64 bits."""
    source, target = (ops.target.held(t) for t in (operand_element(op), result_element(op)))
    return ops.cast("sext" if int(source[1:]) < int(target[1:]) else "trunc", source, x[0], target)


def bitcast(ops: Ops, op: Operation, x: Sequence[str]) -> str:
    """The same bits; pointers change their pointee, or the memory they point to."""
    source, target = (ops.target.held(t) for t in (operand_element(op), result_element(op)))
    return ops.cast("addrspacecast" if source.startswith("ptr") else "bitcast", source, x[0], target)


def select(ops: Ops, op: Operation, x: Sequence[str]) -> str:
    return ops.select(x[0], ops.target.held(result_element(op)), x[1], x[2])


def advance(ops: Ops, op: Operation, x: Sequence[str]) -> str:
    """A pointer moved by elements; the offset is signed."""
    pointer, offset = (ops.target.held(operand_element(op, i)) for i in range(2))
    moved = result_element(op)
    assert isinstance(moved, PointerType)
    step = ops.target.in_memory(moved.pointee)
    return ops.inst(f"getelementptr {step}, {ops.of(pointer)} {x[0]}, {ops.of(offset)} {x[1]}")


def resized(ops: Ops, elem: str, value: str, wanted: str) -> str:
    """An integer, read as unsigned, in another width: as an index, as a count."""
    return ops.cast("zext" if int(elem[1:]) < int(wanted[1:]) else "trunc", elem, value, wanted)


def bin_of(ops: Ops, elem: str, value: str, bins: int, index: str) -> tuple[str, str]:
    """The bin in which a histogram counts ``value``, as an ``index``, and whether there is one: values are unsigned."""
    if int(elem[1:]) > int(index[1:]):
        inside = ops.test("ult", elem, value, bins)
        return resized(ops, elem, value, index), inside
    number = resized(ops, elem, value, index)
    return number, ops.test("ult", index, number, bins)
