"""From a kernel of Gluon to a module of `ttg`: the front end's walk over the source, with Gluon's semantics."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, IntegerAttr, StringAttr
from xdsl.dialects.builtin import i32 as i32_attr

from tritonx.dialects.tile import FuncOp, TensorDescType
from tritonx.dialects.tile.descriptor import DESCRIPTOR
from tritonx.experimental.gluon.semantics import GluonSemantics
from tritonx.experimental.gluon.signatures import named_type
from tritonx.frontend.codegen.module import ModuleGenerator

if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp

    from tritonx.kernel.declaration import KernelDeclaration


class GluonModuleGenerator(ModuleGenerator):
    """The state of one compile. The module says for how many warps, lanes and blocks its layouts are."""

    semantics = GluonSemantics
    parameter_type = staticmethod(named_type)

    def kernel(
        self,
        function: KernelDeclaration,
        symbol: str,
        arguments: Mapping[str, Any],
        attributes: Mapping[int, Mapping[str, int]],
    ) -> ModuleOp:
        module = super().kernel(function, symbol, arguments, attributes)
        _number_descriptors(next(op for op in module.ops if isinstance(op, FuncOp) and op.is_kernel))
        options, target = self.semantic.options, self.semantic.target
        module.attributes["ttg.target"] = StringAttr(str(target))
        for name, value in (
            ("ttg.num-warps", options.num_warps),
            ("ttg.num-ctas", options.num_ctas),
            ("ttg.threads-per-warp", target.warp_size),
        ):
            module.attributes[name] = IntegerAttr(value, i32_attr)
        return module


def _number_descriptors(function: FuncOp) -> None:
    """Say which descriptor of the source each parameter is that is one: launches make tensor maps of them."""
    arguments = function.body.block.args
    known = function.arg_attrs or ArrayAttr([DictionaryAttr({})] * len(arguments))
    descriptors = [i for i, argument in enumerate(arguments) if isinstance(argument.type, TensorDescType)]
    attributes = [*known.data]
    for number, i in enumerate(descriptors):
        attributes[i] = DictionaryAttr({**attributes[i].data, DESCRIPTOR: IntegerAttr(number, i32_attr)})
    if descriptors:
        function.properties["arg_attrs"] = ArrayAttr(attributes)
