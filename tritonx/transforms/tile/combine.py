"""Combining ops of the tile dialect into fewer."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import IntegerAttr, ModuleOp
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.passes import ModulePass

from tritonx.dialects import arith, tile
from tritonx.dialects.tile.descriptor import dropped_dims
from tritonx.dialects.tile.enums import InputPrecision
from tritonx.ir.builder import Builder
from tritonx.ir.contract import Contract
from tritonx.ir.declaration import SEGMENTS
from tritonx.ir.dispatch import case
from tritonx.ir.edit import erase, move_before, only_block, replace
from tritonx.ir.fold.constants import constant_of, signed, width_of
from tritonx.ir.types import element_type, encoding_of, f32, i32, is_tensor, shape_of, tensor
from tritonx.ir.walk import ops_in

SMALLEST_DOT = 16
"""Extents below this are no faster as a matrix product on any unit that has one."""


@dataclass(frozen=True)
class Combine(ModulePass):
    """Combines chains of ops into fewer.

    * ``addptr(addptr(p, a), b)`` into ``addptr(p, a + b)``, where ``a + b`` cannot wrap differently from two additions;
    * ``subi(x, muli(divsi(x, y), y))`` into ``remsi(x, y)``, and ``divui`` likewise;
    * ``subi(x, c)`` into ``addi(x, -c)``, and ``addi(addi(x, c1), c2)`` into ``addi(x, c1 + c2)``;
    * ``dot(a, b, 0) + d`` into ``dot(a, b, d)``, unless the accumulation is to be split (``maxNumImpreciseAcc``);
    * ``select(m, load(p, m), v)`` into ``load(p, m, v)``;
    * the sum over k of ``broadcast(x[m, k]) * broadcast(y[k, n])`` in f32 into a dot;
    * ``reshape(descriptor_load(d, i))`` that drops leading dims of one element into a load of what is left;
    * loads and stores whose mask is constant into ones without a mask, or into nothing.
    """

    name = "combine"
    contract = Contract(("tt",), creates=("tt.dot", "arith"))

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for inner in ops_in(op):
            rule = _RULES.get(inner.__class__)
            if rule is not None:
                rule(inner)


def _has_one_use(value: SSAValue) -> bool:
    return value.has_one_use()


def _add_pointer(op: tile.AddPtrOp) -> None:
    inner = op.ptr.owner
    if not isinstance(inner, tile.AddPtrOp) or inner.offset.type != op.offset.type:
        return
    width = width_of(op.offset.type)
    a, b = constant_of(inner.offset), constant_of(op.offset)
    exact = a is not None and b is not None and width is not None and signed(int(a + b), width) == a + b
    if width != 64 and not exact:
        return  # offsets are sign-extended one by one; the narrow sum might wrap
    builder = Builder.before(op)
    offset = builder.emit(arith.AddiOp, (inner.offset, op.offset), (op.offset.type,))
    replace(op, (builder.emit(tile.AddPtrOp, (inner.ptr, offset), (op.result.type,)),))


def _subtract(op: arith.SubiOp) -> None:
    if not _subtract_multiple(op):
        _subtract_number(op)


def _subtract_multiple(op: arith.SubiOp) -> bool:
    """Of a value the multiple that its own quotient gives."""
    product = op.rhs.owner
    if not isinstance(product, arith.MuliOp):
        return False
    for quotient, divisor in ((product.lhs, product.rhs), (product.rhs, product.lhs)):
        division = quotient.owner
        remainder = _REMAINDERS.get(division.__class__)
        if not isinstance(division, Operation) or remainder is None or tuple(division.operands) != (op.lhs, divisor):
            continue
        replace(op, (Builder.before(op).emit(remainder, (op.lhs, divisor), (op.result.type,)),))
        for unused in (product, division):  # the remainder traps where the quotient would
            if not any(unused.results[0].uses):
                erase(unused)
        return True
    return False


_REMAINDERS: dict[type, type[Operation]] = {arith.DivSIOp: arith.RemSIOp, arith.DivUIOp: arith.RemUIOp}


def _subtract_number(op: arith.SubiOp) -> None:
    number, width = constant_of(op.rhs), width_of(op.result.type)
    if not isinstance(number, int) or width is None or width < 2:
        return
    builder = Builder.before(op)
    negated = builder.constant(signed(-number, width), op.result.type)
    replace(op, (builder.emit(arith.AddiOp, (op.lhs, negated), (op.result.type,)),))


def _add_integers(op: arith.AddiOp) -> None:
    value, outer = _value_and_number(op)
    inner = value.owner
    if outer is None or not isinstance(inner, arith.AddiOp):
        return
    rest, number = _value_and_number(inner)
    width = width_of(op.result.type)
    if number is None or width is None:
        return
    sum_ = signed(number + outer, width)
    if sum_ == 0:
        replace(op, (rest,))
        return
    if not _has_one_use(inner.results[0]):
        return
    builder = Builder.before(op)
    total = builder.constant(sum_, op.result.type)
    replace(op, (builder.emit(arith.AddiOp, (rest, total), (op.result.type,)),))


def _value_and_number(op: arith.AddiOp) -> tuple[SSAValue, int | None]:
    """What a number is added to, on whichever side, and the number; None where both are unknown."""
    for value, other in ((op.lhs, op.rhs), (op.rhs, op.lhs)):
        number = constant_of(other)
        if number is not None:
            return value, int(number)
    return op.lhs, None


def _add(op: arith.AddiOp) -> None:
    if not _add_to_dot(op):
        _add_integers(op)


def _add_float(op: arith.AddfOp) -> None:
    _add_to_dot(op)


def _add_to_dot(op: arith.AddfOp | arith.AddiOp) -> bool:
    """Whether one operand was a product that adds to nothing, and is one now that adds to the other. Sums of integers
    wrap in either order."""
    for product, addend in ((op.lhs, op.rhs), (op.rhs, op.lhs)):
        dot = product.owner
        if (
            isinstance(dot, tile.DotOp)
            and _has_one_use(product)
            and constant_of(dot.c) == 0
            and dot.maxNumImpreciseAcc.value.data == 0
        ):
            builder = Builder.before(op)
            builder.location = dot.location
            new = builder.create(tile.DotOp, (dot.a, dot.b, addend), (product.type,), dot.properties, dot.attributes)
            replace(op, new.results)
            erase(dot)
            return True
    return False


def _select_of_load(op: arith.SelectOp) -> None:
    condition, if_true, otherwise = op.operands
    load = if_true.owner
    if not isinstance(load, tile.LoadOp) or load.mask is None or load.isVolatile.value.data:
        return
    if not _has_one_use(load.results[0]) or not _is_same_mask(load.mask, condition):
        return
    if not _make_available(otherwise, load):
        return
    builder = Builder.before(load)
    new = builder.create(
        tile.LoadOp, (load.ptr, load.mask, otherwise), (load.results[0].type,), _without_segments(load), load.attributes
    )
    replace(op, new.results)
    erase(load)


def _is_same_mask(mask: SSAValue, condition: SSAValue) -> bool:
    if mask is condition:
        return True
    owner = mask.owner
    return isinstance(owner, tile.SplatOp) and owner.src is condition


def _make_available(value: SSAValue, at: Operation) -> bool:
    """Whether ``value`` is defined in front of ``at``; a constant of the same block is moved there."""
    owner = value.owner
    if isinstance(owner, Block):
        return _is_around(owner, at)
    if owner.parent is not at.parent:
        return _is_around(owner.parent, at)
    earlier = at.prev_op
    while earlier is not None:
        if earlier is owner:
            return True
        earlier = earlier.prev_op
    if isinstance(owner, arith.ConstantOp):
        move_before(owner, at)
        return True
    return False


def _is_around(block: Block | None, op: Operation) -> bool:
    current = op.parent
    while current is not None:
        if current is block:
            return True
        above = current.parent_op()
        current = None if above is None else above.parent
    return False


def _without_segments(op: Operation) -> dict[str, Attribute]:
    return {name: value for name, value in op.properties.items() if name != SEGMENTS}


def _load(op: tile.LoadOp) -> None:
    known = None if op.mask is None else constant_of(op.mask)
    if known is None:
        return
    if known:
        builder = Builder.before(op)
        new = builder.create(tile.LoadOp, (op.ptr,), (op.result.type,), _without_segments(op), op.attributes)
        replace(op, new.results)
    elif op.other is not None and not op.isVolatile.value.data:
        replace(op, (op.other,))


def _store(op: tile.StoreOp) -> None:
    known = None if op.mask is None else constant_of(op.mask)
    if known is None:
        return
    if known:
        Builder.before(op).create(tile.StoreOp, (op.ptr, op.value), (), _without_segments(op), op.attributes)
    erase(op)


def _sum_of_product(op: tile.ReduceOp) -> None:
    """``sum_k x[m, k, 1] * y[1, k, n]`` → ``dot(x, y, 0)``."""
    if len(op.operands) != 1 or op.axis.value.data != 1 or not _is_sum(op):
        return
    product = op.operands[0].owner
    if not isinstance(product, arith.MulfOp) or element_type(product.results[0].type) != f32:
        return
    shape = shape_of(product.results[0].type)
    if len(shape) != 3 or min(shape) < SMALLEST_DOT or encoding_of(product.results[0].type) is not None:
        return
    for first, second in (tuple(product.operands), tuple(product.operands)[::-1]):
        x, y = _expanded(first, 2), _expanded(second, 0)
        if x is None or y is None:
            continue
        if shape_of(x.type) != shape[:2] or shape_of(y.type) != shape[1:]:
            continue
        builder = Builder.before(op)
        result = tensor(f32, (shape[0], shape[2]))
        zero = builder.constant(0.0, result)
        precision = {"inputPrecision": IntegerAttr(int(InputPrecision.IEEE), i32)}
        replace(op, (builder.emit(tile.DotOp, (x, y, zero), (result,), precision),))
        return


def _reshape_of_block(op: tile.ReshapeOp) -> None:
    """A block without its leading dims lies in memory as a matrix unit reads it."""
    load = op.src.owner
    if not isinstance(load, tile.DescriptorLoadOp) or not _has_one_use(load.result):
        return
    dropped = dropped_dims(shape_of(load.result.type), shape_of(op.result.type))
    if dropped:
        operands, properties = tuple(load.operands), dict(load.properties)
        made = Builder.before(load).create(tile.DescriptorLoadOp, operands, (op.result.type,), properties)
        replace(op, made.results)
        erase(load)


def _expanded(value: SSAValue, axis: int) -> SSAValue | None:
    """``x`` where ``value`` is ``broadcast(expand_dims(x, axis))``."""
    broadcast = value.owner
    expand = broadcast.src.owner if isinstance(broadcast, tile.BroadcastOp) else broadcast
    if not isinstance(expand, tile.ExpandDimsOp) or expand.axis.value.data != axis:
        return None
    return expand.src if is_tensor(expand.src.type) else None


def _is_sum(op: tile.ReduceOp) -> bool:
    body = only_block(op.combineOp)
    add = None if body is None else body.first_op
    if body is None or not isinstance(add, arith.AddfOp) or set(add.operands) != set(body.args):
        return False
    end = add.next_op
    return isinstance(end, tile.ReduceReturnOp) and tuple(end.operands) == tuple(add.results)


_RULES: dict[type[Operation], Callable[[Operation], None]] = {
    **case(tile.AddPtrOp, _add_pointer),
    **case(arith.SubiOp, _subtract),
    **case(arith.AddiOp, _add),
    **case(arith.AddfOp, _add_float),
    **case(arith.SelectOp, _select_of_load),
    **case(tile.LoadOp, _load),
    **case(tile.StoreOp, _store),
    **case(tile.ReduceOp, _sum_of_product),
    **case(tile.ReshapeOp, _reshape_of_block),
}
