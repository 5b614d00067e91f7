"""Rows that are copied by their indices, executed; one that begins before its memory is free is reported."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.unit.backends.nvidia.test_row_copies import text_of
from tritonx.interpreter.asynchronous import Kind, Landing, Order, Setting, execute
from tritonx.ir.text import parse_module


class Host:
    """A descriptor as a launch gives it."""

    def __init__(self, base: np.ndarray[Any, Any]) -> None:
        self.base, self.shape = base, base.shape
        self.strides = tuple(s // base.itemsize for s in base.strides)


TEXT = text_of(32, 64, "f32", 128, 4, "32, 1", (1, 4))
WAIT = "    ttng.wait_barrier %b, %zero : !ttg.memdesc<1xi64, #bars, #smem, mutable>\n"


def kinds(text: str, landing: Landing, source: Any, target: Any, index: Any) -> set[Kind]:
    setting = Setting(order=Order(3, landing))
    arguments = [Host(source), Host(target), index, 16, True]
    return {report.kind for report in execute(parse_module(text), 1, arguments, setting)}


@pytest.mark.parametrize("landing", list(Landing))
def test_rows_by_index(landing: Landing) -> None:
    random = np.random.default_rng(5)
    source = random.normal(size=(60, 100)).astype(np.float32)
    index = random.permutation(np.arange(-3, 65))[:32].astype(np.int32)
    target = np.zeros_like(source)
    assert kinds(TEXT, landing, source, target, index) == set()
    inside = index[(index >= 0) & (index < 60)]
    expected = np.zeros_like(source)
    expected[inside, 16:80] = source[inside, 16:80]
    np.testing.assert_array_equal(target, expected)


@pytest.mark.parametrize("landing", list(Landing))
def test_rows_without_a_wait(landing: Landing) -> None:
    source = np.ones((60, 100), np.float32)
    assert WAIT in TEXT
    assert Kind.NOT_VISIBLE in kinds(
        TEXT.replace(WAIT, ""), landing, source, source.copy(), np.arange(32, dtype=np.int32)
    )
