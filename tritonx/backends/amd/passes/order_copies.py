"""Copies to shared memory by threads that lie as the memory does.

Where a warp's copies write consecutive memory, lane after lane, a lane cannot choose where it writes, so it must read
the element that belongs there: the tile of pointers, and the mask, are made again in the layout that the memory gives.
Each op of theirs is copied at its own position, so that loop invariants stay in front of the loop."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import IntegerAttr, ModuleOp
from xdsl.ir import Operation, SSAValue
from xdsl.passes import ModulePass

from tritonx.analysis.axis_info import analyze_axes
from tritonx.analysis.lane_copies import copied_by_lanes
from tritonx.dialects import arith
from tritonx.dialects.gpu_layout import AsyncCopyGlobalToLocalOp, ConvertLayoutOp, MemDescType, attribute_of
from tritonx.dialects.layout_constraints import ExpandDims, constraint_of
from tritonx.dialects.tile import ExpandDimsOp
from tritonx.ir.contract import Contract
from tritonx.ir.data_flow import sources_first
from tritonx.ir.edit import clone, set_type
from tritonx.ir.fold.constants import constant_of
from tritonx.ir.splat import retyped
from tritonx.ir.types import i32, is_tensor, type_as, type_of, with_encoding
from tritonx.ir.walk import ops_in
from tritonx.layouts.encodings import DistributedEncoding, SliceEncoding


@dataclass(frozen=True)
class OrderCopies(ModulePass):
    """Gives asynchronous copies pointers and a mask in the layout in which lanes can copy.

    Each `ttg.async_copy_global_to_local` that can be copies of one of `lane_bytes` bytes a lane gets them, and says in
    `contiguity` how many elements a copy has. Others stay as they are. Leaves ops behind for `cse` and `dce`."""

    name = "order-copies"
    contract = Contract(
        ("ttg",),
        on=("ttg.async_copy_global_to_local",),
        creates=("tt", "arith", "ttg.convert_layout"),
        after=("expand-pipeline",),
    )

    lane_bytes: tuple[int, ...] = ()
    """Bytes that a lane can copy past the registers."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        copies = [inner for inner in ops_in(op) if isinstance(inner, AsyncCopyGlobalToLocalOp)]
        if copies and self.lane_bytes:
            _order(copies, op, self.lane_bytes)


def _order(copies: Sequence[AsyncCopyGlobalToLocalOp], module: ModuleOp, lane_bytes: Sequence[int]) -> None:
    facts, remaking = analyze_axes(module), _Remaking()
    for copy in copies:
        if copy.isVolatile.value.data or (copy.other is not None and constant_of(copy.other) != 0):
            continue
        found = copied_by_lanes(copy.src, copy.mask, type_as(copy.result, MemDescType), facts, lane_bytes)
        if found is None:
            continue
        copy.properties["contiguity"] = IntegerAttr(found.width, i32)
        for number, operand in enumerate(copy.operands):
            if is_tensor(type_of(operand)):
                copy.operands[number] = remaking.made(operand, found.encoding)


class _Remaking:
    """Tiles in other layouts than they have, each made once."""

    def __init__(self) -> None:
        self.known: dict[tuple[SSAValue, DistributedEncoding], SSAValue] = {}

    def made(self, value: SSAValue, encoding: DistributedEncoding) -> SSAValue:
        """A tile in a layout, which it can be made in; what is no tile stays as it is."""
        if not is_tensor(type_of(value)):
            return value
        for key in sources_first(((value, encoding),), self._missing):
            if key not in self.known:
                self.known[key] = self._make(*key)
        return self.known[value, encoding]

    def _missing(self, key: tuple[SSAValue, DistributedEncoding]) -> list[tuple[SSAValue, DistributedEncoding]]:
        """What is to be made before a tile can be made in a layout."""
        op = key[0].owner
        if key in self.known or not isinstance(op, Operation):
            return []
        taken = _of_operands(op, key[1])
        return [(operand, taken) for operand in op.operands if is_tensor(type_of(operand))]

    def _make(self, value: SSAValue, encoding: DistributedEncoding) -> SSAValue:
        """Its operands are made."""
        op = value.owner
        assert isinstance(op, Operation)
        if isinstance(op, ConvertLayoutOp):
            return self.known[op.src, encoding]
        taken = _of_operands(op, encoding)
        copy = clone(op, {operand: self.known.get((operand, taken), operand) for operand in op.operands})
        for result in copy.results:
            type_ = type_of(result)
            assert is_tensor(type_)
            set_type(result, other := with_encoding(type_, attribute_of(encoding)))
            if isinstance(copy, arith.ConstantOp):
                copy.properties["value"] = retyped(copy.properties["value"], other)
        assert op.parent is not None
        op.parent.insert_op_after(copy, op)
        return copy.results[op.results.index(value)]


def _of_operands(op: Operation, encoding: DistributedEncoding) -> DistributedEncoding:
    """The layout of the operands of an op whose result lies so."""
    if isinstance(constraint_of(op), ExpandDims):
        assert isinstance(op, ExpandDimsOp)
        return SliceEncoding(op.axis.value.data, encoding)
    return encoding
