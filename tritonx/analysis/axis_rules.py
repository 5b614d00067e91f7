"""How each op carries the facts of the axis analysis: a table from op class to rule.

A rule gets the op and the facts of its operands and returns those of its result. Ops that are not in the table, but
declare that they compute element by element, and have no effects, keep what their operands have in common: runs of
equal values. Of the results of all others nothing is known.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from math import gcd

from xdsl.dialects.builtin import IntegerAttr
from xdsl.ir import Attribute, Operation

from tritonx.analysis import axis_value as v
from tritonx.analysis.axis_value import AxisInfo
from tritonx.dialects import arith, gluon, gpu_layout, tile, ub
from tritonx.dialects.layout_constraints import is_elementwise
from tritonx.ir.dispatch import case
from tritonx.ir.effects import has_effects
from tritonx.ir.fold.constants import constant_of, width_of
from tritonx.ir.splat import SplatAttr
from tritonx.ir.types import PointerType, bit_width, element_type, is_integer, shape_of, type_of

Rule = Callable[[Operation, Sequence[AxisInfo]], AxisInfo]


def rank_of(type_: Attribute) -> int:
    """Dims of the facts about a value of this type: at least one."""
    return max(1, len(shape_of(type_)))


def unit_of(type_: Attribute) -> int:
    """The step within a run: bytes of a pointee, else 1."""
    element = element_type(type_)
    if isinstance(element, PointerType):
        try:
            return max(1, bit_width(element.pointee) // 8)
        except TypeError:
            return 1
    return 1


def nothing_known(type_: Attribute) -> AxisInfo:
    """The facts about an arbitrary value of this type."""
    return v.unknown(rank_of(type_), unit_of(type_))


def _constant(op: Operation, _: Sequence[AxisInfo]) -> AxisInfo:
    type_ = type_of(op.results[0])
    value = constant_of(op.results[0])
    if isinstance(value, int):
        return v.of_constant(value & 1 if width_of(type_) == 1 else value, shape_of(type_))
    if value is not None:  # a float: equal everywhere
        return v.filled(v.scalar(), shape_of(type_)) if shape_of(type_) else v.scalar()
    return nothing_known(type_)


def _poison(op: Operation, _: Sequence[AxisInfo]) -> AxisInfo:
    """Any value will do: a number's is taken for 0, a multiple of everything."""
    type_ = type_of(op.results[0])
    element = element_type(type_)
    known = is_integer(element) or isinstance(element, PointerType)
    return v.of_constant(0, shape_of(type_)) if known else nothing_known(type_)


def _make_range(op: tile.MakeRangeOp, _: Sequence[AxisInfo]) -> AxisInfo:
    start, end = op.start.value.data, op.end.value.data
    run = v.power_of_two_part(end - start)
    return AxisInfo((run,), (v.power_of_two_part(start),), (1,), None, v.sign_of(start))


def _splat(op: Operation, facts: Sequence[AxisInfo]) -> AxisInfo:
    return v.filled(facts[0], shape_of(type_of(op.results[0])))


def _unsplat(op: Operation, facts: Sequence[AxisInfo]) -> AxisInfo:
    return replace(facts[0], contiguity=(1,), divisibility=(facts[0].every,), constancy=(1,))


def _expand_dims(op: tile.ExpandDimsOp, facts: Sequence[AxisInfo]) -> AxisInfo:
    return v.with_dim(facts[0], op.axis.value.data)


def _broadcast(op: Operation, facts: Sequence[AxisInfo]) -> AxisInfo:
    return v.broadcast(facts[0], shape_of(type_of(op.operands[0])), shape_of(type_of(op.results[0])))


def _trans(op: tile.TransOp, facts: Sequence[AxisInfo]) -> AxisInfo:
    return v.permuted(facts[0], tuple(int(axis) for axis in op.order.get_values()))


def _reshape(op: Operation, facts: Sequence[AxisInfo]) -> AxisInfo:
    old, new = shape_of(type_of(op.operands[0])), shape_of(type_of(op.results[0]))
    if op.properties.get("allow_reorder") is not None:  # any order of the elements: only what every element has
        value = v.reshaped(facts[0], old, new)
        ones = (1,) * value.rank
        equal = facts[0].constant is not None
        return (
            replace(value, contiguity=ones, divisibility=(facts[0].every,) * value.rank)
            if equal
            else replace(value, contiguity=ones, divisibility=(facts[0].every,) * value.rank, constancy=ones)
        )
    return v.reshaped(facts[0], old, new)


