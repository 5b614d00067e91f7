"""What ptxas assembles wrong, written so that it does not.

- Before 13.4 it joins two `min` or `max` of integers to VIMNMX3, which compute capability 9 and 10 have, and takes one
  negated operand for the number that is not negated: max(-a, -b, c) becomes max(-a, b, c). Seen in 12.8 to 13.3, for
  32 and 16 bits, signed and unsigned. It does not see a negation in "not, plus one". One that it would find for itself
  is written so too, such as a - (b + a): a number without the cumulative sum up to it.
- Before 13.3 it computes `neg.s16` and `abs.s16` in 32 bits, and takes what it finds there for the number where that is
  extended, compared or shifted: of -32768 both are 32768. Before 13.1 it takes `abs.s32` and `abs.s64` for numbers that
  are not negative, as that of the least is. On all capabilities. "Not, plus one" wraps, and an absolute value is the
  larger of a number and that.
- Before 13.2 it computes one half of an `add.s16x2` of a constant again where that is needed later, and adds 0 there
  (VIADD.16x2, compute capability 9 and later). Seen in 12.8, 13.0 and 13.1. Two additions of 16 bits are safe.
- It joins the "and" and the "or" of two predicates to one PLOP3, which has two results, and where only the second, the
  "or", is left in the end, it takes the first: an "and". Seen in 12.8 to 13.5, compute capability 8 and later; flags of
  a scan that say which threads have elements were lost so. Few kernels have such a pair at all, so what was assembled
  is looked at (``takes_and_for_or``), and assembled once more in other words where that may have happened
  (``without_joined_predicates``): an "or" by way of a register of 32 bits.
- Before 13.1 it loses registers of A that stay the same around a loop of warp-group products in which another loop is
  (``operands_around_loops``). Seen in 12.8 to 13.0.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

import numpy as np

from tritonx.backends.nvidia.assembler.operands_around_loops import with_operands_anew
from tritonx.backends.nvidia.targets import Capability

_EXTREMUM = re.compile(r"\b(?:min|max)\.[su](?:16|32|16x2)\b")
_START = r"(?<![\w.])(@!?\S+\s+)?"
"""Of an instruction, with its predicate; not of a kind of one (`redux.sync.add.s32`)."""
_ABSOLUTE = re.compile(_START + r"abs\.s(16|32|64)\s+([^,]+),\s*([^;]+);")
_PAIR_SUM = re.compile(_START + r"add\.s16x2\s+([^,]+),\s*([^,]+),\s*([^;]+);")
_NUMBER = re.compile(r"\bmov\.b32\s+(%r\d+),\s*(-?\d+);")
_WRITTEN = re.compile(r"(?:^|[;{}])\s*(?:@\S+\s+)?[\w.]+\s+(%rs?\d+),", re.MULTILINE)
_SUM = re.compile(_START + r"(add|sub)\.s(16|32)\s+(%\w+),\s*([^,;\s]+),\s*([^,;\s]+)\s*;")
_COPY = re.compile(_START + r"mov\.b(?:16|32)\s+(%\w+),\s*([^,;{}\s]+)\s*;")
_EITHER = re.compile(f"{_SUM.pattern}|{_COPY.pattern}")
_LITERAL = re.compile(r"-?(?:0[xX][0-9a-fA-F]+|\d+)")
_FUNCTION_END = re.compile(r"(?<=\n\}\n)")


def avoid_faults(ptx: str, chip: Capability) -> str:
    """The same program in instructions that every ptxas assembles right for ``chip``."""
    ptx = _ABSOLUTE.sub(
        r"{ .reg .b\2 %negated; not.b\2 %negated, \4; add.s\2 %negated, %negated, 1; \1max.s\2 \3, %negated, \4; }", ptx
    )
    joins_extrema = 90 <= chip.number < 120 and _EXTREMUM.search(ptx) is not None
    bits = "16|32" if joins_extrema else "16"
    negation = rf"{_START}neg\.s({bits})\s+([^,]+),\s*([^;]+);"
    ptx = re.sub(negation, r"\1not.b\2 \t\3, \4;\n\t\1add.s\2 \t\3, \3, 1;", ptx)
    if joins_extrema:
        ptx = "".join(map(_without_found_negations, _FUNCTION_END.split(ptx)))
    if chip.number >= 90 and "add.s16x2" in ptx:
        ptx = "".join(map(_split_sums, _FUNCTION_END.split(ptx)))
    return with_operands_anew(ptx)


_Terms = dict[str, int]
"""A sum of registers: how many times each is in it. A number is a multiple of ``_ONE``."""
_ONE = ""
_MOST_TERMS = 8


def _without_found_negations(function: str) -> str:
    """Every sum and difference in which terms cancel, or all are negative, as "not, plus one" of the opposite."""
    if _EXTREMUM.search(function) is None:
        return function
    once = _written_once(function)
    terms: dict[str, _Terms] = {}

    def of(operand: str) -> _Terms:
        return {_ONE: int(operand, 0)} if _LITERAL.fullmatch(operand) else terms.get(operand, {operand: 1})

    def seen(match: re.Match[str]) -> str:
        when, kind, bits, result, a, b, copied_when, copy, copied = match.groups()
        if copy:
            if copy in once and not copied_when:
                terms[copy] = of(copied)
            return match.group()
        total = _added(of(a), of(b), 1 if kind == "add" else -1, int(bits))
        if _size(total) < _size(of(a)) + _size(of(b)) or all(count < 0 for count in total.values()):
            minus_a = f"not.b{bits} %opposite, {a}; add.s{bits} %opposite, %opposite, 1;"
            opposite = f"sub.s{bits} %opposite, {b}, {a};"
            if kind == "add":
                opposite = f"{minus_a} sub.s{bits} %opposite, %opposite, {b};"
            return (
                f"{{ .reg .b{bits} %opposite; {opposite} not.b{bits} %opposite, %opposite; "
                f"{when or ''}add.s{bits} {result}, %opposite, 1; }}"
            )
        if result in once and not when and len(total) <= _MOST_TERMS:
            terms[result] = total
        return match.group()

    return _EITHER.sub(seen, function)


def _written_once(function: str) -> set[str]:
    """Registers that one instruction writes, as its first operand."""
    return {name for name, count in Counter(_WRITTEN.findall(function)).items() if count == 1}


def _size(terms: _Terms) -> int:
    return sum(abs(count) for name, count in terms.items() if name != _ONE)


def _added(a: _Terms, b: _Terms, sign: int, bits: int) -> _Terms:
    """a + sign · b, as numbers of so many bits with a sign."""
    half = 1 << bits - 1
    total = {name: (a.get(name, 0) + sign * b.get(name, 0) + half) % (2 * half) - half for name in {**a, **b}}
    return {name: count for name, count in total.items() if count}


def _split_sums(function: str) -> str:
    """Every sum of a pair and a number as two sums; registers are the function's own."""
    once = _written_once(function)
    numbers = {name: int(value) for name, value in _NUMBER.findall(function) if name in once}

    def split(match: re.Match[str]) -> str:
        when, result, *operands = match.groups()
        for pair, other in (operands, operands[::-1]):
            if (number := numbers.get(other)) is not None:
                low, high = number & 0xFFFF, number >> 16 & 0xFFFF
                return (
                    f"{{ .reg .b16 %low, %high; mov.b32 {{%low, %high}}, {pair}; add.s16 %low, %low, {low}; "
                    f"add.s16 %high, %high, {high}; {when or ''}mov.b32 {result}, {{%low, %high}}; }}"
                )
        return match.group()

    return _PAIR_SUM.sub(split, function)


