"""Automatic layouts become those that `gluon.set_auto_layout` asks for."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from tritonx.dialects import tile
from tritonx.dialects.gluon import AUTO, SetAutoLayoutOp, undetermined
from tritonx.dialects.gpu_layout import distributed_encoding
from tritonx.ir.contract import Contract
from tritonx.ir.edit import replace
from tritonx.ir.failure import PassError
from tritonx.ir.types import type_of
from tritonx.ir.walk import ops_in
from tritonx.transforms.gluon.infer_encodings import Request, check_determined, infer_encodings


@dataclass(frozen=True)
class GluonResolveAutoEncodings(ModulePass):
    """Determines the layouts of tensors with `#gluon.auto_encoding`.

    Each `gluon.set_auto_layout` asks for the layout of its operand; from there layouts follow for all that is connected
    with it, in both directions, through loops and branches. Those ops are gone afterwards. Nothing is computed twice
    and no conversion is added: two layouts that are asked of one value are an error at the op that makes it, and so is
    a value for which no layout follows. Dead ops are no exception: remove them before.
    """

    name = "gluon-resolve-auto-encodings"
    contract = Contract(("ttg",), after=("gluon-infer-coalesced-encodings", "dce"))

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for function in op.ops:
            if isinstance(function, tile.FuncOp):
                asking = [inner for inner in ops_in(function) if isinstance(inner, SetAutoLayoutOp)]
                infer_encodings(function, AUTO, [(ask.src, _request(ask)) for ask in asking])
                for ask in asking:
                    replace(ask, (ask.src,))
        check_determined(op, AUTO)


def _request(ask: SetAutoLayoutOp) -> Request:
    type_ = type_of(ask.result)
    if undetermined(type_) is not None:
        raise PassError(ask, f"the layout of {type_} is not known yet", "run gluon-infer-coalesced-encodings before")
    return Request(distributed_encoding(type_), ask)
