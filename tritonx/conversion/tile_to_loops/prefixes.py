"""Where the masks of a loop nest are all true: the nest is written twice, and the first copy has no masks.

A masked store of a vector costs several times a plain one (`vmaskmov`, and AVX-512's masked stores on Zen), though most
masks are true but for a tail: `offsets < n`. A mask of comparisons of linear polynomials is true along a row of a tile
up to some element, which a few scalar instructions find. So the loop along the lanes becomes two:

    whole = least of (n - offset, extent), rounded down to whole chunks
    for i in 0, width … whole:      masks are the constant true
    for i in whole, … end:          the code with masks

Where the nest does nothing but store, `end` is where the masks of its stores are all false from then on; else it is the
tile's extent. (A masked store is no faster for having no true lane, and takes a microsecond if its page is not there.)

Values stay what they are: the bounds are right for every argument (`exact.py`), and where they cannot be told, `whole`
is 0 and `end` the extent.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from xdsl.ir import SSAValue

from tritonx.conversion.tile_to_loops.addresses import emit_polynomial, in_order, to_i64
from tritonx.conversion.tile_to_loops.constants import splat_constant
from tritonx.conversion.tile_to_loops.exact import (
    I32_LIMIT,
    MAX_SCALAR,
    certainly_in_i32,
    exact,
    factor_of,
    indices_of,
    linear,
    moved_dims,
    reach,
    renamed,
)
from tritonx.conversion.tile_to_loops.families import LOADS
from tritonx.conversion.tile_to_loops.groups import Effect, Group
from tritonx.conversion.tile_to_loops.index import CarriedAtom, IndexAtom, Polynomial, ScalarAtom
from tritonx.conversion.tile_to_loops.streaming import streamed_stores, whole_lines
from tritonx.dialects import arith, tile
from tritonx.dialects.arith.checks import CmpiPredicate
from tritonx.ir.types import element_type, i32, i64, shape_of

if TYPE_CHECKING:
    from tritonx.conversion.tile_to_loops.emitter import Emitter

MAX_CONDITIONS = 8
"""A nest whose masks have more comparisons keeps them."""


@dataclass(frozen=True)
class Conditions:
    """Under which a mask is true: the polynomials ``positive`` are, the scalars ``flags`` of i1 are true, and those of
    ``in_i32`` lie in an i32. It is false where one of ``positive`` is not, provided that those of ``may_wrap`` lie in
    an i32 as well."""

    positive: tuple[Polynomial, ...] = ()
    in_i32: tuple[Polynomial, ...] = ()
    may_wrap: tuple[Polynomial, ...] = ()
    flags: tuple[SSAValue, ...] = ()

    def __add__(self, other: Conditions) -> Conditions:
        return Conditions(
            tuple(dict.fromkeys((*self.positive, *other.positive))),
            tuple(dict.fromkeys((*self.in_i32, *other.in_i32))),
            tuple(dict.fromkeys((*self.may_wrap, *other.may_wrap))),
            tuple(dict.fromkeys((*self.flags, *other.flags))),
        )

    def moved(self, dims: Mapping[int, int]) -> Conditions:
        def each(polynomials: tuple[Polynomial, ...]) -> tuple[Polynomial, ...]:
            return tuple(renamed(p, dims) for p in polynomials)

        return Conditions(each(self.positive), each(self.in_i32), each(self.may_wrap), self.flags)


@dataclass(frozen=True)
class Prefix:
    """``masks``: tiles of i1 of a nest of this ``shape``, which are true where ``conditions`` hold."""

    shape: tuple[int, ...]
    conditions: Conditions
    masks: frozenset[SSAValue]
    divides: bool
    """Whether the loop is written twice: it stores. Masked loads cost next to nothing."""
    stores: tuple[Conditions, ...] | None = None
    """When each store of a nest that does nothing else has a true mask."""
    each: Mapping[SSAValue, Conditions] = field(default_factory=dict[SSAValue, Conditions])
    """When the mask of an access is true."""
    streamed: tuple[tile.StoreOp, ...] = ()
    """The stores that may go past the caches (`streaming.py`), where their masks are true."""


# ---- what masks are made of


def prefix_of(
    e: Emitter, group: Group, shape: tuple[int, ...], values: Mapping[SSAValue, None], lane: int, width: int
) -> Prefix | None:
    """What is to be known for the masks of a group's accesses to be true; None where there is nothing to gain.

    ``values`` are the tiles that the group evaluates, ``shape`` is that in which it is walked.
    """
    if lane < 0:
        return None
    effects = [a.op for a in group.anchors if isinstance(a, Effect)]
    if not all(isinstance(op, tile.StoreOp) for op in effects):
        return None
    loads = {v.owner: None for v in values if type(v.owner) in LOADS}
    known: dict[SSAValue, Conditions] = {}
    for mask in [_mask_of(op) for op in (*loads, *effects)]:
        conditions = None if mask is None else conditions_of(e, mask)
        if mask is not None and conditions is not None:
            known[mask] = conditions
    found = sum(known.values(), Conditions())
    if len(found.positive) + len(found.flags) > MAX_CONDITIONS:
        return None
    streamed = streamed_stores(e, group, lane, width)
    streamed = streamed if all(op.mask is None or op.mask in known for op in streamed) else ()
    if not known and not streamed:
        return None
    masks = frozenset(each for mask in known for each in _conjuncts(mask))
    stored = [None if (mask := _mask_of(op)) is None else known.get(mask) for op in effects]
    stores = tuple(dict.fromkeys(each for each in stored if each is not None))
    only = len(effects) == len(group.anchors) and None not in stored
    return Prefix(shape, found, masks, bool(effects), stores if only else None, known, streamed)


def _mask_of(op: object) -> SSAValue | None:
    return op.mask if isinstance(op, tile.LoadOp | tile.StoreOp) else None


def _conjuncts(mask: SSAValue) -> list[SSAValue]:
    """A mask and the masks of its own shape that it is the conjunction of."""
    op = mask.owner
    inner = op.operands if isinstance(op, arith.AndIOp) else ()
    return [mask, *(each for operand in inner for each in _conjuncts(operand))]


def conditions_of(e: Emitter, mask: SSAValue) -> Conditions | None:
    op = mask.owner
    if splat_constant(op) in (1, -1, True):
        return Conditions()
    if isinstance(op, arith.AndIOp):
        a, b = (conditions_of(e, operand) for operand in op.operands)
        return None if a is None or b is None else a + b
    if isinstance(op, tile.SplatOp):
        return Conditions(flags=(op.src,))
    if isinstance(op, tile.BroadcastOp | tile.ExpandDimsOp | tile.TransOp):
        source = conditions_of(e, op.operands[0])
        return None if source is None else source.moved(moved_dims(op))
    return _comparison(e, op) if isinstance(op, arith.CmpiOp) else None


_DIFFERENCES = {
    CmpiPredicate.SLT: (1, 0),
    CmpiPredicate.SLE: (1, 1),
    CmpiPredicate.SGT: (-1, 0),
    CmpiPredicate.SGE: (-1, 1),
}
"""A comparison a ? b is sign · (b - a) + constant > 0."""


def _comparison(e: Emitter, op: arith.CmpiOp) -> Conditions | None:
    how = _DIFFERENCES.get(CmpiPredicate(op.predicate.value.data))
    a, b = exact(e.index, op.lhs), exact(e.index, op.rhs)
    if how is None or a is None or b is None:
        return None
    sign, constant = how
    difference = (b.value - a.value).scaled(sign) + Polynomial.constant(constant)
    if not linear(difference):
        return None
    checked, may_wrap = [*a.in_i32, *b.in_i32], list[Polynomial]()
    if element_type(op.lhs.type) == i32:
        shape = shape_of(op.lhs.type)
        small, large = (side.value for side in ((a, b) if sign > 0 else (b, a)))
        if not certainly_in_i32(large, shape):
            checked.append(large)
        if not certainly_in_i32(small, shape):
            # A sum that only grows from an i32 has not wrapped where it is below an i32.
            (may_wrap if large not in checked and _grows_from_i32(small) else checked).append(small)
    return Conditions((difference,), tuple(checked), tuple(may_wrap))


def _grows_from_i32(polynomial: Polynomial) -> bool:
    scalars = [(m, c) for m, c in polynomial.terms if m and not isinstance(m[0], IndexAtom)]
    rest = [c for m, c in polynomial.terms if not m or isinstance(m[0], IndexAtom)]
    return (
        len(scalars) <= 1
        and all(c == 1 and isinstance(m[0], ScalarAtom) and m[0].value.type == i32 for m, c in scalars)
        and all(c >= 0 for c in rest)
    )


# ---- the loop along the lanes


def along_lanes(
    e: Emitter,
    prefix: Prefix | None,
    index: Sequence[str],
    lane: int,
    width: int,
    extent: int,
    *,
    ahead: Mapping[int, int] | None = None,
) -> Iterator[str]:
    """The index along the lanes of each chunk below ``extent``, in one loop, or in one without masks and one with.

    ``index`` is that of the row. The caller evaluates chunks up to ``ahead[d]`` elements further along dimension d.
    """
    if prefix is None or not prefix.divides:
        with e.writer.loop("loop", extent, max(width, 1)) as i:
            yield i
        return
    w, trips = e.writer, extent // width
    parts = _parts(e, prefix, index, lane, width, extent, ahead or {})
    if prefix.streamed:
        yield from _streamed(e, prefix, parts, index, lane, width)
        return
    e.assumed = prefix.masks
    with w.loop_between("whole", "0", parts.whole, width, trips) as i:
        yield i
    e.assumed = frozenset()
    with w.loop_between("rest", parts.whole, parts.end, width, 1) as i:
        yield i


def _streamed(e: Emitter, prefix: Prefix, parts: _Parts, index: Sequence[str], lane: int, width: int) -> Iterator[str]:
    """The loops of a nest whose stores go past the caches in whole lines, if the launch is large. What the lines leave
    at the ends of the row is the last loop's, which has two stretches then.
    """
    w, extent = e.writer, prefix.shape[lane]
    lines = whole_lines(e, prefix.streamed, index, lane, parts.length)
    e.assumed, e.streamed = prefix.masks, frozenset(prefix.streamed)
    with w.loop_between("stream", lines.first, lines.end, width, 1) as i:
        yield i
    e.streamed = frozenset()
    begin = w.inst(f"select i1 {lines.some}, i64 {parts.whole}, i64 0")
    with w.loop_between("whole", begin, parts.whole, width, extent // width) as i:
        yield i
    e.assumed = frozenset()
    behind = w.inst(f"and i64 {lines.end}, {-width}")
    aligned = w.inst(f"icmp eq i64 {lines.first}, 0")
    begin = w.inst(f"select i1 {aligned}, i64 {behind}, i64 0")
    begin = w.inst(f"select i1 {lines.some}, i64 {begin}, i64 {parts.whole}")

    def following(i: str, after: str) -> str:
        leaves = w.inst(
            f"and i1 {w.inst(f'icmp slt i64 {i}, {lines.first}')}, {w.inst(f'icmp sge i64 {after}, {lines.first}')}"
        )
        return w.inst(f"select i1 {leaves}, i64 {behind}, i64 {after}")

    with w.loop_between("rest", begin, parts.end, width, 1, following) as i:
        before = w.inst(f"icmp slt i64 {i}, {lines.first}")
        low = w.inst(f"select i1 {before}, i64 0, i64 {lines.end}")
        high = w.inst(f"select i1 {before}, i64 {lines.first}, i64 {extent}")
        e.stored_lanes = low, high
        yield i
        e.stored_lanes = None


@dataclass(frozen=True)
class _Parts:
    """Of a row the masks of the first ``length`` elements are all true, ``whole`` of which are whole chunks; from
    ``end`` on, a number of whole chunks, there is nothing to do."""

    length: str
    whole: str
    end: str


def all_true(e: Emitter, prefix: Prefix) -> str:
    """An i1: whether the masks are true in the whole nest, which the corner where they are least so tells."""
    w, found = e.writer, "true"
    for polynomial in prefix.conditions.positive:
        corner = tuple(str(n - 1) if factor_of(polynomial, d) < 0 else "0" for d, n in enumerate(prefix.shape))
        positive = w.inst(f"icmp sgt i64 {emit_polynomial(e, polynomial, corner)}, 0")
        found = w.inst(f"select i1 {positive}, i1 {found}, i1 false")
    for text in _certain(e, prefix, prefix.conditions):
        found = w.inst(f"select i1 {text}, i1 {found}, i1 false")
    return found


def true_elements(e: Emitter, prefix: Prefix | None, index: Sequence[str], lane: int, extent: int) -> str:
    """Of how many elements of the row, from its first on, all masks are true, as far as that is known."""
    if prefix is None or not prefix.masks:
        return str(extent)
    return _bound(e, prefix, prefix.conditions, index, lane, {})


@dataclass(frozen=True)
class Excluded:
    """From element ``end`` of a row on, the ``masks`` are all false; the ``first`` elements have all masks of the nest
    true, which ``every`` holds."""

    masks: frozenset[SSAValue]
    end: str
    every: frozenset[SSAValue]
    first: str


def excluded(e: Emitter, prefix: Prefix, index: Sequence[str], lane: int) -> Excluded | None:
    """Which masks of accesses end in the row, and where the last of them does; None where none is known to."""
    ending = {
        mask: conditions
        for mask, conditions in prefix.each.items()
        if any(factor_of(polynomial, lane) < 0 for polynomial in conditions.positive)
    }
    if not ending:
        return None
    ends = [_end(e, prefix, conditions, index, lane) for conditions in dict.fromkeys(ending.values())]
    end = functools.reduce(lambda a, b: _extremum(e, "smax", a, b), ends)
    return Excluded(frozenset(ending), end, prefix.masks, _bound(e, prefix, prefix.conditions, index, lane, {}))


def _parts(
    e: Emitter, prefix: Prefix, index: Sequence[str], lane: int, width: int, extent: int, ahead: Mapping[int, int]
) -> _Parts:
    w, end = e.writer, str(extent)
    if not prefix.masks:
        return _Parts(end, end, end)
    bound = _bound(e, prefix, prefix.conditions, index, lane, ahead)
    length = _clamped(e, w.add(bound, str(-ahead.get(lane, 0))))
    if prefix.stores is not None:
        ends = [_end(e, prefix, each, index, lane) for each in prefix.stores]
        up = w.add(_clamped(e, functools.reduce(lambda a, b: _extremum(e, "smax", a, b), ends)), str(width - 1))
        end = w.inst(f"and i64 {up}, {-width}")
    return _Parts(length, w.inst(f"and i64 {length}, {-width}"), end)


def _bound(
    e: Emitter, prefix: Prefix, conditions: Conditions, index: Sequence[str], lane: int, ahead: Mapping[int, int]
) -> str:
    """How many elements from the row's first on meet the conditions, at least if it is positive; at most the extent."""
    bound = extent = str(prefix.shape[lane])
    for polynomial in conditions.positive:
        bound = _extremum(e, "smin", bound, _until(e, polynomial, index, lane, ahead, extent))
    for text in _certain(e, prefix, conditions):
        bound = e.writer.inst(f"select i1 {text}, i64 {bound}, i64 0")
    return bound


