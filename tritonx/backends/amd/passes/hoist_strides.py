"""Strides are multiplied by in front of loops.

`(k + r) * stride`, where a loop counts `k` and `r` is a tile of rows, is a multiplication for each row of a thread in
each iteration, four times as slow as an addition on AMD's vector units. `k * stride + r * stride` is the same modulo
2^n: one multiplication of scalars in the loop, which LLVM makes an addition for each iteration, and a tile that is made
in front of it. LLVM does not find that itself once it knows that `k + r` is `k | r`.

Offsets that stay in 64 bits are left alone. An instruction multiplies and adds them, and a sum would take two registers
a row: with 64 loads of one element each of two operands, f16 products of 128×256×64 through descriptors of the host
have 943 instructions an iteration on gfx950 instead of 818."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, SSAValue
from xdsl.passes import ModulePass

from tritonx.dialects import arith, scf, tile
from tritonx.ir.builder import Builder
from tritonx.ir.contract import Contract
from tritonx.ir.edit import is_defined_inside, replace
from tritonx.ir.fold.constants import integer_of
from tritonx.ir.fold.shape import splat_source
from tritonx.ir.types import bit_width, element_type, is_tensor, type_of, with_element
from tritonx.ir.walk import ops_in

_SHAPES = (tile.ExpandDimsOp, tile.BroadcastOp)
WORD = 32
"""Bits of a vector register."""


@dataclass(frozen=True)
class HoistStrides(ModulePass):
    """Multiplies tiles by strides in front of their loop.

    Of `arith.muli` in the body of an `scf.for` whose one factor is a sum of splat scalars, of which one changes, and of
    a tile that stays, and whose other factor is one number that stays; in 32 bits, or if no more are used of it."""

    name = "hoist-strides"
    contract = Contract(
        ("tt", "ttg"),
        on=("scf.for",),
        creates=("arith.addi", "arith.muli", "tt.splat", "tt.expand_dims", "tt.broadcast"),
    )

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for product in [inner for inner in ops_in(op) if isinstance(inner, arith.MuliOp)]:
            loop = product.parent_op()
            if is_tensor(type_of(product.result)) and isinstance(loop, scf.ForOp) and _is_narrow(product.result):
                _hoist(product, loop)


def _is_narrow(value: SSAValue) -> bool:
    """Whether a tile of integers has 32 bits, or what is added up of it is truncated to as many; pointers that buffers'
    offsets have taken the place of are not counted."""
    if bit_width(element_type(type_of(value))) <= WORD:
        return True
    users = [op for use in value.uses if not isinstance(op := use.operation, tile.AddPtrOp) or op.result.first_use]
    sums = (op for op in users if not isinstance(op, arith.TruncIOp))
    return bool(users) and all(isinstance(op, (*_SHAPES, arith.AddiOp)) and _is_narrow(op.results[0]) for op in sums)


def _hoist(product: arith.MuliOp, loop: scf.ForOp) -> None:
    for value, factor in ((product.lhs, product.rhs), (product.rhs, product.lhs)):
        scalars, tiles = _terms(value, loop)
        stride = _number(factor, loop)
        if not scalars or not tiles or None in tiles or stride is None:
            continue
        type_ = type_of(product.result)
        front, here = Builder.before(loop), Builder.before(product)
        step = stride if isinstance(stride, SSAValue) else front.constant(stride, element_type(type_))
        by = front.emit(tile.SplatOp, (step,), (type_,))
        rows = _sum(front, [_shaped(front, each) for each in tiles if each is not None])
        offsets = front.emit(arith.MuliOp, (rows, by), (type_,))
        begin = here.emit(arith.MuliOp, (_sum(here, scalars), step), (element_type(type_),))
        start = here.emit(tile.SplatOp, (begin,), (type_,))
        replace(product, (here.emit(arith.AddiOp, (start, offsets), (type_,)),))
        return


@dataclass(frozen=True)
class _Term:
    """A tile that stays, and the changes of shape that it goes through, the first one first."""

    value: SSAValue
    changes: tuple[Operation, ...]


def _terms(
    value: SSAValue, loop: scf.ForOp, changes: tuple[Operation, ...] = ()
) -> tuple[list[SSAValue], list[_Term | None]]:
    """Scalars and tiles whose sum a value is; None for a tile that changes."""
    made = value.owner
    if not is_defined_inside(value, loop):
        return [], [_Term(value, changes)]
    if isinstance(made, tile.SplatOp):
        return [made.src], []
    if isinstance(made, _SHAPES):
        return _terms(made.src, loop, (made, *changes))
    if isinstance(made, arith.AddiOp):
        (scalars, tiles), (more, others) = (_terms(each, loop, changes) for each in made.operands)
        return [*scalars, *more], [*tiles, *others]
    return [], [None]


def _number(factor: SSAValue, loop: scf.ForOp) -> SSAValue | int | None:
    """What a tile that stays is in each element; None where that is not one number."""
    scalar = splat_source(factor)
    if scalar is None:
        return integer_of(factor)
    return None if is_defined_inside(scalar, loop) else scalar


def _shaped(builder: Builder, term: _Term) -> SSAValue:
    value, element = term.value, element_type(type_of(term.value))
    for change in term.changes:
        type_ = with_element(type_of(change.results[0]), element)
        value = builder.emit(change.__class__, (value,), (type_,), change.properties)
    return value


def _sum(builder: Builder, values: list[SSAValue]) -> SSAValue:
    total, *others = values
    for value in others:
        total = builder.emit(arith.AddiOp, (total, value), (type_of(value),))
    return total
