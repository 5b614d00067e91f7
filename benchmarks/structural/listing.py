"""Machine code as text, SASS or AMDGCN, as a list of instructions with the places that they may go on at."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Instruction:
    """``target``: the label of a direct branch. ``falls``: whether the next instruction may follow."""

    opcode: str
    operands: str = ""
    target: str = ""
    falls: bool = True


@dataclass(frozen=True)
class Function:
    """``labels`` name positions in ``code``."""

    code: Sequence[Instruction]
    labels: dict[str, int]


_SASS_SECTION = re.compile(r"^\s*\.section\s+\.text\.")
_SASS_LABEL = re.compile(r"^(\.L_\w+):")
_SASS = re.compile(r"^\s*/\*[0-9a-f]+\*/\s+(@!?U?P\w+\s+)?([A-Z][\w.]*)\s*(.*?)\s*;")
_SASS_TARGET = re.compile(r"`\((\.L_\w+)\)")
_SASS_ENDS = ("EXIT", "RET", "BRX", "JMX", "KILL")
_NEVER = ("@!PT", "@!UPT")
"""Predicates of padding: for 8.0 ptxas puts `@!UPT UIADD3 URZ, URZ, URZ, URZ` between products of matrix units, up to
one for each of them, or none at all where others stand there."""


def sass(listing: str) -> list[Function]:
    """The functions of what ``nvdisasm -c`` prints, without padding."""
    functions: list[Function] = []
    code: list[Instruction] = []
    labels: dict[str, int] = {}
    for line in listing.splitlines():
        if _SASS_SECTION.match(line):
            code, labels = [], {}
            functions.append(Function(code, labels))
        elif found := _SASS_LABEL.match(line):
            labels[found[1]] = len(code)
        elif (found := _SASS.match(line)) and found[2] != "NOP" and (found[1] or "").strip() not in _NEVER:
            predicate, opcode, operands = found.groups(default="")
            code.append(_sass_instruction(predicate, opcode, operands))
    return [f for f in functions if f.code]


def _sass_instruction(predicate: str, opcode: str, operands: str) -> Instruction:
    stem = opcode.split(".")[0]
    target = _SASS_TARGET.search(operands) if stem in ("BRA", "JMP") else None
    # A branch has its own predicate among its operands as well: BRA P0, `(.L_x_1).
    always = not predicate and not (target and re.search(r"\b!?U?P\d", operands[: target.start()]))
    falls = not (always and (stem in _SASS_ENDS or target is not None))
    return Instruction(opcode, operands, target[1] if target else "", falls)


_GCN_LABEL = re.compile(r"^(\.LBB\w+):")
_GCN = re.compile(r"^\s+([svdgb]\w+)\s*(.*?)\s*(?:;.*|//.*)?$")
_GCN_END = re.compile(r"^\s*\.(?:section|end_amdhsa_kernel|amdhsa_)|^\.Lfunc_end")


def amdgcn(text: str) -> list[Function]:
    """The functions of LLVM's assembly for AMD's processors."""
    functions: list[Function] = []
    code: list[Instruction] = []
    labels: dict[str, int] = {}
    for line in text.splitlines():
        if _GCN_END.match(line):
            if code:
                functions.append(Function(code, labels))
            code, labels = [], {}
        elif found := _GCN_LABEL.match(line):
            labels[found[1]] = len(code)
        elif (found := _GCN.match(line)) and re.match(r"(?:[sv]_|ds_|global_|buffer_|flat_|scratch_)", found[1]):
            opcode, operands = found[1], found[2]
            target = operands if opcode == "s_branch" or opcode.startswith("s_cbranch") else ""
            ends = opcode in ("s_branch", "s_endpgm", "s_setpc_b64")
            code.append(Instruction(opcode, operands, target, not ends))
    return [*functions, *([Function(code, labels)] if code else [])]
