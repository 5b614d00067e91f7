"""The layouts of f64 products give each lane the fragments of the instruction (PTX ISA 9.0, 9.7.14.5)."""

from __future__ import annotations

import pytest

from tritonx.backends.nvidia.emit.dot import Instruction, select
from tritonx.layouts.encodings import DotOperandEncoding, NvidiaMmaEncoding
from tritonx.layouts.lookup import linear_layout

RESULT = NvidiaMmaEncoding(2, 0, (1, 1), (16, 8))


def held(encoding: object, shape: tuple[int, int], lane: int) -> list[tuple[int, int]]:
    """The elements of a lane, in the order of its registers."""
    layout = linear_layout(encoding, shape)  # pyright: ignore[reportArgumentType]
    places = [layout.apply(register=register, lane=lane) for register in range(1 << layout.in_bits("register"))]
    return [(row, column) for row, column in places]


@pytest.mark.parametrize("lane", [0, 3, 4, 17, 31])
def test_fragments_of_m16n8k16(lane: int) -> None:
    group, member = lane >> 2, lane % 4
    a = sorted(held(DotOperandEncoding(0, RESULT, 1), (16, 16), lane), key=lambda p: (p[1], p[0]))
    assert a == [(group + 8 * (i % 2), member + 4 * (i // 2)) for i in range(8)]
    b = sorted(held(DotOperandEncoding(1, RESULT, 1), (16, 8), lane))
    assert b == [(member + 4 * i, group) for i in range(4)]
    c = held(RESULT, (16, 8), lane)
    assert c == [(group + 8 * (i // 2), 2 * member + i % 2) for i in range(4)]


@pytest.mark.parametrize(
    ("capability", "words", "expected"),
    [
        (80, 4, Instruction("m8n8k4", "f64.f64.f64.f64", 1, width=64, rows=8)),
        (89, 8, Instruction("m8n8k4", "f64.f64.f64.f64", 1, width=64, rows=8)),
        (90, 8, Instruction("m16n8k16", "f64.f64.f64.f64", 4, width=64)),
        (90, 6, Instruction("m16n8k8", "f64.f64.f64.f64", 2, width=64)),
        (120, 1, Instruction("m16n8k4", "f64.f64.f64.f64", 1, width=64)),
        (75, 4, None),
    ],
)
def test_instruction(capability: int, words: int, expected: Instruction | None) -> None:
    assert select(capability, "f64", "f64", "f64", words) == expected
