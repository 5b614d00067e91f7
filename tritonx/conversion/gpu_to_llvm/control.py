"""Control flow: structured ops become blocks and phis; unstructured branches keep theirs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from xdsl.ir import Attribute, Block, Operation, SSAValue

from tritonx.conversion.counters import next_count
from tritonx.conversion.gpu_to_llvm import regions
from tritonx.conversion.gpu_to_llvm.function import Emit, FunctionEmitter
from tritonx.conversion.gpu_to_llvm.shared import paddings
from tritonx.conversion.gpu_to_llvm.values import SharedView, Tile
from tritonx.conversion.gpu_to_llvm.words import Form, words_of_stored
from tritonx.conversion.llvm_text import is_float
from tritonx.dialects import cf, gpu, gpu_layout, llvm, scf, tile
from tritonx.dialects.gpu_layout import MemDescType
from tritonx.ir.dispatch import case
from tritonx.ir.failure import PassError
from tritonx.ir.fold.constants import constant_of


class Phis:
    """The phis of one block for values of ``types``: data as one vector, everything else as scalars; what has one of
    the ``forms`` in that."""

    def __init__(self, f: FunctionEmitter, types: list[Attribute], forms: Mapping[int, Form] | None = None) -> None:
        self.f = f
        self.forms = forms or {}
        self.tiles: list[Tile] = []
        self._lines: list[tuple[int, str, str, bool, int]] = []
        for number, type_ in enumerate(types):
            elem, n = f.type(type_), f.registers(type_)
            if (form := self.forms.get(number)) is not None:
                names = [f.name() for _ in range(form.count)]
                tile_ = form.tile(f, names)
                for i, name in enumerate(names):
                    self._reserve(tile_, name, form.type, False, i)
            elif n > 1 and is_float(elem):
                tile_ = Tile.wide(elem, n, f.name())
                self._reserve(tile_, tile_.vector or "", tile_.type, True, 0)
            else:
                tile_ = Tile.of(elem, [f.name() for _ in range(n)])
                for i, name in enumerate(tile_.scalars or []):
                    self._reserve(tile_, name, elem, False, i)
            self.tiles.append(tile_)
        self.incoming: list[tuple[str, list[list[str]]]] = []

    def _reserve(self, tile_: Tile, name: str, type_: str, wide: bool, index: int) -> None:
        self._lines.append((len(self.f.lines), name, type_, wide, index))
        self.f.lines.append("")

    def operands(self, tiles: list[Tile]) -> list[list[str]]:
        """The values of one incoming edge in the phis' own forms; to be asked for before that edge's branch is
        written.
        """
        return [
            form.of(self.f, value)
            if (form := self.forms.get(number)) is not None
            else [self.f.wide(value)]
            if mine.prefers_vector
            else list(self.f.scalars(value))
            for number, (mine, value) in enumerate(zip(self.tiles, tiles, strict=True))
        ]

    def add(self, block: str, operands: list[list[str]]) -> None:
        self.incoming.append((block, operands))

    def close(self) -> None:
        """Write the phis once every edge is known."""
        flat = [(block, [x for value in operands for x in value]) for block, operands in self.incoming]
        for k, (where, name, type_, _, _) in enumerate(self._lines):
            edges = ", ".join(f"[ {values[k]}, %{block} ]" for block, values in flat)
            self.f.lines[where] = f"  {name} = phi {type_} {edges}"


def types_of(values: Sequence[SSAValue]) -> list[Attribute]:
    return [v.type for v in values]


def bind(f: FunctionEmitter, values: Sequence[SSAValue], tiles: list[Tile]) -> None:
    for value, tile_ in zip(values, tiles, strict=True):
        if isinstance(value.type, MemDescType):
            f.set(value, SharedView(f.scalars(tile_)[0], 0, paddings(value.type)))
        else:
            f.set(value, tile_)


def passed_on(f: FunctionEmitter, op: Operation, values: Iterable[SSAValue]) -> list[Tile]:
    """Values that ``op`` hands to another block; of a buffer in shared memory the address."""
    out: list[Tile] = []
    for value in values:
        if not isinstance(value.type, MemDescType):
            out.append(f.get(value))
            continue
        view = f.view(value)
        if view.start:
            raise PassError(
                op, "a window of a buffer is passed to another block", "pass the buffer, take the window there"
            )
        out.append(Tile.of(f.shared, [view.pointer]))
    return out


def terminator_values(f: FunctionEmitter, block: Block) -> list[Tile]:
    assert block.last_op is not None
    return passed_on(f, block.last_op, block.last_op.operands)


def for_(op: scf.ForOp, f: FunctionEmitter, forms: Mapping[int, Form] | None = None) -> None:
    """A loop; ``forms`` are those of some of the carried values, by their numbers."""
    lower, upper, step = (f.scalar(v) for v in (op.lb, op.ub, op.step))
    type_ = f.type(op.lb.type)
    body = op.body.block
    head, inside, done = f.new_label("for"), f.new_label("body"), f.new_label("done")
    start = passed_on(f, op, op.iter_args)
    forms = {**words_of_stored(f, body), **(forms or {})}
    # The operands of the phis must exist before the branch; their forms depend on the types and uses alone.
    entry = edge_operands(f, start, types_of(op.iter_args), forms)
    before = f.block
    f.branch(head)
    f.label(head)
    counter = f.name()
    counter_at = len(f.lines)
    f.lines.append("")
    phis = Phis(f, types_of(op.iter_args), forms)
    phis.add(before, entry)
    word = "slt" if op.unsigned is None else "ult"
    f.line(f"br i1 {f.inst(f'icmp {word} {type_} {counter}, {upper}')}, label %{inside}, label %{done}")
    f.label(inside)
    f.set(body.args[0], Tile.of(type_, [counter]))
    bind(f, body.args[1:], phis.tiles)
    with f.in_body(type_, counter):
        f.ops(body)
        back = phis.operands(terminator_values(f, body))
    if any(isinstance(inner, gpu_layout.AsyncCopyGlobalToLocalOp) for inner in body.ops):
        back = [_as_one(f, *pair) for pair in zip(phis.tiles, back, strict=True)]
    following = next_count(f, op, type_, counter, step)
    latch = f.block
    f.branch(head, f.module.loop_mark(op, unrolls=not _is_kept(op, f)))
    phis.add(latch, back)
    phis.close()
    f.lines[counter_at] = f"  {counter} = phi {type_} [ {lower}, %{before} ], [ {following}, %{latch} ]"
    f.label(done)
    bind(f, op.results, phis.tiles)


def _is_kept(op: scf.ForOp, f: FunctionEmitter) -> bool:
    """Whether an assembler, which could unroll a loop of that many iterations whole, must not unroll it."""
    counted = all(constant_of(value) is not None for value in (op.lb, op.ub, op.step))
    return counted and any(isinstance(inner, f.machine.kept_in_loops) for inner in op.body.block.ops)


def _as_one(f: FunctionEmitter, tile_: Tile, names: list[str]) -> list[str]:
    """What is carried, a pointer kept as one where several offsets of it are used: LLVM would carry a pointer for
    each, in twice as many registers as the offsets that two tiles share."""
    if tile_.n == 1 and f.sums.offsets(f.scalars(tile_)[0]) > 1:
        return [f.machine.opaque(f, tile_.elem, name) for name in names]
    return names


def edge_operands(
    f: FunctionEmitter, tiles: list[Tile], types: list[Attribute], forms: Mapping[int, Form] | None = None
) -> list[list[str]]:
    """The values of an edge in the forms that ``Phis`` of ``types`` will have."""
    out: list[list[str]] = []
    for number, (value, type_) in enumerate(zip(tiles, types, strict=True)):
        if forms and (form := forms.get(number)) is not None:
            out.append(form.of(f, value))
            continue
        wide = value.n > 1 and is_float(f.type(type_))
        out.append([f.wide(value)] if wide else list(f.scalars(value)))
    return out


def joined(f: FunctionEmitter, types: list[Attribute], edges: list[tuple[str, list[list[str]]]]) -> list[Tile]:
    """Values of ``types`` where ``edges`` meet, each a block's label and its ``edge_operands``."""
    phis = Phis(f, types)
    for block, operands in edges:
        phis.add(block, operands)
    phis.close()
    return phis.tiles