_AND = re.compile(r"\band\.pred\s+[^,;]+,\s*([^,;\s]+),\s*([^,;\s]+);")
_OR = re.compile(r"^(\s*)or\.pred\s+([^,;]+),\s*([^,;\s]+),\s*([^,;\s]+);", re.MULTILINE)

PLOP3 = 0x81C
"""The instruction's number: its lowest twelve bits."""
AND, OR = 0x80, 0xC8
"""Tables of the two results: a & b & c, and (a | c) & b, where b is true."""
NO_PREDICATE = 7


def takes_and_for_or(cubin: bytes) -> bool:
    """Whether an instruction of the cubin has both tables of a joined pair and only the first result: it may be one
    that was asked for the second. Instructions are 16 bytes long and lie at multiples of 16."""
    words = np.frombuffer(cubin, "<u8", len(cubin) // 16 * 2).reshape(-1, 2)
    low, high = words[(words[:, 0] & 0xFFF) == PLOP3].T
    first, second = (high >> 8 & 0x1F) << 3 | high & 7, low >> 16 & 0xFF
    return bool(np.any((first == AND) & (second == OR) & (high >> 20 & 7 == NO_PREDICATE)))


def without_joined_predicates(ptx: str) -> Iterator[str]:
    """The program in other words: without an "or" of two predicates that have an "and" as well, then without any."""
    ands = {frozenset(pair) for pair in _AND.findall(ptx)}

    def by_register(match: re.Match[str]) -> str:
        space, result, a, b = match.groups()
        return (
            f"{space}{{ .reg .b32 %either; selp.b32 %either, 1, 0, {a}; selp.b32 %either, 1, %either, {b}; "
            f"setp.ne.b32 {result}, %either, 0; }}"
        )

    def where_both(match: re.Match[str]) -> str:
        return by_register(match) if frozenset(match.groups()[2:]) in ands else match.group()

    yield _OR.sub(where_both, ptx)
    yield _OR.sub(by_register, ptx)
