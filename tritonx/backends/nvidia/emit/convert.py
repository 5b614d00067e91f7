"""Conversions of floats that NVIDIA has instructions for and LLVM does not make: the fp8 formats, rounding toward zero,
and integers that saturate.

PTX ISA 9.0, "cvt". fp8 conversions work on pairs and saturate to the largest finite value; they need compute
capability 8.9, those of f32 to bf16 8.0. Everything else is `conversion.scalar`'s."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tritonx.conversion.gpu_to_llvm.calls import call_each, each_called
from tritonx.conversion.gpu_to_llvm.elementwise import convert_tile, lanewise
from tritonx.conversion.gpu_to_llvm.types import FORMATS
from tritonx.conversion.gpu_to_llvm.values import Tile
from tritonx.conversion.scalar.conversions import to_odd
from tritonx.dialects.tile.enums import RoundingMode

if TYPE_CHECKING:
    from tritonx.conversion.gpu_to_llvm.function import FunctionEmitter

_PAIR = {"f8E4M3FN": "e4m3x2", "f8E5M2": "e5m2x2"}


def convert(
    f: FunctionEmitter, capability: int, tile: Tile, source: str, target: str, rounding: int | None
) -> Tile | None:
    """By an instruction of the machine; None where there is none better than the shared code."""
    if rounding == RoundingMode.RTZ:
        return truncate(f, capability, tile, target) if source in FORMATS else None
    if source in FORMATS and target in _PAIR and capability >= 89:
        return to_pairs(f, single(f, tile), _PAIR[target])
    if source in _PAIR and target in FORMATS and capability >= 89:
        half = from_pairs(f, tile, _PAIR[source])
        if target == "f16":
            return half
        wide = convert_tile(f, "fpext", half, "double" if target == "f64" else "float")
        return convert_tile(f, "fptrunc", wide, "bfloat") if target == "bf16" else wide
    return None


def single(f: FunctionEmitter, tile: Tile) -> Tile:
    """A float as f32, which a rounding to fewer digits follows."""
    if tile.elem == "double":
        return lanewise(f, "float", [tile], lambda ops, x: to_odd(ops, x[0]))
    return convert_tile(f, "fpext", tile, "float")


def truncate(f: FunctionEmitter, capability: int, tile: Tile, target: str) -> Tile | None:
    """Rounding toward zero to f16, bf16 and, from f64, f32."""
    if target == "f32":
        return call_each(f, "@llvm.nvvm.d2f.rz", [tile], "float") if tile.elem == "double" else None
    if target == "bf16" and capability >= 80:
        return call_each(f, "@llvm.nvvm.f2bf16.rz", [single(f, tile)], "bfloat")
    if target != "f16":
        return None
    narrow = single(f, tile)
    names = [f.inst(f'call half asm "cvt.rz.f16.f32 $0, $1;", "=h,f"(float {x})') for x in f.scalars(narrow)]
    return f.gathered("half", names)


_INTEGERS = {"i8": ("8", "i32", "=r"), "i16": ("16", "i16", "=h"), "i32": ("32", "i32", "=r")}
"""By type its bits, the type of the register and its constraint."""


def to_integer(f: FunctionEmitter, tile: Tile, target: str, *, signed: bool) -> Tile | None:
    """cvt clamps to the range of the result, and has 0 for NaN where neither side has 64 bits (LLVM takes minima,
    comparisons and selects for that, seven instructions for an i32)."""
    if target not in _INTEGERS or tile.elem == "double":
        return None
    width, register, constraint = _INTEGERS[target]
    kind = f"{'s' if signed else 'u'}{width}"
    callee = f'asm "cvt.rzi.{kind}.f32 $0, $1;", "{constraint},f"'
    return convert_tile(f, "trunc", each_called(f, callee, [convert_tile(f, "fpext", tile, "float")], register), target)


def pairs(names: list[str]) -> list[tuple[str, str]]:
    return [(names[i], names[i + 1] if i + 1 < len(names) else names[i]) for i in range(0, len(names), 2)]


def to_pairs(f: FunctionEmitter, tile: Tile, format_: str) -> Tile:
    """f32 to fp8, two at a time: round to nearest even, saturating."""
    symbol = f.module.declare("i16", f"@llvm.nvvm.ff.to.{format_}.rn", ["float", "float"])
    words: list[str] = []
    for low, high in pairs(f.scalars(tile)):
        word = f.inst(f"call i16 {symbol}(float {high}, float {low})")
        words.append(f.inst(f"bitcast i16 {word} to <2 x i8>"))
    if tile.n == 1:
        return Tile.of("i8", [f.inst(f"extractelement <2 x i8> {words[0]}, i32 0")])
    return Tile.wide("i8", tile.n, f.concat("i8", words, 2))


def pair_format(name: str) -> str:
    """How PTX calls a pair of this type of 8-bit floats."""
    return _PAIR[name]


def widen_pair(f: FunctionEmitter, word: str, format_: str) -> str:
    """A pair of 8-bit floats (i16) as two f16; exact."""
    symbol = f.module.declare("<2 x half>", f"@llvm.nvvm.{format_}.to.f16x2.rn", ["i16"])
    return f.inst(f"call <2 x half> {symbol}(i16 {word})")


def from_pairs(f: FunctionEmitter, tile: Tile, format_: str) -> Tile:
    """fp8 to f16, two at a time; exact."""
    words = [f.inst(f"bitcast <2 x i8> {f.pack('i8', list(pair))} to i16") for pair in pairs(f.scalars(tile))]
    parts = [widen_pair(f, word, format_) for word in words]
    if tile.n == 1:
        return Tile.of("half", [f.inst(f"extractelement <2 x half> {parts[0]}, i32 0")])
    return Tile.wide("half", tile.n, f.concat("half", parts, 2))