def _join(op: Operation, facts: Sequence[AxisInfo]) -> AxisInfo:
    both = v.meet(facts[0], facts[1])
    assert both is not None
    return v.with_dim(both, both.rank if shape_of(type_of(op.operands[0])) else 0)


def _split(op: Operation, facts: Sequence[AxisInfo]) -> AxisInfo:
    value = facts[0]
    if value.rank == 1:
        return v.scalar(value.every, value.constant, value.sign)
    # What starts a run along another dim starts it in both halves.
    return permuted_without_last(value)


def permuted_without_last(value: AxisInfo) -> AxisInfo:
    """The facts about each half of a split."""
    return replace(
        value,
        contiguity=value.contiguity[:-1],
        divisibility=value.divisibility[:-1],
        constancy=value.constancy[:-1],
    )


def _cat(op: Operation, facts: Sequence[AxisInfo]) -> AxisInfo:
    """`cat` may put the elements in any order."""
    both = v.meet(facts[0], facts[1])
    assert both is not None
    ones = (1,) * both.rank
    return replace(both, contiguity=ones, constancy=ones, divisibility=(both.every,) * both.rank)


def _same(op: Operation, facts: Sequence[AxisInfo]) -> AxisInfo:
    return facts[0]


def _extend_unsigned(op: Operation, facts: Sequence[AxisInfo]) -> AxisInfo:
    value = facts[0]
    if value.non_negative:
        return value
    # Numbers below zero become large ones: a run must not cross zero, and one that starts at its multiple does not.
    runs = tuple(map(gcd, value.contiguity, value.divisibility))
    starts = tuple(value.start(d, runs[d]) for d in range(value.rank))
    constant = value.constant if value.constant is not None and value.constant >= 0 else None
    return replace(value, contiguity=runs, divisibility=starts, constant=constant, sign=v.Sign.NON_NEGATIVE)


def _truncate(op: Operation, facts: Sequence[AxisInfo]) -> AxisInfo:
    value = facts[0]
    width = width_of(type_of(op.results[0])) or 64
    half = 1 << (width - 1)
    runs = tuple(gcd(c, d, half) for c, d in zip(value.contiguity, value.divisibility, strict=True))
    starts = tuple(value.start(d, runs[d]) for d in range(value.rank))
    fits = value.constant is not None and -half <= value.constant < half
    return replace(
        value,
        contiguity=runs,
        divisibility=starts,
        constant=value.constant if fits else None,
        sign=value.sign if fits else min(value.sign, v.Sign.PRESUMED),
    )


def _bitcast(op: Operation, facts: Sequence[AxisInfo]) -> AxisInfo:
    value, unit = facts[0], unit_of(type_of(op.results[0]))
    are_pointers = all(isinstance(element_type(type_of(x)), PointerType) for x in (op.operands[0], op.results[0]))
    if unit == value.unit and are_pointers:
        return value
    ones = (1,) * value.rank
    starts = tuple(value.start(d, 1) for d in range(value.rank))
    return AxisInfo(ones, starts, value.constancy, unit=unit)


def _int_to_ptr(op: Operation, facts: Sequence[AxisInfo]) -> AxisInfo:
    value, unit = facts[0], unit_of(type_of(op.results[0]))
    if unit == 1:
        return value
    ones = (1,) * value.rank
    starts = tuple(value.start(d, 1) for d in range(value.rank))
    return replace(value, contiguity=ones, divisibility=starts, constant=None, unit=unit)


def _ptr_to_int(op: Operation, facts: Sequence[AxisInfo]) -> AxisInfo:
    value = facts[0]
    if value.unit == 1:
        return value
    ones = (1,) * value.rank
    return replace(
        value, contiguity=ones, divisibility=tuple(value.start(d, 1) for d in range(value.rank)), constant=None, unit=1
    )


def _addptr(op: Operation, facts: Sequence[AxisInfo]) -> AxisInfo:
    return replace(v.add(facts[0], facts[1], unit_of(type_of(op.results[0]))), constant=None)


