"""Conversions through shared memory of which one side is moved by matrix instructions.

A transposed tile of 16-bit elements has in a thread's registers neighbours along one dim before and along the other
after, so that plain accesses move single elements on one side. `ldmatrix.trans` and `stmatrix.trans` take and give
rows of 16 bytes whose elements belong to different lanes: then both sides move 16 bytes at a time. The rows of an
accumulator leave likewise, by `stmatrix`.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from tritonx.dialects.gpu_layout import ConvertLayoutOp
from tritonx.ir.contract import Contract
from tritonx.ir.walk import ops_in
from tritonx.transforms.gpu.conversions_in_memory import conversion_bytes, matrix_arrangement, write_through_buffers


@dataclass(frozen=True)
class ConvertByMatrices(ModulePass):
    """Has matrix loads or stores do one side of a layout conversion where that is cheaper.

    The conversion becomes `ttg.local_alloc` and `ttg.local_load` in an arrangement (`ttg.shared_linear`) that the
    target's matrix loads (ldmatrix) or stores (stmatrix) fit. A conversion that stays in its warps or is done in parts
    is left: its barriers or its memory are worth more.
    """

    name = "convert-by-matrices"
    contract = Contract(
        ("ttg",), on=("ttg.convert_layout",), creates=("ttg.local_alloc", "ttg.local_load"), after=("share-barriers",)
    )

    loads: bool = False
    """Whether the target has matrix loads."""
    stores: bool = False
    """Whether the target has matrix stores."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for inner in ops_in(op):
            if isinstance(inner, ConvertLayoutOp) and conversion_bytes(inner):
                memory = matrix_arrangement(inner, self.loads, self.stores)
                if memory is not None:
                    write_through_buffers([(inner, memory)])
