"""One type of a module changed everywhere for another, also for one that no tile holds: an error at its line, or code.

By default 40 of the thousands of cases for each target (``TRITONX_SEED`` draws them); ``TRITONX_TYPES=all`` for all.
"""

from __future__ import annotations

import io
import os
import random
import re

import pytest

from tests.unit.mutated.mutants import TYPE, modules
from tritonx.tools import opt

TARGETS = ("cuda:90", "hip:gfx942", "cpu")
COUNT = 40
BUFFER = "#ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>, #ttg.shared_memory, mutable"
OTHERS = (
    "i1", "i4", "i8", "i16", "i32", "i64", "i128", "si32", "ui8", "f8E5M2", "f8E4M3FN", "f16", "bf16", "f32", "f64",
    "f80", "f128", "index", "none", "vector<4xf32>", "complex<f32>", "tensor<128xf32>", "(i32) -> i32", "!tt.ptr<f32>",
    "!tt.ptr<f32, 3>", "!tt.ptr<index>", "!tt.ptr<tensor<4x4xf32>>", "!tt.tensordesc<tensor<64x64xf16>>",
    "!ttg.async.token", f"!ttg.memdesc<4xf32, {BUFFER}>",
)  # fmt: skip

BEFORE = r"(?<=[x<\s(])"
PLACE = re.compile(BEFORE + TYPE.pattern.removeprefix(r"\b"))
"""Types that stand by themselves, and those of a shape's elements."""


def changes() -> list[tuple[int, str, str]]:
    """(module, type in it, another)."""
    return [
        (number, old, new)
        for number, text in enumerate(modules())
        for old in sorted(set(PLACE.findall(text)))
        for new in OTHERS
        if new != old
    ]


@pytest.mark.parametrize("target", TARGETS)
def test_another_type_is_an_error_at_its_line_or_has_code(target: str) -> None:
    cases = changes()
    if os.environ.get("TRITONX_TYPES") != "all":
        cases = random.Random(f"{os.environ['TRITONX_SEED']}/{target}").sample(cases, COUNT)
    wrong: list[str] = []
    for number, old, new in cases:
        text = re.sub(rf"{BEFORE}{old}\b", new, modules()[number])
        said = io.StringIO()
        code = opt.run(
            ["--target", target, "-t", "llir"], stdin=io.BytesIO(text.encode()), stdout=io.StringIO(), stderr=said
        )
        if "internal error" in said.getvalue() or (code == 0) != (not said.getvalue()):
            wrong.append(f"module {number}, {new} for {old}: {said.getvalue()[:500]}")
    assert not wrong, f"{len(wrong)} of {len(cases)}:\n" + "\n".join(wrong[:20])
