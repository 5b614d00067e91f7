"""What a multiprocessor does in a cycle, as the data sheets have it: peak rates of a chip of each compute capability,
divided by its multiprocessors and clock; and what the copy instructions of the PTX ISA move."""

from __future__ import annotations

from math import log2

import pytest

from tritonx.backends.nvidia.costs import costs_of
from tritonx.backends.nvidia.targets import CAPABILITIES

CHIPS: dict[int, tuple[int, float, float, dict[str, float]]] = {
    75: (40, 1.59, 8.1, {"f16": 65}),  # T4
    80: (108, 1.41, 19.5, {"f16": 312, "bf16": 312, "f32": 156, "i8": 624, "f64": 9.7 * 2}),  # A100
    86: (84, 1.74, 37.4, {"f16": 149.7, "bf16": 149.7, "f32": 74.8, "i8": 299.3, "f64": 0.585}),  # A40
    89: (142, 2.52, 91.6, {"f16": 362, "bf16": 362, "f32": 183, "i8": 733, "f8E4M3FN": 733, "f8E5M2": 733}),  # L40S
}
"""Multiprocessors, GHz, 10^12 operations of f32 and of products a second (T4, A100, A40 and L40S data sheets)."""

H100: dict[str, float] = {
    "f16": 989, "bf16": 989, "f32": 494, "i8": 1979, "f8E4M3FN": 1979, "f8E5M2": 1979,
}  # fmt: skip
"""Of products from shared memory, 132 multiprocessors, at 1.83 GHz."""


def of_a_cycle(tera: float, multiprocessors: int, clock: float) -> int:
    """Multiply-adds: the power of two that is nearest."""
    return 1 << round(log2(tera * 1000 / 2 / multiprocessors / clock))


@pytest.mark.parametrize("number", CHIPS)
def test_rates_are_the_data_sheets(number: int) -> None:
    multiprocessors, clock, plain, products = CHIPS[number]
    costs = costs_of(number)
    assert costs.lanes == of_a_cycle(plain, multiprocessors, clock)
    rates = dict(costs.products)
    for element, tera in products.items():
        assert rates[element] == of_a_cycle(tera, multiprocessors, clock), element
    assert rates.keys() - {"f64"} == products.keys() - {"f64"}


def test_products_from_shared_memory() -> None:
    costs = costs_of(90)
    assert dict(costs.shared_products) == {element: of_a_cycle(tera, 132, 1.83) for element, tera in H100.items()}
    assert all(2 * rate == dict(costs.shared_products)[t] for t, rate in costs.products if t != "f64")
    assert costs.lanes == of_a_cycle(66.9, 132, 1.98) == dict(costs.products)["f64"]


@pytest.mark.parametrize("number", CAPABILITIES)
def test_copies_are_what_there_are_instructions_for(number: int) -> None:
    """PTX ISA: cp.async from 8.0 on, of 4, 8 or 16 bytes; cp.async.bulk.tensor from 9.0 on,
    which 12.0 is scheduled without, as 8.9 is."""
    costs = costs_of(number)
    assert costs.copy_bytes == ((4, 8, 16) if number >= 80 else ())
    assert costs.copies_blocks == (90 <= number < 120)
