"""Values of types that a machine lacks are refused, with the op, before anything is written."""

from __future__ import annotations

from xdsl.dialects.builtin import ModuleOp

from tritonx.conversion.gpu_to_llvm.types import is_held, llvm_type
from tritonx.conversion.legal import Legal
from tritonx.dialects.gpu_layout import MemDescType
from tritonx.ir.failure import PassError
from tritonx.ir.types import element_type
from tritonx.ir.walk import ops_in

ALL = Legal().types


def check_types(module: ModuleOp, legal: Legal) -> None:
    """Raises ``PassError`` for the first op with a result of a type that is none of ``legal``'s, in a tile, a buffer or
    a pointer's memory too. ``index`` has 64 bits for LLVM and is no value of a kernel's."""
    lacking = ALL - legal.types
    if not lacking:
        return
    for op in ops_in(module):
        found = [
            *op.results,
            *(argument for region in op.regions for block in region.blocks for argument in block.args),
        ]
        for value in found:
            held = value.type.element_type if isinstance(value.type, MemDescType) else value.type
            if is_held(held) and llvm_type(held) in lacking:
                raise PassError(op, f"the target has no {element_type(held)}")
