"""Index expressions: what address does element (i0, i1, …) of a tile of pointers hold?

A kernel computes addresses with whole tiles (`ptr + row * stride + tl.arange(0, N)`). To read memory with vector loads
the emitter needs the opposite view: a scalar formula in the tile's indices, from which it can see that along some
dimension the addresses are consecutive. That view is a polynomial over the integers whose atoms are

* ``ScalarAtom``: a scalar SSA value (`row`, `stride`),
* ``IndexAtom(d)``: the position along dimension d,
* ``CarriedAtom``: how far a loop has advanced a tile of pointers or offsets beyond its initial value,
* ``TensorAtom(t, dims)``: an element of a tile of integers that has no formula (a loaded index, a remainder).

`make_range` is an IndexAtom plus its start, `splat` a ScalarAtom, `broadcast` and `trans` rename indices, `+ - *` are
those of polynomials. So equal addresses are equal polynomials, "contiguous along d" is "linear in i_d with coefficient
1 and nothing else varies along d", and a loop that does `ptrs += BLOCK * stride` carries one scalar instead of a tile.

As in Triton's own axis analysis, index arithmetic that reaches an address is assumed not to overflow between its parts:
`sext(base + i)` is treated as `sext(base) + i`. A scalar sub-expression keeps its width and wraps as written.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

from xdsl.ir import BlockArgument, Operation, SSAValue

from tritonx.conversion.tile_to_loops.constants import splat_constant
from tritonx.conversion.tile_to_loops.separation import Separation
from tritonx.dialects import arith, scf, tile
from tritonx.dialects.control_flow import Carried, carried_argument, carried_result
from tritonx.ir.dispatch import case_in
from tritonx.ir.types import PointerType, element_type, i32, i64, is_tensor, shape_of

MAX_TERMS = 32
"""A polynomial with more monomials is opaque: it becomes a TensorAtom, evaluated element by element."""


@dataclass(frozen=True)
class ScalarAtom:
    value: SSAValue
    signed: bool = True


@dataclass(frozen=True)
class IndexAtom:
    dim: int


@dataclass(frozen=True)
class CarriedAtom:
    """The advance of loop-carried tile `value` (a block argument inside the loop, a result after it)."""

    value: SSAValue


@dataclass(frozen=True)
class TensorAtom:
    """Element of `value`; its dimension j is indexed by dimension ``dims[j]`` of the tile (-1: the index is 0)."""

    value: SSAValue
    dims: tuple[int, ...]


Atom = ScalarAtom | IndexAtom | CarriedAtom | TensorAtom
Monomial = tuple[Atom, ...]
"""Atoms in the order of their hash: a canonical order within one process."""


@dataclass(frozen=True)
class Polynomial:
    """Σ coefficient · Π atoms; ``terms`` is sorted, so that equality is structural."""

    terms: frozenset[tuple[Monomial, int]]

    @staticmethod
    def of(terms: dict[Monomial, int]) -> Polynomial:
        return Polynomial(frozenset((m, c) for m, c in terms.items() if c))

    @staticmethod
    def constant(value: int) -> Polynomial:
        return Polynomial.of({(): value})

    @staticmethod
    def atom(atom: Atom) -> Polynomial:
        return Polynomial(frozenset({((atom,), 1)}))

    def __add__(self, other: Polynomial) -> Polynomial:
        result = dict(self.terms)
        for m, c in other.terms:
            result[m] = result.get(m, 0) + c
        return Polynomial.of(result)

    def scaled(self, factor: int) -> Polynomial:
        return Polynomial.of({m: c * factor for m, c in self.terms})

    def __sub__(self, other: Polynomial) -> Polynomial:
        return self + other.scaled(-1)

    def __mul__(self, other: Polynomial) -> Polynomial:
        result: dict[Monomial, int] = {}
        for ma, ca in self.terms:
            for mb, cb in other.terms:
                m = tuple(sorted(ma + mb, key=hash))
                result[m] = result.get(m, 0) + ca * cb
        return Polynomial.of(result)

    def atoms(self) -> Iterable[Atom]:
        for monomial, _ in self.terms:
            yield from monomial

    def rename(self, atom: Callable[[Atom], Polynomial]) -> Polynomial:
        """Substitute every atom."""
        result = Polynomial.of({})
        for monomial, c in self.terms:
            product = Polynomial.constant(c)
            for a in monomial:
                product = product * atom(a)
            result = result + product
        return result

    def constant_value(self) -> int | None:
        """The value, if there is no atom."""
        if not self.terms:
            return 0
        if len(self.terms) == 1:
            ((monomial, c),) = self.terms
            return c if not monomial else None
        return None

    def uniform(self) -> bool:
        """Whether every element has the same value."""
        return not any(isinstance(a, IndexAtom | TensorAtom) for a in self.atoms())

    def varies_along(self, dim: int) -> bool:
        return any(varies_along(a, dim) for a in self.atoms())

    def stride(self, dim: int) -> Polynomial | None:
        """The step from one index to the next along `dim`; None where it is not the same everywhere along it."""
        step = Polynomial.of({})
        for monomial, c in self.terms:
            moving = [a for a in monomial if varies_along(a, dim)]
            if not moving:
                continue
            if len(moving) > 1 or not isinstance(moving[0], IndexAtom):
                return None
            rest = list(monomial)
            rest.remove(moving[0])
            step = step + Polynomial.of({tuple(rest): c})
        return step


def varies_along(atom: Atom, dim: int) -> bool:
    return (isinstance(atom, IndexAtom) and atom.dim == dim) or (isinstance(atom, TensorAtom) and dim in atom.dims)


@dataclass(frozen=True)
class Form:
    """`base + offset` in elements of the pointee for pointers; `offset` alone (base None) for integers."""

    base: SSAValue | None
    offset: Polynomial


class IndexAnalysis:
    """Forms of the tiles of integers and pointers of one function, computed on demand. Changes nothing."""

    def __init__(self, separation: Separation | None = None) -> None:
        self.separation = Separation() if separation is None else separation
        self._forms: dict[SSAValue, Form | None] = {}
        self._carried: dict[SSAValue, Form | None] = {}

    def form(self, value: SSAValue) -> Form | None:
        """The form of an integer or pointer value; None for pointers without one (loaded pointers, casts) and for
        floats.
        """
        if value not in self._forms:
            self._forms[value] = self._compute(value)
        return self._forms[value]

    def carried(self, argument: BlockArgument) -> Form | None:
        """The initial form of a tile that a for loop advances uniformly; None if it must be carried as a tile."""
        if argument not in self._carried:
            if not is_tensor(argument.type) or (through := carried_argument(argument)) is None:
                return None
            self._carried[argument] = None  # while the loop's own body is asked about itself
            self._carried[argument] = self._advance(through)
            for known in [v for v, f in self._forms.items() if f is None or _mentions(f, argument)]:
                del self._forms[known]
        return self._carried[argument]

    def step(self, argument: BlockArgument) -> Polynomial:
        """By how much each iteration advances a carried tile: a uniform polynomial over the body's scalars."""
        through = carried_argument(argument)
        assert through is not None, "carried by a loop"
        form, initial = self.form(through.yielded.value), self._carried[argument]
        assert form is not None and initial is not None
        return form.offset - initial.offset - Polynomial.atom(CarriedAtom(argument))

    # ---- loops

    def _advance(self, through: Carried) -> Form | None:
        argument = through.argument
        element = element_type(argument.type)
        if not (isinstance(element, PointerType) or element in (i32, i64)):
            return None
        initial = self.form(through.initial.value)
        if initial is None or any(isinstance(a, TensorAtom) and a.value is argument for a in initial.offset.atoms()):
            return None
        assumed = Form(initial.base, initial.offset + Polynomial.atom(CarriedAtom(argument)))
        saved, self._forms = self._forms, {**self._forms, argument: assumed}
        after = self.form(through.yielded.value)
        self._forms = saved
        if after is None or after.base is not initial.base:
            return None
        step = after.offset - assumed.offset
        return initial if step.uniform() and CarriedAtom(argument) not in step.atoms() else None

    def _of_argument(self, value: BlockArgument) -> Form | None:
        initial = self.carried(value)
        if initial is not None:
            return Form(initial.base, initial.offset + Polynomial.atom(CarriedAtom(value)))
        return self._opaque(value)

    def _of_loop_result(self, value: SSAValue) -> Form | None:
        through = carried_result(value)
        initial = None if through is None else self.carried(through.argument)
        if initial is not None:
            return Form(initial.base, initial.offset + Polynomial.atom(CarriedAtom(value)))
        return self._opaque(value)

    # ---- values

    def _opaque(self, value: SSAValue) -> Form | None:
        if isinstance(element_type(value.type), PointerType):
            return None
        rank = len(shape_of(value.type))
        dims = tuple(d if size > 1 else -1 for d, size in zip(range(rank), shape_of(value.type), strict=True))
        return Form(None, Polynomial.atom(TensorAtom(value, dims)))

    def _compute(self, value: SSAValue) -> Form | None:
        element = element_type(value.type)
        pointer = isinstance(element, PointerType)
        if not pointer and element not in (i32, i64):
            return None
        if not is_tensor(value.type):
            return Form(value, Polynomial.constant(0)) if pointer else Form(None, Polynomial.atom(ScalarAtom(value)))
        if isinstance(value, BlockArgument):
            return self._of_argument(value)
        op = value.owner
        assert isinstance(op, Operation)
        if isinstance(op, scf.ForOp):
            return self._of_loop_result(value)
        rule = _RULES.get(type(op))
        form = rule(self, op) if rule is not None else None
        if form is None or len(form.offset.terms) > MAX_TERMS:
            return self._opaque(value)
        return form