def _end(e: Emitter, prefix: Prefix, conditions: Conditions, index: Sequence[str], lane: int) -> str:
    """From which element of the row on none meets the conditions; at most the extent."""
    end = extent = str(prefix.shape[lane])
    for polynomial in conditions.positive:
        if factor_of(polynomial, lane) <= 0:
            end = _extremum(e, "smin", end, _until(e, polynomial, index, lane, {}, extent))
    exact = replace(conditions, in_i32=(*conditions.in_i32, *conditions.may_wrap), flags=())
    for text in _certain(e, prefix, exact):
        end = e.writer.inst(f"select i1 {text}, i64 {end}, i64 {extent}")
    return end


def _certain(e: Emitter, prefix: Prefix, conditions: Conditions) -> list[str]:
    """What must be true for the polynomials to say what the masks do; the last make sure of the ones before."""
    certain = [_fits(e, polynomial, prefix.shape) for polynomial in conditions.in_i32]
    certain += [e.scalar(flag) for flag in conditions.flags]
    return certain + [_is_small(e, atom) for atom in _wide_atoms(e, conditions)]


def _clamped(e: Emitter, number: str) -> str:
    return _extremum(e, "smax", number, "0")


def _extremum(e: Emitter, name: str, a: str, b: str) -> str:
    return e.writer.call("i64", f"@llvm.{name}.i64", ("i64", a), ("i64", b))


