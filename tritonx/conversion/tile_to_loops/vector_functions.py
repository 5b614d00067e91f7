"""The vector functions of `conversion.mathlib` for hosts: those that a kernel uses become `internal alwaysinline`
functions of its module.
"""

from __future__ import annotations

from tritonx.conversion.llvm_text import vector
from tritonx.conversion.llvm_writer import Writer
from tritonx.conversion.mathlib import F32, Code
from tritonx.conversion.tile_to_loops.isa import HostIsa
from tritonx.conversion.tile_to_loops.writer import LoopWriter


class ScalingCode(Code):
    """Vectors of 16 floats where one instruction multiplies by a power of two. It rounds once, as the two exact factors
    of `Code.scale` do, so the bits are the same.
    """

    WIDTH = 16

    def __init__(self, writer: Writer) -> None:
        super().__init__(writer, self.WIDTH)
        self._floats: dict[str, str] = {}

    def round_to_int(self, x: str) -> tuple[str, str]:
        whole, integer = super().round_to_int(x)
        self._floats[integer] = whole
        return whole, integer

    def scale(self, x: str, exponent: str) -> str:
        power = self._floats.get(exponent) or self.to_float(exponent)
        operands = [(self.type, value) for value in (x, power, x)]
        return self.writer.call(
            self.type, "@llvm.x86.avx512.mask.scalef.ps.512", *operands, ("i16", "-1"), ("i32", "4")
        )


def _code(writer: Writer, width: int, isa: HostIsa) -> Code:
    return ScalingCode(writer) if isa.scales and width == ScalingCode.WIDTH else Code(writer, width)


def emit_function(writer: LoopWriter, name: str, args: list[str], width: int, isa: HostIsa) -> str:
    """A call of the f32 function `name` on values of `width` lanes, defining it in the module on first use."""
    symbol = f"@tx.{name}.v{width}" if width else f"@tx.{name}"
    ty = vector("float", width)
    if symbol not in writer.module.definitions:
        function, arity = F32[name]
        body = LoopWriter(writer.module)
        result = function(_code(body, width, isa), *(f"%x{i}" for i in range(arity)))
        body.line(f"ret {ty} {result}")
        parameters = ", ".join(f"{ty} %x{i}" for i in range(arity))
        head = f"define internal {ty} {symbol}({parameters}) alwaysinline {isa.function_attributes()}"
        writer.module.define(symbol, f"{head} {{\n{body.body()}\n}}")
    return writer.call(ty, symbol, *((ty, a) for a in args))