def _power(rank: int, constancy: v.Ints, exponent: int) -> AxisInfo:
    """A tile of 2 ** exponent."""
    return AxisInfo((1,) * rank, (1 << exponent,) * rank, constancy, 1 << exponent, v.Sign.NON_NEGATIVE)


def _shift_left(op: Operation, facts: Sequence[AxisInfo]) -> AxisInfo:
    amount = facts[1].constant
    if amount is None or not 0 <= amount < 62:
        return replace(
            v.bitwise(facts[0], facts[0], both=False), constancy=v.common_constancy(*facts), sign=v.Sign.UNKNOWN
        )
    factor = _power(facts[0].rank, facts[1].constancy, amount)
    return v.multiply(facts[0], factor)


def _shift_right(op: Operation, facts: Sequence[AxisInfo]) -> AxisInfo:
    amount = facts[1].constant
    if amount is None or not 0 <= amount < 62:
        return replace(v.unknown(facts[0].rank), constancy=v.common_constancy(*facts), sign=facts[0].sign)
    factor = _power(facts[0].rank, facts[1].constancy, amount)
    quotient = v.divide(facts[0], factor, floor=True)
    shifted = facts[0].constant
    if isinstance(op, arith.ShRSIOp) and shifted is not None:
        return quotient.with_constant(shifted >> amount)
    return quotient


_BELOW = {"slt", "ult"}
_NOT_BELOW = {"sge", "uge"}
_ABOVE = {"sgt", "ugt"}
_NOT_ABOVE = {"sle", "ule"}


def _compare(op: arith.CmpiOp, facts: Sequence[AxisInfo]) -> AxisInfo:
    a, b = facts
    predicate = arith.CmpiPredicate(op.predicate.value.data).name.lower()
    constancy = v.common_constancy(a, b)
    if predicate in _BELOW | _NOT_BELOW:
        constancy = v.compare_aligned(a, b)
    elif predicate in _ABOVE | _NOT_ABOVE:
        constancy = v.compare_aligned(b, a)
        one_more = _one_more(b)
        if one_more is not None:  # a <= b is a < b + 1
            constancy = tuple(map(max, constancy, v.compare_aligned(a, one_more)))
    if predicate in _BELOW | _NOT_BELOW:
        one_more = _one_more(a)
        if one_more is not None:  # a < b is b >= a + 1
            constancy = tuple(map(max, constancy, v.compare_aligned(b, one_more)))
    ones = (1,) * a.rank
    return AxisInfo(ones, ones, constancy)


def _one_more(value: AxisInfo) -> AxisInfo | None:
    if value.constant is None:
        return None
    constant = value.constant + 1
    starts = (v.power_of_two_part(constant),) * value.rank
    return AxisInfo(value.contiguity, starts, value.constancy, constant, v.sign_of(constant))


def _select(op: Operation, facts: Sequence[AxisInfo]) -> AxisInfo:
    is_scalar = not shape_of(type_of(op.operands[0]))
    return v.choose(None if is_scalar else facts[0], facts[1], facts[2])


def _extreme(op: Operation, facts: Sequence[AxisInfo]) -> AxisInfo:
    """Minimum and maximum pick elements; which of the two is not known, unless both are constants."""
    a, b = facts
    if a == b:
        return a
    divisibility = tuple(gcd(a.start(d, 1), b.start(d, 1)) for d in range(a.rank))
    sign = (max if isinstance(op, arith.MaxSIOp) else min)(a.sign, b.sign)
    constant = None
    if a.constant is not None and b.constant is not None and isinstance(op, arith.MinSIOp | arith.MaxSIOp):
        constant = (min if isinstance(op, arith.MinSIOp) else max)(a.constant, b.constant)
    return AxisInfo((1,) * a.rank, divisibility, v.common_constancy(a, b), constant, sign)


def _load(op: Operation, facts: Sequence[AxisInfo]) -> AxisInfo:
    """Equal addresses under equal masks give equal values."""
    same_rank = [f for f in facts if f.rank == facts[0].rank]
    ones = (1,) * facts[0].rank
    return AxisInfo(ones, ones, v.common_constancy(*same_rank))


def _program_id(op: Operation, _: Sequence[AxisInfo]) -> AxisInfo:
    return v.scalar(sign=v.Sign.NON_NEGATIVE)


