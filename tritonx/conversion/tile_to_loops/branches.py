"""Unstructured control flow: blocks that branch to each other, functions and calls.

Calls are emitted in place: `noinline` is a request that has no benefit here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from xdsl.ir import Block, Operation, Region, SSAValue

from tritonx.conversion.tile_to_loops.control import copy_into, emit_block, enter_tile, join_scalars, terminator
from tritonx.conversion.tile_to_loops.flatten import flat_types
from tritonx.conversion.tile_to_loops.tables import StatementRule
from tritonx.dialects import cf, tile, ub
from tritonx.ir.dispatch import case_in
from tritonx.ir.types import is_tensor

if TYPE_CHECKING:
    from tritonx.conversion.tile_to_loops.emitter import Emitter, View


class Body:
    """The blocks of a function (or of a call, emitted in place): labels, block arguments, where `return` goes."""

    def __init__(self, e: Emitter, region: Region, exit_label: str) -> None:
        self.e = e
        self.exit = exit_label
        self.returned: list[tuple[str, list[SSAValue]]] = []
        self.result_views: dict[int, View] = {}
        self.labels = {block: e.writer.new_label("bb") for block in region.blocks}
        self.incoming: dict[Block, list[tuple[str, list[str]]]] = {block: [] for block in region.blocks}
        self.region = region

    def emit(self) -> None:
        e, w = self.e, self.e.writer
        outer, e.body = e.body, self
        begin = len(w.lines)
        phis: list[tuple[int, Block, int, str, str]] = []
        for n, block in enumerate(reverse_postorder(self.region)):
            w.enter(self.labels[block])
            if n:
                position = 0
                for argument in block.args:
                    if is_tensor(argument.type):
                        e.buffered.add(argument)
                        e.buffer_of(argument)
                        continue
                    names: list[str] = []
                    for ty in flat_types(argument.type):
                        names.append(w.inst(f"phi {ty}"))
                        phis.append((len(w.lines) - 1, block, position, names[-1], ty))
                        position += 1
                    e.values[argument] = tuple(names)
            e.fresh_chunk()
            emit_block(e, block)
            w.terminated = True
        for at, block, position, name, ty in phis:
            sources = ", ".join(f"[ {values[position]}, %{label} ]" for label, values in self.incoming[block])
            w.lines[at] = f"  {name} = phi {ty} {sources}"
        if len(self.labels) > 1:  # branches may go back: as good as a loop
            w.loops.append((begin, len(w.lines)))
        e.body = outer

    def branch_values(self, block: Block, values: list[SSAValue]) -> list[str]:
        """Copy tiles into the target's buffers; the scalars for its phi nodes."""
        flat: list[str] = []
        for argument, value in zip(block.args, values, strict=True):
            if is_tensor(argument.type):
                enter_tile(self.e, argument, value)
            else:
                flat.extend(self.e.values[value])
        return flat


def reverse_postorder(region: Region) -> list[Block]:
    entry = region.blocks.first
    assert entry is not None
    order: list[Block] = []
    seen: set[Block] = set()

    def visit(block: Block) -> None:
        seen.add(block)
        for successor in reversed(terminator(block).successors):
            if successor not in seen:
                visit(successor)
        order.append(block)

    visit(entry)
    return order[::-1]


def _branch(e: Emitter, op: cf.BranchOp) -> None:
    body, target = e.body, op.successors[0]
    assert body is not None
    values = body.branch_values(target, list(op.operands))
    body.incoming[target].append((e.writer.block, values))
    e.writer.branch(body.labels[target])


def _conditional_branch(e: Emitter, op: cf.ConditionalBranchOp) -> None:
    """Each edge gets a block of its own, for the copies of tiles that it may need."""
    body, w = e.body, e.writer
    assert body is not None
    sides = ((op.then_block, list(op.then_arguments)), (op.else_block, list(op.else_arguments)))
    edges = [w.new_label("edge") for _ in sides]
    w.branch_if(e.scalar(op.cond), edges[0], edges[1])
    for edge, (target, arguments) in zip(edges, sides, strict=True):
        w.label(edge)
        values = body.branch_values(target, arguments)
        body.incoming[target].append((w.block, values))
        w.branch(body.labels[target])


def _return(e: Emitter, op: tile.ReturnOp) -> None:
    body = e.body
    assert body is not None
    for k, value in enumerate(op.operands):
        if is_tensor(value.type):
            copy_into(e, value, body.result_views[k])
    body.returned.append((e.writer.block, list(op.operands)))
    e.writer.branch(body.exit)


def _call(e: Emitter, op: tile.CallOp) -> None:
    """Emit a copy of the callee here."""
    function = e.functions[op.callee.string_value()].clone()
    w = e.writer
    after = w.new_label("called")
    region = function.regions[0]
    body = Body(e, region, after)
    entry = region.blocks.first
    assert entry is not None
    body.result_views = {k: e.buffer_of(r) for k, r in enumerate(op.results) if is_tensor(r.type)}
    for parameter, value in zip(entry.args, op.operands, strict=True):
        if is_tensor(parameter.type):
            enter_tile(e, parameter, value)
        else:
            e.values[parameter] = e.values[value]
    body.emit()
    w.label(after)
    for k, result in enumerate(op.results):
        if not is_tensor(result.type):
            join_scalars(e, result, [(label, e.values[values[k]]) for label, values in body.returned])


def _unreachable(e: Emitter, op: Operation) -> None:
    assert e.body is not None
    e.writer.branch(e.body.exit)


STATEMENTS: dict[type[Operation], StatementRule] = {
    **case_in(cf.BranchOp, _branch),
    **case_in(cf.ConditionalBranchOp, _conditional_branch),
    **case_in(tile.ReturnOp, _return),
    **case_in(tile.CallOp, _call),
    ub.UnreachableOp: _unreachable,
}
