"""One instruction for a reduction over the 32 lanes of a warp (PTX ISA 9.0, "redux.sync").

It adds, compares and combines 32-bit integers from compute capability 8.0 on, and compares f32 on the 10.x ones. On
the others a floating-point number is compared as the integer whose order is the same: with the sign bit clear its
bits as they are, with the sign bit set all others inverted. A NaN has no place in that order and is given one: the
end that loses against every number where NaNs are ignored, the end that wins where they spread. Either is the image of
a NaN.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from xdsl.ir import Operation

from tritonx.conversion.gpu_to_llvm.types import bits
from tritonx.dialects import arith

if TYPE_CHECKING:
    from tritonx.conversion.gpu_to_llvm.function import FunctionEmitter

FULL_MASK = -1
"""The member mask: all 32 lanes."""

_INTEGERS: dict[type[Operation], tuple[str, str]] = {
    arith.AddiOp: ("add", "zext"),
    arith.AndIOp: ("and", "zext"),
    arith.OrIOp: ("or", "zext"),
    arith.XOrIOp: ("xor", "zext"),
    arith.MaxSIOp: ("max", "sext"),
    arith.MinSIOp: ("min", "sext"),
    arith.MaxUIOp: ("umax", "zext"),
    arith.MinUIOp: ("umin", "zext"),
}
"""The instruction, and how a narrower integer becomes one of 32 bits."""

_FLOATS: dict[type[Operation], tuple[str, bool]] = {
    arith.MaxnumfOp: ("max", False),
    arith.MaximumfOp: ("max", True),
    arith.MinnumfOp: ("min", False),
    arith.MinimumfOp: ("min", True),
}
"""The instruction, and whether a NaN is the result where there is one."""

_LOWEST, _HIGHEST = -(1 << 31), (1 << 31) - 1


def over_lanes(f: FunctionEmitter, capability: int, op: type[Operation], value: str, elem: str) -> str | None:
    """``value`` of LLVM type ``elem`` combined by ``op`` over all lanes, in every lane; None where no instruction
    does it.
    """
    if capability < 80 or bits(elem) > 32:
        return None
    if op in _INTEGERS and elem.startswith("i"):
        name, extension = _INTEGERS[op]
        word = value if elem == "i32" else f.inst(f"{extension} {elem} {value} to i32")
        word = _redux(f, name, "i32", word)
        return word if elem == "i32" else f.inst(f"trunc i32 {word} to {elem}")
    if op not in _FLOATS or elem not in ("float", "half", "bfloat"):
        return None
    name, spreads = _FLOATS[op]
    if capability // 10 == 10 and elem == "float":
        return _redux(f, f"f{name}{'.NaN' if spreads else ''}", "float", value)
    return _ordered(f, name, spreads, value, elem)


def _redux(f: FunctionEmitter, name: str, type_: str, value: str) -> str:
    symbol = f.module.declare(type_, f"@llvm.nvvm.redux.sync.{name}", [type_, "i32"], " #0")
    f.module.attributes["#0"] = "convergent nounwind"
    return f.inst(f"call {type_} {symbol}({type_} {value}, i32 {FULL_MASK})")


def _ordered(f: FunctionEmitter, name: str, spreads: bool, value: str, elem: str) -> str:
    width = bits(elem)
    word = f.inst(f"bitcast {elem} {value} to i{width}")
    if width < 32:
        word = f.inst(f"shl i32 {f.inst(f'zext i{width} {word} to i32')}, {32 - width}")
    nan = f.inst(f"fcmp uno {elem} {value}, {value}")
    place = _HIGHEST if spreads == (name == "max") else _LOWEST
    word = f.inst(f"select i1 {nan}, i32 {place}, i32 {_turned(f, word)}")
    word = _turned(f, _redux(f, name, "i32", word))
    if width < 32:
        word = f.inst(f"trunc i32 {f.inst(f'lshr i32 {word}, {32 - width}')} to i{width}")
    return f.inst(f"bitcast i{width} {word} to {elem}")


def _turned(f: FunctionEmitter, word: str) -> str:
    """The bits of a float as an integer of the same order, and back."""
    sign = f.inst(f"ashr i32 {word}, 31")
    return f.inst(f"xor i32 {word}, {f.inst(f'and i32 {sign}, {_HIGHEST}')}")
