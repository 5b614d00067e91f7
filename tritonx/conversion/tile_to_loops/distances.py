"""What a launch must look at because of the accesses that the plan takes to be apart: see `disjoint.py`."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from xdsl.ir import Operation, SSAValue

from tritonx.analysis.pointer_sources import roots_of
from tritonx.conversion.tile_to_loops.constants import splat_constant
from tritonx.conversion.tile_to_loops.disjoint import Pair, Sum
from tritonx.conversion.tile_to_loops.index import Atom, IndexAnalysis, Monomial, Polynomial, ScalarAtom
from tritonx.conversion.tile_to_loops.types import element_bytes
from tritonx.dialects import arith, tile
from tritonx.ir.types import PointerType, element_type, i32, i64, shape_of

MAX_TERMS = 32
"""A scalar that is a sum of more products is one atom."""

MAX_PAIRS = 8
"""Two arguments with more distances of accesses are compared as a whole."""


def pairs_of(index: IndexAnalysis, numbers: Mapping[SSAValue, int]) -> tuple[Pair, ...]:
    """The pairs of parameters; ``numbers`` gives those that the kernel's arguments are."""
    scalars, found = _Scalars(numbers), dict[tuple[int, int], dict[Pair, None]]()
    for a, b in index.separation.relied:
        for pair in _pairs(index, scalars, a, b):
            found.setdefault((pair.stored, pair.other), {})[pair] = None
    limited = [
        tuple(pairs) if len(pairs) <= MAX_PAIRS else (Pair(stored, other),) for (stored, other), pairs in found.items()
    ]
    return tuple(pair for pairs in limited for pair in pairs)


def _pairs(index: IndexAnalysis, scalars: _Scalars, a: SSAValue, b: SSAValue) -> list[Pair]:
    (root_a, offset_a), (root_b, offset_b) = scalars.address(index, a), scalars.address(index, b)
    numbers = [(x, y) for x in scalars.roots(root_a) for y in scalars.roots(root_b)]
    size = _bytes(a)
    if size != _bytes(b) or root_a not in scalars.numbers or root_b not in scalars.numbers:
        return [Pair(x, y) for x, y in numbers]
    steps = [(length - 1, offset_a.stride(dim)) for dim, length in enumerate(shape_of(a.type))]
    along = tuple((length, scalars.sum(step)) for length, step in steps if length and step is not None)
    difference = None if any(step is None for _, step in steps) else scalars.sum(offset_a - offset_b)
    return [Pair(x, y, size, difference, along) for x, y in numbers]


def _bytes(pointers: SSAValue) -> int:
    pointer = element_type(pointers.type)
    assert isinstance(pointer, PointerType)
    return element_bytes(pointer.pointee)


class _Scalars:
    """Scalars as polynomials of the kernel's parameters, as far as they are that."""

    def __init__(self, numbers: Mapping[SSAValue, int]) -> None:
        self.numbers = numbers
        self._known: dict[SSAValue, Polynomial] = {}
        self._rest: dict[Monomial, int] = {}

    def roots(self, pointer: SSAValue) -> list[int]:
        """The parameters that a pointer comes from."""
        return sorted(self.numbers[root] for root in roots_of((pointer,)) or ())

    def address(self, index: IndexAnalysis, pointers: SSAValue) -> tuple[SSAValue, Polynomial]:
        """The pointer that scalar `addptr`s began with, and the offsets of a tile's elements from there."""
        form = index.form(pointers)
        assert form is not None and form.base is not None, "the accesses would not agree"
        base, offset = form.base, form.offset.rename(self._atom)
        while isinstance(base.owner, tile.AddPtrOp):
            offset += self._scalar(base.owner.offset)
            base = base.owner.ptr
        return base, offset

    def sum(self, polynomial: Polynomial) -> Sum:
        """With numbers in place of atoms."""
        terms: list[tuple[int, tuple[int, ...], int]] = []
        for monomial, coefficient in polynomial.terms:
            numbers = [self._number(atom) for atom in monomial]
            rest = tuple(atom for atom, number in zip(monomial, numbers, strict=True) if number is None)
            terms.append((coefficient, tuple(sorted(n for n in numbers if n is not None)), self._place(rest)))
        return tuple(sorted(terms))

    def _place(self, rest: Monomial) -> int:
        """What stands for a product of what are no parameters."""
        if not rest:
            return 0
        only = rest[0].value if len(rest) == 1 and isinstance(rest[0], ScalarAtom) else None
        if only is not None and isinstance(only.owner, tile.GetProgramIdOp):
            return -1 - only.owner.axis.value.data
        return self._rest.setdefault(rest, len(self._rest) + 1)

    def _number(self, atom: Atom) -> int | None:
        return self.numbers.get(atom.value) if isinstance(atom, ScalarAtom) and atom.signed else None

    def _atom(self, atom: Atom) -> Polynomial:
        return self._scalar(atom.value) if isinstance(atom, ScalarAtom) and atom.signed else Polynomial.atom(atom)

    def _scalar(self, value: SSAValue) -> Polynomial:
        if value not in self._known:
            found = self._computed(value)
            if found is None or len(found.terms) > MAX_TERMS:
                found = Polynomial.atom(ScalarAtom(value))
            self._known[value] = found
        return self._known[value]

    def _computed(self, value: SSAValue) -> Polynomial | None:
        op = value.owner
        if not isinstance(op, Operation):
            return None
        constant = splat_constant(op)
        if isinstance(constant, int):
            return Polynomial.constant(constant)
        if isinstance(op, arith.ExtSIOp) and op.operands[0].type in (i32, i64):
            return self._scalar(op.operands[0])
        combine = _COMBINED.get(type(op))
        return None if combine is None else combine(*map(self._scalar, op.operands))


_COMBINED: dict[type[Operation], Callable[[Polynomial, Polynomial], Polynomial]] = {
    arith.AddiOp: lambda a, b: a + b,
    arith.SubiOp: lambda a, b: a - b,
    arith.MuliOp: lambda a, b: a * b,
}
