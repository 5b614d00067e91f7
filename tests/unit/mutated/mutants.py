"""Modules that are nearly right: texts of `tt` and `ttg` with one to three mistakes, each from its number and a seed.

What is mutated are the FileCheck files, which have every op, and kernels of the conformance suite at each level, which
compile to the end when nothing is changed, so that a mistake in them can come far.
"""

from __future__ import annotations

import random
import re
from functools import cache
from pathlib import Path
from typing import Any

from tritonx.backends.api import Compilation
from tritonx.interpreter.ir_launch import bind
from tritonx.ir.pipeline import run_pass_stage
from tritonx.ir.text import print_module
from tritonx_testing.conformance import Case, cases
from tritonx_testing.conformance.device import find, host_arguments, options_for
from tritonx_testing.conformance.isolated import is_refusal

FOLDER = Path(__file__).parents[2] / "filecheck"
SOURCES = ("dialects", "transforms", "conversion", "backends")
LONGEST = 12_000
"""Characters of a module to begin with: what compiles in a second."""

TOKEN = re.compile(r'"[^"\n]*"|[%#!@^]?[\w.$-]+|->|[^\w\s]')
NUMBER = re.compile(r"(?<![\w.#%$-])-?\d+(?![\w.])")
TYPE = re.compile(r"\b(?:i1|i8|i16|i32|i64|f8E5M2|f8E4M3FN|f16|bf16|f32|f64|index)\b")
EXTENTS = re.compile(r"(?<=[<x])\d+(?=x)")
ALIAS = re.compile(r"#\w+(?=[>,)])")
VALUE = re.compile(r"%[\w#]+")
NUMBERS = (-1, 0, 1, 2, 3, 4, 5, 7, 8, 16, 31, 32, 33, 64, 100, 128, 255, 1024, 4096, 65536, 2**20, 2**31, 2**32, 2**63)
TYPES = (
    "i1", "i4", "i8", "i16", "i32", "i64", "i128", "f8E5M2", "f8E4M3FN", "f16", "bf16", "f32", "f64", "f128", "index",
)  # fmt: skip
ENCODINGS = (
    "#ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>",
    "#ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [4, 8], warpsPerCTA = [2, 2], order = [1, 0]}>",
    "#ttg.slice<{dim = 0, parent = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1],"
    " order = [1, 0]}>}>",
    "#ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [2, 2], instrShape = [16, 8]}>",
    "#ttg.swizzled_shared<{vec = 8, perPhase = 1, maxPhase = 8, order = [1, 0]}>",
)


@cache
def modules() -> tuple[str, ...]:
    """The modules of the FileCheck files, without comments."""
    found: list[str] = []
    for source in SOURCES:
        for path in sorted((FOLDER / source).rglob("*.mlir")):
            for part in path.read_text().split("// -----") if path.stem != "invalid" else ():
                text = "\n".join(line for line in part.splitlines() if not line.lstrip().startswith("//")).strip()
                if "tt.func" in text and len(text) < LONGEST:
                    found.append(text + "\n")
    return tuple(found)


KERNELS = 24
"""Cases of the conformance suite that a seed draws."""


@cache
def kernels(seed: int) -> tuple[str, ...]:
    """Kernels of the conformance suite as the front end writes them, after the tile passes, and as `ttg`."""
    found: list[str] = []
    for case in random.Random(seed).sample(list(cases()), KERNELS):
        device: Any = find(random.Random(f"{seed}/{case.name}").choice(("cuda:90", "cuda:75", "hip:gfx942")))
        if device.unsupported(case) is not None:
            continue
        try:
            found += stages_of(case, device, seed)
        except Exception as problem:
            if not (case.optional and is_refusal(problem)):  # what a target need not take
                raise
    return tuple(text for text in found if len(text) < LONGEST)


def stages_of(case: Case, device: Any, seed: int) -> list[str]:
    """The texts of one kernel for a target."""
    trial = case.trial(seed)
    options = options_for(case, device.backend, device.target)
    module = bind(case.kernel, host_arguments(trial), dict(trial.constants), options, device.target).module
    found = [print_module(module)]
    for stage in device.backend.stages(device.target, options)[:2]:
        run_pass_stage(module, stage, Compilation(device.target, options))
        found.append(print_module(module))
    return found


