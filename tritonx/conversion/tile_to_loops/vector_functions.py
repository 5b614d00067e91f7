"""The vector functions of `conversion.mathlib` for hosts: those that a kernel uses become `internal alwaysinline`
functions of its module.
"""

from __future__ import annotations

from tritonx.conversion.llvm_text import vector
from tritonx.conversion.mathlib import F32, Code
from tritonx.conversion.tile_to_loops.writer import LoopWriter


def emit_function(writer: LoopWriter, name: str, args: list[str], width: int, attributes: str) -> str:
    """A call of the f32 function `name` on values of `width` lanes, defining it in the module on first use."""
    symbol = f"@tx.{name}.v{width}" if width else f"@tx.{name}"
    ty = vector("float", width)
    if symbol not in writer.module.definitions:
        function, arity = F32[name]
        body = LoopWriter(writer.module)
        result = function(Code(body, width), *(f"%x{i}" for i in range(arity)))
        body.line(f"ret {ty} {result}")
        parameters = ", ".join(f"{ty} %x{i}" for i in range(arity))
        text = f"define internal {ty} {symbol}({parameters}) alwaysinline {attributes} {{\n{body.body()}\n}}"
        writer.module.define(symbol, text)
    return writer.call(ty, symbol, *((ty, a) for a in args))
