"""Mathematical functions on NVIDIA hardware.

f32 functions use the special-function unit where Triton does (`exp` = ex2.approx of a product, `sqrt.approx.ftz`,
`rsqrt.approx.ftz`, `div.full`; without ``.ftz`` where ``enable_reflect_ftz`` is off); `log`, `sin` and the like are the
vector polynomials that the host uses too, which keep two units in the last place over the whole range. `exp` of results
that are all rounded to 16 bits is the square of exp(x/2): one product instead of the three predicated instructions that
keep subnormal results of ex2.approx, at five units in the last place instead of two and a half where |x| ≤ 1 (nine and
eight where |x| ≤ 10). f64 functions come from the device library, see ``device_library``; where it is missing, our own
stand in (``own_functions``)."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, cast

from tritonx.analysis.precision import only_narrowed
from tritonx.backends.nvidia.libdevice import device_library
from tritonx.backends.nvidia.libdevice.libdevice_names import FUNCTIONS
from tritonx.backends.nvidia.libdevice.own_functions import own_function
from tritonx.conversion.gpu_to_llvm.calls import Signatures, call_each, joined, signatures
from tritonx.conversion.gpu_to_llvm.elementwise import (
    combine,
    of,
    times,
)
from tritonx.conversion.gpu_to_llvm.polynomials import POLYNOMIALS, polynomial
from tritonx.conversion.gpu_to_llvm.remainders import remainder
from tritonx.conversion.gpu_to_llvm.values import Tile
from tritonx.conversion.llvm_text import float_literal
from tritonx.dialects import math

if TYPE_CHECKING:
    from tritonx.backends.nvidia.emit.machine import NvidiaMachine
    from tritonx.conversion.gpu_to_llvm.function import FunctionEmitter

_LOG2_E = 1.4426950408889634

# name → intrinsic of the special-function unit: PTX ISA 9.0, section 9.7.3
_APPROXIMATE = {
    "exp2": "@llvm.nvvm.ex2.approx.ftz.f",
    "sqrt": "@llvm.nvvm.sqrt.approx.ftz.f",
    "rsqrt": "@llvm.nvvm.rsqrt.approx.ftz.f",
    "sin_approximate": "@llvm.nvvm.sin.approx.f",
    "cos_approximate": "@llvm.nvvm.cos.approx.f",
    "log2_approximate": "@llvm.nvvm.lg2.approx.ftz.f",
}


def tanh_approximate(f: FunctionEmitter, tile: Tile) -> Tile:
    """``tanh.approx.f32``, which has no intrinsic of its own: LLVM takes it where the call allows an approximation."""
    symbol = f.module.declare("float", "@llvm.tanh.f32", ["float"])
    made = {x: f.inst(f"call afn float {symbol}(float {x})") for x in dict.fromkeys(f.scalars(tile))}
    return Tile.of("float", [made[x] for x in f.scalars(tile)])


def function(f: FunctionEmitter, name: str, operands: list[Tile]) -> Tile | None:
    """The function ``name`` of the machine's contract; None where LLVM's own instruction is right."""
    if name == "rem":
        return remainder(f, operands)
    if operands[0].elem == "double":
        return double_function(f, name, operands)
    if name == "exp" and isinstance(f.current, math.ExpOp) and only_narrowed(f.current.results[0]):
        return exponential_of_halves(f, operands[0])
    if name == "exp":
        return call_each(f, "@llvm.nvvm.ex2.approx.f", [times(f, operands[0], _LOG2_E)], "float")
    if name == "tanh_approximate":
        return tanh_approximate(f, operands[0])
    if name in _APPROXIMATE:
        return call_each(f, approximate(f, name), operands, "float")
    if name == "div" and len(set(operands[1].scalars or ())) == 1 and operands[0].n >= UNIFORM_FROM:
        return divided_by_one(f, operands[0], (operands[1].scalars or [""])[0])
    if name == "approximate_div":
        return call_each(f, approximate_quotient(f), operands, "float")
    if name == "div":
        return call_each(f, "@llvm.nvvm.div.full", operands, "float")
    if name in POLYNOMIALS:
        return polynomial(f, name, operands)
    return None


def approximate(f: FunctionEmitter, name: str) -> str:
    """The intrinsic, which keeps subnormal numbers where ``enable_reflect_ftz`` is off."""
    flushes = cast("NvidiaMachine", f.machine).reflect_ftz
    return _APPROXIMATE[name] if flushes else _APPROXIMATE[name].replace(".ftz", "")


def approximate_quotient(f: FunctionEmitter) -> str:
    """As `approximate`."""
    return "@llvm.nvvm.div.approx.ftz.f" if cast("NvidiaMachine", f.machine).reflect_ftz else "@llvm.nvvm.div.approx.f"


def exponential_of_halves(f: FunctionEmitter, x: Tile) -> Tile:
    """exp(x) as the square of exp(x/2)."""
    symbol = f.module.declare("float", "@llvm.nvvm.ex2.approx.ftz.f", ["float"])
    made: dict[str, str] = {}
    exponents = f.scalars(times(f, x, _LOG2_E / 2))
    for exponent in exponents:
        if exponent not in made:
            root = f.inst(f"call float {symbol}(float {exponent})")
            made[exponent] = f.inst(f"fmul float {root}, {root}")
    return joined(f, "float", [made[e] for e in exponents])


UNIFORM_FROM = 4
"""Elements a thread from which a division by one number becomes a reciprocal and products."""


def divided_by_one(f: FunctionEmitter, x: Tile, y: str) -> Tile:
    """Every element of ``x`` over the same ``y``, to two units in the last place, as ``div.full`` is.

    x · rcp(y·s) · s with a power of two s that keeps y·s and its reciprocal in range: two products an element instead
    of the eight instructions of ``div.full``."""
    size = f.inst(f"call float {f.module.intrinsic('fabs', 'float', ['float'])}(float {y})")
    large = f.inst(f"fcmp ogt float {size}, {float_literal(2.0**100, 'float')}")
    small = f.inst(f"fcmp olt float {size}, {float_literal(2.0**-100, 'float')}")
    down, up, one = (float_literal(v, "float") for v in (2.0**-64, 2.0**64, 1.0))
    scale = f.inst(f"select i1 {small}, float {up}, float {one}")
    scale = f.inst(f"select i1 {large}, float {down}, float {scale}")
    scaled_ = f.inst(f"fmul float {y}, {scale}")
    symbol = f.module.declare("float", "@llvm.nvvm.rcp.approx.ftz.f", ["float"])
    reciprocal = f.inst(f"call float {symbol}(float {scaled_})")
    for factor in (reciprocal, scale):
        splat = Tile.splat("float", x.n, factor)
        x = combine(f, "float", [x, splat], lambda s, v: f"fmul {of(s, 'float')} {v[0]}, {v[1]}")
    return x


def double_function(f: FunctionEmitter, name: str, operands: list[Tile]) -> Tile | None:
    if name in ("div", "precise_div", "sqrt", "precise_sqrt"):
        if name.endswith("sqrt"):
            return call_each(f, "@llvm.nvvm.sqrt.rn.d", operands, "double")
        return None
    symbol = device_library.DOUBLE.get(name)
    return None if symbol is None else library_function(f, symbol, operands, "double")


def library_function(f: FunctionEmitter, symbol: str, operands: list[Tile], result: str) -> Tile:
    """A function of libdevice, or the one of our own that stands in where the library is missing."""
    if not device_library.found() and (made := own_function(f, symbol, operands, result)) is not None:
        return made
    return call_each(f, f"@{symbol}", operands, result)


@cache
def library_signatures() -> Signatures:
    """What libdevice has, as far as ``tl.extra.libdevice`` names it."""
    return signatures(FUNCTIONS)


def extern(f: FunctionEmitter, symbol: str, operands: list[Tile], result: str) -> Tile | None:
    """A ``__nv_*`` function: the device library's, bit for bit. Where the library is missing, the polynomials and
    instructions that stand for it.
    """
    own = None if device_library.found() and symbol not in device_library.ABSENT else device_library.INLINE.get(symbol)
    if own is not None and (made := function(f, own, operands)) is not None:
        return made
    return library_function(f, symbol, operands, result)
