"""``tt.dot`` by ``mma.sync`` (PTX ISA 9.0, section 9.7.15), the warp-wide matrix instruction of compute capability
7.5 to 12.x.

One instruction computes a 16×8 tile of the result. Of the K elements that a thread holds of a row of A or a column of
B it takes two 32-bit words (one on 7.5). Which k these are does not matter as long as A and B agree, so the words of
a row are simply numbered in the order of the registers: any ``kWidth`` that the operands share is right.

8-bit floats have an instruction on 8.9 and 12.x. For 9.0 to 11.x ptxas makes of it two of f16 that multiply into zeros,
and additions of what they give; there each of their words becomes two of f16 here, and the instruction is that of f16.

A word of f64 is one element. Compute capability 9.0 takes up to four of a row, 8.0 one, and there the upper and the
lower half of the tile are two instructions; the layouts are the same."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tritonx.analysis.registers import for_tiles
from tritonx.backends.nvidia.emit.convert import pair_format, widen_pair
from tritonx.backends.nvidia.emit.mbarrier import CONVERGENT
from tritonx.backends.nvidia.targets import MAX_REGISTERS
from tritonx.conversion.gpu_to_llvm.dot import Position, Rows
from tritonx.conversion.gpu_to_llvm.encodings import type_encoding
from tritonx.conversion.gpu_to_llvm.shape import positions
from tritonx.conversion.gpu_to_llvm.types import bits
from tritonx.conversion.gpu_to_llvm.values import Tile
from tritonx.conversion.tile_to_gpu.matrix_unit import type_name
from tritonx.ir.failure import PassError
from tritonx.layouts.encodings import NvidiaMmaEncoding

if TYPE_CHECKING:
    from xdsl.ir import Operation

    from tritonx.conversion.gpu_to_llvm.function import FunctionEmitter
    from tritonx.conversion.gpu_to_llvm.product import DotProduct, Factor

_CONVERGENT = "#1"


@dataclass(frozen=True)
class Instruction:
    """``shape`` and ``types`` of the mnemonic; ``words`` of K a row, each of ``width`` bits; ``packed`` f16
    accumulators in pairs; ``rows`` of the result that it computes.
    """

    shape: str
    types: str
    words: int
    packed: bool = False
    width: int = 32
    rows: int = 16

    def mnemonic(self, suffix: str = "") -> str:
        return f"mma.sync.aligned.{self.shape}.row.col{suffix}.{self.types}"


_FP8 = {"f8E4M3FN": "e4m3", "f8E5M2": "e5m2"}


def multiplies_fp8(capability: int) -> bool:
    """Whether there is an instruction for 8-bit floats in the warp's registers."""
    return capability == 89 or capability >= 120


def select(capability: int, a: str, b: str, c: str, words: int) -> Instruction | None:
    """The instruction for element types by the IR's names and the words that a thread holds of a row, or None."""
    if a == b == "f16" and c in ("f32", "f16"):
        acc = c
        if capability < 80:
            return Instruction("m16n8k8", f"{acc}.f16.f16.{acc}", 1, c == "f16")
        return Instruction("m16n8k16", f"{acc}.f16.f16.{acc}", 2, c == "f16")
    if capability < 80:
        return None
    if a == b == "bf16" and c == "f32":
        return Instruction("m16n8k16", "f32.bf16.bf16.f32", 2)
    if a == b == "f32" and c == "f32":
        return Instruction("m16n8k8", "f32.tf32.tf32.f32", 2)
    if a == b == "i8" and c == "i32":
        return Instruction("m16n8k32", "s32.s8.s8.s32", 2)
    if a in _FP8 and b in _FP8 and c == "f32" and capability >= 89:
        if multiplies_fp8(capability):
            return Instruction("m16n8k32", f"f32.{_FP8[a]}.{_FP8[b]}.f32", 2)
        return Instruction("m16n8k16", "f32.f16.f16.f32", 2)
    if a == b == c == "f64":
        if capability < 90:
            return Instruction("m8n8k4", "f64.f64.f64.f64", 1, width=64, rows=8)
        taken = next(n for n in (4, 2, 1) if words % n == 0)
        return Instruction(f"m16n8k{4 * taken}", "f64.f64.f64.f64", taken, width=64)
    return None