def _mentions(form: Form, argument: SSAValue) -> bool:
    return any(isinstance(a, TensorAtom) and a.value is argument for a in form.offset.atoms())


# ---- one rule an op


def _constant(_: IndexAnalysis, op: Operation) -> Form | None:
    value = splat_constant(op)
    return Form(None, Polynomial.constant(value)) if isinstance(value, int) else None


def _make_range(_: IndexAnalysis, op: tile.MakeRangeOp) -> Form | None:
    index = Polynomial.atom(IndexAtom(0)) if shape_of(op.result.type)[0] > 1 else Polynomial.constant(0)
    return Form(None, index + Polynomial.constant(op.start.value.data))


def _splat(analysis: IndexAnalysis, op: tile.SplatOp) -> Form | None:
    constant = splat_constant(op.src.owner) if isinstance(op.src.owner, Operation) else None
    if isinstance(constant, int) and not isinstance(element_type(op.src.type), PointerType):
        return Form(None, Polynomial.constant(constant))
    return analysis.form(op.src)


def _renamed(form: Form | None, dims: dict[int, int]) -> Form | None:
    """Dimension d becomes ``dims[d]``; a dimension that is not there has size 1 and no index."""
    if form is None:
        return None

    def rename(atom: Atom) -> Polynomial:
        if isinstance(atom, IndexAtom):
            return Polynomial.atom(IndexAtom(dims[atom.dim]))
        if isinstance(atom, TensorAtom):
            return Polynomial.atom(replace(atom, dims=tuple(dims.get(d, -1) for d in atom.dims)))
        return Polynomial.atom(atom)

    return replace(form, offset=form.offset.rename(rename))


