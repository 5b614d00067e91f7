"""Inline assembly on AMD GPUs: the LLVM that llvmlite carries has no assembler for AMDGCN, and ends the process over
text that it would have to read. What LLVM has an operation for is written as that; anything else is refused."""

from __future__ import annotations

import re

from xdsl.ir import Operation

from tritonx.conversion.gpu_to_llvm.function import Emit, FunctionEmitter
from tritonx.conversion.gpu_to_llvm.values import Tile
from tritonx.dialects.tile import ElementwiseInlineAsmOp
from tritonx.ir.dispatch import case
from tritonx.ir.failure import PassError

CLOCK = re.compile(
    r"\s*(s_memrealtime \$0|s_sendmsg_rtn_b64 \$0, sendmsg\(MSG_RTN_GET_REALTIME\))\s+s_waitcnt [\w() ]+\s*"
)
"""Reading the constant-rate counter, and waiting for it: CDNA's instruction and RDNA's message."""


def inline_assembly(op: ElementwiseInlineAsmOp, f: FunctionEmitter) -> None:
    if not op.args and len(op.results) == 1 and CLOCK.fullmatch(op.asm_string.data):
        symbol = f.module.declare("i64", "@llvm.readsteadycounter", [])
        f.set(op.results[0], Tile.splat("i64", f.registers(op.results[0].type), f.inst(f"call i64 {symbol}()")))
        return
    raise PassError(
        op,
        "inline assembly is not supported on AMD targets: there is no assembler for AMDGCN",
        "use the language's own operations",
    )


TABLE: dict[type[Operation], Emit] = {**case(ElementwiseInlineAsmOp, inline_assembly)}