def mma(f: FunctionEmitter, capability: int, product: DotProduct) -> bool:
    """Emit a product if its result has the version-2 layout; False leaves it to multiply-adds."""
    encoding = type_encoding(product.c.type)
    if not isinstance(encoding, NvidiaMmaEncoding):
        return False
    if encoding.version_major != 2:
        raise PassError(product.op, "only the version-2 matrix layout can be multiplied by tt.dot")
    types = [type_name(v.type) for v in (product.a, product.b, product.c)]
    kind = WidenedWords if {*types[:2]} <= _FP8.keys() and not multiplies_fp8(capability) else Words
    left, right = kind(f, product.a, along=-1), kind(f, product.b, along=-2)
    instruction = select(capability, *types, words=left.words(product.op))
    if instruction is None:
        raise PassError(
            product.op, f"compute capability {capability / 10} multiplies no {types[0]} by {types[1]} into {types[2]}"
        )
    f.result(product.op, multiply(f, product, instruction, left, right, f.get(product.c)))
    return True


def multiply(
    f: FunctionEmitter, product: DotProduct, instruction: Instruction, left: Words, right: Words, c: Tile
) -> Tile:
    """``c`` plus the product. All tiles of the result take a step of K before the next one: of operands in shared
    memory only a step's are in registers. A step is as much of K as fits (``STEP_WORDS``), but one instruction at
    least, or as many as a load brings elements for. Where it is not all of K, the operand with fewer rows stays during
    a step, and the other one's rows pass by."""
    places = positions(f.layout(product.c.type))
    where = {p: r for r, p in reversed(list(enumerate(places)))}
    out = list(f.scalars(c))
    tiles: list[tuple[Position, Position, list[int]]] = []
    for p in dict.fromkeys(places):
        *batch, row, column = p
        if row & 8 or column & 1:
            continue
        above, beside = (*batch, row), (*batch, column)
        if above not in left.registers or (*batch, row | 8) not in left.registers or beside not in right.registers:
            raise PassError(product.op, "the operands of the product are not laid out for its result")
        tiles.append((above, beside, [where[*batch, row | dr, column | dc] for dr in (0, 8) for dc in (0, 1)]))
    taken, depth = instruction.words, left.words(product.op)
    size = instruction.width // 32
    own = len(out) * max(32, bits(c.elem)) // 32
    least = max(taken, left.words_together(), right.words_together())
    step = depth
    while step > least and own + step * size * (len(left.registers) + len(right.registers)) > STEP_WORDS:
        step //= 2
    if step == depth:
        left.load()
        right.load()
    else:
        stays = 0 if len(left.registers) < 2 * len(right.registers) else 1
        tiles.sort(key=lambda t: (t[1 - stays], t[stays]))
    for start in range(0, depth, step):
        for above, beside, registers in tiles:
            below = (*above[:-1], above[-1] | 8)
            values = [out[r] for r in registers]
            for first in range(start, start + step, taken):
                numbers = range(first, first + taken)
                column_words = [right.word(beside, k) for k in numbers]
                if instruction.rows == 8:
                    halves = zip((above, below), (values[:2], values[2:]), strict=True)
                    values = [
                        v
                        for row, own in halves
                        for v in issue(f, instruction, [left.word(row, first)], column_words, own)
                    ]
                else:
                    row_words = [left.word(row, k) for k in numbers for row in (above, below)]
                    values = issue(f, instruction, row_words, column_words, values)
            for r, value in zip(registers, values, strict=True):
                out[r] = value
    return f.gathered(c.elem, [out[where[p]] for p in places])


STEP_WORDS = for_tiles(MAX_REGISTERS + 1)
"""Registers for the results of a thread and the operands of a step. 128x128x64 f16 on 8 warps
reads its operands whole, 160 registers in all (178 TFLOP/s on an H200; 150 in steps of 16)."""


