"""Which slot of a buffer a view names in which iteration of a loop.

Slots are taken in turn: the loop carries their numbers, which start from constants and depend on nothing that is not
known. So they are found by counting along, until what the loop carries is as it was before. Then it is known how many
iterations lie between a reader of a slot and the next writer of the same one, however the counting is written."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from xdsl.ir import Block, Operation, SSAValue

from tritonx.dialects import arith, scf
from tritonx.dialects.arith import CmpiPredicate
from tritonx.dialects.control_flow import Carried, carried_by
from tritonx.dialects.effects import viewed
from tritonx.dialects.gpu_layout import MemDescIndexOp
from tritonx.ir.fold.constants import constant_of

ROUNDS = 1024
"""More than all pairs of up to 32 slots need to come together again."""

_WORD = 1 << 32


Known = dict[tuple[SSAValue, SSAValue, bool], int | None]
"""Two numbers of slots, and whether the same iteration counts → the iterations between."""


@dataclass(frozen=True)
class Slot:
    """The memory that a view is of, and the number of its slot, where it is of one: of that memory as it was made."""

    root: SSAValue
    number: SSAValue | None
    known: Known = field(default_factory=lambda: Known(), compare=False, repr=False)
    """What was found before, of the same program."""

    @staticmethod
    def of(value: SSAValue, known: Known | None = None) -> Slot:
        number: SSAValue | None = None
        while isinstance(op := value.owner, Operation) and (whole := viewed(op, value)) is not None:
            number = op.index if isinstance(op, MemDescIndexOp) else None
            value = whole
        return Slot(value, number, {} if known is None else known)

    @property
    def loop(self) -> scf.ForOp | None:
        """The one that takes slots in turn: in the body of which the number is made."""
        if self.number is None or constant_of(self.number) is not None:
            return None
        owner = self.number.owner
        block = owner if isinstance(owner, Block) else owner.parent
        around = None if block is None else block.parent_op()
        return around if isinstance(around, scf.ForOp) else None

    def rounds_until(self, other: Slot, loop: scf.ForOp, *, same_round: bool) -> int | None:
        """`rounds_between` this slot and another one of the same memory."""
        if self.number is None or other.number is None:
            return 0 if same_round else 1
        key = self.number, other.number, same_round
        if key not in self.known:
            self.known[key] = rounds_between(loop, self.number, other.number, same_round=same_round)
        return self.known[key]

    def is_apart(self, other: Slot) -> bool:
        """Whether a slot is another one of the same memory, in any iteration of the loop that takes them in turn. Slots
        of another buffer, which has its bytes at other times, may be larger or smaller."""
        loop = self.loop
        if loop is None or other.loop is not loop or other.root is not self.root:
            return False
        return self.rounds_until(other, loop, same_round=True) != 0


def rounds_between(loop: scf.ForOp, first: SSAValue, then: SSAValue, *, same_round: bool) -> int | None:
    """The fewest iterations after one in which `first` has a value until `then` has the same one; 0, the same
    iteration, only counts under `same_round`. Without knowledge of the values that is the next occasion; None where
    they never meet."""
    found = _values(loop, (first, then))
    if found is None:
        return 0 if same_round else 1
    values, period = found
    fewest: list[int] = []
    sooner = dict[int, int]()
    """The value that `then` has in a later iteration → the first one of those."""
    for number in reversed(range(len(values) + period)):
        one, other = _at(values, period, number)
        if same_round:
            sooner[other] = number
        if one in sooner:
            fewest.append(sooner[one] - number)
        sooner[other] = number
    return min(fewest, default=None)


def _at(values: Sequence[Sequence[int]], period: int, number: int) -> Sequence[int]:
    """The values of an iteration; the last `period` ones repeat for ever."""
    over = number - len(values)
    return values[number] if over < 0 else values[len(values) - period + over % period]


def _values(loop: scf.ForOp, wanted: Sequence[SSAValue]) -> tuple[list[list[int]], int] | None:
    """The values of each iteration, and how many of the last ones repeat; None if they are not constant."""
    body = loop.body.block
    carried: dict[SSAValue, Carried] = {each.argument: each for each in carried_by(loop)}
    needed = _needed(body, wanted, {argument: each.yielded.value for argument, each in carried.items()})
    state: dict[SSAValue, int] = {}
    for value in needed:
        if value.owner is body:
            start = constant_of(carried[value].initial.value) if value in carried else None
            if not isinstance(start, int):
                return None
            state[value] = start % _WORD
    seen: dict[tuple[int, ...], int] = {}
    rounds: list[list[int]] = []
    while len(rounds) < ROUNDS:
        key = tuple(state.values())
        if key in seen:
            return rounds, len(rounds) - seen[key]
        seen[key] = len(rounds)
        known = dict(state)
        for op in body.ops:
            if op.results and op.results[0] in needed:
                result = _result(op, known)
                if result is None:
                    return None
                known[op.results[0]] = result
        values = [_value(value, known) for value in wanted]
        following = {argument: _value(carried[argument].yielded.value, known) for argument in state}
        if any(value is None for value in (*values, *following.values())):
            return None
        rounds.append([value for value in values if value is not None])
        state = {argument: value for argument, value in following.items() if value is not None}
    return None


def _needed(body: Block, wanted: Sequence[SSAValue], yielded: dict[SSAValue, SSAValue]) -> set[SSAValue]:
    """What of the body the values are made of, in this iteration and those before."""
    found: set[SSAValue] = set()
    work = list(wanted)
    while work:
        value = work.pop()
        owner = value.owner
        if value in found or not (owner is body or (isinstance(owner, Operation) and owner.parent is body)):
            continue
        found.add(value)
        if isinstance(owner, Operation):
            work += owner.operands
        elif value in yielded:
            work.append(yielded[value])
    return found


def _value(value: SSAValue, known: dict[SSAValue, int]) -> int | None:
    if value in known:
        return known[value]
    constant = constant_of(value)
    return int(constant) % _WORD if isinstance(constant, int) else None


def _signed(number: int) -> int:
    return number - _WORD if number >= _WORD // 2 else number


def _result(op: Operation, known: dict[SSAValue, int]) -> int | None:
    """An op on 32-bit numbers; None for one that is not counting."""
    values = [_value(operand, known) for operand in op.operands]
    if any(value is None for value in values):
        return None
    x = [value for value in values if value is not None]
    match op:
        case arith.ConstantOp():
            return _value(op.results[0], known)
        case arith.AddiOp():
            return (x[0] + x[1]) % _WORD
        case arith.SubiOp():
            return (x[0] - x[1]) % _WORD
        case arith.XOrIOp():
            return x[0] ^ x[1]
        case arith.AndIOp():
            return x[0] & x[1]
        case arith.SelectOp():
            return x[1] if x[0] & 1 else x[2]
        case arith.CmpiOp():
            return _compared(op, x)
        case _:
            return None


def _compared(op: arith.CmpiOp, x: Sequence[int]) -> int | None:
    a, b = _signed(x[0]), _signed(x[1])
    match op.predicate.value.data:
        case CmpiPredicate.EQ:
            return int(a == b)
        case CmpiPredicate.NE:
            return int(a != b)
        case CmpiPredicate.SLT:
            return int(a < b)
        case CmpiPredicate.SGE:
            return int(a >= b)
        case CmpiPredicate.SGT:
            return int(a > b)
        case CmpiPredicate.SLE:
            return int(a <= b)
        case CmpiPredicate.ULT:
            return int(x[0] < x[1])
        case CmpiPredicate.UGE:
            return int(x[0] >= x[1])
        case CmpiPredicate.UGT:
            return int(x[0] > x[1])
        case CmpiPredicate.ULE:
            return int(x[0] <= x[1])
        case _:
            return None
