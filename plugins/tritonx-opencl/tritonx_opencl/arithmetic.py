"""OpenCL's built-in functions where LLVM has none, or the shared emitters' would be slower."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xdsl.ir import Operation

from tritonx.conversion.gpu_to_llvm.calls import Signatures, call_each
from tritonx.conversion.gpu_to_llvm.elementwise import TABLE as SHARED
from tritonx.conversion.gpu_to_llvm.elementwise import call_intrinsic, emitted, lanewise
from tritonx.conversion.gpu_to_llvm.function import Emit
from tritonx.conversion.gpu_to_llvm.values import Tile
from tritonx.conversion.scalar import integers
from tritonx.conversion.scalar.floats import reciprocal_root
from tritonx.dialects import arith, tile

if TYPE_CHECKING:
    from tritonx.conversion.gpu_to_llvm.function import FunctionEmitter

_CODES = {"half": "Dh", "float": "f", "double": "d", "i32": "i", "i64": "l"}
_UNSIGNED = {"i8": "h", "i16": "t", "i32": "j", "i64": "m"}

_SAME = (
    "exp exp2 exp10 expm1 log log2 log10 log1p sin cos tan asin acos atan atan2 sinh cosh tanh asinh acosh atanh "
    "erf erfc cbrt pow lgamma tgamma hypot"
)
FUNCTIONS = {**{name: name for name in _SAME.split()}, "rem": "fmod"}
"""The emitters' names of functions → OpenCL's."""

LIBRARY = {**{name: name for name in "floor ceil trunc rint round fma sqrt rsqrt copysign".split()}, "abs": "fabs"}
"""Further names of ``tl.extra.libdevice``, which arrive as symbols where a backend has no table of them."""


def mangled(name: str, elems: list[str]) -> str:
    return f"@_Z{len(name)}{name}{''.join(_CODES[e] for e in elems)}"


def function(f: FunctionEmitter, name: str, operands: list[Tile]) -> Tile | None:
    """The function ``name`` of tiles of f32 or f64. None for LLVM's own."""
    elem = operands[0].elem
    if name in ("div", "precise_div"):
        return None
    if name in ("sqrt", "precise_sqrt"):
        return call_intrinsic(f, "sqrt", operands)
    if name == "rsqrt":
        return lanewise(f, elem, operands, lambda ops, x: reciprocal_root(ops, elem, x[0]))
    if name in FUNCTIONS:
        return call_each(f, mangled(FUNCTIONS[name], [t.elem for t in operands]), operands, elem)
    return None


def library_signatures() -> Signatures:
    """OpenCL has its functions built in: there is no device library that lists them."""
    return frozenset()


def extern(f: FunctionEmitter, symbol: str, operands: list[Tile], result: str) -> Tile | None:
    """``tl.extra.libdevice.<symbol>`` where OpenCL has the function for these types."""
    name = LIBRARY.get(symbol) or FUNCTIONS.get(symbol)
    if name is None or any(t.elem not in _CODES for t in operands):
        return None
    return call_each(f, mangled(name, [t.elem for t in operands]), operands, result)


def multiply_high(op: Operation, f: FunctionEmitter) -> None:
    """The upper half of a product of unsigned integers; SPIR-V has no integers of twice 64 bits to take it from."""
    a, b = (f.get(v) for v in op.operands)
    f.result(op, call_each(f, f"@_Z6mul_hi{_UNSIGNED[a.elem] * 2}", [a, b], a.elem))


def on_truth_values(word: str, otherwise: Emit) -> Emit:
    """The instruction ``word`` for i1, on which SPIR-V has logic and no arithmetic."""
    logic = emitted(integers.binary(word))

    def emit(op: Operation, f: FunctionEmitter) -> None:
        (logic if f.get(op.operands[0]).elem == "i1" else otherwise)(op, f)

    return emit


TABLE: dict[type[Operation], Emit] = {
    tile.MulhiUIOp: multiply_high,
    arith.MaxUIOp: on_truth_values("or", SHARED[arith.MaxUIOp]),
    arith.MinUIOp: on_truth_values("and", SHARED[arith.MinUIOp]),
    arith.MaxSIOp: on_truth_values("and", SHARED[arith.MaxSIOp]),
    arith.MinSIOp: on_truth_values("or", SHARED[arith.MinSIOp]),
}