class Words(Rows):
    """An operand's rows as words: 32 bits, or one f64."""

    def __init__(self, f: FunctionEmitter, operand: Factor, along: int) -> None:
        super().__init__(f, operand, along)
        self.per = max(1, 32 // bits(self.elem))
        self._cast = ""
        self._made: dict[tuple[Position, int], str] = {}

    def words(self, op: Operation) -> int:
        """How many words of every row the thread holds."""
        depth = self.depth(op)
        if depth % self.per:
            raise PassError(op, "a thread holds too few elements along K for a word")
        return depth // self.per

    def words_together(self) -> int:
        """How many words of a row come with the first one's load."""
        return self.together() // self.per

    def word(self, row: Position, number: int) -> str:
        if (row, number) not in self._made:
            first = number * self.per
            self._made[row, number] = self._word(self.registers[row][first : first + self.per])
        return self._made[row, number]

    def _word(self, registers: list[int]) -> str:
        """``registers`` as a word: runs of neighbours are read off one bitcast of the whole vector."""
        f, per, value, first = self.f, self.per, self.value, registers[0]
        neighbours = first % per == 0 and registers == list(range(first, first + per))
        if value is not None and value.prefers_vector and neighbours and value.n > per and self.elem != "double":
            if not self._cast:
                self._cast = f.inst(f"bitcast {value.type} {f.wide(value)} to <{value.n // per} x i32>")
            return f.inst(f"extractelement <{value.n // per} x i32> {self._cast}, i32 {first // per}")
        vector = self.packed(registers)
        if self.elem in ("double", "i32"):
            return vector
        return f.inst(f"bitcast {self.elem if per == 1 else f'<{per} x {self.elem}>'} {vector} to i32")


class WidenedWords(Words):
    """The rows of 8-bit floats as words of two f16: each word of theirs makes two."""

    def __init__(self, f: FunctionEmitter, operand: Factor, along: int) -> None:
        super().__init__(f, operand, along)
        self._pair = pair_format(type_name(operand.type))
        self._halves: dict[tuple[Position, int], str] = {}

    def words(self, op: Operation) -> int:
        return 2 * super().words(op)

    def words_together(self) -> int:
        return 2 * super().words_together()

    def word(self, row: Position, number: int) -> str:
        if (row, number) not in self._halves:
            whole, upper = super().word(row, number // 2), number % 2
            moved = self.f.inst(f"lshr i32 {whole}, 16") if upper else whole
            pair = widen_pair(self.f, self.f.inst(f"trunc i32 {moved} to i16"), self._pair)
            self._halves[row, number] = self.f.inst(f"bitcast <2 x half> {pair} to i32")
        return self._halves[row, number]


_ACCUMULATORS = {"f16": ("half", "r"), "s32": ("i32", "r"), "f32": ("float", "f"), "f64": ("double", "d")}
"""First part of the types → LLVM's type of an accumulator and its register's letter."""


def issue(f: FunctionEmitter, instruction: Instruction, a: list[str], b: list[str], c: list[str]) -> list[str]:
    """One instruction; ``c`` and the result are the accumulators (row, column), (row, +1), (row + 8, column), …"""
    f.module.attributes[_CONVERGENT] = "convergent nounwind memory(none)"
    elem, letter = _ACCUMULATORS[instruction.types[:3]]
    word, word_letter = ("double", "d") if instruction.width == 64 else ("i32", "r")
    if instruction.packed:
        c = [f.inst(f"bitcast <2 x half> {f.pack('half', c[i : i + 2])} to i32") for i in (0, 2)]
        elem = "i32"
    n = len(c)
    suffix = ".satfinite" if instruction.types.startswith("s32") else ""
    names = iter(range(n + len(a) + len(b)))
    lists = ["{" + ", ".join(f"${next(names)}" for _ in part) + "}" for part in (c, a, b)]
    accumulators = lists[0]
    text = f"{instruction.mnemonic(suffix)} {accumulators}, {lists[1]}, {lists[2]}, {accumulators};"
    constraints = ",".join([f"={letter}"] * n + [word_letter] * (len(a) + len(b)) + [str(i) for i in range(n)])
    operands = [f"{word} {x}" for x in (*a, *b)] + [f"{elem} {x}" for x in c]
    struct = "{ " + ", ".join([elem] * n) + " }"
    how, group = "asm", _CONVERGENT
    if f.module.regions is not None:  # no product moves across a clock that is read
        how, group = "asm sideeffect", CONVERGENT
        f.module.attributes[CONVERGENT] = "convergent nounwind"
    called = f.inst(f'call {struct} {how} "{text}", "{constraints}"({", ".join(operands)}) {group}')
    out = [f.inst(f"extractvalue {struct} {called}, {i}") for i in range(n)]
    if not instruction.packed:
        return out
    halves: list[str] = []
    for word in out:
        pair = f.inst(f"bitcast i32 {word} to <2 x half>")
        halves += [f.inst(f"extractelement <2 x half> {pair}, i32 {i}") for i in range(2)]
    return halves
