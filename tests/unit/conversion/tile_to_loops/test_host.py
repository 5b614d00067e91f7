"""What the loop emitter goes by: how many elements a vector has, and what operands are known to be."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tritonx.conversion.tile_to_loops.isa import AVX2, AVX512
from tritonx.conversion.tile_to_loops.numbers import Literal, of_operand
from tritonx.conversion.tile_to_loops.writer import Lanes


@pytest.mark.parametrize(
    ("register", "lanes"),
    [(16, {1: 16, 2: 8, 4: 4, 8: 4}), (32, {1: 32, 2: 16, 4: 8, 8: 4}), (64, {1: 64, 2: 32, 4: 16, 8: 8}),
        (128, {1: 64})],
)  # fmt: skip
def test_elements_of_a_vector(register: int, lanes: dict[int, int]) -> None:
    isa = replace(AVX2, vector_bytes=register)
    assert {size: isa.lanes(size) for size in lanes} == lanes


def test_named_instruction_sets() -> None:
    assert (AVX2.vector_bytes, AVX2.vector_registers) == (32, 16)
    assert (AVX512.vector_bytes, AVX512.vector_registers) == (64, 32)
    for isa, bits in ((AVX2, 256), (AVX512, 512)):
        assert isa.function_attributes().count(f'="{bits}"') == 2


@pytest.mark.parametrize("width", [0, 4])
@pytest.mark.parametrize("number", [0, 1, 7, 10, 15, 4096, -1, -8, -128])
def test_what_is_known_of_an_operand(number: int, width: int) -> None:
    text = str(number) if width == 0 else f"splat (i32 {number})"
    assert of_operand(Lanes(text, width)) == Literal(number)
    assert of_operand(Lanes(text, width)).non_negative == (number >= 0)


@pytest.mark.parametrize("text", ["%v1", "%5", "poison", "splat (float 1.0)", "<i32 1, i32 2>", "true", "null"])
def test_nothing_is_known_of_other_operands(text: str) -> None:
    assert of_operand(Lanes(text, 4)) == Literal(None)
    assert not of_operand(Lanes(text, 4)).non_negative