def is_repeatable(op: Operation) -> bool:
    """Whether the op declares that each element of its results is a function of the operands' elements in its place,
    and has no effect besides."""
    return is_elementwise(op) and not has_effects(op)


RULES: dict[type[Operation], Rule] = {
    arith.ConstantOp: _constant,
    ub.PoisonOp: _poison,
    arith.AddiOp: lambda op, f: v.add(f[0], f[1]),
    arith.SubiOp: lambda op, f: v.subtract(f[0], f[1]),
    arith.MuliOp: lambda op, f: v.multiply(f[0], f[1]),
    arith.DivSIOp: lambda op, f: v.divide(f[0], f[1], floor=False),
    arith.DivUIOp: lambda op, f: v.divide(f[0], f[1], floor=True),
    arith.RemSIOp: lambda op, f: v.remainder(f[0], f[1], floor=False),
    arith.RemUIOp: lambda op, f: v.remainder(f[0], f[1], floor=True),
    arith.ShLIOp: _shift_left,
    arith.ShRSIOp: _shift_right,
    arith.ShRUIOp: _shift_right,
    arith.AndIOp: lambda op, f: v.bitwise(f[0], f[1], both=True),
    arith.OrIOp: lambda op, f: v.bitwise(f[0], f[1], both=False),
    arith.XOrIOp: lambda op, f: v.bitwise(f[0], f[1], both=False),
    arith.MaxSIOp: _extreme,
    arith.MinSIOp: _extreme,
    arith.MaxUIOp: _extreme,
    arith.MinUIOp: _extreme,
    **case(arith.CmpiOp, _compare),
    arith.SelectOp: _select,
    arith.ExtSIOp: _same,
    arith.ExtUIOp: _extend_unsigned,
    arith.TruncIOp: _truncate,
    arith.IndexCastOp: _same,
    tile.AddPtrOp: _addptr,
    tile.IntToPtrOp: _int_to_ptr,
    tile.PtrToIntOp: _ptr_to_int,
    tile.BitcastOp: _bitcast,
    **case(tile.MakeRangeOp, _make_range),
    tile.SplatOp: _splat,
    tile.UnsplatOp: _unsplat,
    **case(tile.ExpandDimsOp, _expand_dims),
    tile.BroadcastOp: _broadcast,
    **case(tile.TransOp, _trans),
    tile.ReshapeOp: _reshape,
    tile.JoinOp: _join,
    tile.SplitOp: _split,
    tile.CatOp: _cat,
    gpu_layout.ConvertLayoutOp: _same,
    gluon.SetAutoLayoutOp: _same,
    tile.LoadOp: _load,
    tile.GetProgramIdOp: _program_id,
    tile.GetNumProgramsOp: _program_id,
}

HINTS = {"tt.contiguity": "contiguity", "tt.divisibility": "divisibility", "tt.constancy": "constancy"}
"""Attributes of an op that state more than the analysis finds (from `tl.multiple_of` and its like)."""


def wrapped(info: AxisInfo, type_: Attribute) -> AxisInfo:
    """The facts with a constant that integers of the type can be: a product of two may exceed them."""
    width = width_of(type_)
    if info.constant is None or width is None or width < 2:
        return info
    half = 1 << (width - 1)
    constant = (info.constant + half) % (2 * half) - half
    return info if constant == info.constant else replace(info, constant=constant, sign=v.sign_of(constant))


def with_hints(op: Operation, value: AxisInfo) -> AxisInfo:
    """The facts and what the op's own attributes promise."""
    for name, field in HINTS.items():
        hint = op.attributes.get(name)
        if hint is None:
            continue
        stated = hint_values(hint)
        if len(stated) == value.rank:
            known: tuple[int, ...] = getattr(value, field)
            value = replace(value, **{field: tuple(map(max, known, map(v.power_of_two_part, stated)))})
    return value


def hint_values(hint: Attribute) -> tuple[int, ...]:
    """The numbers of an integer, dense array or dense elements attribute."""
    if isinstance(hint, IntegerAttr):
        return (hint.value.data,)
    if isinstance(hint, SplatAttr):
        shape = shape_of(hint.type)
        return (int(hint.value),) * (shape[0] if shape else 1)
    values: Callable[[], Iterable[int | float]] | None = getattr(hint, "get_values", None)
    return tuple(int(x) for x in values()) if values is not None else ()
