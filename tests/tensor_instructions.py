"""The `tcgen05` instructions of a PTX text in a form that does not depend on registers.

Of registers in braces there is the number, of an address what is added to it. The constants of a product are found by
following its registers back: the instruction descriptor, and of a matrix descriptor all that is no address (two halves
in Triton's text, one number in ours)."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass

Definitions = dict[str, "Sum"]


@dataclass(frozen=True)
class Sum:
    """A constant, and the registers that are added to it, each shifted by so many bits."""

    constant: int
    registers: tuple[tuple[str, int], ...] = ()


_FORMS = (
    (re.compile(r"mov\.b(?:32|64)\s+(\S+), (-?\d+);"), lambda a: Sum(int(a))),
    (re.compile(r"mov\.b(?:32|64)\s+(\S+), ([%AB][\w]*);"), lambda a: Sum(0, ((a, 0),))),
    (
        re.compile(r"mov\.b64\s+(\S+), \{(\S+), (\S+)\};"),
        lambda a, b: Sum(0, ((a, 0), (b, 32))) if b[0] == "%" else Sum(int(b) << 32, ((a, 0),)),
    ),
    (re.compile(r"(?:add|or)\.[sb](?:32|64)\s+(\S+), (\S+), (-?\d+);"), lambda a, b: Sum(int(b), ((a, 0),))),
)


def instructions(ptx: str) -> Counter[str]:
    """How often there is each."""
    found: Counter[str] = Counter()
    known: Definitions = {}
    for line in ptx.splitlines():
        text = re.sub(r"//.*", "", line).strip()
        for form, make in _FORMS:
            if (match := form.fullmatch(text)) is not None:
                name, *rest = match.groups()
                known[name] = make(*rest)
        if "tcgen05." in text:
            found[_normal(text, known)] += 1
    for text in found:  # of a block's other warps Triton frees as well, with a predicate that is false
        if "dealloc" in text:
            found[text] = 1
    return found


def _normal(text: str, known: Definitions) -> str:
    text = re.sub(r"^@!?%p\d+\s+", "", text)
    name, _, rest = text.rstrip(";").partition(" ")
    operands = [part.strip() for part in re.split(r",(?![^\[{]*[\]}])", rest)]
    if "tcgen05.mma" in name:
        d, a, b, descriptor, *_ = operands
        left = _address(a) if a.startswith("[") else hex(_constant(a, known))
        return f"{name} {_address(d)} {left} {hex(_constant(b, known))} {_constant(descriptor, known)}"
    return " ".join([name, *(_operand(each) for each in operands)])


def _operand(text: str) -> str:
    if text.startswith("{"):
        return f"{{{text.count(',') + 1}}}"
    return _address(text) if text.startswith("[") else re.sub(r"%\w+", "R", text)


def _address(text: str) -> str:
    found = re.fullmatch(r"\[\s*%\w+\s*(?:\+\s*(\d+)\s*)?\]", text)
    assert found is not None, text
    return f"[{int(found[1] or 0)}]"


def _constant(name: str, known: Definitions) -> int:
    if re.fullmatch(r"-?\d+", name):
        return int(name)
    held = known.get(name)
    if held is None:
        return 0
    total = held.constant + sum(_constant(each, known) << shift for each, shift in held.registers if each != name)
    return total & ((1 << 64) - 1)
