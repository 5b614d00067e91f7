"""Products of a warp group (`wgmma`), which may be under way while others go on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from xdsl.dialects.builtin import BoolAttr

from tritonx.dialects.nvidia.dot import WarpGroupDotOp, WarpGroupDotWaitOp
from tritonx.experimental.gluon.semantics.nvidia.barriers import BarrierSemantics, number
from tritonx.experimental.gluon.values import shared_memory_descriptor
from tritonx.frontend.semantics.base import enum_attribute
from tritonx.frontend.semantics.dot import PRECISIONS
from tritonx.language.values.tensor import tensor


class WarpGroupSemantics(BarrierSemantics):
    def warp_group_product(
        self, a: Any, b: Any, acc: Any, use_acc: Any, precision: Any, imprecise: Any, is_async: bool
    ) -> Any:
        """The handle of ``a @ b + acc``, of which ``acc`` is left out where ``use_acc`` is false."""
        if not isinstance(a, tensor | shared_memory_descriptor) or not isinstance(b, shared_memory_descriptor):
            raise TypeError(f"a is in registers or shared memory and b in shared memory, got {a} and {b}")
        given = self.options.default_dot_input_precision if precision is None else precision
        if given not in self.options.allowed_dot_input_precisions:
            raise ValueError(f"input_precision must be one of {self.options.allowed_dot_input_precisions}. Got {given}")
        imprecise = self.imprecise_sums(a.dtype, b.dtype, a.type.shape[-1], imprecise)
        properties = {
            "inputPrecision": enum_attribute(PRECISIONS[given]),
            "maxNumImpreciseAcc": number(imprecise, "max_num_imprecise_acc"),
            "isAsync": BoolAttr.from_bool(is_async),
        }
        operands = [a.handle, b.handle, acc.handle, self.predicate(use_acc).handle]
        return self.builder.create(WarpGroupDotOp, operands, [acc.handle.type], properties).results[0]

    def wait_for_products(self, handles: Sequence[Any], outstanding: Any) -> Sequence[Any]:
        """The handles once at most ``outstanding`` products are under way."""
        properties = {"pendings": number(outstanding, "num_outstanding")}
        return self.builder.create(WarpGroupDotWaitOp, handles, [handle.type for handle in handles], properties).results
