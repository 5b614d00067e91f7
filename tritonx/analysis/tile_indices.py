"""Tiles of indices, pointers and masks, written out: an index is a polynomial over scalars, over the place of an
element in the tile (`Lane`), and over the iterations of the loops around (`Round`).

    rows = pid * 128 + tl.arange(0, 128)                         128·pid + Lane(0)
    a_ptrs = a + rows[:, None] * stride + offs_k[None, :]        a + 128·pid·stride + Lane(0)·stride + Lane(1)
    a_ptrs += BLOCK_K, in a loop                                 … + 64·Round(loop)
    rows % M                                                     Confined(0, 128·pid, M)

An index that is kept below a bound by a remainder, a minimum or a selection is the plain one wherever that is from 0 up
to the bound: it is an atom of its own, and where it is out of bounds nothing is said of it.

Arithmetic of indices is taken not to leave its type, as in the axis analysis. What is not made of sums, products,
ranges and scalars has no polynomial."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from typing import cast

from xdsl.ir import BlockArgument, Operation, SSAValue

from tritonx.analysis.axis_info import AxisFacts
from tritonx.analysis.polynomials import Monomial, Polynomial, atom, number
from tritonx.dialects import arith, scf, tile
from tritonx.dialects.arith import CmpiPredicate
from tritonx.dialects.control_flow import Carried, carried_argument, carried_result
from tritonx.ir.data_flow import sources_first
from tritonx.ir.edit import is_defined_inside
from tritonx.ir.fold.constants import constant_of, width_of
from tritonx.ir.types import element_type, is_pointer, is_tensor, shape_of, type_of


@dataclass(frozen=True)
class Lane:
    """The place of an element along a dimension of its tile."""

    dim: int


@dataclass(frozen=True)
class Confined:
    """`start` + `Lane(dim)` where that is at least 0 and below `bound`; any other value otherwise."""

    dim: int
    start: Polynomial
    bound: Polynomial


@dataclass(frozen=True)
class Round:
    """The iterations of a loop that are done; in front of it 0."""

    loop: scf.ForOp


@dataclass(frozen=True)
class Trips:
    """A loop's trip count."""

    loop: scf.ForOp


@dataclass(frozen=True)
class Address:
    """So many elements behind a scalar pointer."""

    base: SSAValue
    offset: Polynomial


@dataclass(frozen=True)
class Bound:
    """`Lane(dim)` + `start` is below `bound`, or with `at_least` is that or more."""

    dim: int
    start: Polynomial
    bound: Polynomial
    at_least: bool = False


@dataclass(frozen=True)
class Mask:
    """Where all `bounds` hold, and what else there is, if they are not `complete`."""

    bounds: tuple[Bound, ...]
    complete: bool


Remap = dict[int, int]

INDEX_BITS = 32
"""Of the narrowest arithmetic that is taken not to leave its type."""


