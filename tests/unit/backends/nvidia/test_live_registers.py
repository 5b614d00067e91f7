"""Registers that values take at once, against counting them place by place."""

from __future__ import annotations

import random

import pytest

from tritonx.backends.nvidia.assembler.live_registers import live_registers

WORDS = {"r": 1, "f": 1, "rd": 2, "fd": 2, "rs": 0, "p": 0}


@pytest.mark.parametrize("seed", range(30))
def test_the_most_at_one_place(seed: int) -> None:
    rng = random.Random(seed)
    names = [(kind, number) for kind in WORDS for number in range(rng.randrange(1, 12))]
    said = [rng.choice(names) for _ in range(rng.randrange(1, 120))]
    ptx = "".join(
        f"\top.x \t%{kind}{number};\n" if rng.random() < 0.5 else f"[%{kind}{number}+4];" for kind, number in said
    )
    head = "".join(f"\t.reg .b32 \t%{kind}<{rng.randrange(100, 999)}>;\n" for kind in WORDS)

    def alive(name: tuple[str, int], place: int) -> bool:
        return said.index(name) <= place <= len(said) - 1 - said[::-1].index(name)

    most = max(sum(WORDS[n[0]] for n in set(said) if alive(n, place)) for place in range(len(said)))
    assert live_registers(head + ptx) == most


def test_what_has_no_registers() -> None:
    assert live_registers("") == 0
    assert live_registers(".reg .b32 %r<5000>;\nret;") == 0
