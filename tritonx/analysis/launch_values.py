"""Which values of a kernel its launch could compute: integers and addresses made of the arguments and constants alone.

Such a value is the same in every program of a launch and at every point of the kernel. What makes it has a meaning
for all operands (docs/guide.md, "Integers": a quotient by 0 is 0), so that it may be computed where the kernel would
not have come to it. It is described by steps that need no compiler to be followed."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from xdsl.dialects.builtin import IntegerAttr
from xdsl.ir import Attribute, Operation, SSAValue

from tritonx.dialects import arith, tile
from tritonx.ir.dispatch import case
from tritonx.ir.types import PointerType, bit_width, is_integer, is_tensor, type_of
from tritonx.ir.walk import ops_in

ADDRESS_BITS = 64
"""Of a pointer into global memory."""

Step = tuple[str | int, ...]
"""What is computed, the bits of the result, and behind them the numbers of earlier steps, then plain numbers."""


@dataclass(frozen=True)
class Formula:
    """How a value is computed of others. A constant and an argument have a ``number`` and no operands."""

    name: str
    bits: int
    operands: tuple[SSAValue, ...] = ()
    numbers: tuple[int, ...] = ()


Formulas = Mapping[SSAValue, Formula]
"""In an order in which each follows its operands."""

Rule = Callable[[Operation, int], Formula | None]
"""The formula of an op whose result has so many bits."""


def launch_values(function: tile.FuncOp) -> Formulas:
    """Of the values of a kernel, in its regions too, those that its launch could compute."""
    found: dict[SSAValue, Formula] = {}
    if (entry := function.body.blocks.first) is None:
        return found
    for argument in entry.args:
        if bits := scalar_bits(type_of(argument)):
            found[argument] = Formula("argument", bits, numbers=(argument.index,))
    for op in ops_in(function):
        rule = RULES.get(type(op))
        if (
            rule is None
            or not (bits := scalar_bits(type_of(op.results[0])))
            or not all(v in found for v in op.operands)
        ):
            continue
        if (formula := rule(op, bits)) is not None:
            found[op.results[0]] = formula
    return found


def needed(formulas: Formulas, wanted: Sequence[SSAValue]) -> list[SSAValue]:
    """The values that ``wanted`` are computed of, these included, each behind its operands."""
    reached = set(wanted)
    for value in reversed(list(formulas)):
        if value in reached:
            reached.update(formulas[value].operands)
    return [value for value in formulas if value in reached]


def steps(formulas: Formulas, wanted: Sequence[SSAValue]) -> tuple[list[Step], list[int]]:
    """How ``wanted`` are computed, and the step that gives each."""
    values = needed(formulas, wanted)
    places = {value: place for place, value in enumerate(values)}
    made: list[Step] = []
    for value in values:
        formula = formulas[value]
        made.append((formula.name, formula.bits, *(places[v] for v in formula.operands), *formula.numbers))
    return made, [places[value] for value in wanted]


def scalar_bits(type_: Attribute) -> int:
    """Of a scalar that a launch can compute; 0 for any other."""
    if isinstance(type_, PointerType):
        return 0 if is_tensor(type_.pointee) else ADDRESS_BITS
    is_scalar = is_integer(type_) and not is_tensor(type_)
    return bits if is_scalar and (bits := bit_width(type_)) <= ADDRESS_BITS else 0


def _plain(name: str) -> Rule:
    """Of operands that have the bits of the result."""
    return lambda op, bits: Formula(name, bits, tuple(op.operands))


def _from(name: str) -> Rule:
    """Of operands that have other bits, which are those of the first."""
    return lambda op, bits: Formula(name, bits, tuple(op.operands), (scalar_bits(type_of(op.operands[0])),))


def _constant(op: arith.ConstantOp, bits: int) -> Formula | None:
    value = op.value
    return Formula("constant", bits, numbers=(value.value.data,)) if isinstance(value, IntegerAttr) else None


def _compare(op: arith.CmpiOp, bits: int) -> Formula:
    return Formula("cmpi", bits, tuple(op.operands), (scalar_bits(type_of(op.lhs)), op.predicate.value.data))


def _add_pointer(op: tile.AddPtrOp, bits: int) -> Formula:
    pointer = type_of(op.operands[0])
    assert isinstance(pointer, PointerType)
    pointee = pointer.pointee
    size = ADDRESS_BITS // 8 if isinstance(pointee, PointerType) else -(-bit_width(pointee) // 8)
    return Formula("addptr", bits, tuple(op.operands), (size,))


_BINARY: tuple[type[Operation], ...] = (
    arith.AddiOp, arith.SubiOp, arith.MuliOp, arith.DivSIOp, arith.DivUIOp, arith.RemSIOp, arith.RemUIOp, arith.AndIOp,
    arith.OrIOp, arith.XOrIOp, arith.ShLIOp, arith.ShRSIOp, arith.ShRUIOp, arith.MaxSIOp, arith.MinSIOp, arith.MaxUIOp,
    arith.MinUIOp,
)  # fmt: skip

RULES: dict[type[Operation], Rule] = {
    **case(arith.ConstantOp, _constant),
    **{op: _plain(op.name.partition(".")[2]) for op in _BINARY},
    **{op: _from(op.name.partition(".")[2]) for op in (arith.ExtSIOp, arith.ExtUIOp, arith.TruncIOp)},
    **case(arith.CmpiOp, _compare),
    arith.SelectOp: _plain("select"),
    **case(tile.AddPtrOp, _add_pointer),
    **{op: _plain("bitcast") for op in (tile.BitcastOp, tile.IntToPtrOp, tile.PtrToIntOp)},
}