class Indices:
    """What the values of a function are."""

    def __init__(self, facts: AxisFacts) -> None:
        self.facts = facts
        self._values: dict[SSAValue, Polynomial | Address | None] = {}
        self._stepping: frozenset[SSAValue] = frozenset()
        """What a loop carries and is being followed through one iteration."""
        self._narrow: dict[Monomial, int] = {}
        """Products in sums of 32 bits, with the largest number before each."""

    def of(self, value: SSAValue) -> Polynomial | None:
        """An integer, scalar or tile; every scalar is at least an atom."""
        found = self._lookup(value)
        return found if isinstance(found, Polynomial) else None

    def address(self, value: SSAValue) -> Address | None:
        """A pointer, scalar or tile."""
        found = self._lookup(value)
        return found if isinstance(found, Address) else None

    def mask(self, value: SSAValue | None) -> Mask:
        """A tile of truth values."""
        if value is None or constant_of(value) == -1:
            return Mask((), complete=True)
        op = value.owner
        match op:
            case arith.AndIOp():
                parts = [self.mask(each) for each in _conjunction(op)]
                return Mask(tuple(b for part in parts for b in part.bounds), all(part.complete for part in parts))
            case arith.CmpiOp() if is_tensor(type_of(value)):
                bound = self._compared(op)
                return Mask(() if bound is None else (bound,), complete=bound is not None)
            case tile.BroadcastOp() | tile.ExpandDimsOp() | tile.TransOp() | tile.ReshapeOp():
                inner, places = self.mask(op.operands[0]), _places(op)
                if places is None:
                    return Mask((), complete=False)
                bounds = (replace(each, dim=places[each.dim]) for each in inner.bounds if each.dim in places)
                return Mask(tuple(bounds), inner.complete)
            case _:
                return Mask((), complete=False)

    # --- values

    def _lookup(self, value: SSAValue) -> Polynomial | Address | None:
        if value not in self._values:
            for each in sources_first((value,), self._unknown):
                if each not in self._values:
                    self._values[each] = None
                    self._values[each] = found = self._found(each)
                    if isinstance(found, Polynomial) and (width_of(type_of(each)) or 64) <= INDEX_BITS:
                        self._know_narrow(found)
        return self._values[value]

    def _unknown(self, value: SSAValue) -> Sequence[SSAValue]:
        """What is not known yet of what a value is computed of, one op back."""
        op = value.owner
        return [v for v in op.operands if v not in self._values] if isinstance(op, _FOLLOWED) else ()

    def _know_narrow(self, found: Polynomial) -> None:
        for monomial, factor in found.terms:
            self._narrow[monomial] = max(abs(factor), self._narrow.get(monomial, 0))

    def is_narrow(self, term: Polynomial) -> bool:
        """Whether one term is of 32 bits: a part of a product in arithmetic that is, or a pointer's way in a loop."""
        ((monomial, factor),) = term.terms
        if not monomial:
            return abs(factor) < 1 << (INDEX_BITS - 1)
        return any(
            abs(factor) <= largest and all(dict(known).get(each, 0) >= exponent for each, exponent in monomial)
            for known, largest in self._narrow.items()
        )

    def _found(self, value: SSAValue) -> Polynomial | Address | None:
        type_ = type_of(value)
        pointers, whole = is_pointer(element_type(type_)), width_of(type_)
        if not pointers and (whole is None or whole < INDEX_BITS):
            return atom(value) if whole is not None and whole > 1 and not is_tensor(type_) else None
        found = self._address_of(value) if pointers else self._index_of(value)
        if found is None and not is_tensor(type_):
            return Address(value, number(0)) if pointers else atom(value)
        return found

    def _index_of(self, value: SSAValue) -> Polynomial | None:
        constant = constant_of(value)
        if constant is not None:
            return number(int(constant))
        op = value.owner
        if not isinstance(op, Operation):
            found = self._carried(value)
            return found if isinstance(found, Polynomial) else self._counter(value)
        match op:
            case arith.AddiOp() | arith.SubiOp() | arith.MuliOp() | arith.ShLIOp():
                return self._arithmetic(op)
            case arith.ExtSIOp() | arith.IndexCastOp() | tile.SplatOp():
                return self.of(op.operands[0])
            case arith.ExtUIOp():
                return self.of(op.operands[0]) if self.facts.of(op.operands[0]).non_negative else None
            case tile.MakeRangeOp():
                start = number(op.start.value.data)
                return start + atom(Lane(0)) if shape_of(type_of(value))[0] > 1 else start
            case tile.ExpandDimsOp() | tile.BroadcastOp() | tile.TransOp() | tile.ReshapeOp():
                inner, places = self.of(op.operands[0]), _places(op)
                return None if inner is None or places is None else _moved(inner, places)
            case arith.RemSIOp() | arith.RemUIOp() | arith.MinSIOp() | arith.SelectOp() if is_tensor(type_of(value)):
                return self._confined(op)
            case scf.ForOp():
                found = self._carried(value)
                return found if isinstance(found, Polynomial) else None
            case _:
                return None

    def _address_of(self, value: SSAValue) -> Address | None:
        op = value.owner
        match op:
            case tile.AddPtrOp():
                inner, offset = self.address(op.ptr), self.of(op.offset)
                return None if inner is None or offset is None else Address(inner.base, inner.offset + offset)
            case tile.SplatOp():
                return self.address(op.operands[0])
            case tile.ExpandDimsOp() | tile.BroadcastOp() | tile.TransOp() | tile.ReshapeOp():
                inner, places = self.address(op.operands[0]), _places(op)
                if inner is None or places is None:
                    return None
                return Address(inner.base, _moved(inner.offset, places))
            case Operation() if not isinstance(op, scf.ForOp):
                return None
            case _:
                found = self._carried(value)
                return found if isinstance(found, Address) else None

    def is_natural(self, value: Polynomial) -> bool:
        """Whether a scalar is known not to be below 0, by its terms."""
        return all(factor > 0 and all(map(self._is_natural, dict(term))) for term, factor in value.terms)

    def _is_natural(self, each: Hashable) -> bool:
        value = scalar_of(each)
        return isinstance(each, Round | Trips) if value is None else self.facts.of(value).non_negative

    def _arithmetic(self, op: Operation) -> Polynomial | None:
        found = self._combined(op)
        if found is None or is_tensor(type_of(op.results[0])):
            return found
        # What is known of a sum as a whole, by an assumption, must not be lost.
        known = self.facts.of(op.results[0]).non_negative and not self.is_natural(found)
        return None if known else found

    def _combined(self, op: Operation) -> Polynomial | None:
        a, b = (self.of(operand) for operand in op.operands)
        if a is None or b is None:
            return None
        match op:
            case arith.AddiOp():
                return a + b
            case arith.SubiOp():
                return a - b
            case arith.MuliOp():
                return a * b
            case _:
                amount = b.value
                return a * number(1 << amount) if amount is not None and 0 <= amount < 32 else None

    def _confined(self, op: Operation) -> Polynomial | None:
        """An index that is another one below a bound."""
        match op:
            case arith.RemSIOp() | arith.RemUIOp():
                index, bound = self.of(op.operands[0]), self.of(op.operands[1])
            case arith.MinSIOp():
                index, bound = self.of(op.operands[0]), self.of(op.operands[1])
                if bound is None or lanes_of(bound):
                    index, bound = bound, index
                bound = None if bound is None else bound + number(1)
            case arith.SelectOp():
                index, bound = self.of(op.operands[1]), None
                below = self.mask(op.operands[0])
                if index is not None and below.complete and len(below.bounds) == 1 and not below.bounds[0].at_least:
                    found = below.bounds[0]
                    bound = found.bound if found.start + atom(Lane(found.dim)) == index else None
            case _:
                return None
        if index is None or bound is None or lanes_of(bound):
            return None
        lanes = lanes_of(index)
        if len(lanes) != 1 or not isinstance(lane := lanes.pop(), Lane):
            return None
        start = index - atom(lane)
        return None if lanes_of(start) else atom(Confined(lane.dim, start, bound))

    # --- loops

    def _counter(self, value: SSAValue) -> Polynomial | None:
        loop = value.block.parent_op() if isinstance(value, BlockArgument) else None
        if not isinstance(loop, scf.ForOp) or value is not loop.body.block.args[0] or loop.unsigned is not None:
            return None
        lower, step = self.of(loop.lb), self.of(loop.step)
        return None if lower is None or step is None else lower + step * atom(Round(loop))

    def _carried(self, value: SSAValue) -> Polynomial | Address | None:
        """What a loop carries and adds the same to in each iteration."""
        carried = carried_argument(value) if isinstance(value, BlockArgument) else carried_result(value)
        if carried is None:
            return None
        loop = carried.initial.op
        assert isinstance(loop, scf.ForOp), "what counts rounds"
        if loop.unsigned is not None:
            return None
        first, step = self._lookup(carried.initial.value), self._step(loop, carried)
        if first is None or step is None:
            return None
        rounds = atom(Round(loop) if isinstance(value, BlockArgument) else Trips(loop))
        added = step * rounds
        if not isinstance(first, Polynomial):
            self._know_narrow(added)
        return first + added if isinstance(first, Polynomial) else replace(first, offset=first.offset + added)

    def _step(self, loop: scf.ForOp, carried: Carried) -> Polynomial | None:
        argument = carried.argument
        if argument in self._stepping:
            return None
        inside = Indices(self.facts)
        inside._stepping = self._stepping | {argument}
        pointers = is_pointer(element_type(type_of(argument)))
        start = Address(argument, number(0)) if pointers else atom(argument)
        inside._values[argument] = start
        found = inside._lookup(carried.yielded.value)
        if isinstance(found, Address) and isinstance(start, Address):
            step = found.offset if found.base is argument else None
        else:
            step = found - start if isinstance(found, Polynomial) and isinstance(start, Polynomial) else None
        return None if step is None or lanes_of(step) or varies(step, loop) else step

    # --- masks

    def _compared(self, op: arith.CmpiOp) -> Bound | None:
        left, right = self.of(op.lhs), self.of(op.rhs)
        predicate = CmpiPredicate(op.predicate.value.data)
        if left is None or right is None or predicate not in _MIRRORED:
            return None
        if lanes_of(right):
            left, right, predicate = right, left, _MIRRORED[predicate]
        lanes = lanes_of(left)
        if len(lanes) != 1 or lanes_of(right) or not isinstance(lane := lanes.pop(), Lane):
            return None
        start = left - atom(lane)
        if lanes_of(start):  # counted down: -Lane + start < right is Lane - start > -right
            start = left + atom(lane)
            if lanes_of(start):
                return None
            start, right, predicate = -start, -right, _MIRRORED[predicate]
        more = number(int(predicate in (CmpiPredicate.SLE, CmpiPredicate.SGT)))
        return Bound(lane.dim, start, right + more, predicate in (CmpiPredicate.SGT, CmpiPredicate.SGE))


