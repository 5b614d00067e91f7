"""A pass that says what the chip cannot do, before anything is made of it."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, f64
from xdsl.passes import ModulePass

from tritonx.backends.tile import Contract, PassError, element_type


@dataclass(frozen=True)
class RefuseTypes(ModulePass):
    """Refuses float64. Raises `PassError` with the first op that has such a value; changes nothing."""

    name = "toy-refuse-types"
    contract = Contract(("tt",))

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for inner in op.walk():
            arguments = [a for region in inner.regions for block in region.blocks for a in block.args]
            if any(element_type(value.type) == f64 for value in (*inner.results, *arguments)):
                raise PassError(inner, "toy has no float64", "float32 is its widest float")
