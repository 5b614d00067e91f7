"""Registers of A that stay the same around a loop, which ptxas before 13.1 gives to another product's A.

Where such a loop has another one in it, if only one that waits for an mbarrier, behind the product, ptxas does not see
that the registers are needed again in the next iteration, and the A of the next product may get them. So each iteration
takes them anew, by an instruction that ptxas does not take for a copy: registers that no product names are kept."""

from __future__ import annotations

import re
from typing import NamedTuple

PRODUCT = "wgmma.mma_async"
FENCE = "wgmma.fence.sync.aligned;"

_PRODUCT = re.compile(r"wgmma\.mma_async[^{;]*\{[^}]*\},\s*(\{[^}]*\})[^;]*;")
_REGISTER = re.compile(r"%[A-Za-z]\w*")
_WRITTEN = re.compile(r"(?:^|[;{}\n])\s*[a-z][\w.:]*\s+(\{[^}]*\}|%\w+(?:\|%\w+)?)\s*,")
_BRANCH = re.compile(r"bra(?:\.uni)?\s+([A-Za-z_$][\w$]*)\s*;")
_BETWEEN = " \t\n;{}"
"""The characters in front of a statement."""
_FUNCTION = re.compile(r"^\{\n.*?^\}\n", re.MULTILINE | re.DOTALL)


class _Loop(NamedTuple):
    """From a label to the last branch back to it: places in the text."""

    start: int
    end: int

    def holds(self, place: int) -> bool:
        return self.start < place < self.end


def with_operands_anew(ptx: str) -> str:
    """The program with copies of such operands in front of the products of an iteration."""
    return _FUNCTION.sub(lambda found: _in_function(found.group()), ptx) if PRODUCT in ptx else ptx


def _in_function(function: str) -> str:
    products = list(_PRODUCT.finditer(function))
    loops = _loops(function) if products else []
    lost = {loop: _lost(function, loop, loops, products) for loop in loops}
    copies: dict[int, dict[str, str]] = {}
    edits: list[tuple[int, int, str]] = []
    for product in products:
        around = [loop for loop in loops if lost[loop] and loop.holds(product.start())]
        kept = [r for r in _REGISTER.findall(product.group(1)) if any(r in lost[loop] for loop in around)]
        if kept:
            fence = function.rfind(FENCE, max(loop.start for loop in around), product.start())
            place = product.start() if fence < 0 else fence
            own = copies.setdefault(place, {})
            for register in kept:
                own.setdefault(register, f"%operand{place}_{len(own)}")
            named = _REGISTER.sub(lambda r, own=own: own.get(r.group(), r.group()), product.group(1))
            edits.append((*product.span(1), named))
    for place, own in copies.items():
        taken = " ".join(
            f"lop3.b32 {name}, {register}, {register}, {register}, 0xf0;" for register, name in own.items()
        )
        edits.append((place, place, f"{taken}\n\t" if function.startswith(FENCE, place) else f"{taken} {FENCE}\n\t"))
    names = [name for own in copies.values() for name in own.values()]
    for start, end, text in sorted(edits, reverse=True):
        function = function[:start] + text + function[end:]
    return function.replace("{\n", f"{{\n\t.reg .b32 {', '.join(names)};\n", 1) if names else function


def _lost(function: str, loop: _Loop, loops: list[_Loop], products: list[re.Match[str]]) -> set[str]:
    """Registers of A that are carried from one iteration to the next, past another loop after their last product.
    Registers that only some threads write, by a predicate, are carried as well."""
    inner = max((other.start for other in loops if loop.start < other.start and other.end < loop.end), default=0)
    last: dict[str, int] = {}
    first: dict[str, int] = {}
    for product in products:
        if loop.holds(product.start()):
            for register in _REGISTER.findall(product.group(1)):
                first.setdefault(register, product.start())
                last[register] = product.start()
    passed = {register for register, place in last.items() if place < inner}
    if not passed:
        return passed
    for found in _WRITTEN.finditer(function, loop.start, loop.end):
        for register in _REGISTER.findall(found.group(1)):
            if register in passed and found.start(1) < first[register]:
                passed.remove(register)
    return passed


def _loops(function: str) -> list[_Loop]:
    """Where a branch goes back; a label that the text has several times is the last one in front of the branch."""
    ends: dict[int, int] = {}
    for branch in _BRANCH.finditer(function):
        start = _label(function, branch.group(1), branch.start())
        if start >= 0:
            ends[start] = max(branch.end(), ends.get(start, 0))
    return [_Loop(start, end) for start, end in ends.items()]


def _label(function: str, name: str, end: int) -> int:
    """The last place of a label in front of a place; -1 if there is none."""
    place = function.rfind(f"{name}:", 0, end)
    while place > 0 and function[place - 1] not in _BETWEEN:
        place = function.rfind(f"{name}:", 0, place)
    return place
