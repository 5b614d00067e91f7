"""The variants of a kernel: each rewriting by itself, and drawn combinations of several.

`variants_of` gives the original first. A variant that another one's text is, is left out.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from random import Random
from zlib import crc32

from tests.styles.program import Case, Program
from tests.styles.rewrites import REWRITINGS
from tests.styles.sites import Draw

COUNT = 24
"""Variants that a kernel has at least, if so many texts are found."""


SAMPLED = 3
"""Variants of a kernel, beside the original, that CI compiles."""

COMPARED = (1, 2)
"""Seeds whose `SAMPLED` variants of every kernel have been compiled and compared, alone and beside Triton 3.6: what is
worse has a reason. CI draws one of these, so a finding there is a change. The command takes any seed and finds more."""


@dataclass(frozen=True)
class Variant:
    """``rewritings``: in the order of their application; none of the original."""

    case: Case
    rewritings: tuple[str, ...]
    program: Program

    @property
    def title(self) -> str:
        return f"{self.case.title}/{'+'.join(self.rewritings) or 'original'}"

    @property
    def key(self) -> str:
        """The title, and a checksum of the text and the launch: what was drawn."""
        program = self.program
        launch = sorted(program.constants), sorted(program.wide), program.grid
        return f"{self.title}#{crc32(f'{program.text()}{launch}'.encode()):08x}"


def rewritten(case: Case, names: tuple[str, ...], draw: Draw) -> Variant | None:
    """A case with some rewritings, those whose condition holds; None where none does."""
    program = case.program()
    made: list[str] = []
    for name in names:
        new = REWRITINGS[name](program, draw)
        if new is not None and new.text() != program.text():
            program = new
            made.append(name)
    return Variant(case, tuple(made), program) if made else None


def _names(case: Case) -> list[str]:
    return [name for name in REWRITINGS if name not in case.without]


def lone_variants(case: Case) -> Iterator[Variant]:
    """Each rewriting by itself, at all its sites."""
    for name in _names(case):
        found = rewritten(case, (name,), Draw(Random(f"{case.title} {name}")))
        if found is not None:
            yield found


def drawn_variants(case: Case, random: Random) -> Iterator[Variant]:
    """Combinations of 2 to 6 rewritings, each at some of its sites, without an end."""
    names = _names(case)
    while True:
        chosen = tuple(random.sample(names, random.randint(2, 6)))
        found = rewritten(case, chosen, Draw(random, random.choice((0.5, 1.0))))
        if found is not None and len(found.rewritings) > 1:
            yield found


def variants_of(case: Case, seed: int, count: int = COUNT) -> list[Variant]:
    """The original, drawn lone variants, two of three, and combinations: ``count`` and the original."""
    random = Random(f"{seed} {case.title}")
    lone = list(lone_variants(case))
    texts = {_code(original := Variant(case, (), case.program())): original}
    for variant in random.sample(lone, min(len(lone), 2 * count // 3)):
        texts.setdefault(_code(variant), variant)
    for variant in islice(drawn_variants(case, random), 20 * count):
        if len(texts) > count:
            break
        texts.setdefault(_code(variant), variant)
    return list(texts.values())


def _code(variant: Variant) -> str:
    """The key without the title."""
    return variant.key.partition("#")[2]


def drawn_variant(case: Case, random: Random) -> Variant:
    """One of a case: by itself or a combination."""
    if random.random() < 0.7:
        return next(drawn_variants(case, random))
    names = _names(case)
    found = (rewritten(case, (name,), Draw(random)) for name in random.sample(names, len(names)))
    return next(variant for variant in found if variant is not None)