def if_(op: scf.IfOp, f: FunctionEmitter) -> None:
    condition = f.scalar(op.cond)
    has_else = bool(op.false_region.blocks)
    then, otherwise, done = f.new_label("then"), f.new_label("else"), f.new_label("endif")
    types = types_of(op.results)
    f.line(f"br i1 {condition}, label %{then}, label %{otherwise if has_else else done}")
    edges: list[tuple[str, list[list[str]]]] = []
    for label, region in ((then, op.true_region), (otherwise, op.false_region)):
        if not region.blocks:
            continue
        f.label(label)
        f.ops(region.block)
        operands = edge_operands(f, terminator_values(f, region.block), types) if types else []
        edges.append((f.block, operands))
        f.branch(done)
    f.label(done)
    bind(f, op.results, joined(f, types, edges))


def while_(op: scf.WhileOp, f: FunctionEmitter) -> None:
    before, after = op.before_region.block, op.after_region.block
    head, inside, done = f.new_label("while"), f.new_label("do"), f.new_label("done")
    types = types_of(before.args)
    entry = edge_operands(f, passed_on(f, op, op.operands), types)
    came_from = f.block
    f.branch(head)
    f.label(head)
    phis = Phis(f, types)
    phis.add(came_from, entry)
    bind(f, before.args, phis.tiles)
    f.ops(before)
    condition = before.last_op
    assert condition is not None
    passed = passed_on(f, condition, condition.operands[1:])
    # Conversions made in the blocks below must not be taken for ones that dominate both of them.
    f.line(f"br i1 {f.scalar(condition.operands[0])}, label %{inside}, label %{done}")
    f.label(inside)
    bind(f, after.args, passed)
    f.ops(after)
    back = phis.operands(terminator_values(f, after))
    phis.add(f.block, back)
    f.branch(head, f.module.loop_mark(op))
    phis.close()
    f.label(done)
    bind(f, op.results, passed)


