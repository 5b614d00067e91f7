"""Loops that load tiles ahead and store them, in this iteration or the next one, in the order in which they were
loaded: so that who stores the first waits for as many as have been loaded since.

LLVM's scheduler puts loads in an order of its own, so that it is told to keep them in theirs. It counts the loads that
are under way on every path to an instruction, and waits for as many as the worst of them says: what was loaded in front
of a loop whose first ops store it is waited for there, where the first iteration would wait anyway."""

from __future__ import annotations

from xdsl.ir import Operation

from tritonx.backends.amd.emit import buffer
from tritonx.backends.amd.emit.machine import AmdMachine
from tritonx.backends.amd.targets import Processor
from tritonx.conversion.gpu_to_llvm import control, memory
from tritonx.conversion.gpu_to_llvm.function import Emit, FunctionEmitter
from tritonx.dialects import scf, tile
from tritonx.dialects.amd import BufferLoadOp
from tritonx.dialects.gpu_layout import LocalStoreOp
from tritonx.ir.dispatch import case


def for_(op: scf.ForOp, f: FunctionEmitter) -> None:
    body = op.body.block
    if any(isinstance(inner, LocalStoreOp) and inner.src.owner is body for inner in body.ops):
        assert isinstance(f.machine, AmdMachine)
        wait_for_loads(f, f.machine.processor)
    control.for_(op, f)


def wait_for_loads(f: FunctionEmitter, processor: Processor) -> None:
    """Until none is under way; other counters stay (CDNA 3 ISA, S_WAITCNT; RDNA 3 ISA; RDNA 4 ISA, S_WAIT_LOADCNT)."""
    if processor.name.startswith("gfx12"):
        f.line(f"call void {f.module.declare('void', '@llvm.amdgcn.s.wait.loadcnt', ['i16'])}(i16 0)")
        return
    others = 0x0F70 if processor.wave == 64 else 0x03F7
    f.line(f"call void {f.module.declare('void', '@llvm.amdgcn.s.waitcnt', ['i32'])}(i32 {others})")


ALL_BUT_LOADS = 0x7CF
"""Of LLVM's kinds of instructions (AMDGPU usage guide, llvm.amdgcn.sched.barrier) those that may cross: not vector
memory."""


def load(op: tile.LoadOp, f: FunctionEmitter) -> None:
    memory.load(op, f)
    _keep_order(op, f)


def buffer_load(op: BufferLoadOp, f: FunctionEmitter) -> None:
    buffer.load(op, f)
    _keep_order(op, f)


def _keep_order(op: tile.LoadOp | BufferLoadOp, f: FunctionEmitter) -> None:
    """Of loads that run ahead of a loop's products."""
    users = [use.operation for use in op.result.uses]
    if isinstance(op.parent_op(), scf.ForOp) and users and all(map(_waits, users)):
        symbol = f.module.declare("void", "@llvm.amdgcn.sched.barrier", ["i32"])
        f.line(f"call void {symbol}(i32 {ALL_BUT_LOADS})")


def _waits(user: Operation) -> bool:
    return isinstance(user, LocalStoreOp | scf.YieldOp)


TABLE: dict[type[Operation], Emit] = {
    **case(scf.ForOp, for_),
    **case(tile.LoadOp, load),
    **case(BufferLoadOp, buffer_load),
}
