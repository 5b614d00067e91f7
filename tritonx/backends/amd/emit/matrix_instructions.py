"""The matrix instructions of the processors, as LLVM's intrinsics.

Source: the "matrix arithmetic instructions" of the CDNA 2, 3 and 4 and the "wave matrix multiply accumulate" of the
RDNA 3 and 4 instruction-set documents; the intrinsics' types are those of LLVM 22."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass


@dataclass(frozen=True)
class ScaledInstruction:
    """``per_lane`` are the bytes of both operands that a lane gives, ``formats`` the codes of their types; ``offsets``
    as an ``Instruction`` has them."""

    symbol: str
    per_lane: tuple[int, int]
    formats: tuple[int, int]
    offsets: tuple[int, ...]
    element: str = "float"

    @property
    def accumulator(self) -> str:
        return f"<{len(self.offsets)} x {self.element}>"

    @property
    def operands(self) -> tuple[str, str]:
        """LLVM's types."""
        first, second = (f"<{count // 4} x i32>" for count in self.per_lane)
        return first, second


@dataclass(frozen=True)
class Instruction:
    """``operand`` is the LLVM type of ``per_lane`` elements of K; a lane's results of type ``element`` are ``offsets``
    away from its first, along the rows of the first operand. ``formats`` are the codes of both operands' types where
    the instruction is told them.
    """

    symbol: str
    per_lane: int
    operand: str
    element: str
    offsets: tuple[int, ...]
    formats: tuple[int, int] | None = None

    @property
    def accumulator(self) -> str:
        return f"<{len(self.offsets)} x {self.element}>"

    @property
    def is_mfma(self) -> bool:
        return ".mfma." in self.symbol

    @property
    def is_integer(self) -> bool:
        return self.element == "i32"


_FNUZ = {"f8E4M3FNUZ": "fp8", "f8E5M2FNUZ": "bf8"}
_OCP = {"f8E4M3FN": "fp8", "f8E5M2": "bf8"}

_FORMATS = {"f8E4M3FN": 0, "f8E5M2": 1}
"""Codes of CDNA 4's F8F6F4 instructions (CDNA 4 ISA, V_MFMA_F32_32X32X64_F8F6F4)."""

SCALED_MFMA_FORMATS = {4: {"e4m3": 0, "e5m2": 1, "e2m1": 4}}
"""The same of the formats that each version of MFMA multiplies with scales."""
SCALED_K = {16: 128, 32: 64}
"""K of these instructions by the side of their tiles."""

SHORTENED = "xf32"
"""The type of f32 operands of which CDNA 3 multiplies 19 bits."""

MFMA_TYPES = {
    2: frozenset({"f16", "bf16", "f32", "f64", "i8"}),
    3: frozenset({"f16", "bf16", "f32", "f64", "i8", *_FNUZ}),
    4: frozenset({"f16", "bf16", "f32", "f64", "i8", *_OCP}),
}
"""Operand types of each version of MFMA. 8-bit floats are the FNUZ formats on CDNA 3 and OCP's on CDNA 4."""

WMMA_TYPES = {1: frozenset({"f16", "bf16", "i8"}), 2: frozenset({"f16", "bf16", "i8", *_OCP})}


def mfma_instructions(version: int, side: int, first: str, second: str) -> tuple[Instruction, ...]:
    """The instructions for tiles of ``side`` (16 or 32), longest K first. In a tile of 32 a lane has four groups of
    four neighbours, 8 apart; in one of 16 it has four neighbours, in f64 four that are 4 apart."""
    offsets = _results_in_tile(side)
    found: list[Instruction] = []
    for result, name, per_lane, operand in _mfma(version, side, first, second):
        element = {"f32": "float", "i32": "i32", "f64": "double"}[result]
        own = (0, 4, 8, 12) if result == "f64" else offsets
        k = per_lane * 64 // side
        symbol = f"@llvm.amdgcn.mfma.{result}.{side}x{side}x{k}{name}"
        found.append(Instruction(symbol, per_lane, operand, element, own))
    if version >= 4 and first in _FORMATS and second in _FORMATS:
        symbol = f"@llvm.amdgcn.mfma.scale.f32.{side}x{side}x{2048 // side}.f8f6f4.v8i32.v8i32"
        found.insert(0, Instruction(symbol, 32, "<8 x i32>", "float", offsets, (_FORMATS[first], _FORMATS[second])))
    return tuple(found)


