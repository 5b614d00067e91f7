"""Layouts of matrix products: which of the target's units multiplies, and how its results and operands lie."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from xdsl.ir import Block, Operation, SSAValue

from tritonx.conversion.tile_to_gpu.matrix_unit import CannotMultiply, DotLayout, MatrixUnit, Product, type_name
from tritonx.conversion.tile_to_gpu.target import GpuTarget
from tritonx.dialects import tile
from tritonx.dialects.tile.enums import InputPrecision, ScaleDotElemType
from tritonx.ir.explain import explain, is_asked
from tritonx.ir.failure import PassError
from tritonx.ir.types import bit_width, is_tensor, shape_of, type_of
from tritonx.layouts.encodings import BlockedEncoding, Ints

TOPIC = "products"

Dot = tile.DotOp | tile.DotScaledOp

STEPS = 16
"""How far back the load of an operand is looked for."""


def dot_layouts(
    ops: Iterable[Operation], target: GpuTarget, accesses: Mapping[Operation, BlockedEncoding] | None = None
) -> dict[Operation, DotLayout]:
    """The layouts of every `tt.dot` and `tt.dot_scaled`. `accesses` are the layouts in which memory is accessed."""
    dots = [op for op in ops if isinstance(op, tile.DotOp | tile.DotScaledOp)]
    chains = Chains.of(dots)
    return {op: _layout(op, product_of(op, chains, accesses), target) for op in dots}


def _layout(op: Dot, product: Product, target: GpuTarget) -> DotLayout:
    scaled = isinstance(op, tile.DotScaledOp)
    unit = target.scaling_unit if scaled else target.unit_for(product)
    if is_asked(TOPIC):
        chosen = f"{_named(product)} with scales by {unit.name}" if scaled else _choice(product, unit, target)
        explain(TOPIC, op, chosen)
    try:
        return (unit.scaled_layout if scaled else unit.layout)(product, target.threads)
    except CannotMultiply as refusal:
        raise PassError(op, refusal.reason, refusal.hint) from None


def _choice(product: Product, unit: MatrixUnit, target: GpuTarget) -> str:
    """The unit that multiplies, and why none that is faster does."""
    found = f"{_named(product)} by {unit.name}"
    for other in target.units:
        why = other.refusal(product, target.threads)
        if why is not None and other.cycles(product) < unit.cycles(product):
            found += f"; can't use {other.name} due to unsupported shapes or data types: {why}"
    return found


def _named(product: Product) -> str:
    """Extents and operand types."""
    extents = "x".join(map(str, (*product.shape, product.k)))
    return f"{extents} of {' and '.join(dict.fromkeys((product.a, product.b)))}"


def product_of(
    op: Dot,
    dots: Iterable[Dot] | Chains = (),
    accesses: Mapping[Operation, BlockedEncoding] | None = None,
) -> Product:
    """What a unit is asked of `op`, one of the products `dots` of a function."""
    bits = bit_width(type_of(op.a))
    chains = dots if isinstance(dots, Chains) else Chains.of(dots)
    a_is_made = chains.makes_a(op)
    if isinstance(op, tile.DotScaledOp):
        a, b = (ScaleDotElemType(kind.value.data).name.lower() for kind in (op.a_elem_type, op.b_elem_type))
        depth, exact = op.depth, True
    else:
        a, b, depth = type_name(type_of(op.a)), type_name(type_of(op.b)), shape_of(type_of(op.a))[-1]
        exact = op.inputPrecision.value.data == InputPrecision.IEEE
    return Product(
        shape=shape_of(type_of(op.d)),
        k=depth,
        a=a,
        b=b,
        sums=type_name(type_of(op.d)),
        bits=bits,
        exact=exact,
        chained=chains.is_chained(op),
        a_is_made=a_is_made,
        loaded_bits=_narrowest(op, bits),
        a_order=_memory_order(op.a, accesses or {}),
        b_order=_memory_order(op.b, accesses or {}),
        a_is_loaded=_is_loaded(op.a, op),
        b_is_loaded=_is_loaded(op.b, op),
        is_wanted_whole=chains.is_wanted_whole(op),
    )


@dataclass(frozen=True)
class Chains:
    """Which of the products of a function are computed from each other's results, in their own blocks.

    A bit stands for each product, and each transposition. One pass over a block finds the bits of all that a value is
    computed from.
    """

    bits: Mapping[Operation, int]
    made_of: Mapping[SSAValue, int]
    """What each value of the blocks is computed from, itself included."""
    used: Mapping[Block, int]
    """Of each block, what its products' operands A and B are computed from."""
    whole: Mapping[Block, int]
    """Of each block, what a product needs all rows of for each row of its own: as B, or transposed as A."""

    @classmethod
    def of(cls, dots: Iterable[Dot]) -> Chains:
        by_block: dict[Block, list[Dot]] = {}
        for dot in dots:
            if dot.parent is not None:
                by_block.setdefault(dot.parent, []).append(dot)
        bits: dict[Operation, int] = {}
        made_of: dict[SSAValue, int] = {}
        used: dict[Block, int] = {}
        whole: dict[Block, int] = {}
        for block, here in by_block.items():
            wanted = set[Operation](here)
            turned: list[tile.TransOp] = []
            for op in block.ops:
                if isinstance(op, tile.TransOp):
                    turned.append(op)
                if isinstance(op, tile.TransOp) or op in wanted:
                    bits[op] = 1 << len(bits)
                found = bits.get(op, 0)
                for operand in op.operands:
                    found |= made_of.get(operand, 0) if _block_of(operand) is block else 0
                made_of.update(dict.fromkeys(op.results, found))
            as_a = _union(made_of.get(dot.a, 0) for dot in here)
            as_b = _union(made_of.get(dot.b, 0) for dot in here)
            used[block] = as_a | as_b
            whole[block] = as_b | _union(made_of.get(op.src, 0) for op in turned if bits[op] & as_a)
        products = _union(bit for op, bit in bits.items() if isinstance(op, Dot))
        return cls(bits, {value: found & products for value, found in made_of.items()}, used, whole)

    def makes_a(self, op: Dot) -> bool:
        """Whether operand A is computed from another product's result."""
        return self._is_made(op, op.a)

    def is_chained(self, op: Dot) -> bool:
        """Whether a result becomes an operand (not the accumulator) of another product, this one's or to this one."""
        return self.makes_a(op) or self._is_made(op, op.b) or self._bit(op) & self.used.get(_block(op), 0) != 0

    def is_wanted_whole(self, op: Dot) -> bool:
        """Whether another product needs all rows of the result for each row of its own."""
        return self._bit(op) & self.whole.get(_block(op), 0) != 0

    def _bit(self, op: Dot) -> int:
        return self.bits.get(op, 0)

    def _is_made(self, op: Dot, operand: SSAValue) -> bool:
        return op in self.bits and _block_of(operand) is op.parent and self.made_of.get(operand, 0) != 0


