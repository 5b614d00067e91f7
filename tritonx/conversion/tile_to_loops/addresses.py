"""Turning the formulas of `index.py` into instructions: the address of a chunk's first element, and lanes of index
values.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from xdsl.ir import SSAValue

from tritonx.conversion.llvm_text import vector
from tritonx.conversion.tile_to_loops.index import (
    Atom,
    CarriedAtom,
    Form,
    IndexAtom,
    Monomial,
    Polynomial,
    ScalarAtom,
    TensorAtom,
    varies_along,
)
from tritonx.conversion.tile_to_loops.position import Position
from tritonx.conversion.tile_to_loops.types import integer_bits, register_type
from tritonx.conversion.tile_to_loops.writer import Lanes, LoopWriter
from tritonx.ir.types import PointerType, element_type

if TYPE_CHECKING:
    from tritonx.conversion.tile_to_loops.emitter import Emitter


def lane_numbers(writer: LoopWriter, scalar: str, first: str, step: str, width: int) -> Lanes:
    """`first + lane * step` as a vector of integers."""
    ty = vector(scalar, width)
    numbers = f"<{', '.join(f'{scalar} {lane}' for lane in range(width))}>"
    if step != "1":
        numbers = writer.inst(f"mul {ty} {numbers}, {writer.splat(scalar, step, width)}")
    if first == "0":
        return Lanes(numbers, width)
    return Lanes(writer.inst(f"add {ty} {writer.splat(scalar, first, width)}, {numbers}"), width)


def emit_polynomial(e: Emitter, polynomial: Polynomial, index: tuple[str, ...]) -> str:
    """The i64 value of a polynomial at one index."""
    total = "0"
    for monomial, coefficient in in_order(e, polynomial.terms):
        product = str(coefficient)
        for atom in monomial:
            product = e.writer.mul(product, _emit_atom(e, atom, index))
        total = e.writer.add(total, product)
    return total


def in_order(e: Emitter, terms: Iterable[tuple[Monomial, int]]) -> list[tuple[list[Atom], int]]:
    """Terms, and the atoms of each, in the order in which they are written: what varies in outer dimensions comes
    first, so that it is hoisted. The rest of the order is by names, since sets of values differ from run to run.
    """

    def key(atom: Atom) -> tuple[int, str]:
        return _atom_depth(atom), _atom_name(e, atom)

    made = [(sorted(monomial, key=key), coefficient) for monomial, coefficient in terms]
    return sorted(made, key=lambda t: (_depth(t[0]), len(t[0]), str(t[1]), [_atom_name(e, a) for a in t[0]]))


def _atom_name(e: Emitter, atom: Atom) -> str:
    """What the atom's value is called in the text."""
    if isinstance(atom, ScalarAtom):
        return f"{e.scalar(atom.value)} {atom.signed}"
    if isinstance(atom, CarriedAtom):
        return e.carried[atom.value]
    if isinstance(atom, IndexAtom):
        return str(atom.dim)
    view = e.views.get(atom.value)
    return f"{view.pointer if view is not None else ''} {atom.dims}"


def _atom_depth(atom: Atom) -> int:
    if isinstance(atom, IndexAtom):
        return atom.dim + 1
    if isinstance(atom, TensorAtom):
        return max(atom.dims, default=-1) + 1
    return 0


def _depth(monomial: Iterable[Atom]) -> int:
    return max((_atom_depth(a) for a in monomial), default=0)


def _emit_atom(e: Emitter, atom: Atom, index: tuple[str, ...]) -> str:
    if isinstance(atom, IndexAtom):
        return index[atom.dim]
    if isinstance(atom, CarriedAtom):
        return e.carried[atom.value]
    if isinstance(atom, ScalarAtom):
        return to_i64(e, e.scalar(atom.value), atom.value, signed=atom.signed)
    position = Position(tuple(index[d] if d >= 0 else "0" for d in atom.dims))
    return to_i64(e, e.evaluate(atom.value, position).text, atom.value)


