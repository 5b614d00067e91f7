"""Floating-point conversions that LLVM's fptrunc and fpext do not cover: the fp8 formats and rounding toward zero.

PTX ISA 9.0, "cvt". fp8 conversions work on pairs and saturate to the largest finite value; they need compute
capability 8.9. Before that they are done in integer arithmetic."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tritonx.conversion.gpu_to_llvm import fp8
from tritonx.conversion.gpu_to_llvm.elementwise import combine, convert_tile, of
from tritonx.conversion.gpu_to_llvm.values import Tile
from tritonx.dialects.tile.enums import RoundingMode

if TYPE_CHECKING:
    from tritonx.conversion.gpu_to_llvm.function import FunctionEmitter

_PAIR = {"f8E4M3FN": "e4m3x2", "f8E5M2": "e5m2x2"}
_LLVM = {"f16": "half", "bf16": "bfloat", "f32": "float", "f64": "double"}


def convert(
    f: FunctionEmitter, capability: int, tile: Tile, source: str, target: str, rounding: int | None
) -> Tile | None:
    toward_zero = rounding == RoundingMode.RTZ
    if source in _LLVM and target in _LLVM:
        if toward_zero and target in ("f16", "bf16"):
            return truncate(f, tile, target)
        opcode = "fpext" if list(_LLVM).index(source) < list(_LLVM).index(target) else "fptrunc"
        if {source, target} == {"f16", "bf16"}:
            return convert_tile(f, "fptrunc", convert_tile(f, "fpext", tile, "float"), _LLVM[target])
        return convert_tile(f, opcode, tile, _LLVM[target]) if rounding is not None else None
    if source in _LLVM and target in _PAIR and capability >= 89 and not toward_zero:
        wide = fp8.to_odd(f, tile) if source == "f64" else convert_tile(f, "fpext", tile, "float")
        return to_pairs(f, wide, _PAIR[target])
    if source in _PAIR and target in _LLVM and capability >= 89:
        half = from_pairs(f, tile, _PAIR[source])
        if target == "f16":
            return half
        wide = convert_tile(f, "fpext", half, "double" if target == "f64" else "float")
        return convert_tile(f, "fptrunc", wide, "bfloat") if target == "bf16" else wide
    return fp8.convert(f, tile, source, target, toward_zero=toward_zero)


def truncate(f: FunctionEmitter, tile: Tile, target: str) -> Tile:
    """Rounding toward zero: bf16 is the high half of the f32; f16 has an instruction."""
    if tile.elem == "double":
        tile = fp8.to_odd(f, tile)
    if target == "bf16":
        word = convert_tile(f, "bitcast", tile, "i32")
        amount = Tile.splat("i32", tile.n, "16")
        high = combine(f, "i32", [word, amount], lambda s, x: f"lshr {of(s, 'i32')} {x[0]}, {x[1]}")
        return convert_tile(f, "bitcast", convert_tile(f, "trunc", high, "i16"), "bfloat")
    names = [f.inst(f'call half asm "cvt.rz.f16.f32 $0, $1;", "=h,f"(float {x})') for x in f.scalars(tile)]
    return Tile.of("half", names) if tile.n == 1 else Tile.wide("half", tile.n, f.pack("half", names))


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


def from_pairs(f: FunctionEmitter, tile: Tile, format_: str) -> Tile:
    """fp8 to f16, two at a time; exact."""
    symbol = f.module.declare("<2 x half>", f"@llvm.nvvm.{format_}.to.f16x2.rn", ["i16"])
    parts: list[str] = []
    for pair in pairs(f.scalars(tile)):
        word = f.inst(f"bitcast <2 x i8> {f.pack('i8', list(pair))} to i16")
        parts.append(f.inst(f"call <2 x half> {symbol}(i16 {word})"))
    if tile.n == 1:
        return Tile.of("half", [f.inst(f"extractelement <2 x half> {parts[0]}, i32 0")])
    return Tile.wide("half", tile.n, f.concat("half", parts, 2))
