"""Parities of a thread's lane and warp, computed as they are emitted."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import product
from types import SimpleNamespace
from typing import Any

import pytest

from tritonx.conversion.gpu_to_llvm.convert_layout import parity


class Evaluator:
    """Takes instructions and keeps what they compute for one thread."""

    def __init__(self, lane: int, warp: int | None) -> None:
        self.values = {"%lane": lane, "%warp": warp or 0}
        self.threads = SimpleNamespace(lane="%lane", warp="0" if warp is None else "%warp")
        self.module = SimpleNamespace(declare=lambda *_: "@ctpop")

    @contextmanager
    def in_prologue(self) -> Iterator[None]:
        yield

    def inst(self, text: str) -> str:
        name = f"%v{len(self.values)}"
        self.values[name] = self.compute(text)
        return name

    def compute(self, text: str) -> int:
        names = re.findall(r"%\w+|(?<= )\d+\b", text)
        numbers = [self.values.get(n, 0) if n[0] == "%" else int(n) for n in names]
        if text.startswith("and i32"):
            return numbers[0] & numbers[1]
        if text.startswith("add i32"):
            return numbers[0] + numbers[1]
        if text.startswith("icmp ne i32"):
            return int(numbers[0] != numbers[1])
        if text.startswith("trunc i32"):
            return numbers[0] & 1
        assert text.startswith("call i32 @ctpop"), text
        return numbers[0].bit_count()

    def result(self, name: str) -> bool:
        return name != "false" and bool(self.values[name])


@pytest.mark.parametrize("warps", [None, 4])
def test_parity(warps: int | None) -> None:
    for lane_mask, warp_mask in product((0, 1, 2, 3, 6, 7), (0, 1, 2, 3)):
        for lane, warp in product(range(8), range(warps or 1)):
            f: Any = Evaluator(lane, None if warps is None else warp)
            odd = ((lane & lane_mask).bit_count() + (warp & warp_mask).bit_count()) % 2 == 1
            assert f.result(parity(f, lane_mask, warp_mask)) == odd, (lane_mask, warp_mask, lane, warp)
