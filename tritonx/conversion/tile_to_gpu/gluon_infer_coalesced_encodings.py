"""Coalesced layouts of Gluon kernels become those in which global memory is accessed best."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, SSAValue

from tritonx.analysis.axis_info import AxisFacts, analyze_axes
from tritonx.conversion.tile_to_gpu.coalesce import coalesced_encodings, pointer_of
from tritonx.conversion.tile_to_gpu.target import GpuTarget
from tritonx.dialects import tile
from tritonx.dialects.gluon import COALESCED, undetermined
from tritonx.dialects.verify_layouts import partition_warps
from tritonx.ir.contract import Contract
from tritonx.ir.target_pass import TargetModulePass
from tritonx.ir.types import type_of
from tritonx.ir.walk import ops_in
from tritonx.transforms.gluon.infer_encodings import Request, check_determined, infer_encodings


@dataclass(frozen=True)
class GluonInferCoalescedEncodings(TargetModulePass[GpuTarget]):
    """Determines the layouts of tensors with `#gluon.coalesced_encoding`.

    Each access through a tile of pointers with that encoding gets the layout that `assign-layouts` would give it; from
    there layouts follow for all that is connected with it. `gluon.set_auto_layout` is the end of that: its operand is
    left to `gluon-resolve-auto-encodings`. Two accesses whose values are connected, and whose layouts differ, are an
    error, and so is a value that no access is connected with.

    As text it names a target and compile options: `gluon-infer-coalesced-encodings{target="chip:v1" num_warps=8}`.
    """

    name = "gluon-infer-coalesced-encodings"
    contract = Contract(("ttg",), reads=("tt.divisibility",), after=("dce",))

    def chosen(self) -> dict[str, int]:
        return {"num_warps": self.target.num_warps, "num_ctas": self.target.num_ctas}

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        facts = analyze_axes(op)
        for function in op.ops:
            if isinstance(function, tile.FuncOp):
                infer_encodings(function, COALESCED, list(self._requests(function, facts)))
        check_determined(op, COALESCED)

    def _requests(self, function: tile.FuncOp, facts: AxisFacts) -> Iterator[tuple[SSAValue, Request]]:
        groups: dict[int, list[Operation]] = {}
        for access in ops_in(function):
            pointer = pointer_of(access)
            if pointer is not None and undetermined(type_of(pointer)) == COALESCED:
                groups.setdefault(_warps(access, self.target.num_warps), []).append(access)
        for warps, accesses in groups.items():
            target = replace(self.target, num_warps=warps)
            encodings = coalesced_encodings(accesses, facts, target, by_facts=True)
            for access, encoding in encodings.items():
                for value in (*access.operands, *access.results):
                    yield value, Request(encoding, access)


def _warps(op: Operation, outside: int) -> int:
    """How many warps run an op: those of its partition, where it is in one."""
    region = op.parent_region()
    while region is not None and (around := region.parent_op()) is not None:
        warps = partition_warps(around)
        if warps is not None:
            return warps[list(around.regions).index(region)]
        region = around.parent_region()
    return outside
