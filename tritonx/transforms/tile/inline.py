"""Inlining of calls to functions of the module."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

from xdsl.context import Context
from xdsl.dialects.builtin import CallSiteLoc, IntegerAttr, LocationAttr, ModuleOp, UnitAttr, UnknownLoc
from xdsl.ir import Operation
from xdsl.passes import ModulePass

from tritonx.dialects import tile
from tritonx.ir.contract import Contract
from tritonx.ir.edit import ValueMap, clone, erase, only_block, replace, splice, terminator_of
from tritonx.ir.failure import PassError
from tritonx.ir.walk import ops_in
from tritonx.transforms.tile.dce import remove_dead_functions
from tritonx.transforms.tile.lift_control_flow import lift_function


@dataclass(frozen=True)
class Inline(ModulePass):
    """Inlines every call whose callee has a body and is not marked ``noinline``.

    Callees come before their callers. A callee with early returns is first written as one block
    (``lift-control-flow``). An inlined op's location says where it was called from. Private functions that are no
    longer called are removed. Recursion is an error, with the cycle in its message.
    """

    name = "inline"
    contract = Contract(("tt",), creates=("scf",))

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        functions = {f.sym_name.data: f for f in op.ops if isinstance(f, tile.FuncOp)}
        calls = {name: [c for c in ops_in(f) if isinstance(c, tile.CallOp)] for name, f in functions.items()}
        if not any(calls.values()):
            return
        uses: dict[str, int] = {}
        for made in calls.values():
            for call in made:
                uses[call.callee.root_reference.data] = uses.get(call.callee.root_reference.data, 0) + 1
        for name in _callees_first(calls):
            function = functions.get(name)
            if function is None:
                continue
            for call in calls[name]:
                callee = functions.get(call.callee.root_reference.data)
                if callee is None:
                    raise PassError(call, f"calls {call.callee}, which is no function of this module")
                if can_inline(callee):
                    only_use = uses[callee.sym_name.data] == 1 and not callee.is_kernel
                    inline_call(call, callee, move=only_use)
                    if only_use:
                        del functions[callee.sym_name.data]
                        erase(callee)
        remove_dead_functions(op)


def can_inline(callee: tile.FuncOp) -> bool:
    """Whether calls to ``callee`` may be inlined: it has a body, which may be written as one block, and no
    ``noinline``.
    """
    marked = callee.attributes.get("noinline")
    if isinstance(marked, UnitAttr) or (isinstance(marked, IntegerAttr) and marked.value.data):
        return False
    return callee.body.blocks.first is not None and lift_function(callee)


def _callees_first(calls: dict[str, list[tile.CallOp]]) -> list[str]:
    """The functions, each after all that it calls. ``PassError`` on recursion."""
    order: list[str] = []
    finished: set[str] = set()
    for root in calls:
        path: list[tuple[str, int]] = [(root, 0)]
        active = {root}
        while path:
            name, index = path.pop()
            if name in finished:
                active.discard(name)
                continue
            made = calls.get(name, [])
            if index == len(made):
                finished.add(name)
                active.discard(name)
                order.append(name)
                continue
            path.append((name, index + 1))
            target = made[index].callee.root_reference.data
            if target in active:
                cycle = [n for n, _ in path]
                around = " → ".join([*cycle[cycle.index(target) :], target])
                raise PassError(
                    made[index],
                    f"recursive call of '{target}' ({around})",
                    "kernels cannot recurse; write a loop instead",
                )
            if target not in finished:
                active.add(target)
                path.append((target, 0))
    return order


def _relocation(call: Operation) -> Callable[[LocationAttr], LocationAttr]:
    caller = call.location

    @cache
    def relocate(location: LocationAttr) -> LocationAttr:
        return caller if isinstance(location, UnknownLoc) else CallSiteLoc(location, caller)

    if isinstance(caller, UnknownLoc):
        return lambda location: location
    return relocate


def inline_call(call: tile.CallOp, callee: tile.FuncOp, *, move: bool = False) -> None:
    """Replace ``call`` by the body of ``callee``, a single block. ``move`` takes the ops themselves: it is the last
    call.
    """
    body = only_block(callee.body)
    block = call.parent
    assert body is not None and block is not None, "can_inline was asked first"
    relocate = _relocation(call)
    returned = terminator_of(body)
    if move:
        for argument, value in zip(body.args, call.operands, strict=True):
            argument.replace_all_uses_with(value)
        for op in body.walk():
            op.location = relocate(op.location)
        splice(body, call)
        replace(call, tuple(returned.operands))
        return
    values: ValueMap = dict(zip(body.args, call.operands, strict=True))
    for op in body.ops:
        if op is not returned:
            block.insert_op_before(clone(op, values, relocate), call)
    replace(call, [values.get(v, v) for v in returned.operands])