def execute_region(op: Operation, f: FunctionEmitter) -> None:
    region = op.regions[0]
    if len(region.blocks) != 1:
        raise PassError(op, "scf.execute_region with several blocks")
    f.ops(region.block)
    bind(f, op.results, terminator_values(f, region.block))


# ---- unstructured control flow: every block has a label, block arguments are phis that are closed at the function's
# end


def emit_blocks(f: FunctionEmitter, blocks: Sequence[Block], ended: Callable[[Block], None] | None = None) -> None:
    """Emit labelled blocks that branch to each other; the first one's arguments are bound already. ``ended`` is told
    of each block behind its last op."""
    phis: dict[Block, Phis] = {}
    for block in blocks:
        f.label(f.labels[block])
        if block is not blocks[0]:
            phis[block] = Phis(f, types_of(block.args))
            bind(f, block.args, phis[block].tiles)
        f.ops(block)
        if ended is not None:
            ended(block)
    for block, phi in phis.items():
        phi.incoming = f.edges.get(block, [])
        phi.close()


def branch(op: Operation, f: FunctionEmitter) -> None:
    jump(f, op, op.successors[0], op.operands)
    f.branch(f.labels[op.successors[0]])


def conditional_branch(op: Operation, f: FunctionEmitter) -> None:
    then, otherwise = op.successors
    condition = f.scalar(op.operands[0])
    count = len(then.args)
    values = list(op.operands[1:])
    jump(f, op, then, values[:count])
    jump(f, op, otherwise, values[count:])
    f.line(f"br i1 {condition}, label %{f.labels[then]}, label %{f.labels[otherwise]}")


def jump(f: FunctionEmitter, op: Operation, target: Block, values: Iterable[SSAValue]) -> None:
    types = types_of(target.args)
    f.edges.setdefault(target, []).append((f.block, edge_operands(f, passed_on(f, op, values), types)))


def return_(op: Operation, f: FunctionEmitter) -> None:
    if f.is_kernel and f.module.regions is not None:
        regions.end(f)
    if f.partitions is not None:
        f.partitions.end()
    f.machine.end(f)
    f.return_values([f.get(v) for v in op.operands])


def call(op: tile.CallOp, f: FunctionEmitter) -> None:
    if f.threads.group != f.module.group:
        raise PassError(op, "a partition calls a function", "let it be inlined: a function is written for all warps")
    bind(
        f, op.results, f.module.call(f, op.callee.string_value(), [f.get(v) for v in op.operands], types_of(op.results))
    )


def nothing(op: Operation, f: FunctionEmitter) -> None:
    """Terminators of regions, whose parent has read their operands, hints, and what a target does not have."""


def assume(op: Operation, f: FunctionEmitter) -> None:
    f.line(f"call void {f.module.declare('void', '@llvm.assume', ['i1'])}(i1 {f.scalar(op.operands[0])})")


def barrier(op: Operation, f: FunctionEmitter) -> None:
    f.threads.barrier()


def local_barrier(op: Operation, f: FunctionEmitter) -> None:
    f.threads.local_barrier()


TABLE: dict[type[Operation], Emit] = {
    **case(scf.ForOp, for_),
    **case(scf.IfOp, if_),
    **case(scf.WhileOp, while_),
    scf.ExecuteRegionOp: execute_region,
    scf.YieldOp: nothing,
    scf.ConditionOp: nothing,
    cf.BranchOp: branch,
    cf.ConditionalBranchOp: conditional_branch,
    tile.ReturnOp: return_,
    **case(tile.CallOp, call),
    tile.ReduceReturnOp: nothing,
    tile.ScanReturnOp: nothing,
    llvm.AssumeOp: assume,
    gpu.BarrierOp: barrier,
    gpu_layout.BarrierOp: barrier,
    tile.GridDependencyWaitOp: nothing,
    tile.GridDependencyLaunchDependentsOp: nothing,
    gpu_layout.LocalBarrierOp: local_barrier,
}

__all__ = ["TABLE", "bind", "edge_operands", "emit_blocks", "joined", "types_of"]
