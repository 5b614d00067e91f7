"""Vector functions in LLVM IR, written line by line through whatever an emitter writes its own lines through.

LLVM's own `-vector-library` has no effect in this build: `llvm.exp` on a vector is one libm call a lane (2.6 ns an
element; these polynomials take 0.2–0.3). In f64 libm's scalar functions are called. Every result is within two units
in the last place of the exact one: `ULPS` has each function's bound, as it was measured.
"""

from __future__ import annotations

from collections.abc import Callable

from tritonx.conversion.llvm_text import vector
from tritonx.conversion.llvm_writer import Writer
from tritonx.conversion.mathlib import exponential, logarithm, special, trigonometric
from tritonx.conversion.mathlib.code import Code

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

ULPS: dict[str, float] = {
    "exp": 1.1, "exp2": 1.2, "expm1": 1.5, "log": 0.95, "log2": 1.2, "log10": 1.1, "log1p": 1.5, "sin": 1.6, "cos": 1.6,
    "tan": 1.8, "tanh": 1.6, "erf": 0.51, "pow": 0.51,
}  # fmt: skip
"""The largest errors, in units in the last place of the result (of the smallest normal number's for a subnormal one): a
little over the worst of every f32 argument for tan and tanh, of one in eight for the others, and of 2^29 pairs for pow.
Targets add what their own division and libraries are off by."""


def emit_scalar_calls(writer: Writer, symbol: str, args: list[str], width: int, types: list[str], result: str) -> str:
    """`symbol` of a scalar library called once a lane; `types` and `result` are LLVM's scalar types."""
    if not width:
        return writer.call(result, f"@{symbol}", *zip(types, args, strict=True))
    value = "poison"
    for lane in range(width):
        elements = [
            (t, writer.inst(f"extractelement {vector(t, width)} {a}, i64 {lane}"))
            for t, a in zip(types, args, strict=True)
        ]
        one = writer.call(result, f"@{symbol}", *elements)
        value = writer.inst(f"insertelement {vector(result, width)} {value}, {result} {one}, i64 {lane}")
    return value


__all__ = ["F32", "ULPS", "Code", "emit_scalar_calls"]