_MIRRORED = {
    CmpiPredicate.SLT: CmpiPredicate.SGT,
    CmpiPredicate.SLE: CmpiPredicate.SGE,
    CmpiPredicate.SGT: CmpiPredicate.SLT,
    CmpiPredicate.SGE: CmpiPredicate.SLE,
}


_FOLLOWED = (
    arith.AddiOp,
    arith.SubiOp,
    arith.MuliOp,
    arith.ShLIOp,
    arith.ExtSIOp,
    arith.ExtUIOp,
    arith.IndexCastOp,
    tile.SplatOp,
    tile.ExpandDimsOp,
    tile.BroadcastOp,
    tile.TransOp,
    tile.ReshapeOp,
    tile.AddPtrOp,
)
"""Ops of which chains are long: what their operands are is asked in any case."""


def _conjunction(op: arith.AndIOp) -> list[SSAValue]:
    """What all hold where an `and` does, those of which it is one, in order."""
    found: list[SSAValue] = []
    pending = [op.rhs, op.lhs]
    while pending:
        value = pending.pop()
        if isinstance(value.owner, arith.AndIOp):
            pending += (value.owner.rhs, value.owner.lhs)
        else:
            found.append(value)
    return found


def scalar_of(each: object) -> SSAValue | None:
    """The scalar that an atom is; None for a place or an iteration number."""
    return cast(SSAValue, each) if isinstance(each, SSAValue) else None


