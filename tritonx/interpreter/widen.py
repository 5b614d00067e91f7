"""A module with every float format replaced by f64: what a kernel computes without its own rounding.

The widened module takes float64 arrays of as many elements in place of the float arrays. Conversions between float
formats vanish. It is to be executed and is not valid IR: constants keep their attributes, whose values the meanings
read as f64. There is none of a module that looks at the bits of floats, converts floats to integers, scales narrow
formats, has tensor descriptors, or calls code that is not widened; `NotWidened` names the op.
"""

from __future__ import annotations

from xdsl.dialects.builtin import FunctionType, ModuleOp, f64
from xdsl.ir import Attribute, Operation, SSAValue

from tritonx.dialects import arith, tile
from tritonx.ir.edit import set_type
from tritonx.ir.types import PointerType, element_type, is_float, type_of, with_element

_CONVERSIONS = (arith.ExtFOp, arith.TruncFOp, tile.FpToFpOp)
_OPAQUE = (
    *(tile.ElementwiseInlineAsmOp, tile.DotScaledOp, arith.FPToSIOp, arith.FPToUIOp, tile.AtomicCASOp),
    *(tile.MakeTensorDescOp, tile.DescriptorLoadOp, tile.DescriptorStoreOp),
)


class NotWidened(Exception):
    """The module has no widened form; the message names the op."""


def widened(module: ModuleOp) -> ModuleOp:
    """A new module, see the head of the file. Raises `NotWidened`."""
    made = module.clone()
    for op in list(made.walk()):
        _refuse(op)
    for op in list(made.walk()):
        if isinstance(op, _CONVERSIONS):
            op.results[0].replace_all_uses_with(op.operands[0])
            op.detach()
            continue
        for result in op.results:
            _widen(result)
        for region in op.regions:
            for block in region.blocks:
                for argument in block.args:
                    _widen(argument)
        if isinstance(op, tile.FuncOp):
            kind = op.function_type
            op.properties["function_type"] = FunctionType.from_lists(
                [_wide(t) for t in kind.inputs.data], [_wide(t) for t in kind.outputs.data]
            )
    return made


def _widen(value: SSAValue) -> None:
    set_type(value, _wide(type_of(value)))


def _wide(type_: Attribute) -> Attribute:
    element = element_type(type_)
    if isinstance(element, PointerType):
        return with_element(type_, PointerType(_wide(element.pointee), element.address_space))
    return with_element(type_, f64) if is_float(element) else type_


def _refuse(op: Operation) -> None:
    bits = isinstance(op, tile.BitcastOp | arith.BitcastOp) and _of_float(op)
    called = isinstance(op, tile.ExternElementwiseOp) and any(is_float(type_of(r)) for r in op.results)
    made = isinstance(op, tile.IntToPtrOp) and _of_float(op)
    if bits or called or made or isinstance(op, _OPAQUE):
        raise NotWidened(f"{op.name} has no wider form")


def _of_float(op: Operation) -> bool:
    kinds = [element_type(type_of(v)) for v in (op.operands[0], op.results[0])]
    pointees = [k.pointee if isinstance(k, PointerType) else k for k in kinds]
    return any(map(is_float, pointees)) and pointees[0] != pointees[1]
