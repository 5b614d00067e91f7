"""Mistakes written into `ttg` modules, one at a time: what the machine must find.

`mutants(module)` names them all; `mutated(text, ...)` is the module with one. Each is one that the author of a
pass could make: a wait left out or too weak, a parity or a number of arrivals wrong, a fence or a barrier dropped, a
buffer at another buffer's place.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from xdsl.dialects.builtin import IntegerAttr, ModuleOp
from xdsl.ir import Operation

from tritonx.analysis.buffers import aliases_of
from tritonx.dialects import arith, gpu, gpu_layout
from tritonx.dialects import nvidia as ttng
from tritonx.dialects.effects import Kind, Resource, effects_of
from tritonx.ir.edit import erase
from tritonx.ir.text import parse_module
from tritonx.ir.types import i32

Change = Callable[[Any], None]


def _add(name: str, by: int) -> Change:
    def change(op: Any) -> None:
        op.properties[name] = IntegerAttr(op.properties[name].value.data + by, i32)

    return change


def _scaled(name: str, by: int) -> Change:
    def change(op: Any) -> None:
        op.properties[name] = IntegerAttr(op.properties[name].value.data * by // 2, i32)

    return change


def _no_wait(op: Any) -> None:
    """There is no wait; what the wait passes through stays under way."""
    op.properties["pendings"] = IntegerAttr(100, i32)


def _flip(op: Any) -> None:
    one = arith.ConstantOp.create(properties={"value": IntegerAttr(1, i32)}, result_types=[i32])
    flipped = arith.XOrIOp.create(operands=[op.phase, one.results[0]], result_types=[i32])
    op.parent.insert_ops_before([one, flipped], op)
    op.operands[1] = flipped.results[0]


def _asynchronous(op: Any) -> None:
    from xdsl.dialects.builtin import BoolAttr

    op.properties["isAsync"] = BoolAttr.from_bool(True)


CHANGES: dict[str, tuple[type[Operation], Change]] = {
    "copies' wait loosened": (gpu_layout.AsyncWaitOp, _add("num", 1)),
    "products' wait loosened": (ttng.WarpGroupDotWaitOp, _add("pendings", 1)),
    "products' wait dropped": (ttng.WarpGroupDotWaitOp, _no_wait),
    "product not waited for": (ttng.WarpGroupDotOp, _asynchronous),
    "stores' wait loosened": (ttng.TMAStoreWaitOp, _add("pendings", 1)),
    "barrier's wait dropped": (ttng.WaitBarrierOp, erase),
    "parity flipped": (ttng.WaitBarrierOp, _flip),
    "arrival dropped": (ttng.ArriveBarrierOp, erase),
    "arrival too many": (ttng.ArriveBarrierOp, _add("count", 1)),
    "expectation dropped": (ttng.BarrierExpectOp, erase),
    "too few bytes expected": (ttng.BarrierExpectOp, _scaled("size", 1)),
    "too many bytes expected": (ttng.BarrierExpectOp, _scaled("size", 4)),
    "barrier not made": (ttng.InitBarrierOp, erase),
    "barrier for one arrival more": (ttng.InitBarrierOp, _add("count", 1)),
    "fence dropped": (ttng.FenceAsyncSharedOp, erase),
    "tensor map not acquired": (ttng.TensormapFenceproxyAcquireOp, erase),
    "barrier dropped": (gpu_layout.LocalBarrierOp, erase),
    "block barrier dropped": (gpu.BarrierOp, erase),
}


def mutants(module: ModuleOp) -> Iterator[tuple[str, int]]:
    """(what is changed, the how manieth op of its kind)."""
    for name, (kind, _) in CHANGES.items():
        for number, op in enumerate(op for op in module.walk() if isinstance(op, kind)):
            if not _changes_nothing(name, op):
                yield name, number


def _changes_nothing(name: str, op: Any) -> bool:
    """Whether the program stays the same: a product is asynchronous anyway, a barrier or a result is unused,
    or a neighbour waits or fences as well."""
    match op:
        case ttng.WarpGroupDotWaitOp():  # unused: behind a loop that has waited itself
            return all(output.first_use is None for output in op.outputs) or _waited_for_again(op)
        case ttng.TMAStoreWaitOp():
            return _waited_for_again(op)
        case ttng.FenceAsyncSharedOp():
            return _fenced_before(op)
        case ttng.WarpGroupDotOp():
            return bool(op.isAsync.value.data)
        case ttng.InitBarrierOp():
            root = op.alloc.owner
            while isinstance(root, gpu_layout.MemDescIndexOp):
                root = root.src.owner
            users = (use.operation for alias in aliases_of(root.results[0]) for use in alias.uses)
            return not any(isinstance(user, ttng.WaitBarrierOp) for user in users)
        case _:
            return False


def _waited_for_again(wait: ttng.WarpGroupDotWaitOp | ttng.TMAStoreWaitOp) -> bool:
    """Whether a later wait of the block is for all, and in front of it nothing reads what this one passes on or
    writes to memory."""
    op: Any = wait.next_op
    while op is not None and not (isinstance(op, type(wait)) and op.pendings.value.data == 0):
        fresh = isinstance(op, gpu_layout.LocalAllocOp)
        if not fresh and _writes_shared(op):
            return False
        if any(operand.owner is wait for inner in op.walk() for operand in inner.operands):
            return False
        op = op.next_op
    return op is not None


def _fenced_before(fence: ttng.FenceAsyncSharedOp) -> bool:
    """Whether nothing was written to shared memory since the fence before it in its block."""
    op: Any = fence.prev_op
    while op is not None and not isinstance(op, ttng.FenceAsyncSharedOp):
        if _writes_shared(op):
            return False
        op = op.prev_op
    return op is not None


def _writes_shared(op: Operation) -> bool:
    """Whether an op may write to a buffer in shared memory; one that does not say what it does may."""
    effects = effects_of(op)
    return effects is None or any(e.kind is Kind.WRITE and e.resource is Resource.MEMDESC for e in effects)


def mutated(text: str, name: str, number: int) -> ModuleOp:
    """The module with one mistake."""
    module = parse_module(text, "mutated")
    kind, change = CHANGES[name]
    change([op for op in module.walk() if isinstance(op, kind)][number])
    return module