def _until(
    e: Emitter, polynomial: Polynomial, index: Sequence[str], lane: int, ahead: Mapping[int, int], extent: str
) -> str:
    """How many elements of a row make the polynomial positive, from the first one on; any number from ``extent`` on
    says that all do, and any below 1 that none does.
    """
    w, step = e.writer, factor_of(polynomial, lane)
    start = list(index)
    start[lane] = "0"
    for d, more in ahead.items():
        if d != lane and factor_of(polynomial, d) < 0:
            start[d] = w.add(start[d], str(more))
    first = emit_polynomial(e, polynomial, tuple(start))
    if step == -1:
        return first
    if step < 0:
        return w.inst(f"sdiv i64 {w.add(first, str(-step - 1))}, {-step}")
    positive = w.inst(f"icmp sgt i64 {first}, 0")
    return w.inst(f"select i1 {positive}, i64 {extent}, i64 0")


def _fits(e: Emitter, polynomial: Polynomial, shape: tuple[int, ...]) -> str:
    """Whether a polynomial lies in an i32 in the whole tile."""
    w = e.writer
    low, high = reach(polynomial, shape)
    fixed = polynomial
    for d, step in indices_of(polynomial).items():
        fixed = fixed - Polynomial.atom(IndexAtom(d)).scaled(step)
    least = w.add(emit_polynomial(e, fixed, ()), str(low + I32_LIMIT))
    return w.inst(f"icmp ult i64 {least}, {max(0, 2 * I32_LIMIT - (high - low))}")


def _wide_atoms(e: Emitter, conditions: Conditions) -> list[ScalarAtom | CarriedAtom]:
    """The scalars of 64 bits, in the order of the text."""
    found: dict[ScalarAtom | CarriedAtom, None] = {}
    for polynomial in (*conditions.positive, *conditions.in_i32):
        for monomial, _ in in_order(e, polynomial.terms):
            for atom in monomial:
                if isinstance(atom, CarriedAtom) or (isinstance(atom, ScalarAtom) and atom.value.type == i64):
                    found[atom] = None
    return list(found)


def _is_small(e: Emitter, atom: ScalarAtom | CarriedAtom) -> str:
    value = e.carried[atom.value] if isinstance(atom, CarriedAtom) else to_i64(e, e.scalar(atom.value), atom.value)
    moved = e.writer.inst(f"add i64 {value}, {MAX_SCALAR}")
    return e.writer.inst(f"icmp ult i64 {moved}, {2 * MAX_SCALAR}")
