"""Operands that threads load from shared memory for products that run beside them come in parts of K.

The registers of an operand are the product's until it is over. A product with all of K would have the threads wait for
the last one before they load for the next, and the unit wait for them. Of two parts one is multiplied while the other
one is loaded.

    a = local_load A                      a0 = local_load A[:, :K/2]
    d = warp_group_dot a, B, c            d0 = warp_group_dot a0, B[:K/2, :], c
                                          a1 = local_load A[:, K/2:]
                                          d = warp_group_dot a1, B[K/2:, :], d0"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import DenseArrayBase, ModuleOp
from xdsl.ir import Operation, SSAValue
from xdsl.passes import ModulePass

from tritonx.analysis.registers import value_bytes
from tritonx.dialects import scf
from tritonx.dialects.effects import Kind, Resource, effects_of
from tritonx.dialects.gpu_layout import LocalLoadOp, MemDescSubsliceOp, MemDescType, memdesc
from tritonx.dialects.nvidia import WarpGroupDotOp
from tritonx.ir.builder import Builder
from tritonx.ir.contract import Contract
from tritonx.ir.edit import erase
from tritonx.ir.types import bit_width, element_type, encoding_of, i32, shape_of, tensor, type_as, type_of
from tritonx.ir.walk import ops_in

STEP_BITS = 256
"""Of a row of A that an instruction multiplies."""

PART_BYTES = 64
"""Of a thread's registers that a part of an operand may take, if an instruction takes no more. There are two of them
beside the sums, of which a thread may have 512 bytes. No other number has been measured."""


@dataclass(frozen=True)
class MultiplyInParts(ModulePass):
    """Splits warp-group products whose first operand is loaded for them alone into parts of K.

    In the body of an `scf.for` a `ttng.warp_group_dot` whose first operand a `ttg.local_load` reads for it alone
    becomes products of parts of K, two or more, each with a load of its own in front. Sums keep their order.

    Where memory is written between the load and the product they stay as they are; and where sums are limited in length
    (`maxNumImpreciseAcc`)."""

    name = "multiply-in-parts"
    contract = Contract(
        ("ttg",),
        on=("ttng.warp_group_dot",),
        creates=("ttg.memdesc_subslice",),
        after=("expand-pipeline",),
    )

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for inner in ops_in(op):
            if isinstance(inner, WarpGroupDotOp) and isinstance(inner.parent_op(), scf.ForOp):
                load = _load_of(inner)
                if load is not None and (parts := _parts(inner, load)) > 1:
                    _split(inner, load, parts)


def _load_of(product: WarpGroupDotOp) -> LocalLoadOp | None:
    """What loads the first operand for it alone, and may do so in front of it."""
    load = product.a.owner
    if not isinstance(load, LocalLoadOp) or load.parent is not product.parent or not product.a.has_one_use():
        return None
    between = load.next_op
    while between is not None and between is not product:
        if not _leaves_memory_alone(between):
            return None
        between = between.next_op
    return load


def _leaves_memory_alone(op: Operation) -> bool:
    """Whether what is read in front of an op may be read behind it: it at most reads, or waits at an mbarrier."""
    effects = effects_of(op)
    reading = (Kind.READ, Kind.TRAP, Kind.HINT, Kind.COMMIT, Kind.WAIT)
    return effects is not None and all(e.kind in reading and e.resource is not Resource.SCRATCH for e in effects)


def _parts(product: WarpGroupDotOp, load: LocalLoadOp) -> int:
    """In how many parts an operand comes; one where it stays whole."""
    type_ = type_of(load.result)
    steps = shape_of(type_)[1] * bit_width(element_type(type_)) // STEP_BITS
    if product.maxNumImpreciseAcc.value.data or product.isAsync.value.data:
        return 1
    return min(steps, max(2, value_bytes(load.result) // PART_BYTES))


def _split(product: WarpGroupDotOp, load: LocalLoadOp, parts: int) -> None:
    builder = Builder.before(product)
    type_, columns = type_of(load.result), type_as(product.b, MemDescType).shape[1]
    rows, depth = shape_of(type_)
    depth //= parts
    part = tensor(element_type(type_), (rows, depth), encoding_of(type_))
    total = product.c
    for number in range(parts):
        start = number * depth
        memory = _box(builder, load.src, (0, start), (rows, depth))
        a = builder.create(LocalLoadOp, (memory,), (part,)).results[0]
        b = _box(builder, product.b, (start, 0), (depth, columns))
        used = () if product.useC is None or number else (product.useC,)
        made = builder.create(WarpGroupDotOp, (a, b, total, *used), (type_of(product.d),), dict(product.properties))
        total = made.d
    total.name_hint = product.d.name_hint
    product.d.replace_all_uses_with(total)
    erase(product)
    erase(load)


def _box(builder: Builder, memory: SSAValue, offsets: tuple[int, int], shape: tuple[int, int]) -> SSAValue:
    whole = type_as(memory, MemDescType)
    box = memdesc(
        shape,
        whole.element_type,
        whole.encoding,
        space=whole.memory_space,
        mutable=whole.mutable,
        alloc_shape=whole.alloc_shape,
    )
    at = {"offsets": DenseArrayBase.from_list(i32, list(offsets))}
    return builder.create(MemDescSubsliceOp, (memory,), (box,), at).results[0]
