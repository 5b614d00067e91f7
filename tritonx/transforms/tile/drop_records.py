"""Records of regions are dropped where regions are not measured."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from tritonx.ir.contract import Contract
from tritonx.ir.edit import erase
from tritonx.ir.region_records import records_in


@dataclass(frozen=True)
class DropRecords(ModulePass):
    """Removes every `proton.record`, for a compile that does not measure regions.

    A record keeps accesses of memory in their order and a loop from being pipelined. Without it the module is what it
    is without regions."""

    name = "drop-records"
    contract = Contract(("tt", "ttg"), on=("proton.record",))

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for record in list(records_in(op)):
            erase(record)
