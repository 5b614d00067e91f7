"""Inline assembly on AMD GPUs: the LLVM that llvmlite carries has no assembler for AMDGCN, and ends the process over
text that it would have to read. What LLVM has an operation for is written as that, and so is assembly without text,
which gives its operand back and keeps LLVM from looking through it; anything else is refused."""

from __future__ import annotations

import re

from xdsl.ir import Operation

from tritonx.conversion.gpu_to_llvm.custom import check_operands, pack_words, unpack_words
from tritonx.conversion.gpu_to_llvm.function import Emit, FunctionEmitter
from tritonx.conversion.gpu_to_llvm.values import Tile
from tritonx.dialects.tile import ElementwiseInlineAsmOp
from tritonx.ir.dispatch import case
from tritonx.ir.failure import PassError

CLOCK = re.compile(
    r"\s*(s_memrealtime \$0|s_sendmsg_rtn_b64 \$0, sendmsg\(MSG_RTN_GET_REALTIME\))\s+s_waitcnt [\w() ]+\s*"
)
"""Reading the constant-rate counter, and waiting for it: CDNA's instruction and RDNA's message."""
KEPT = re.compile(r"\s*=\s*[rv]\s*,\s*0\s*")
"""The constraints of an operand that is the result."""


def inline_assembly(op: ElementwiseInlineAsmOp, f: FunctionEmitter) -> None:
    if not op.args and len(op.results) == 1 and CLOCK.fullmatch(op.asm_string.data):
        symbol = f.module.declare("i64", "@llvm.readsteadycounter", [])
        f.set(op.results[0], Tile.splat("i64", f.registers(op.results[0].type), f.inst(f"call i64 {symbol}()")))
        return
    if not op.asm_string.data.strip() and KEPT.fullmatch(op.constraints.data) and len(op.args) == 1:
        _kept(op, f)
        return
    raise PassError(
        op,
        "inline assembly is not supported on AMD targets: there is no assembler for AMDGCN",
        "use the language's own operations",
    )


def _kept(op: ElementwiseInlineAsmOp, f: FunctionEmitter) -> None:
    """In vector registers: `r` is a scalar one to LLVM, which has one value for all lanes."""
    value, pack = f.get(op.args[0]), op.packed_element.value.data
    check_operands(op, [value.elem], [f.type(op.results[0].type)])
    flags, names, made = "" if op.pure.value.data else "sideeffect ", f.scalars(value), list[str]()
    for first in range(0, len(names), pack):
        group = [names[min(i, len(names) - 1)] for i in range(first, first + pack)]
        words = pack_words(f, value.elem, group)
        held = [f.inst(f'call {word.split()[0]} asm {flags}"", "=v,0"({word})') for word in words]
        made += unpack_words(f, value.elem, held, pack)
    f.set(op.results[0], Tile.of(value.elem, made[: len(names)]))


TABLE: dict[type[Operation], Emit] = {**case(ElementwiseInlineAsmOp, inline_assembly)}