def lanes_of(value: Polynomial) -> set[Lane | Confined]:
    """The places in a tile, plain and confined, that an index goes by."""
    return {each for each in value.atoms() if isinstance(each, Lane | Confined)}


def varies(value: Polynomial, loop: Operation) -> bool:
    """Whether a scalar may be another one in the next iteration of a loop."""
    return any(_varies(each, loop) for each in value.atoms())


def _varies(each: Hashable, loop: Operation) -> bool:
    match each:
        case SSAValue():
            return is_defined_inside(each, loop)
        case Round() | Trips():
            inside = isinstance(each, Round) and each.loop is loop
            return inside or _is_inside(each.loop, loop)
        case Confined():
            return varies(each.start, loop) or varies(each.bound, loop)
        case _:
            return False


def _is_inside(op: Operation, loop: Operation) -> bool:
    around = op.parent_op()
    while around is not None and around is not loop:
        around = around.parent_op()
    return around is loop


def _places(op: Operation) -> Remap | None:
    """Where the dimensions of the operand are in the result; None where the elements of one are spread over others. Of
    dimensions of one element nothing is said where these come and go."""
    shape = shape_of(type_of(op.operands[0]))
    rank = len(shape)
    match op:
        case tile.ExpandDimsOp():
            axis = op.axis.value.data
            return {dim: dim + (dim >= axis) for dim in range(rank)}
        case tile.TransOp():
            return {int(dim): place for place, dim in enumerate(op.order.get_values())}
        case tile.ReshapeOp():
            new = shape_of(type_of(op.result))
            before = [dim for dim in range(rank) if shape[dim] > 1]
            behind = [dim for dim in range(len(new)) if new[dim] > 1]
            kept = op.allow_reorder is None and [shape[dim] for dim in before] == [new[dim] for dim in behind]
            return dict(zip(before, behind, strict=True)) if kept else None
        case _:
            return {dim: dim for dim in range(rank)}


def _moved(value: Polynomial, places: Remap) -> Polynomial:
    """An index whose dimensions are renumbered."""
    total = number(0)
    for monomial, factor in value.terms:
        product = number(factor)
        for each, exponent in monomial:
            if isinstance(each, Lane | Confined):
                each = replace(each, dim=places[each.dim])
            for _ in range(exponent):
                product = product * atom(each)
        total = total + product
    return total
