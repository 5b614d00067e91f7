"""Products read their operands from shared memory themselves."""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.passes import ModulePass

from tritonx.dialects import tile
from tritonx.dialects.effects import Kind, Resource, effects_of
from tritonx.dialects.gpu_layout import (
    DotOperandEncodingAttr,
    LocalAllocOp,
    LocalDeallocOp,
    LocalDotOp,
    LocalLoadOp,
    MemDescType,
)
from tritonx.ir.contract import Contract
from tritonx.ir.edit import erase, replace
from tritonx.ir.types import encoding_of, is_tensor, type_of
from tritonx.ir.walk import ops_in


@dataclass(frozen=True)
class FuseOperandLoads(ModulePass):
    """Gives products the memory of operands that are loaded for them alone.

    A `tt.dot` becomes a `ttg.local_dot` that is given the memory of those operands that a `ttg.local_load` in its
    block loads for it alone, so that it need not have all of K in registers.

    Between the load and the product nothing may write memory, take any or wait for threads: then what is read later is
    the same, and no buffer lives with one that it did not live with before. Other loads stay.

    A buffer that is written where it is made, and never again, may be read behind whatever waits or writes; and where
    it was made outside of the block, as for a loop, behind what takes memory as well."""

    name = "fuse-operand-loads"
    contract = Contract(("ttg",), on=("tt.dot",), creates=("ttg.local_dot",), after=("make-room",), placed=True)

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for inner in ops_in(op):
            if isinstance(inner, tile.DotOp):
                _fuse(inner)


def _fuse(op: tile.DotOp) -> None:
    loads = [_load_of(op, value) for value in (op.a, op.b)]
    if loads == [None, None]:
        return
    names = ("aLayout", "bLayout")
    layouts = {name: _layout(load) for name, load in zip(names, loads, strict=True) if load is not None}
    operands = [value if load is None else load.src for value, load in zip((op.a, op.b), loads, strict=True)]
    made = LocalDotOp.create(
        operands=(*operands, op.c),
        result_types=(type_of(op.d),),
        properties={**op.properties, **layouts},
        attributes=op.attributes,
        location=op.location,
    )
    block = op.parent
    assert block is not None
    block.insert_op_before(made, op)
    replace(op, made.results)
    for load in loads:
        if load is not None:
            erase(load)


def _load_of(op: tile.DotOp, value: SSAValue) -> LocalLoadOp | None:
    """The load of an operand that the product can do itself."""
    load = value.owner
    if not isinstance(load, LocalLoadOp) or load.parent is not op.parent or not value.has_one_use():
        return None
    type_ = type_of(value)
    if not is_tensor(type_) or not isinstance(encoding_of(type_), DotOperandEncodingAttr):
        return None
    once = _written_once(load.src)
    if once is not None and once.parent is not op.parent:
        return load
    may_be_between = _leaves_memory_alone if once is None else _takes_no_memory
    between = load.next_op
    while between is not None and between is not op:
        if not may_be_between(between):
            return None
        between = between.next_op
    return load


def _written_once(memory: SSAValue) -> LocalAllocOp | None:
    """What makes a buffer, if it has all that it will ever hold from there on, and lives as long as it is named."""
    made = memory.owner
    if not isinstance(made, LocalAllocOp) or made.src is None or cast(MemDescType, type_of(memory)).mutable:
        return None
    return None if any(isinstance(use.operation, LocalDeallocOp) for use in memory.uses) else made


def _takes_no_memory(op: Operation) -> bool:
    effects = effects_of(op)
    return effects is not None and not any(e.kind is Kind.ALLOCATE or e.resource is Resource.SCRATCH for e in effects)


def _layout(load: LocalLoadOp) -> Attribute:
    encoding = encoding_of(type_of(load.result))
    assert encoding is not None
    return encoding


def _leaves_memory_alone(op: Operation) -> bool:
    """Whether an op at most reads memory, and neither takes shared memory nor waits."""
    effects = effects_of(op)
    reading = (Kind.READ, Kind.TRAP, Kind.HINT)
    return effects is not None and all(e.kind in reading and e.resource is not Resource.SCRATCH for e in effects)
