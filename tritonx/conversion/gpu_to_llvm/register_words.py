"""Values of any element type as 32-bit words and back: what shuffles carry.

Elements of 8 and 16 bits travel as many together as a word holds."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from tritonx.conversion.gpu_to_llvm.types import BITS
from tritonx.conversion.gpu_to_llvm.values import Tile

if TYPE_CHECKING:
    from tritonx.conversion.gpu_to_llvm.function import FunctionEmitter


def move_tile(f: FunctionEmitter, tile: Tile, move: Callable[[str], str]) -> Tile:
    """Apply ``move`` (i32 → i32, a transfer between lanes) to every element."""
    width = 0 if tile.elem.startswith("ptr") else BITS[tile.elem]
    if width not in (8, 16) or tile.n == 1:
        return Tile.of(tile.elem, [through_words(f, tile.elem, x, move) for x in f.scalars(tile)])
    per = min(32 // width, tile.n)
    runs = [f.run(tile, i, per) for i in range(0, tile.n, per)]
    moved = [move_packed(f, tile.elem, per, run, move) for run in runs]
    return Tile.wide(tile.elem, tile.n, f.concat(tile.elem, moved, per))


def move_both(f: FunctionEmitter, tile: Tile, move: Callable[[str], tuple[str, str]]) -> tuple[Tile, Tile]:
    """As ``move_tile`` for a transfer that gives two words for each."""
    seconds: list[str] = []

    def first(word: str) -> str:
        moved = move(word)
        seconds.append(moved[1])
        return moved[0]

    left = move_tile(f, tile, first)
    rest = iter(seconds)
    return left, move_tile(f, tile, lambda _: next(rest))


def move_packed(f: FunctionEmitter, elem: str, count: int, vector: str, move: Callable[[str], str]) -> str:
    """``move`` of ``count`` elements, a vector of at most 32 bits, as one word."""
    width = count * BITS[elem]
    word = f.inst(f"bitcast <{count} x {elem}> {vector} to i{width}")
    if width < 32:
        word = f.inst(f"zext i{width} {word} to i32")
    word = move(word)
    if width < 32:
        word = f.inst(f"trunc i32 {word} to i{width}")
    return f.inst(f"bitcast i{width} {word} to <{count} x {elem}>")


def through_words(f: FunctionEmitter, elem: str, name: str, move: Callable[[str], str]) -> str:
    """Apply ``move`` (i32 → i32, a transfer between lanes) to every 32-bit word of one value of type ``elem``."""
    return unpack_words(f, elem, [move(word) for word in pack_words(f, elem, name)])


def pack_words(f: FunctionEmitter, elem: str, name: str) -> list[str]:
    """One value of type ``elem`` as one or two i32."""
    if elem.startswith("ptr"):
        integer = f"i{f.pointer_bits(elem)}"
        return pack_words(f, integer, f.inst(f"ptrtoint {elem} {name} to {integer}"))
    width = BITS[elem]
    integer = name if elem.startswith("i") else f.inst(f"bitcast {elem} {name} to i{width}")
    if width == 32:
        return [integer]
    if width < 32:
        return [f.inst(f"zext i{width} {integer} to i32")]
    pair = f.inst(f"bitcast i64 {integer} to <2 x i32>")
    return [f.inst(f"extractelement <2 x i32> {pair}, i32 {i}") for i in range(2)]


def unpack_words(f: FunctionEmitter, elem: str, words: list[str]) -> str:
    """The value of type ``elem`` that ``pack_words`` took apart."""
    if elem.startswith("ptr"):
        integer = f"i{f.pointer_bits(elem)}"
        return f.inst(f"inttoptr {integer} {unpack_words(f, integer, words)} to {elem}")
    width = BITS[elem]
    integer = words[0]
    if width < 32:
        integer = f.inst(f"trunc i32 {words[0]} to i{width}")
    elif width > 32:
        integer = f.inst(f"bitcast <2 x i32> {f.pack('i32', words)} to i64")
    return integer if elem.startswith("i") else f.inst(f"bitcast i{width} {integer} to {elem}")