def to_i64(e: Emitter, text: str, value: SSAValue, *, signed: bool = True) -> str:
    """An integer scalar sign-extended to i64 (zero-extended if not `signed`)."""
    kind = register_type(element_type(value.type))
    if kind == "i64" or text.lstrip("-").isdigit():
        return text
    return e.writer.inst(f"{'sext' if signed else 'zext'} {kind} {text} to i64")


def evaluate_form(e: Emitter, form: Form, value: SSAValue, position: Position) -> Lanes:
    """A tile of integers or pointers by its formula, exact modulo the element's width."""
    element = element_type(value.type)
    scalar = register_type(element)
    if position.lane < 0 or not form.offset.varies_along(position.lane):
        return Lanes(_one(e, form, value, position.index), 0)
    offset = lanes_of(e, form.offset, position)
    width = position.width
    if form.base is not None:
        assert isinstance(element, PointerType)
        base = e.scalar(form.base)
        step = f"{e.pointee_type(element)}, ptr {base}, {vector('i64', width)} {offset}"
        return Lanes(e.writer.inst(f"getelementptr {step}"), width)
    if scalar == "i64":
        return Lanes(offset, width)
    return Lanes(e.writer.inst(f"trunc {vector('i64', width)} {offset} to {vector(scalar, width)}"), width)


def lanes_of(e: Emitter, polynomial: Polynomial, position: Position) -> str:
    """A polynomial in every lane, as a vector of i64: the part that is the same in all lanes as a scalar first."""
    w, lane, width = e.writer, position.lane, position.width
    fixed = Polynomial(frozenset((m, c) for m, c in polynomial.terms if not any(varies_along(a, lane) for a in m)))
    ty = vector("i64", width)
    total = w.splat("i64", emit_polynomial(e, fixed, position.index), width)
    for monomial, coefficient in in_order(e, polynomial.terms - fixed.terms):
        moving = [a for a in monomial if varies_along(a, lane)]
        rest = Polynomial.of({tuple(a for a in monomial if not varies_along(a, lane)): coefficient})
        factor = emit_polynomial(e, rest, position.index)
        product = w.splat("i64", factor, width)
        for atom in moving:
            product = w.inst(f"mul {ty} {product}, {_atom_lanes(e, atom, position)}")
        total = w.inst(f"add {ty} {total}, {product}")
    return total


def _atom_lanes(e: Emitter, atom: Atom, position: Position) -> str:
    if isinstance(atom, IndexAtom):
        return lane_numbers(e.writer, "i64", position.index[atom.dim], "1", position.width).text
    assert isinstance(atom, TensorAtom)
    index = tuple(position.index[d] if d >= 0 else "0" for d in atom.dims)
    lanes = e.evaluate(atom.value, Position(index, atom.dims.index(position.lane), position.width))
    kind = register_type(element_type(atom.value.type))
    text = e.writer.widen(kind, lanes, position.width)
    if kind == "i64":
        return text
    return e.writer.inst(f"sext {vector(kind, position.width)} {text} to {vector('i64', position.width)}")


def _narrow(e: Emitter, text: str, scalar: str) -> str:
    return text if text.lstrip("-").isdigit() else e.writer.inst(f"trunc i64 {text} to {scalar}")


def _one(e: Emitter, form: Form, value: SSAValue, index: tuple[str, ...]) -> str:
    offset = emit_polynomial(e, form.offset, index)
    element = element_type(value.type)
    if form.base is None:
        return offset if integer_bits(element) == 64 else _narrow(e, offset, register_type(element))
    return element_address(e, form, offset, value)


def element_address(e: Emitter, form: Form, offset: str, pointer: SSAValue) -> str:
    """`base + offset` elements."""
    element = element_type(pointer.type)
    assert form.base is not None and isinstance(element, PointerType)
    base = e.scalar(form.base)
    if offset == "0":
        return base
    return e.writer.inst(f"getelementptr {e.pointee_type(element)}, ptr {base}, i64 {offset}")
