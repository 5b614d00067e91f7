"""Vector functions in LLVM IR: the ones that a kernel uses become `internal alwaysinline` functions of its module.

LLVM's own `-vector-library` has no effect in this build: `llvm.exp` on a vector is one libm call a lane (2.6 ns an
element; these polynomials take 0.2–0.3). In f64 libm's scalar functions are called. Accuracy is at most 2 ulp in f32
for every function here, checked over random and special arguments by
`tests/unit/conversion/tile_to_loops/test_mathlib.py`.
"""

from __future__ import annotations

from collections.abc import Callable

from tritonx.conversion.tile_to_loops.mathlib import exponential, logarithm, special, trigonometric
from tritonx.conversion.tile_to_loops.mathlib.code import Code, float_constant
from tritonx.conversion.tile_to_loops.types import vector
from tritonx.conversion.tile_to_loops.writer import Lanes, Writer

Function = Callable[..., str]

F32: dict[str, tuple[Function, int]] = {
    "exp": (exponential.exp, 1),
    "exp2": (exponential.exp2, 1),
    "expm1": (exponential.expm1, 1),
    "log": (logarithm.log, 1),
    "log2": (logarithm.log2, 1),
    "log10": (logarithm.log10, 1),
    "log1p": (logarithm.log1p, 1),
    "sin": (trigonometric.sin, 1),
    "cos": (trigonometric.cos, 1),
    "tan": (trigonometric.tan, 1),
    "tanh": (special.tanh, 1),
    "erf": (special.erf, 1),
    "pow": (special.pow, 2),
}
"""Functions with a vector form: (writer of the code, number of arguments)."""


def emit_function(writer: Writer, name: str, args: list[str], width: int, attributes: str) -> str:
    """A call of the f32 function `name` on values of `width` lanes, defining it in the module on first use."""
    symbol = f"tx.{name}.v{width}" if width else f"tx.{name}"
    ty = vector("float", width)
    if not writer.module.defines(symbol):
        function, arity = F32[name]
        body = Writer(writer.module)
        result = function(Code(body, width), *(f"%x{i}" for i in range(arity)))
        body.do(f"ret {ty} {result}")
        parameters = ", ".join(f"{ty} %x{i}" for i in range(arity))
        text = f"define internal {ty} @{symbol}({parameters}) alwaysinline {attributes} {{\n{body.body()}\n}}"
        writer.module.define(symbol, text)
    return writer.call(ty, symbol, *((ty, a) for a in args))


def emit_scalar_calls(writer: Writer, symbol: str, args: list[str], width: int, types: list[str], result: str) -> str:
    """`symbol` of a scalar library called once a lane; `types` and `result` are LLVM's scalar types."""
    if not width:
        return writer.call(result, symbol, *zip(types, args, strict=True))
    value = "poison"
    for lane in range(width):
        elements = [(t, writer.extract(t, Lanes(a, width), lane)) for t, a in zip(types, args, strict=True)]
        one = writer.call(result, symbol, *elements)
        value = writer.let(f"insertelement {vector(result, width)} {value}, {result} {one}, i64 {lane}")
    return value


__all__ = ["F32", "Code", "emit_function", "emit_scalar_calls", "float_constant"]
