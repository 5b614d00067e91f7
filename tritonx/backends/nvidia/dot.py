"""``tt.dot`` by ``mma.sync`` (PTX ISA 9.0, section 9.7.15), the warp-wide matrix instruction of compute capability
7.5 to 12.x.

One instruction computes a 16×8 tile of the result. Of the K elements that a thread holds of a row of A or a column of
B it takes two 32-bit words (one on 7.5). Which k these are does not matter as long as A and B agree, so the words of
a row are simply numbered in the order of the registers: any ``kWidth`` that the operands share is right.

A word of f64 is one element. Compute capability 9.0 takes up to four of a row, 8.0 one, and there the upper and the
lower half of the tile are two instructions; the layouts are the same."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tritonx.conversion.gpu_to_llvm.encodings import encoding_of
from tritonx.conversion.gpu_to_llvm.shape import positions
from tritonx.conversion.gpu_to_llvm.types import bits
from tritonx.conversion.gpu_to_llvm.values import Tile
from tritonx.ir.failure import PassError
from tritonx.layouts.encodings import NvidiaMmaEncoding

if TYPE_CHECKING:
    from tritonx.conversion.gpu_to_llvm.function import FunctionEmitter

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
        return Instruction("m16n8k32", f"f32.{_FP8[a]}.{_FP8[b]}.f32", 2)
    if a == b == c == "f64":
        if capability < 90:
            return Instruction("m8n8k4", "f64.f64.f64.f64", 1, width=64, rows=8)
        taken = next(n for n in (4, 2, 1) if words % n == 0)
        return Instruction(f"m16n8k{4 * taken}", "f64.f64.f64.f64", taken, width=64)
    return None


def mma(f: FunctionEmitter, capability: int, op: Any) -> bool:
    """Emit ``op`` if its result has the version-2 layout; False leaves it to multiply-adds."""
    encoding = encoding_of(op.c.type)
    if not isinstance(encoding, NvidiaMmaEncoding):
        return False
    if encoding.version_major != 2:
        raise PassError(op, "only the version-2 matrix layout can be multiplied by tt.dot")
    types = [
        v.type.element_type.name
        if not v.type.element_type.name.startswith("integer")
        else f"i{v.type.element_type.width.data}"
        for v in (op.a, op.b, op.c)
    ]
    a = rows_of_words(f, op, op.a, k_dim=-1)
    b = rows_of_words(f, op, op.b, k_dim=-2)
    instruction = select(capability, *types, words=len(next(iter(a.values()))))
    if instruction is None:
        raise PassError(
            op, f"compute capability {capability / 10} multiplies no {types[0]} by {types[1]} into {types[2]}"
        )
    c = f.get(op.c)
    out = list(f.scalars(c))
    where = {p: r for r, p in reversed(list(enumerate(positions(f.layout(op.c.type)))))}
    done: set[tuple[int, ...]] = set()
    for p in positions(f.layout(op.c.type)):
        *batch, row, column = p
        if row & 8 or column & 1 or p in done:
            continue
        done.add(p)
        corners = [(*batch, row | dr, column | dc) for dr in (0, 8) for dc in (0, 1)]
        registers = [where[q] for q in corners]
        top, bottom = a.get((*batch, row)), a.get((*batch, row | 8))
        right = b.get((*batch, column))
        if top is None or bottom is None or right is None:
            raise PassError(op, "the operands of the product are not laid out for its result")
        values = [out[r] for r in registers]
        for k in range(0, len(top), instruction.words):
            column_words = right[k : k + instruction.words]
            if instruction.rows == 8:
                halves = zip((top, bottom), (values[:2], values[2:]), strict=True)
                values = [v for row, own in halves for v in issue(f, instruction, [row[k]], column_words, own)]
            else:
                left = [word for i in range(instruction.words) for word in (top[k + i], bottom[k + i])]
                values = issue(f, instruction, left, column_words, values)
        for r, value in zip(registers, values, strict=True):
            out[r] = value
    first = {p: r for r, p in reversed(list(enumerate(positions(f.layout(op.c.type)))))}
    out = [out[first[p]] for p in positions(f.layout(op.c.type))]
    f.result(op, Tile.wide(c.elem, len(out), f.pack(c.elem, out)))
    return True


def rows_of_words(f: FunctionEmitter, op: Any, operand: Any, k_dim: int) -> dict[tuple[int, ...], list[str]]:
    """For every row (column, for B) of the thread, its K elements as words in the order of k: 32 bits, or one f64."""
    value = f.get(operand)
    per = max(1, 32 // bits(value.elem))
    rows: dict[tuple[int, ...], dict[int, int]] = {}
    for r, p in enumerate(positions(f.layout(operand.type))):
        k = p[k_dim]
        key = p[:k_dim] if k_dim == -1 else (*p[:k_dim], p[-1])
        rows.setdefault(key, {}).setdefault(k, r)
    words: dict[tuple[int, ...], list[str]] = {}
    whole = WordView(f, value, per)
    for key, by_k in rows.items():
        registers = [by_k[k] for k in sorted(by_k)]
        if len(registers) % per:
            raise PassError(op, "a thread holds too few elements along K for a word")
        words[key] = [whole.word(registers[i : i + per]) for i in range(0, len(registers), per)]
    return words


class WordView:
    """Registers as words: runs of neighbours are read off one bitcast of the whole vector; an f64 stays what it is."""

    def __init__(self, f: FunctionEmitter, value: Tile, per: int) -> None:
        self.f = f
        self.value = value
        self.per = per
        self.cast = ""

    def word(self, registers: list[int]) -> str:
        f, per, n = self.f, self.per, self.value.n
        first = registers[0]
        neighbours = first % per == 0 and registers == list(range(first, first + per))
        if self.value.prefers_vector and neighbours and n > per and self.value.elem != "double":
            if not self.cast:
                self.cast = f.inst(f"bitcast {self.value.type} {f.wide(self.value)} to <{n // per} x i32>")
            return f.inst(f"extractelement <{n // per} x i32> {self.cast}, i32 {first // per}")
        names = f.scalars(self.value)
        vector = f.pack(self.value.elem, [names[r] for r in registers])
        if self.value.elem == "double":
            return vector
        if per == 1:
            return vector if self.value.elem == "i32" else f.inst(f"bitcast {self.value.elem} {vector} to i32")
        return f.inst(f"bitcast <{per} x {self.value.elem}> {vector} to i32")


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
    called = f.inst(f'call {struct} asm "{text}", "{constraints}"({", ".join(operands)}) {_CONVERGENT}')
    out = [f.inst(f"extractvalue {struct} {called}, {i}") for i in range(n)]
    if not instruction.packed:
        return out
    halves: list[str] = []
    for word in out:
        pair = f.inst(f"bitcast i32 {word} to <2 x half>")
        halves += [f.inst(f"extractelement <2 x half> {pair}, i32 {i}") for i in range(2)]
    return halves
