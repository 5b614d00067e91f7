"""The clusters of a loop of `block-pingpong`: which ops go to which, and the barriers between them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.dialects.builtin import IntegerAttr, IntegerType
from xdsl.ir import Operation, SSAValue

from tritonx.backends.amd.passes.product_slices import Operand, operands_of
from tritonx.dialects import arith, scf, tile
from tritonx.dialects.amd import BufferLoadOp, CondBarrierOp, SchedBarrierOp, SetPrioOp
from tritonx.dialects.arith import CmpiPredicate
from tritonx.dialects.effects import Kind, effects_of
from tritonx.dialects.gpu_layout import LocalBarrierOp, LocalDotOp, LocalStoreOp, WarpIdOp
from tritonx.ir.builder import Builder
from tritonx.ir.edit import erase, move_before, replace, terminator_of
from tritonx.ir.types import i1, i32, i64, type_of

GROUP = 4
"""Warps of a group: one on each SIMD of a compute unit."""
HIGH, LOW = 1, 0
"""Priorities of a wave that multiplies, and of one that does not."""
NOTHING = 0
"""Of kinds of instructions, those that may cross a fence of the scheduler."""


@dataclass(frozen=True)
class Round:
    """A loop's iteration: its product, what loads for the next one, what stores that, and the barriers. `results` are
    computed from the product's result."""

    loop: scf.ForOp
    product: LocalDotOp
    operands: tuple[Operand, Operand]
    loads: tuple[Operation, ...]
    stores: tuple[Operation, ...]
    barriers: tuple[Operation, ...]
    results: frozenset[Operation]


def taken_apart(loop: scf.ForOp, product: LocalDotOp) -> Round | str:
    """The iteration of a loop that loads in front of its product, stores behind it, and computes; else what is in the
    way."""
    operands = operands_of(product)
    if operands is None:
        return "an operand is in registers"
    loads, stores, barriers = list[Operation](), list[Operation](), list[Operation]()
    results, behind = users_of(product), False
    for op in list(loop.body.block.ops)[:-1]:
        if op is product:
            behind = True
        elif isinstance(op, LocalBarrierOp):
            barriers.append(op)
        elif isinstance(op, LocalStoreOp) and behind and op not in results:
            stores.append(op)
        elif isinstance(op, tile.LoadOp | BufferLoadOp) and not behind:
            loads.append(op)
        elif not only_computes(op):
            return f"'{op.name}' is in the loop"
    if not loads or not stores:
        return "its threads do not load and store operands"
    return Round(loop, product, operands, tuple(loads), tuple(stores), tuple(barriers), frozenset(results))


def only_computes(op: Operation) -> bool:
    """Whether an op accesses no memory."""
    effects = effects_of(op)
    return not op.regions and effects is not None and all(effect.kind is Kind.TRAP for effect in effects)


def users_of(product: LocalDotOp) -> set[Operation]:
    """The ops of the body that are computed from its result."""
    found: set[Operation] = set()
    work: list[SSAValue] = [product.d]
    while work:
        for use in work.pop().uses:
            if use.operation.parent is product.parent and use.operation not in found:
                found.add(use.operation)
                work += use.operation.results
    return found


def write_clusters(found: Round, order: Sequence[int], slices: int, group: int) -> None:
    """Cuts the loop into clusters, and has the warps from number `group` on follow the others by one."""
    _Clusters(found, order, slices).write()
    hold_half(found.loop, group)