def _expand_dims(analysis: IndexAnalysis, op: tile.ExpandDimsOp) -> Form | None:
    axis, rank = op.axis.value.data, len(shape_of(op.src.type))
    return _renamed(analysis.form(op.src), {d: d + (d >= axis) for d in range(rank)})


def _broadcast(analysis: IndexAnalysis, op: tile.BroadcastOp) -> Form | None:
    return analysis.form(op.src)


def _trans(analysis: IndexAnalysis, op: tile.TransOp) -> Form | None:
    order = op.order.get_values()
    return _renamed(analysis.form(op.src), {int(source): d for d, source in enumerate(order)})


def _reshape(analysis: IndexAnalysis, op: tile.ReshapeOp) -> Form | None:
    """Dimensions are split and merged row-major: i = i_a·B + i_b. Merging needs matching strides, so only splits
    qualify.
    """
    form = analysis.form(op.src)
    groups = reshape_groups(shape_of(op.src.type), shape_of(op.result.type))
    if form is None or groups is None or any(isinstance(a, TensorAtom) for a in form.offset.atoms()):
        return None
    result_shape = shape_of(op.result.type)
    replacement: dict[int, Polynomial] = {}
    for source, results in groups:
        index = Polynomial.constant(0)
        for r in results:
            index = index.scaled(result_shape[r])
            if result_shape[r] > 1:
                index = index + Polynomial.atom(IndexAtom(r))
        replacement[source] = index
    return replace(
        form,
        offset=form.offset.rename(lambda a: replacement[a.dim] if isinstance(a, IndexAtom) else Polynomial.atom(a)),
    )


