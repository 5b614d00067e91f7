"""Tensor maps that a kernel makes itself, as PTX.

PTX ISA 9.0, sections 9.7.9.29 (tensormap.replace), 9.7.13.16 (tensormap.cp_fenceproxy) and 9.7.13.4 (fence.proxy). A
warp makes a map in shared memory, field by field, and copies it to where the program wants it; that copy releases it
to the proxy of tensor maps, and whoever uses it must have acquired it there. Each step waits for the one before, so
maps that are made together are made by a warp each."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from tritonx.backends.nvidia.emit.mbarrier import assembly
from tritonx.backends.nvidia.tensor_maps.tensor_map import NBYTES
from tritonx.conversion.gpu_to_llvm.values import Tile
from tritonx.dialects.nvidia import ReinterpretTensorDescOp, TensormapCreateOp, TensormapFenceproxyAcquireOp
from tritonx.dialects.nvidia.copy import warp_of
from tritonx.ir.dispatch import case
from tritonx.ir.failure import PassError

if TYPE_CHECKING:
    from xdsl.ir import Operation, SSAValue

    from tritonx.conversion.gpu_to_llvm.function import Emit, FunctionEmitter


def in_warp(f: FunctionEmitter, op: TensormapCreateOp | TensormapFenceproxyAcquireOp) -> str:
    """An i1 that holds in the warp that does it."""
    warps = f.threads.group.warps
    return "true" if warps == 1 else f.inst(f"icmp eq i32 {f.threads.warp}, {warp_of(op, warps)}")


KNOWN = {"elem_type": 12, "swizzle_mode": 3}
"""The largest numbers that every chip from 9.0 on knows (PTX ISA, tensormap.replace)."""


def create(op: TensormapCreateOp, f: FunctionEmitter) -> None:
    for name, given in (("elem_type", op.elem_type), ("swizzle_mode", op.swizzle_mode)):
        if given.value.data > KNOWN[name]:
            raise PassError(op, f"a tensor map with {name} = {given.value.data} cannot be made in a kernel here")
    memory = f"ptr addrspace(3) {f.shared_base(f.scratch_offset(op))}"
    warp = in_warp(f, op)
    _clear(f, memory, warp)
    first = 32 * warp_of(op, f.threads.group.warps)
    one = f"i1 {f.inst(f'icmp eq i32 {f.threads.thread}, {first}') if first else f.threads.is_first}"

    def replace(field: str, value: str, bits: int = 32, number: int | None = None) -> None:
        """A field's value: an operand with its LLVM type, or an immediate."""
        ordinal = "" if number is None else f"0x{number:x}, "
        given = value.isdigit()
        text = f"@$0 tensormap.replace.tile.{field}.shared::cta.b1024.b{bits} [$1], {ordinal}"
        text += f"0x{int(value):x};" if given else "$2;"
        constraints = "b,r" if given else f"b,r,{'l' if bits == 64 else 'r'}"
        assembly(f, text, constraints, f"{one}, {memory}" if given else f"{one}, {memory}, {value}")

    def each(field: str, values: Sequence[SSAValue], bits: int = 32) -> None:
        for number, value in enumerate(values):
            replace(field, f"i{bits} {f.scalar(value)}", bits, number)

    replace("global_address", f"ptr addrspace(1) {f.scalar(op.global_address)}", 64)
    replace("rank", str(len(op.box_dim) - 1))
    each("box_dim", op.box_dim)
    each("global_dim", op.global_dim)
    each("global_stride", op.global_stride, 64)
    each("element_stride", op.element_stride)
    replace("elemtype", str(op.elem_type.value.data))
    replace("interleave_layout", str(op.interleave_layout.value.data))
    replace("swizzle_mode", str(op.swizzle_mode.value.data))
    replace("fill_mode", str(op.fill_mode.value.data))
    text = (
        "@$0 tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned"
        f" [$1], [$2], 0x{NBYTES:x};"
    )
    assembly(f, text, "b,l,r", f"i1 {warp}, ptr addrspace(1) {f.scalar(op.desc_ptr)}, {memory}")


def _clear(f: FunctionEmitter, memory: str, warp: str) -> None:
    """A word each lane; fields that are not set must be 0."""
    word = f.inst(f"getelementptr i32, {memory}, i32 {f.threads.lane}")
    assembly(f, "@$0 st.shared.b32 [$1], $2;", "b,r,r", f"i1 {warp}, ptr addrspace(3) {word}, i32 0")
    f.threads.warp_barrier()


def acquire(op: TensormapFenceproxyAcquireOp, f: FunctionEmitter) -> None:
    """One warp acquires for all, and they wait for it. ptxas may let what follows overtake the fence, but not
    beyond a wait for copies, of which there are none here: so there is one (as in what Triton writes)."""
    warp = in_warp(f, op)
    text = (
        f"@$0 fence.proxy.tensormap::generic.acquire.gpu [$1], 0x{NBYTES:x};\\0A\\09"
        "@$0 cp.async.bulk.commit_group;\\0A\\09@$0 cp.async.bulk.wait_group.read 0;"
    )
    assembly(f, text, "b,l", f"i1 {warp}, ptr addrspace(1) {f.scalar(op.desc_ptr)}")
    f.threads.local_barrier()


def reinterpret(op: ReinterpretTensorDescOp, f: FunctionEmitter) -> None:
    """A copy takes the generic address of its tensor map, wherever that lies."""
    made = f.inst(f"addrspacecast ptr addrspace(1) {f.scalar(op.rawDesc)} to ptr")
    f.set(op.result, Tile.of("ptr", [made]))


TABLE: dict[type[Operation], Emit] = {
    **case(TensormapCreateOp, create),
    **case(TensormapFenceproxyAcquireOp, acquire),
    **case(ReinterpretTensorDescOp, reinterpret),
}