class _Clusters:
    def __init__(self, found: Round, order: Sequence[int], slices: int) -> None:
        self.found = found
        self.builder = Builder.before(found.product)
        self.builder.location = found.product.location
        self.slices = slices
        self.views = [operand.view(self.builder, order) for operand in found.operands]
        self.tiles: list[tuple[SSAValue, SSAValue]] = []
        self.total = found.product.c

    def write(self) -> None:
        """Memory cluster i reads slice i; the last one stores, and the one before reads what is left."""
        found = self.found
        for barrier in found.barriers:
            erase(barrier)
        later = self._later_loads()
        for number in range(self.slices - 1):
            if number == 1:
                self._move(later)
            self._read()
            if number == self.slices - 2:
                if number == 0:
                    self._move(later)
                self._read()
            self._meet()
            self._multiply(number)
            self._meet()
        self._move([op for op in self._behind() if op not in found.results])
        self._meet()
        self._multiply(self.slices - 1)
        last = Builder.before(terminator_of(found.loop.body.block))
        last.location = found.product.location
        replace(found.product, (self.total,))
        meet(last)

    def _later_loads(self) -> list[Operation]:
        """Loads that need not be in the first cluster: the second half, but for those whose result is computed with in
        front of the product."""
        loads = self.found.loads[-(-len(self.found.loads) // 2) :]
        behind = {*self._behind(), terminator_of(self.found.loop.body.block)}
        return [op for op in loads if all(use.operation in behind for use in op.results[0].uses)]

    def _behind(self) -> list[Operation]:
        """The ops behind the product, without the loop's end."""
        ops = list(self.found.loop.body.block.ops)
        return ops[ops.index(self.found.product) + 1 : -1]

    def _move(self, ops: Sequence[Operation]) -> None:
        for op in ops:
            move_before(op, self.found.product)

    def _read(self) -> None:
        depth, number = self.found.operands[0].depth // self.slices, len(self.tiles)
        a, b = (
            operand.slice(self.builder, view, number, depth)
            for operand, view in zip(self.found.operands, self.views, strict=True)
        )
        self.tiles.append((a, b))

    def _meet(self) -> None:
        meet(self.builder)

    def _multiply(self, number: int) -> None:
        self.total = multiply(self.builder, self.found.product, self.tiles[number], self.total)


def multiply(builder: Builder, product: LocalDotOp, tiles: tuple[SSAValue, SSAValue], total: SSAValue) -> SSAValue:
    """A matrix cluster: a product of operands in registers, added to `total`, with the priority."""
    _priority(builder, HIGH)
    made = product_of_registers(builder, product, tiles, total)
    _priority(builder, LOW)
    return made


def product_of_registers(
    builder: Builder, product: LocalDotOp, tiles: tuple[SSAValue, SSAValue], total: SSAValue
) -> SSAValue:
    """The product with other operands, which registers hold, added to `total`."""
    properties = {name: value for name, value in product.properties.items() if name not in ("aLayout", "bLayout")}
    made = builder.create(tile.DotOp, (*tiles, total), (type_of(product.d),), properties, product.attributes)
    return made.results[0]


def meet(builder: Builder) -> None:
    """The end of a cluster."""
    builder.create(LocalBarrierOp)
    builder.create(SchedBarrierOp, (), (), {"mask": IntegerAttr(NOTHING, i32)})


def _priority(builder: Builder, value: int) -> None:
    builder.create(SetPrioOp, (), (), {"priority": IntegerAttr(value, IntegerType(16))})


def hold_half(loop: scf.ForOp, group: int) -> None:
    """All warps meet in front of the loop; then those from number `group` on wait at a barrier, and behind the loop the
    others do."""
    builder = Builder.before(loop)
    builder.location = loop.location
    builder.create(LocalBarrierOp)
    warp = builder.create(WarpIdOp, (), (i32,)).results[0]
    bound = builder.constant(group, i32)
    late, early = (
        builder.create(arith.CmpiOp, (warp, bound), (i1,), {"predicate": IntegerAttr(how, i64)}).results[0]
        for how in (CmpiPredicate.SGE, CmpiPredicate.SLT)
    )
    builder.create(CondBarrierOp, (late,))
    behind = CondBarrierOp.create(operands=(early,), location=loop.location)
    block = loop.parent
    assert block is not None
    block.insert_op_after(behind, loop)


def prioritise(product: LocalDotOp | tile.DotOp) -> None:
    """A wave that multiplies issues before the others of its SIMD."""
    before = Builder.before(product)
    before.location = product.location
    _priority(before, HIGH)
    behind = SetPrioOp.create(properties={"priority": IntegerAttr(LOW, IntegerType(16))}, location=product.location)
    block = product.parent
    assert block is not None
    block.insert_op_after(behind, product)