def _results_in_tile(side: int) -> tuple[int, ...]:
    return tuple(8 * group + i for group in range(4 if side == 32 else 1) for i in range(4))


def scaled_mfma(version: int, side: int, first: str, second: str) -> ScaledInstruction | None:
    """The instruction that multiplies with scales, for operands of two formats in tiles of ``side``."""
    codes = SCALED_MFMA_FORMATS.get(version, {})
    if side not in SCALED_K or first not in codes or second not in codes:
        return None
    held = tuple(SCALED_K[side] * side // 64 // (2 if name == "e2m1" else 1) for name in (first, second))
    types = ".".join(f"v{count // 4}i32" for count in held)
    symbol = f"@llvm.amdgcn.mfma.scale.f32.{side}x{side}x{SCALED_K[side]}.f8f6f4.{types}"
    return ScaledInstruction(symbol, (held[0], held[1]), (codes[first], codes[second]), _results_in_tile(side))


def _mfma(version: int, side: int, first: str, second: str) -> Iterator[tuple[str, str, int, str]]:
    """(result type, end of the name, elements of K a lane, LLVM operand type)."""
    floats = {3: _FNUZ, 4: _OCP}.get(version, {})
    match first, second:
        case "f16", "f16":
            if version >= 4:
                yield "f32", ".f16", 8, "<8 x half>"
            yield "f32", "f16", 4, "<4 x half>"
        case "bf16", "bf16":
            if version >= 4:
                yield "f32", ".bf16", 8, "<8 x bfloat>"
            yield "f32", "bf16.1k", 4, "<4 x i16>"
        case "xf32", "xf32" if version == 3:
            yield "f32", ".xf32", 2, "<2 x float>"
        case "f32", "f32":
            yield "f32", "f32", 1, "float"
        case "f64", "f64" if side == 16:
            yield "f64", "f64", 1, "double"
        case "i8", "i8":
            if version >= 4:
                yield "i32", ".i8", 16, "<4 x i32>"
            if version >= 3:
                yield "i32", ".i8", 8, "i64"
            if version == 2:
                yield "i32", "i8", 4, "i32"
        case _ if first in floats and second in floats:
            yield "f32", f".{floats[first]}.{floats[second]}", 8, "i64"
        case _:
            return


def wmma_instructions(version: int, first: str, second: str) -> tuple[Instruction, ...]:
    """The instructions for tiles of 16 by 16. On RDNA 3 (1) every lane has all 16 elements of K, both half-waves the
    same, and every second result; on RDNA 4 (2) the half-waves share K, and each has eight neighbouring results."""
    per_lane = 16 if version == 1 else 8
    offsets = tuple(range(0, 16, 2)) if version == 1 else tuple(range(8))
    floats = _OCP if version == 2 else {}
    words = per_lane // 4
    match first, second:
        case "f16", "f16":
            result, name, operand = "f32", "f16", f"<{per_lane} x half>"
        case "bf16", "bf16":
            result, name, operand = "f32", "bf16", f"<{per_lane} x i16>"
        case "i8", "i8":
            result, name, operand = "i32", "iu8", f"<{words} x i32>"
        case _ if first in floats and second in floats:
            result, name, operand = "f32", f"{floats[first]}.{floats[second]}", f"<{words} x i32>"
        case _:
            return ()
    count, elem = operand[1:-1].split(" x ")
    mangled = f"v8{result}.v{count}{'f16' if elem == 'half' else elem}"
    symbol = f"@llvm.amdgcn.wmma.{result}.16x16x16.{name}.{mangled}"
    return (Instruction(symbol, per_lane, operand, "float" if result == "f32" else "i32", offsets),)
