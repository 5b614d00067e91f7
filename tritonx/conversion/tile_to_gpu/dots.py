"""Layouts of matrix products: which of the target's units multiplies, and how its results and operands lie."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from xdsl.ir import Operation, SSAValue

from tritonx.conversion.tile_to_gpu.matrix_unit import CannotMultiply, DotLayout, MatrixUnit, Product, type_name
from tritonx.conversion.tile_to_gpu.target import GpuTarget
from tritonx.dialects import tile
from tritonx.dialects.tile.enums import InputPrecision
from tritonx.ir.explain import explain, is_asked
from tritonx.ir.failure import PassError
from tritonx.ir.types import bit_width, is_tensor, shape_of, type_of
from tritonx.layouts.encodings import BlockedEncoding, Ints

TOPIC = "products"

STEPS = 16
"""How far back the load of an operand is looked for."""


def dot_layouts(
    ops: Iterable[Operation], target: GpuTarget, accesses: Mapping[Operation, BlockedEncoding] | None = None
) -> dict[Operation, DotLayout]:
    """The layouts of every `tt.dot`. `accesses` are the layouts in which memory is accessed."""
    dots = [op for op in ops if isinstance(op, tile.DotOp)]
    return {op: _layout(op, product_of(op, dots, accesses), target) for op in dots}


def _layout(op: tile.DotOp, product: Product, target: GpuTarget) -> DotLayout:
    unit = target.unit_for(product)
    if is_asked(TOPIC):
        explain(TOPIC, op, _choice(product, unit, target))
    try:
        return unit.layout(product, target.threads)
    except CannotMultiply as refusal:
        raise PassError(op, refusal.reason, refusal.hint) from None


def _choice(product: Product, unit: MatrixUnit, target: GpuTarget) -> str:
    """The unit that multiplies, and why none that is faster does."""
    extents = "x".join(map(str, (*product.shape, product.k)))
    found = f"{extents} of {product.a} by {unit.name}"
    for other in target.units:
        why = other.refusal(product, target.threads)
        if why is not None and other.cycles(product) < unit.cycles(product):
            found += f"; can't use {other.name} due to unsupported shapes or data types: {why}"
    return found


def product_of(
    op: tile.DotOp, dots: Iterable[tile.DotOp] = (), accesses: Mapping[Operation, BlockedEncoding] | None = None
) -> Product:
    """What a unit is asked of `op`, one of the products `dots` of a function."""
    bits = bit_width(type_of(op.a))
    others = [other for other in dots if other is not op and other.parent is op.parent]
    a_is_made = any(_reaches(other.d, (op.a,)) for other in others)
    return Product(
        shape=shape_of(type_of(op.d)),
        k=shape_of(type_of(op.a))[-1],
        a=type_name(type_of(op.a)),
        b=type_name(type_of(op.b)),
        sums=type_name(type_of(op.d)),
        bits=bits,
        exact=op.inputPrecision.value.data == InputPrecision.IEEE,
        chained=a_is_made or any(_are_chained(op, other) for other in others),
        a_is_made=a_is_made,
        loaded_bits=_narrowest(op, bits),
        a_order=_memory_order(op.a, accesses or {}),
        b_order=_memory_order(op.b, accesses or {}),
        a_is_loaded=_is_loaded(op.a, op),
        b_is_loaded=_is_loaded(op.b, op),
        is_wanted_whole=any(_needs_whole(op.d, other) for other in others),
    )


def _are_chained(one: tile.DotOp, other: tile.DotOp) -> bool:
    """Whether a result becomes an operand (not the accumulator) of the other product."""
    return _reaches(one.d, (other.a, other.b)) or _reaches(other.d, (one.a, one.b))


def _needs_whole(result: SSAValue, other: tile.DotOp) -> bool:
    """Whether the other product needs all rows of a result for each row of its own: as B, or transposed as A."""
    if _reaches(result, (other.b,)):
        return True
    block = other.parent
    assert block is not None
    turned = [op for op in block.ops if isinstance(op, tile.TransOp) and _reaches(op.result, (other.a,))]
    return any(_reaches(result, (op.src,)) for op in turned)


def _reaches(value: SSAValue, goals: tuple[SSAValue, ...]) -> bool:
    """Whether a goal is computed from `value` in its own block."""
    block = value.owner.parent if isinstance(value.owner, Operation) else None
    work, seen = list(goals), set[SSAValue]()
    while work:
        current = work.pop()
        if current is value:
            return True
        owner = current.owner
        if current in seen or not isinstance(owner, Operation) or owner.parent is not block:
            continue
        seen.add(current)
        work += owner.operands
    return False


def _memory_order(value: SSAValue, accesses: Mapping[Operation, BlockedEncoding]) -> Ints:
    """The dims in the order, fastest first, in which a tile is loaded; that of rows where it is not."""
    rank = len(shape_of(type_of(value)))
    source = list(range(rank))
    for _ in range(STEPS):
        owner = value.owner
        if isinstance(owner, tile.LoadOp) and owner in accesses:
            return tuple(source.index(d) for d in accesses[owner].order)
        if isinstance(owner, tile.DescriptorLoadOp):
            return tuple(source.index(d) for d in reversed(range(rank)))
        if not isinstance(owner, Operation) or not owner.operands or isinstance(owner, tile.DotOp | tile.ReduceOp):
            break
        made_of = owner.operands[0]
        if isinstance(owner, tile.TransOp):
            order = [int(axis) for axis in owner.order.get_values()]
            source = [order[d] for d in source]
        elif not is_tensor(type_of(made_of)) or shape_of(type_of(made_of)) != shape_of(type_of(value)):
            break
        value = made_of
    return tuple(reversed(range(rank)))


def _is_loaded(value: SSAValue, dot: tile.DotOp) -> bool:
    """Whether a tile comes from memory as it is, or transposed, in the product's own block: one from outside of a loop
    would be in registers all the time."""
    while isinstance(value.owner, tile.TransOp):
        value = value.owner.src
    return isinstance(value.owner, tile.LoadOp | tile.DescriptorLoadOp) and value.owner.parent is dot.parent


def _narrowest(op: tile.DotOp, bits: int) -> int:
    """Width of the narrowest load that an operand is widened from: a register then holds whole words of what was
    loaded.
    """
    narrow = bits
    for start in (op.a, op.b):
        current = start
        for _ in range(STEPS):
            owner = current.owner
            if not isinstance(owner, Operation) or not owner.operands or isinstance(owner, tile.DotOp | tile.ReduceOp):
                break
            if isinstance(owner, tile.LoadOp):
                narrow = min(narrow, max(8, bit_width(type_of(current))))
                break
            current = owner.operands[0]
    return narrow