def mutant(seed: int, number: int) -> str:
    """The text of a mutant; equal arguments give the same."""
    rng = random.Random(f"{seed}/{number}")
    text = rng.choice(modules() if rng.random() < 0.3 else kernels(seed))
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        text = rng.choice(MUTATIONS)(text, rng)
    return text


def _replace(text: str, pattern: re.Pattern[str], rng: random.Random, new: str) -> str:
    found = list(pattern.finditer(text))
    if not found:
        return text
    match = rng.choice(found)
    return text[: match.start()] + new + text[match.end() :]


def _number(text: str, rng: random.Random) -> str:
    return _replace(text, NUMBER, rng, str(rng.choice(NUMBERS)))


def _extent(text: str, rng: random.Random) -> str:
    """One extent here, or everywhere, so that the module stays of one piece."""
    found = EXTENTS.findall(text)
    new = str(rng.choice(NUMBERS[2:]))
    if not found or rng.random() < 0.5:
        return _replace(text, EXTENTS, rng, new)
    old = rng.choice(found)
    return re.sub(rf"(?<![\w.]){old}(?=[x\s,\]}}>:)])|(?<=x){old}(?=x)", new, text)


def _type(text: str, rng: random.Random) -> str:
    found = TYPE.findall(text)
    new = rng.choice(TYPES)
    if not found or rng.random() < 0.5:
        return _replace(text, TYPE, rng, new)
    return re.sub(rf"(?<=[x<\s(]){rng.choice(found)}\b", new, text)


def _token(text: str, rng: random.Random) -> str:
    """A token dropped, doubled, or in the place of another."""
    found = [match.span() for match in TOKEN.finditer(text)]
    (start, end), (other, till) = rng.choice(found), rng.choice(found)
    new = rng.choice(("", text[start:end] * 2, text[other:till], f"{text[start:end]} {text[other:till]}"))
    return text[:start] + new + text[end:]


def _operand(text: str, rng: random.Random) -> str:
    names = VALUE.findall(text)
    return _replace(text, VALUE, rng, rng.choice(names)) if names else text


def _line(text: str, rng: random.Random) -> str:
    """A line dropped, doubled, or changed for another."""
    lines = text.splitlines()
    i, j = rng.randrange(len(lines)), rng.randrange(len(lines))
    match rng.randrange(3):
        case 0:
            del lines[i]
        case 1:
            lines.insert(i, lines[i])
        case _:
            lines[i], lines[j] = lines[j], lines[i]
    return "\n".join(lines) + "\n"


def _layout(text: str, rng: random.Random) -> str:
    """Another layout in one place, or the definition of one changed for another."""
    names = ALIAS.findall(text)
    if rng.random() < 0.4:
        return _replace(text, re.compile(r"(?<== )#ttg\.[^\n]+"), rng, rng.choice(ENCODINGS))
    return _replace(text, ALIAS, rng, rng.choice((*names, *ENCODINGS)))


def _attribute(text: str, rng: random.Random) -> str:
    """An attribute of the module or of an op: gone, of another type, or one more."""
    more = (
        '"ttg.num-warps" = 4 : i32',
        '"ttg.num-warps" = -4 : i32',
        '"ttg.num-ctas" = 2 : i32',
        '"ttg.threads-per-warp" = 64 : i32',
        "ttg.shared = 0 : i32",
        "allocation.offset = 1000000000 : i32",
        "tt.divisibility = 3 : i32",
        "tt.contiguity = dense<7> : tensor<1xi32>",
        'ttg.target = "x"',
    )
    if rng.random() < 0.5:
        return _replace(text, re.compile(r"\{(?=[^{}\n]*\})"), rng, "{" + rng.choice(more) + ", ")
    return _replace(text, re.compile(r"[\w.\"-]+ = [^,{}\[\]()\n]+,?"), rng, "")


MUTATIONS = (
    _number, _number, _number, _extent, _extent, _type, _type, _token, _operand, _operand, _line, _layout, _layout,
    _attribute,
)  # fmt: skip