def _union(parts: Iterable[int]) -> int:
    found = 0
    for part in parts:
        found |= part
    return found


def _block(op: Operation) -> Block:
    assert op.parent is not None
    return op.parent


def _block_of(value: SSAValue) -> Block | None:
    return value.owner.parent if isinstance(value.owner, Operation) else None


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
        if not isinstance(owner, Operation) or not owner.operands or isinstance(owner, Dot | tile.ReduceOp):
            break
        made_of = owner.operands[0]
        if isinstance(owner, tile.TransOp):
            order = [int(axis) for axis in owner.order.get_values()]
            source = [order[d] for d in source]
        elif not is_tensor(type_of(made_of)) or shape_of(type_of(made_of)) != shape_of(type_of(value)):
            break
        value = made_of
    return tuple(reversed(range(rank)))


def _is_loaded(value: SSAValue, dot: Dot) -> bool:
    """Whether a tile comes from memory as it is, or transposed, in the product's own block: one from outside of a loop
    would be in registers all the time."""
    while isinstance(value.owner, tile.TransOp):
        value = value.owner.src
    return isinstance(value.owner, tile.LoadOp | tile.DescriptorLoadOp) and value.owner.parent is dot.parent


def _narrowest(op: Dot, bits: int) -> int:
    """Width of the narrowest load that an operand is widened from: a register then holds whole words of what was
    loaded.
    """
    narrow = bits
    for start in (op.a, op.b):
        current = start
        for _ in range(STEPS):
            owner = current.owner
            if not isinstance(owner, Operation) or not owner.operands or isinstance(owner, Dot | tile.ReduceOp):
                break
            if isinstance(owner, tile.LoadOp):
                narrow = min(narrow, max(8, bit_width(type_of(current))))
                break
            current = owner.operands[0]
    return narrow
