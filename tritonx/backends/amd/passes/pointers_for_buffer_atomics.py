"""Atomics through buffer descriptors as atomics through pointers.

This compiler makes none; files of others do. The memory operation is the same; a descriptor would save the 64-bit
address only."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.passes import ModulePass

from tritonx.dialects import tile
from tritonx.dialects.amd import BufferAtomicCASOp, BufferAtomicRMWOp
from tritonx.dialects.tile.enums import RMWOp
from tritonx.ir.contract import Contract
from tritonx.ir.edit import insert_before, replace
from tritonx.ir.types import is_float, type_of, with_element


@dataclass(frozen=True)
class PointersForBufferAtomics(ModulePass):
    """Rewrites atomics of a buffer as atomics of pointers.

    `amdg.buffer_atomic_rmw` and `amdg.buffer_atomic_cas` become `tt.atomic_rmw` and `tt.atomic_cas` of `ptr` +
    `offsets`. What `tt.atomic_rmw` cannot say (the larger of two floats) is left.
    """

    name = "pointers-for-buffer-atomics"
    contract = Contract(
        ("ttg",),
        on=("amdg.buffer_atomic_rmw", "amdg.buffer_atomic_cas"),
        creates=("tt.addptr", "tt.atomic_cas", "tt.atomic_rmw", "tt.splat"),
    )

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for inner in list(op.walk()):
            match inner:
                case BufferAtomicRMWOp() if not _compares_floats(inner):
                    values = [inner.value, *([] if inner.mask is None else [inner.mask])]
                    _write(inner, tile.AtomicRMWOp, values, {"atomic_rmw_op": inner.atomic_rmw_op})
                case BufferAtomicCASOp():
                    _write(inner, tile.AtomicCASOp, [inner.cmp, inner.val], {})
                case _:
                    pass


def _compares_floats(op: BufferAtomicRMWOp) -> bool:
    return is_float(type_of(op.value)) and op.atomic_rmw_op.value.data in (RMWOp.MAX, RMWOp.MIN)


def _write(
    op: BufferAtomicRMWOp | BufferAtomicCASOp,
    kind: type[Operation],
    values: list[SSAValue],
    properties: dict[str, Attribute],
) -> None:
    pointers = with_element(type_of(op.offsets), type_of(op.ptr))
    base = tile.SplatOp.create(operands=[op.ptr], result_types=[pointers], location=op.location)
    places = tile.AddPtrOp.create(operands=[base.results[0], op.offsets], result_types=[pointers], location=op.location)
    made = kind.create(
        operands=[places.results[0], *values],
        result_types=[op.result.type],
        properties={**properties, "sem": op.sem, "scope": op.scope},
        location=op.location,
    )
    for each in (base, places, made):
        insert_before(each, op)
    replace(op, made.results)
