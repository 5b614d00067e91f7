"""Mathematical functions on AMD GPUs.

`exp2` of f32 is one V_EXP_F32, as in Triton 3.9: within 1 ulp, results below 2^-126 are 0 (CDNA 3 ISA and RDNA 3 ISA,
"V_EXP_F32"). LLVM's own expansion keeps subnormal results, by a comparison, two selects, an addition and a V_LDEXP for
each element: attention forward of head 64 (f16, gfx942) has 514 instructions in its loop with it, 349 without.
`libdevice.exp2` keeps them.

`exp` of f32 is that of a product with log2(e), as in Triton 3.9 and on NVIDIA GPUs, and keeps subnormal results: within
2 units in the last place where |x| ≤ 1, within 9 where |x| ≤ 10, within 65 where |x| ≤ 88. LLVM's own expansion splits
off the whole part, by four instructions and a comparison more for each element. `libdevice.exp` has it.

LLVM expands log, log2 and sqrt of f32 to the hardware's approximate instructions with the scaling that
keeps them accurate. It has no range reduction for sin and cos and nothing for tanh and erf: those are the vector
polynomials that the host uses too. All others, of f64 and of f32, are the functions of ``mathlib.doubles``: ROCm's OCML
is not needed, and not used where it is installed, so that two machines make the same code."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from tritonx.backends.amd.ocml_names import FUNCTIONS, KNOWN, own_name
from tritonx.conversion.gpu_to_llvm.calls import Signatures, call_each, signatures
from tritonx.conversion.gpu_to_llvm.elementwise import call_intrinsic, combine, lanewise, of, times
from tritonx.conversion.gpu_to_llvm.polynomials import POLYNOMIALS, polynomial
from tritonx.conversion.gpu_to_llvm.values import Tile
from tritonx.conversion.mathlib.doubles.table import define
from tritonx.conversion.scalar.floats import reciprocal_root

if TYPE_CHECKING:
    from tritonx.conversion.gpu_to_llvm.function import FunctionEmitter

_DOUBLE = frozenset(
    {"exp", "exp2", "log", "log2", "sin", "cos", "tan", "erf", "tanh", "log1p", "expm1", "log10", "pow"}
)
"""Functions of the machine's contract that `mathlib.doubles` has under the same name."""

_LOG2_E = 1.4426950408889634
_NATIVE = {"log": "log", "log2": "log2", "sqrt": "sqrt", "precise_sqrt": "sqrt"}


def function(f: FunctionEmitter, name: str, operands: list[Tile]) -> Tile | None:
    """The function ``name`` of the machine's contract; None where LLVM's own instruction is right or there is none."""
    elem = operands[0].elem
    if name in ("div", "precise_div"):
        return None
    if name == "approximate_div":
        return call_each(f, "@llvm.amdgcn.fdiv.fast", operands, "float")
    if name in ("sqrt", "precise_sqrt"):
        return call_intrinsic(f, "sqrt", operands)
    if name == "rsqrt":
        return lanewise(f, elem, operands, lambda ops, x: reciprocal_root(ops, elem, x[0]))
    if name == "rem":
        return remainder(f, operands)
    if elem == "double":
        return own_function(f, name, operands, elem) if name in _DOUBLE else None
    if name == "exp":
        return call_intrinsic(f, "exp2", [times(f, operands[0], _LOG2_E)])
    if name == "exp2":
        return call_each(f, "@llvm.amdgcn.exp2.f32", operands, "float")
    if name in _NATIVE:
        return call_intrinsic(f, _NATIVE[name], operands)
    return polynomial(f, name, operands) if name in POLYNOMIALS else None


def own_function(f: FunctionEmitter, name: str, operands: list[Tile], result: str) -> Tile:
    """A function of `mathlib.doubles`, called on every element."""
    return call_each(f, define(f.module, name, double=operands[0].elem == "double"), operands, result)


def remainder(f: FunctionEmitter, operands: list[Tile]) -> Tile:
    """C's fmod. A remainder is exact, so LLVM narrows one between a widening and a rounding to the narrow format, and
    has no code for it in bf16: that is a fatal error. It does not look behind `canonicalize`, which changes nothing
    here.
    """
    elem = operands[0].elem
    rest = combine(f, elem, operands, lambda s, x: f"frem {of(s, elem)} {x[0]}, {x[1]}")
    return call_intrinsic(f, "canonicalize", [rest])


_INLINE = {
    "__ocml_log_f32": "log", "__ocml_log2_f32": "log2",
    "__ocml_sqrt_f32": "sqrt", "__ocml_rsqrt_f32": "rsqrt", "__ocml_tanh_f32": "tanh", "__ocml_erf_f32": "erf",
    "__ocml_log1p_f32": "log1p", "__ocml_expm1_f32": "expm1", "__ocml_pow_f32": "pow", "__ocml_log10_f32": "log10",
    "__ocml_fmod_f32": "rem", "__ocml_sin_f32": "sin", "__ocml_cos_f32": "cos", "__ocml_tan_f32": "tan",
}  # fmt: skip
_DIRECT = {
    "__ocml_floor": "floor", "__ocml_ceil": "ceil", "__ocml_trunc": "trunc", "__ocml_rint": "rint",
    "__ocml_nearbyint": "rint", "__ocml_sqrt": "sqrt",
    "__ocml_fabs": "fabs", "__ocml_fma": "fma", "__ocml_copysign": "copysign", "__ocml_round": "round",
}  # fmt: skip


@cache
def library_signatures() -> Signatures:
    """What OCML has, as far as ``tl.extra.libdevice`` names it."""
    return signatures(FUNCTIONS)


def extern(f: FunctionEmitter, symbol: str, operands: list[Tile], result: str) -> Tile | None:
    """An ``__ocml_*`` function by its equivalent here; None for other names."""
    if (name := _INLINE.get(symbol)) is not None:
        return function(f, name, operands)
    if symbol in ("__ocml_exp_f32", "__ocml_exp2_f32"):
        return call_intrinsic(f, symbol.split("_")[3], operands)
    if (name := _DIRECT.get(symbol.rsplit("_", 1)[0])) is not None:
        return call_intrinsic(f, name, operands)
    if symbol not in KNOWN:
        return None
    name = own_name(symbol)
    if (kind := _NEAREST.get(name)) is not None:
        elem = operands[0].elem
        return combine(f, elem, operands, lambda s, x: f"{kind} {of(s, elem)} {x[0]}, {x[1]}")
    return call_intrinsic(f, "fma", operands) if name == "fma_rn" else own_function(f, name, operands, result)


_NEAREST = {"add_rn": "fadd", "sub_rn": "fsub", "mul_rn": "fmul"}
"""Arithmetic that is rounded to nearest, which no contraction may change."""
