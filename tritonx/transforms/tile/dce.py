"""Dead code elimination."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, SymbolRefAttr
from xdsl.ir import Operation, Region
from xdsl.passes import ModulePass

from tritonx.dialects import tile
from tritonx.ir.contract import Contract
from tritonx.ir.edit import erase
from tritonx.ir.effects import is_removable
from tritonx.ir.walk import ops_in


@dataclass(frozen=True)
class DeadCodeElimination(ModulePass):
    """Removes ops, blocks and private functions that are dead.

    Those are ops without uses that write nothing, blocks that nothing branches to, and functions that no op
    calls. Loads are removed, unless volatile; so is a loop or a conditional whose results are unused and whose regions
    write nothing.
    """

    name = "dce"
    contract = Contract(("tt", "ttg"))

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        remove_dead_functions(op)
        for region in op.regions:
            remove_dead_ops(region)


def remove_dead_ops(region: Region) -> None:
    """Remove dead ops, last first, so that what only they used goes in the same walk."""
    _remove_unreachable_blocks(region)
    for block in reversed(list(region.blocks)):
        op = block.last_op
        while op is not None:
            before = op.prev_op
            for inner in op.regions:
                remove_dead_ops(inner)
            if not isinstance(op, tile.FuncOp) and is_removable(op) and not any(r.first_use for r in op.results):
                erase(op)
            op = before


def _remove_unreachable_blocks(region: Region) -> None:
    entry = region.blocks.first
    if entry is None or entry.next_block is None:
        return
    reached, work = {entry}, [entry]
    while work:
        last = work.pop().last_op
        for successor in last.successors if last is not None else ():
            if successor not in reached:
                reached.add(successor)
                work.append(successor)
    dead = [block for block in region.blocks if block not in reached]
    for block in dead:
        for op in block.ops:
            op.drop_all_references()
    for block in dead:
        region.erase_block(block, safe_erase=False)


def remove_dead_functions(module: ModuleOp) -> None:
    """Remove the private functions that no function reachable from a public one names."""
    functions = {f.sym_name.data: f for f in module.ops if isinstance(f, tile.FuncOp)}
    work = [f for f in functions.values() if f.is_kernel]
    reached = set(work)
    while work:
        for inner in ops_in(work.pop()):
            for name in _names_in(inner):
                callee = functions.get(name)
                if callee is not None and callee not in reached:
                    reached.add(callee)
                    work.append(callee)
    for function in functions.values():
        if function not in reached:
            erase(function)


def _names_in(op: Operation) -> list[str]:
    attributes = (*op.properties.values(), *op.attributes.values())
    return [a.root_reference.data for a in attributes if isinstance(a, SymbolRefAttr)]
