"""Indices and pointers of a thread that differ by constants are written as such: the one and what is added to it.

A thread's rows lie 8 apart, say: `row | 8`, `row | 16` and so on. Their products with a stride are as constantly apart,
and so are the pointers that they lead to, which then are one pair of registers and the immediates of the accesses. LLVM
sees this of a difference with one user only. Of numbers that may wrap nothing is said."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from xdsl.ir import Operation

from tritonx.conversion.gpu_to_llvm.values import Tile, is_constant
from tritonx.dialects import arith, tile
from tritonx.ir.types import bit_width, element_type, type_of

if TYPE_CHECKING:
    from tritonx.conversion.gpu_to_llvm.function import Emit, FunctionEmitter

LIMIT = 1 << 31
"""Of what an i32 holds that is not negative."""


@dataclass(frozen=True)
class Sum:
    """`base` + `constant`: of an index, which is not negative, without wrapping, and less than `below`; of a pointer in
    bytes, `below` 0."""

    base: str
    constant: int
    below: int = 0


class Sums:
    """What is known of the names of a function."""

    def __init__(self) -> None:
        self._of: dict[str, Sum] = {}
        self._roots: dict[str, str] = {}
        self._offsets: dict[str, set[str]] = {}

    def know(self, name: str, known: Sum) -> None:
        if not is_constant(name):
            self._of[name] = known

    def of(self, name: str) -> Sum | None:
        return self._of.get(name)

    def move(self, pointer: str, moved: str) -> None:
        """A pointer as a whole is made of another one."""
        self._roots[moved] = self._roots.get(pointer, pointer)

    def spread(self, pointer: str, offset: str) -> None:
        """An element of a tile of pointers is made of a pointer."""
        self._offsets.setdefault(self._roots.get(pointer, pointer), set()).add(offset)

    def offsets(self, pointer: str) -> int:
        """How many offsets there are that differ by more than a constant, of tiles made of a pointer."""
        return len(self._offsets.get(pointer, ()))


def multiplied(fallback: Emit) -> Emit:
    """`arith.muli` of such indices and a constant."""

    def emit(op: Operation, f: FunctionEmitter) -> None:
        factor, names = _with_literal(op, f)
        found = [f.sums.of(name) for name in names]
        if factor < 1 or any(each is None or each.below * factor > LIMIT for each in found):
            fallback(op, f)
            return
        bases: dict[str, str] = {}
        made: dict[Sum, str] = {}
        for each in found:
            assert each is not None
            if each.base not in bases:
                bases[each.base] = f.inst(f"mul nuw nsw i32 {each.base}, {factor}")
            if each not in made:
                product = Sum(bases[each.base], each.constant * factor, (each.below - 1) * factor + 1)
                made[each] = _written(f, product)
        f.result(op, Tile.of("i32", [made[each] for each in found if each is not None]))

    return emit


def added(fallback: Emit) -> Emit:
    """`arith.addi` of such indices and a constant."""

    def emit(op: Operation, f: FunctionEmitter) -> None:
        more, names = _with_literal(op, f)
        found = [f.sums.of(name) for name in names]
        if more < 0 or any(each is None or each.below + more > LIMIT for each in found):
            fallback(op, f)
            return
        made: dict[Sum, str] = {}
        for each in found:
            assert each is not None
            if each not in made:
                made[each] = _written(f, Sum(each.base, each.constant + more, each.below + more))
        f.result(op, Tile.of("i32", [made[each] for each in found if each is not None]))

    return emit


def advanced(fallback: Emit) -> Emit:
    """`tt.addptr` by such indices, or of pointers that differ by constants."""

    def emit(op: Operation, f: FunctionEmitter) -> None:
        pointers, offsets = (f.get(v) for v in op.operands)
        if pointers.n == 1:
            fallback(op, f)
            f.sums.move(f.scalar(op.operands[0]), f.scalar(op.results[0]))
            return
        if offsets.elem != "i32" or offsets.prefers_vector or pointers.prefers_vector:
            fallback(op, f)
            return
        keys = [*zip(f.scalars(pointers), f.scalars(offsets), strict=True)]
        for key in keys:
            f.sums.spread(*((f.sums.of(name) or Sum(name, 0)).base for name in key))
        if not any(f.sums.of(name) for key in keys for name in key):
            fallback(op, f)
            return
        moved = element_type(type_of(op.results[0]))
        assert isinstance(moved, tile.PointerType)
        step, size = f.module.numbers.in_memory(moved.pointee), -(-bit_width(moved.pointee) // 8)
        bases: dict[tuple[str, str], str] = {}
        made: dict[tuple[str, str], str] = {}
        index = f"i{f.pointer_bits(pointers.elem)}"
        for key in dict.fromkeys(keys):
            pointer, offset = (f.sums.of(name) or Sum(name, 0) for name in key)
            whole = pointer.base, offset.base
            if whole not in bases:
                bases[whole] = f.inst(f"getelementptr {step}, {pointers.elem} {whole[0]}, i32 {whole[1]}")
            constant = pointer.constant + offset.constant * size
            made[key] = bases[whole]
            if constant:
                made[key] = f.inst(f"getelementptr i8, {pointers.elem} {bases[whole]}, {index} {constant}")
            f.sums.know(made[key], Sum(bases[whole], constant))
        f.result(op, Tile.of(pointers.elem, [made[key] for key in keys]))

    return emit


def _with_literal(op: Operation, f: FunctionEmitter) -> tuple[int, list[str]]:
    """The constant that an op of i32 tiles has as an operand everywhere, and the other one's names; -1 for none."""
    if f.elem(op.results[0]) != "i32":
        return -1, []
    for mine, other in ((0, 1), (1, 0)):
        literals, names = f.get(op.operands[mine]), f.get(op.operands[other])
        if names.n > 1 and not literals.prefers_vector and not names.prefers_vector:
            known = {*f.scalars(literals)}
            literal = next(iter(known))
            if len(known) == 1 and literal.lstrip("-").isdigit():
                return int(literal), f.scalars(names)
    return -1, []


def _written(f: FunctionEmitter, known: Sum) -> str:
    name = known.base
    if known.constant:
        name = f.inst(f"add nuw nsw i32 {known.base}, {known.constant}")
    f.sums.know(name, known)
    return name


def emitters(table: dict[type[Operation], Emit]) -> dict[type[Operation], Emit]:
    """The entries of a table for these ops, with sums told apart."""
    return {
        arith.MuliOp: multiplied(table[arith.MuliOp]),
        arith.AddiOp: added(table[arith.AddiOp]),
        tile.AddPtrOp: advanced(table[tile.AddPtrOp]),
    }
