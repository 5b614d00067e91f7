"""Loops that count slots twice count them once.

A loop of a pipeline with n slots, whose copies run n - 1 iterations ahead, reads slot t of n in iteration t and fills
the one that it read an iteration before. Both are counters that begin again at n, each carried by the loop; the second
one's new value is the first one's old value.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from tritonx.dialects import arith, scf
from tritonx.dialects.arith import CmpiPredicate
from tritonx.dialects.control_flow import Carried, carried_by
from tritonx.ir.builder import Builder
from tritonx.ir.contract import Contract
from tritonx.ir.fold.constants import integer_of
from tritonx.ir.walk import ops_in


@dataclass(frozen=True)
class ShareCounters(ModulePass):
    """Replaces a counter that an `scf.for` carries by the one that is a step behind it.

    Counters begin at a constant, go up by one, and are 0 where they would reach another constant, the same for both.
    The one that stays may begin at another constant of which the next number is the same, unless another op sees
    where it begins. Leaves ops behind for `dce`."""

    name = "share-counters"
    contract = Contract(("tt", "ttg"), on=("scf.for",), creates=("arith",), after=("expand-pipeline",))

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for loop in [inner for inner in ops_in(op) if isinstance(inner, scf.ForOp)]:
            left = [found for each in carried_by(loop) if (found := _counter(each)) is not None]
            while left:
                late = left.pop()
                if any(_takes(kept, late) for kept in left):
                    continue
                left = [kept for kept in left if not _takes(late, kept)]


@dataclass(frozen=True)
class _Counter:
    """A carried number that is 0 again where it would be ``end``. ``first`` is what it begins at, ``is_hidden`` whether
    nothing but its step sees that."""

    carried: Carried
    first: int
    end: int
    is_hidden: bool

    def after(self, number: int) -> int:
        return 0 if number + 1 >= self.end else number + 1


def _counter(carried: Carried) -> _Counter | None:
    """`select(a + 1 >= n, 0, a + 1)` of the argument `a`."""
    chosen, first = carried.yielded.value.owner, integer_of(carried.initial.value)
    if not isinstance(chosen, arith.SelectOp) or first is None or integer_of(chosen.operands[1]) != 0:
        return None
    compared, step = chosen.operands[0].owner, chosen.operands[2]
    if not isinstance(compared, arith.CmpiOp) or compared.predicate.value.data != CmpiPredicate.SGE:
        return None
    end, added = integer_of(compared.operands[1]), step.owner
    if compared.operands[0] is not step or end is None or not isinstance(added, arith.AddiOp):
        return None
    if added.operands[0] is not carried.argument or integer_of(added.operands[1]) != 1 or not -1 <= first < end:
        return None
    is_hidden = len([*carried.argument.uses]) == 1 and carried.result.first_use is None
    return _Counter(carried, first, end, is_hidden)


def _takes(kept: _Counter, late: _Counter) -> bool:
    """Whether what ``kept`` was before its step is what ``late`` is behind its own, and takes its place."""
    start = late.after(late.first)
    follows = kept.end == late.end and kept.after(kept.first) == late.after(start)
    if not follows or (kept.first != start and not kept.is_hidden):
        return False
    if kept.first != start:
        initial = kept.carried.initial
        initial.set(Builder.before(initial.op).constant(start, initial.value.type))
    late.carried.yielded.value.replace_all_uses_with(kept.carried.argument)
    return True
