"""Atomics that a target has no instruction for, by compare-and-swap on the word that holds the element.

A loop computes the word that should be there from the one that was seen, and stores it unless another thread has
changed the word meanwhile: then that is what was seen. An element that is narrower than the word is the word's only
part that changes. The word is aligned, so that it lies in one page with the element, at an array's end too.

A loop ends for one thread whenever another one's does not, so that no order in which threads run makes them wait for
ever, lanes of one warp included."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tritonx.conversion.float_order import extreme, orders
from tritonx.conversion.gpu_to_llvm.types import bits
from tritonx.conversion.llvm_text import FAILURE_ORDERS, MEMORY_ORDERS
from tritonx.dialects.tile.enums import RMWOp

if TYPE_CHECKING:
    from tritonx.conversion.gpu_to_llvm.function import FunctionEmitter

_OPERATIONS = {
    RMWOp.AND: "and",
    RMWOp.OR: "or",
    RMWOp.XOR: "xor",
    RMWOp.ADD: "add",
    RMWOp.FADD: "fadd",
}
_ORDERED = {RMWOp.MAX: "sgt", RMWOp.MIN: "slt", RMWOp.UMAX: "ugt", RMWOp.UMIN: "ult"}
"""The comparison that holds where the old value stays."""


@dataclass(frozen=True)
class Swap:
    """A compare-and-swap on global memory of the threads in ``scope`` (LLVM's text, with a blank behind it or empty),
    in the order that ``sem`` is the number of."""

    scope: str
    sem: int

    def write(self, f: FunctionEmitter, pointer: str, word: str, expected: str, new: str) -> Swapped:
        order = MEMORY_ORDERS[self.sem]
        values = f"{word} {expected}, {word} {new} {self.scope}{order} {FAILURE_ORDERS[order]}"
        return Swapped(word, f.inst(f"cmpxchg {f.global_} {pointer}, {values}"))


@dataclass(frozen=True)
class Swapped:
    """The result of a compare-and-swap."""

    word: str
    pair: str

    def found(self, f: FunctionEmitter) -> str:
        """What was there."""
        return f.inst(f"extractvalue {{ {self.word}, i1 }} {self.pair}, 0")

    def done(self, f: FunctionEmitter) -> str:
        """i1: whether that was what was expected, so that the new value is there now."""
        return f.inst(f"extractvalue {{ {self.word}, i1 }} {self.pair}, 1")


@dataclass(frozen=True)
class Part:
    """An element of LLVM type ``elem`` in a word at ``pointer``, ``shift`` bits up; None where it is all of the
    word."""

    elem: str
    pointer: str
    word: str
    shift: str | None

    @staticmethod
    def at(f: FunctionEmitter, pointer: str, elem: str, smallest: int) -> Part:
        """The element at ``pointer``; a word has ``smallest`` bits, or the element's."""
        width = bits(elem)
        if width >= smallest:
            return Part(elem, pointer, f"i{width}", None)
        index, word = f"i{f.pointer_bits(f.global_)}", f"i{smallest}"
        address = f.inst(f"ptrtoint {f.global_} {pointer} to {index}")
        behind = f.inst(f"and {index} {address}, {smallest // 8 - 1}")
        start = f.inst(f"getelementptr i8, {f.global_} {pointer}, {index} {f.inst(f'sub {index} 0, {behind}')}")
        shift = f.inst(f"shl {index} {behind}, 3")
        if index != word:
            shift = f.inst(f"{'trunc' if int(index[1:]) > smallest else 'zext'} {index} {shift} to {word}")
        return Part(elem, start, word, shift)

    @property
    def _integer(self) -> str:
        return f"i{bits(self.elem)}"

    def of(self, f: FunctionEmitter, word: str) -> str:
        """The element in ``word``."""
        if self.shift is not None:
            word = f.inst(f"trunc {self.word} {f.inst(f'lshr {self.word} {word}, {self.shift}')} to {self._integer}")
        return word if self.elem == self._integer else f.inst(f"bitcast {self._integer} {word} to {self.elem}")

    def alone(self, f: FunctionEmitter, value: str) -> str:
        """The word of an element and zeros."""
        if self.elem != self._integer:
            value = f.inst(f"bitcast {self.elem} {value} to {self._integer}")
        if self.shift is None:
            return value
        return f.inst(f"shl {self.word} {f.inst(f'zext {self._integer} {value} to {self.word}')}, {self.shift}")

    def rest(self, f: FunctionEmitter, word: str) -> str:
        """``word`` with zeros in the element's place."""
        if self.shift is None:
            return "0"
        own = f.inst(f"shl {self.word} {(1 << bits(self.elem)) - 1}, {self.shift}")
        return f.inst(f"and {self.word} {word}, {f.inst(f'xor {self.word} {own}, -1')}")

    def joined(self, f: FunctionEmitter, rest: str, alone: str) -> str:
        return alone if self.shift is None else f.inst(f"or {self.word} {rest}, {alone}")


Step = Callable[[str], tuple[str, str, str]]
"""Of the word that was seen last: the word that is there now, whether that ends the loop (i1), and the element that is
the result then."""


def _loop(f: FunctionEmitter, part: Part, swap: Swap, step: Step) -> str:
    """The first look may be of any age: the swap finds out."""
    size = int(part.word[1:]) // 8
    first = f.inst(f"load atomic {part.word}, {f.global_} {part.pointer} {swap.scope}monotonic, align {size}")
    before, again, after = f.block, f.new_label("again"), f.new_label("swapped")
    f.enter(again)
    seen, at = f.name(), len(f.lines)
    f.lines.append("")
    found, ended, result = step(seen)
    f.lines[at] = f"  {seen} = phi {part.word} [ {first}, %{before} ], [ {found}, %{f.block} ]"
    f.branch_if(ended, after, again)
    f.label(after)
    return result


def modify(f: FunctionEmitter, part: Part, swap: Swap, kind: RMWOp, value: str) -> str:
    """Combine the element with ``value`` by ``kind``; what it was before."""

    def step(seen: str) -> tuple[str, str, str]:
        old = part.of(f, seen)
        new = part.alone(f, _combined(f, kind, part.elem, old, value))
        swapped = swap.write(f, part.pointer, part.word, seen, part.joined(f, part.rest(f, seen), new))
        return swapped.found(f), swapped.done(f), old

    return _loop(f, part, swap, step)


def compare_and_swap(f: FunctionEmitter, part: Part, swap: Swap, compare: str, value: str) -> str:
    """Store ``value`` where the element has the bits of ``compare``; what it was before. The loop goes on where only
    the rest of the word is another."""
    expected, new = part.alone(f, compare), part.alone(f, value)

    if part.shift is None:
        return part.of(f, swap.write(f, part.pointer, part.word, expected, new).found(f))

    def step(seen: str) -> tuple[str, str, str]:
        rest = part.rest(f, seen)
        words = part.joined(f, rest, expected), part.joined(f, rest, new)
        swapped = swap.write(f, part.pointer, part.word, *words)
        found = swapped.found(f)
        same = f.inst(f"icmp eq {part.word} {part.rest(f, found)}, {rest}")
        return found, f.inst(f"or i1 {swapped.done(f)}, {same}"), part.of(f, found)

    return _loop(f, part, swap, step)


def _combined(f: FunctionEmitter, kind: RMWOp, elem: str, old: str, value: str) -> str:
    if kind is RMWOp.XCHG:
        return value
    if orders(kind, elem):
        patterns = [f.inst(f"bitcast {elem} {x} to i16") for x in (old, value)]
        return f.inst(f"bitcast i16 {extreme(f.inst, kind, elem, *patterns)} to {elem}")
    if (predicate := _ORDERED.get(kind)) is not None:
        return f.inst(f"select i1 {f.inst(f'icmp {predicate} {elem} {old}, {value}')}, {elem} {old}, {elem} {value}")
    return f.inst(f"{_OPERATIONS[kind]} {elem} {old}, {value}")
