"""Words of bytes that lie in other words, for machines with an instruction that picks bytes of two words.

A tile of bytes that lies four to a register, and is stored along another dim, takes its bytes of four registers. LLVM
makes such a word by shifts, masks and ors of each byte. Two bytes of a pair of registers are picked at a time here,
together with the two beside them, which the next word needs: four by four bytes are transposed by eight instructions in
place of twenty or more."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tritonx.conversion.gpu_to_llvm.values import Tile

if TYPE_CHECKING:
    from tritonx.conversion.gpu_to_llvm.function import FunctionEmitter

PER_WORD = 4


@dataclass(frozen=True)
class _Half:
    """The lower or the upper two bytes of a word."""

    word: str
    is_upper: bool


class ByteWords:
    """The bytes of a tile that lies in registers of four, by their numbers."""

    def __init__(self, f: FunctionEmitter, tile: Tile) -> None:
        self._f = f
        count = tile.n // PER_WORD
        vector = f.inst(f"bitcast {tile.type} {f.wide(tile)} to <{count} x i32>")
        self._words = [f.inst(f"extractelement <{count} x i32> {vector}, i32 {i}") for i in range(count)]
        self._picked: dict[tuple[int, int, int, int], str] = {}

    @staticmethod
    def hold(f: FunctionEmitter, tile: Tile) -> bool:
        """Whether a tile lies so, and the machine picks bytes."""
        is_vector = tile.scalars is None or tile.scalars_block is not None
        return f.machine.picks_bytes and tile.elem == "i8" and is_vector and tile.n % (2 * PER_WORD) == 0

    def operand(self, registers: Sequence[int]) -> tuple[str, str]:
        """Some bytes one after another, a power of two of them, as type and name."""
        if len(registers) == 1:
            return "i8", self._part("i8", registers[0] // PER_WORD, registers[0] % PER_WORD)
        if len(registers) == 2:
            half = self._half(registers[0], registers[1])
            pair = self._f.inst(f"bitcast i32 {half.word} to <2 x i16>")
            return "i16", self._f.inst(f"extractelement <2 x i16> {pair}, i32 {int(half.is_upper)}")
        words = [self._word(registers[i : i + PER_WORD]) for i in range(0, len(registers), PER_WORD)]
        return ("i32" if len(words) == 1 else f"<{len(words)} x i32>"), self._f.pack("i32", words)

    def _part(self, type_: str, word: int, place: int) -> str:
        vector = self._f.inst(f"bitcast i32 {self._words[word]} to <{PER_WORD} x {type_}>")
        return self._f.inst(f"extractelement <{PER_WORD} x {type_}> {vector}, i32 {place}")

    def _word(self, registers: Sequence[int]) -> str:
        places = [divmod(r, PER_WORD) for r in registers]
        sources = list(dict.fromkeys(word for word, _ in places))
        if len(sources) > 2:
            low, high = self._half(*registers[:2]), self._half(*registers[2:])
            first, second = 2 * low.is_upper, 2 * high.is_upper
            return self._pick(low.word, high.word, (first, first + 1, PER_WORD + second, PER_WORD + second + 1))
        if [(sources[0], i) for i in range(PER_WORD)] == places:
            return self._words[sources[0]]
        chosen = [place + PER_WORD * sources.index(word) for word, place in places]
        return self._pick(self._words[sources[0]], self._words[sources[-1]], chosen)

    def _half(self, first: int, second: int) -> _Half:
        """Two bytes in half a word, which has the bytes beside them, in theirs, in its other half."""
        (low, place), (high, other) = divmod(first, PER_WORD), divmod(second, PER_WORD)
        if low == high and place % 2 == 0 and other == place + 1:
            return _Half(self._words[low], place >= 2)
        upper = place % 2
        place, other = place ^ upper, other ^ upper
        key = low, high, place, other
        if key not in self._picked:
            chosen = place, PER_WORD + other, place ^ 1, PER_WORD + (other ^ 1)
            self._picked[key] = self._pick(self._words[low], self._words[high], chosen)
        return _Half(self._picked[key], bool(upper))

    def _pick(self, low: str, high: str, chosen: Sequence[int]) -> str:
        """The word of bytes 0 to 3 of one word and 4 to 7, the bytes of another."""
        return self._f.machine.pick_bytes(self._f, low, high, chosen)