def reshape_groups(source: tuple[int, ...], result: tuple[int, ...]) -> list[tuple[int, list[int]]] | None:
    """For each source dimension the result dimensions that it is split into; None where dimensions are merged."""
    groups: list[tuple[int, list[int]]] = []
    r = 0
    for s, size in enumerate(source):
        taken: list[int] = []
        product = 1
        while r < len(result) and (product < size or (result[r] == 1 and not (product == 1 and size > 1))):
            product *= result[r]
            taken.append(r)
            r += 1
        if product != size:
            return None
        groups.append((s, taken))
    return groups if all(d == 1 for d in result[r:]) else None


def _addptr(analysis: IndexAnalysis, op: tile.AddPtrOp) -> Form | None:
    pointer, offset = analysis.form(op.ptr), analysis.form(op.offset)
    if pointer is None or offset is None:
        return None
    return Form(pointer.base, pointer.offset + offset.offset)


def _binary(
    combine: Callable[[Polynomial, Polynomial], Polynomial],
) -> Callable[[IndexAnalysis, Operation], Form | None]:
    def rule(analysis: IndexAnalysis, op: Operation) -> Form | None:
        a, b = analysis.form(op.operands[0]), analysis.form(op.operands[1])
        if a is None or b is None or len(a.offset.terms) * len(b.offset.terms) > 4 * MAX_TERMS:
            return None
        return Form(None, combine(a.offset, b.offset))

    return rule


def _extend(analysis: IndexAnalysis, op: Operation) -> Form | None:
    return analysis.form(op.operands[0]) if element_type(op.operands[0].type) == i32 else None


def _extend_unsigned(analysis: IndexAnalysis, op: Operation) -> Form | None:
    """Zero extension is the identity where the value cannot be negative: sums of ranges and non-negative constants."""
    form = analysis.form(op.operands[0]) if element_type(op.operands[0].type) == i32 else None
    if form is None or any(not isinstance(a, IndexAtom) for a in form.offset.atoms()):
        return None
    return form if all(c >= 0 for _, c in form.offset.terms) else None


def _shift(analysis: IndexAnalysis, op: Operation) -> Form | None:
    a, b = analysis.form(op.operands[0]), analysis.form(op.operands[1])
    count = b.offset.constant_value() if b is not None else None
    return Form(None, a.offset.scaled(1 << count)) if a is not None and count is not None and 0 <= count < 31 else None


_RULES: dict[type[Operation], Callable[[IndexAnalysis, Operation], Form | None]] = {
    arith.ConstantOp: _constant,
    **case_in(tile.MakeRangeOp, _make_range),
    **case_in(tile.SplatOp, _splat),
    **case_in(tile.ExpandDimsOp, _expand_dims),
    **case_in(tile.BroadcastOp, _broadcast),
    **case_in(tile.TransOp, _trans),
    **case_in(tile.ReshapeOp, _reshape),
    **case_in(tile.AddPtrOp, _addptr),
    arith.AddiOp: _binary(lambda a, b: a + b),
    arith.SubiOp: _binary(lambda a, b: a - b),
    arith.MuliOp: _binary(lambda a, b: a * b),
    arith.ShLIOp: _shift,
    arith.ExtSIOp: _extend,
    arith.ExtUIOp: _extend_unsigned,
}
