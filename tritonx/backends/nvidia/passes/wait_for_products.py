"""Products of warp groups run beside the program, and are waited for at their first use.

A warp group issues its products in order, and they end in order, so that a wait says how many of the last ones may
still be under way. It is needed in front of

- who reads a result. The next product that adds to it is none: it comes behind in the unit itself;
- who makes the operand in registers that the same product reads in the next iteration. What threads load from shared
  memory for one is in two sets of registers at most, so that they wait for all but the last product;
- who writes to the memory that a product reads, or to the slot of it in a later iteration (`analysis/slot_sequence`);
  where a copy does that of which an mbarrier tells, in front of what the mbarrier is told to expect.

A wait passes on what is read behind it, so that nothing reads that earlier. What only a branch reads is waited for in
the branch, which hands the result on: so a loop over several tiles, which stores one in some iterations, waits in
these. Behind the loop all are waited for."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import BoolAttr, IntegerAttr, ModuleOp
from xdsl.ir import Block, Operation, SSAValue
from xdsl.passes import ModulePass

from tritonx.analysis.slot_sequence import Slot
from tritonx.dialects import scf
from tritonx.dialects.control_flow import carried_by
from tritonx.dialects.effects import Kind, Resource, effects_of
from tritonx.dialects.gpu_layout import LocalAllocOp, LocalLoadOp, MemDescType
from tritonx.dialects.nvidia import (
    AsyncTMACopyGlobalToLocalOp,
    BarrierExpectOp,
    WarpGroupDotOp,
    WarpGroupDotWaitOp,
)
from tritonx.dialects.proton import RecordOp
from tritonx.ir.builder import Builder
from tritonx.ir.contract import Contract
from tritonx.ir.edit import ValueMap, terminator_of
from tritonx.ir.types import i32, type_of
from tritonx.ir.walk import ops_in
from tritonx.transforms.gpu.iter_args import with_result
from tritonx.transforms.pipelining.loop_schedule import inside

C = 2
"""The number of the operand of a `ttng.warp_group_dot` to which it adds."""


@dataclass(frozen=True)
class WaitForProducts(ModulePass):
    """Makes warp-group products in loops asynchronous, and inserts the waits that this demands.

    Each `ttng.warp_group_dot` in the body of a `scf.for` is, with `ttng.warp_group_dot_wait`. A loop with asynchronous
    products, or with a result that is carried over more than one iteration, stays as it is. So does one whose regions
    are measured (`proton.record`): a product is waited for where it is issued, and is whole in its region."""

    name = "wait-for-products"
    contract = Contract(
        ("ttg",),
        on=("ttng.warp_group_dot",),
        creates=("ttng.warp_group_dot_wait",),
        after=("expand-pipeline", "multiply-in-parts"),
    )

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for loop in [inner for inner in ops_in(op) if isinstance(inner, scf.ForOp)]:
            products = [inner for inner in loop.body.block.ops if isinstance(inner, WarpGroupDotOp)]
            if any(isinstance(inner, RecordOp) for inner in ops_in(loop)):
                continue
            if products and not any(product.isAsync.value.data for product in products):
                _Waits(loop, [product for product in products if not _is_precise(product)]).run()


def _is_precise(product: WarpGroupDotOp) -> bool:
    """Whether the program adds up parts of the product itself."""
    limit = product.maxNumImpreciseAcc.value.data
    b = type_of(product.b)
    assert isinstance(b, MemDescType)
    return 0 < limit <= b.shape[0]


@dataclass(frozen=True)
class Need:
    """In front of `at` at most `pendings` products may be under way; then `value` is read, if there is one."""

    at: Operation
    pendings: int
    value: SSAValue | None = None


class _Waits:
    def __init__(self, loop: scf.ForOp, products: list[WarpGroupDotOp]) -> None:
        self.loop, self.products = loop, products
        self.body: Block = loop.body.block
        self.end = terminator_of(self.body)
        self.handed_on: ValueMap = {}
        """Result of a branch → the result of a product that it hands on; see `_wait_in_branch`."""
        for product in products:
            self._wait_in_branch(product)
        self.number = {op: number for number, op in enumerate(self.body.ops)}
        self.now: ValueMap = {}
        """Value → what the last wait that passed it on has made of it."""

    def run(self) -> None:
        if not self.products:
            return
        needs = [need for product in self.products for need in self._needs(product)]
        carried = [each for each in carried_by(self.loop) if self._is_product(each.yielded.value)]
        if any(self._goes_on(each.argument) for each in carried):
            return
        passed = [each.result for each in carried]
        memory = self._memory()
        if not passed and memory is None:
            return
        for product in self.products:
            product.properties["isAsync"] = BoolAttr.from_bool(True)
        self._insert(needs, memory)
        self._wait_behind(passed if memory is None or passed else [memory])

    def _wait_in_branch(self, product: WarpGroupDotOp) -> None:
        """Where only the first region of one `scf.if` reads a result in this iteration, the region waits for it."""
        value = product.d
        readers = [use.operation for use in value.uses if use.operation is not self.end]
        branches = {inside(self.body, reader) for reader in readers}
        branch = branches.pop() if len(branches) == 1 else None
        if not isinstance(branch, scf.IfOp) or branch in readers:
            return
        region = branch.true_region
        first = region.block.first_op
        assert first is not None
        if not all(region.is_ancestor(reader) for reader in readers):
            return
        between = [op for op in self.products if product.is_before_in_block(op) and op.is_before_in_block(branch)]
        pendings = IntegerAttr(len(between), i32)
        wait = Builder.before(first).create(WarpGroupDotWaitOp, (value,), (value.type,), {"pendings": pendings})
        done = wait.outputs[0]
        value.replace_uses_with_if(done, lambda use: use.operation is not wait and use.operation is not self.end)
        before: list[SSAValue] = list(branch.results)
        made = with_result(branch, done, value)
        moved: ValueMap = dict(zip(before, made.results, strict=False))
        self.handed_on = {moved.get(result, result): given for result, given in self.handed_on.items()}
        self.handed_on[made.results[-1]] = value
        value.replace_uses_with_if(made.results[-1], lambda use: use.operation is self.end)

    def _made_by(self, value: SSAValue) -> Operation | Block:
        """What makes a value, whichever branch hands it on."""
        return self.handed_on.get(value, value).owner

    def _is_product(self, value: SSAValue) -> bool:
        return self._made_by(value) in self.products

    def _goes_on(self, argument: SSAValue) -> bool:
        """Whether what was carried is carried on, as another value."""
        return any(use.operation is self.end for use in argument.uses)

    def _before(self, op: Operation) -> int:
        """How many products there are in front of an op of the body."""
        number = self.number[inside(self.body, op)]
        return sum(self.number[product] < number for product in self.products)

    # --- what is needed

    def _needs(self, product: WarpGroupDotOp) -> Iterator[Need]:
        yield from self._of_readers(product, product.d, 0)
        for each in carried_by(self.loop):
            if self._made_by(each.yielded.value) is product:
                yield from self._of_readers(product, each.argument, 1)
        for operand in (product.a, product.b):
            if isinstance(operand.type, MemDescType):
                yield from self._of_writers(product, operand)
            elif operand.owner is self.body and product.d.first_use is not None:
                yield Need(self.end, self._between(product, self.end, 0), product.d)
            elif isinstance(owner := operand.owner, Operation) and owner in self.number:
                # The registers of the iteration before are the product's until it completes.
                pendings = self._between(product, owner, 1)
                yield Need(owner, min(pendings, 1) if isinstance(owner, LocalLoadOp) else pendings)

    def _of_readers(self, product: WarpGroupDotOp, value: SSAValue, rounds: int) -> Iterator[Need]:
        """The waits of those that read a result, of the same iteration or of the previous one."""
        alone = value.has_one_use()
        for use in value.uses:
            adds = isinstance(use.operation, WarpGroupDotOp) and use.operation in self.products and use.index == C
            at = inside(self.body, use.operation)
            hands_on = any(self.handed_on.get(result) is value for result in at.results)
            if at is not self.end and not (adds and alone) and not hands_on:
                yield Need(at, self._between(product, at, rounds), value)

    def _between(self, product: WarpGroupDotOp, at: Operation, rounds: int) -> int:
        """Products after one and before an op that many iterations later."""
        return rounds * len(self.products) + self._before(at) - self._before(product) - 1

    def _of_writers(self, product: WarpGroupDotOp, operand: SSAValue) -> Iterator[Need]:
        read = Slot.of(operand)
        for op in self.body.walk():
            for written in _written(op):
                slot = Slot.of(written)
                if read.root is not slot.root:
                    continue
                at = self._phase(inside(self.body, op))
                later = self.number[at] > self.number[product]
                rounds = read.rounds_until(slot, self.loop, same_round=later)
                if rounds is not None:
                    yield Need(at, self._between(product, at, rounds))

    def _phase(self, copy: Operation) -> Operation:
        """Where the phase of an mbarrier begins that tells of a copy, behind the product before: all threads must have
        waited for the last phase there, so that they meet once for both."""
        found, op = copy, copy.prev_op
        while isinstance(copy, AsyncTMACopyGlobalToLocalOp) and op is not None and op not in self.products:
            if isinstance(op, BarrierExpectOp) and op.alloc is copy.barrier:
                found = op
            op = op.prev_op
        return found

    def _memory(self) -> SSAValue | None:
        """Memory of an operand that is there in the whole loop and behind it."""
        roots = (Slot.of(operand).root for product in self.products for operand in (product.a, product.b))
        return next((root for root in roots if isinstance(root.type, MemDescType) and not self._is_inside(root)), None)

    def _is_inside(self, value: SSAValue) -> bool:
        owner = value.owner
        block = owner if isinstance(owner, Block) else owner.parent
        return block is self.body

    # --- waits

    def _insert(self, needs: list[Need], memory: SSAValue | None) -> None:
        latest: dict[Operation, SSAValue | None] = {}
        before: SSAValue | None = None
        for op in self.body.ops:
            latest[op] = before
            before = op.results[0] if op in self.products else before
            before = next((result for result in op.results if result in self.handed_on), before)
        for at, pendings, values in self._planned(needs):
            given = [value for value in (latest[at], self._carried_result(), memory) if value is not None]
            self._wait(at, pendings, values or given[:1])

    def _planned(self, needs: list[Need]) -> list[tuple[Operation, int, list[SSAValue]]]:
        """Waits, in order. As many products are under way where the body begins as where it ends, or fewer: how many
        that are is tried, from none on; any number in the end."""
        most: int | None = 0
        while True:
            waits, left = self._walked(needs, most)
            if most is None or (left is not None and left <= most):
                return waits
            most = left if left is not None and left <= len(self.products) * len(needs) else None

    def _walked(
        self, needs: list[Need], under_way: int | None
    ) -> tuple[list[tuple[Operation, int, list[SSAValue]]], int | None]:
        """The waits of a body that begins with so many products under way at most (None: any number), and how many are
        left where it ends."""
        at: dict[Operation, list[Need]] = {}
        for need in needs:
            at.setdefault(need.at, []).append(need)
        waits: list[tuple[Operation, int, list[SSAValue]]] = []
        ended = {need.value for need in needs if need.at is self.end}
        passed: set[SSAValue] = {each.argument for each in carried_by(self.loop) if each.yielded.value in ended}
        for op in self.body.ops:
            here = [need for need in at.get(op, []) if need.value not in passed]
            for need in here:
                ended = next((wait for wait in waits if self._ends(wait, need)), None)
                if ended is not None and need.value is not None and need.value not in passed:
                    ended[2].append(need.value)
                    passed.add(need.value)
            values = [v for v in dict.fromkeys(need.value for need in here) if v is not None and v not in passed]
            pendings = min((need.pendings for need in here), default=None)
            if pendings is not None and (values or under_way is None or pendings < under_way):
                under_way = pendings if under_way is None else min(pendings, under_way)
                waits.append((op, under_way, values))
                passed.update(values)
            if op in self.products:
                under_way = None if under_way is None else under_way + 1
        return waits, under_way

    def _ends(self, wait: tuple[Operation, int, list[SSAValue]], need: Need) -> bool:
        """Whether the product of a value is done behind a wait in front of the need, so that it can pass it on: another
        one would only keep the value's readers from being done earlier."""
        at, pendings, _ = wait
        value = need.value
        if value is None or (isinstance(value.owner, Operation) and self.number[value.owner] > self.number[at]):
            return False
        return pendings <= need.pendings - (self._before(need.at) - self._before(at))

    def _carried_result(self) -> SSAValue | None:
        return next((each.argument for each in carried_by(self.loop) if self._is_product(each.yielded.value)), None)

    def _wait(self, op: Operation, pendings: int, values: list[SSAValue]) -> None:
        """A wait in front of an op; what comes behind reads what it passes on."""
        now = [self.now.get(value, value) for value in values]
        types = [value.type for value in values]
        wait = Builder.before(op).create(WarpGroupDotWaitOp, now, types, {"pendings": IntegerAttr(pendings, i32)})
        for value, old, output in zip(values, now, wait.outputs, strict=True):
            output.name_hint = value.name_hint
            self.now[value] = output
            for use in list(old.uses):
                if use.operation is not wait and self._is_behind(use.operation, op):
                    use.operation.operands[use.index] = output

    def _is_behind(self, user: Operation, op: Operation) -> bool:
        """Whether an op comes with, or behind, one of the body."""
        around: Operation | None = user
        while around is not None and around.parent is not self.body:
            around = around.parent_op()
        return around is not None and around in self.number and self.number[around] >= self.number[op]

    def _wait_behind(self, values: list[SSAValue]) -> None:
        block = self.loop.parent
        assert block is not None
        wait = WarpGroupDotWaitOp.create(
            operands=values,
            result_types=[value.type for value in values],
            properties={"pendings": IntegerAttr(0, i32)},
            location=self.loop.location,
        )
        block.insert_op_after(wait, self.loop)
        for value, output in zip(values, wait.outputs, strict=True):
            if value.owner is self.loop:
                output.name_hint = value.name_hint
                for use in list(value.uses):
                    if use.operation is not wait:
                        use.operation.operands[use.index] = output


def _written(op: Operation) -> Iterator[SSAValue]:
    """The memory that an op writes to."""
    if isinstance(op, LocalAllocOp):
        if op.src is not None:
            yield op.result
        return
    for effect in () if op.regions else effects_of(op) or ():
        if effect.kind is Kind.WRITE and effect.resource is Resource.MEMDESC:
            yield from effect.values(op)
