"""Kernels rewritten in drawn styles give the same results.

A sample by ``TRITONX_SEED``; ``python -m tests.styles`` looks at all, beside Triton where that is installed.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from random import Random

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))

from structural.measure import of_ptx  # pyright: ignore[reportMissingImports]

from tests.styles.cases import CASES
from tests.styles.compiling import code_of, is_described
from tests.styles.judge import Finding, Row, Which, beside_best, beside_peer
from tests.styles.program import Case
from tests.styles.running import difference
from tests.styles.variants import COMPARED, SAMPLED, drawn_variant, variants_of

SEED = int(os.environ["TRITONX_SEED"])
LEAST = 24


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.title)
def test_results(case: Case, tmp_path: Path) -> None:
    variant = drawn_variant(case, Random(f"{SEED} {case.title}"))
    assert not difference(case, variant.program, np.random.default_rng(SEED), tmp_path), variant.program.text()


def test_a_wrong_variant_is_found(tmp_path: Path) -> None:
    case = next(case for case in CASES if case.title == "scaled_add")
    right = case.program()
    wrong = right.copied()
    wrong.kernel.body.pop()
    assert not difference(case, right, np.random.default_rng(SEED), tmp_path)
    assert "differs" in difference(case, wrong, np.random.default_rng(SEED), tmp_path)


@pytest.mark.parametrize("title", Random(SEED).sample([case.title for case in CASES], 3))
def test_a_kernel_has_many_variants(title: str) -> None:
    case = next(case for case in CASES if case.title == title)
    found = variants_of(case, SEED)
    assert len(found) > LEAST and len({variant.key for variant in found}) == len(found)


def rows_of(case: Case, folder: Path) -> dict[Which, Row]:
    """What the original and some drawn variants are made of, as far as the PTX says it."""
    rows: dict[Which, Row] = {}
    for variant in variants_of(case, Random(SEED).choice(COMPARED), SAMPLED):
        ptx, shared = code_of(variant, "90", folder)
        rows[variant.key, variant.rewritings] = {**of_ptx(ptx), "shared": shared}
    return rows


@pytest.mark.parametrize("title", Random(SEED).sample([case.title for case in CASES], 12))
def test_code_is_as_good_as_the_best_styles(title: str, tmp_path: Path) -> None:
    """Widths, copies, matrix instructions and shared memory. Beside Triton it is `tests/peer/test_styles.py`."""
    case = next(case for case in CASES if case.title == title)
    found = beside_best(title, rows_of(case, tmp_path), {})
    assert not [str(finding) for finding in found if finding.reason is None]


DESCRIBED = (
    "matmul matmul_two_axes matmul_f32 matmul_rows_of_both matmul_fp8 matmul_columns_of_a batched_matmul gated_matmul"
    " split_k_matmul int8_weights block_scaled int8_matmul attention causal_attention"
).split()
"""Whose loads for products the copy engine brings, as the originals are written."""


@pytest.mark.parametrize("title", DESCRIBED)
def test_launches_make_tensor_maps_in_every_style(title: str, tmp_path: Path) -> None:
    case = next(case for case in CASES if case.title == title)
    for variant in variants_of(case, Random(SEED).choice(COMPARED), SAMPLED):
        kept = Finding(title, variant.rewritings, "bulk", "best", 0, 1)
        assert is_described(variant, "90", tmp_path) or kept.reason is not None, variant.program.text()


ROW: Row = {"load": 16, "store": 16, "copies": 8, "bulk": 0, "matrix": 1, "spills": 0, "instructions": 400, "loop": 50,
            "loop_multiplies": 1 << 16, "loop_moves": 0, "shared": 1 << 16}  # fmt: skip
BASE: Which = ("kernel/original#0", ())


@pytest.mark.parametrize(("column", "change"), [
    ("load", {"load": 4}), ("store", {"store": 8}), ("copied", {"copies": 0}), ("shared", {"shared": 1 << 17}),
    ("spills", {"spills": 40}), ("loop", {"loop": 60}),
    ("code", {"loop": 0, "loop_multiplies": 0, "instructions": 600}),
])  # fmt: skip
def test_what_is_worse_is_found(column: str, change: dict[str, float]) -> None:
    """Than the peer's variant; than the best one, unless the peer's is as well, or the best one is another program."""
    straight = {**ROW, "loop": 0, "loop_multiplies": 0} if column == "code" else ROW
    worse: Row = {**ROW, **change}
    assert [f.column for f in beside_peer("kernel", (), worse, straight)] == [column]
    assert not beside_peer("kernel", (), straight, worse)
    other: Which = ("kernel/commuted#1", ("commuted",))
    assert [f.column for f in beside_best("kernel", {BASE: straight, other: worse}, {})] == [column]
    assert not beside_best("kernel", {BASE: straight, other: worse}, {BASE: straight, other: worse})
    assert not beside_best("kernel", {("kernel/descriptors#2", ("descriptors",)): straight, other: worse}, {})


def test_a_reason_is_of_a_kernel_a_rewriting_and_a_column() -> None:
    finding = Finding("matmul", ("commuted", "while_loops"), "copied", "best", 0, 1)
    assert finding.reason == "loops by while have no schedule, in Triton neither"
    assert Finding("matmul", ("commuted",), "copied", "best", 0, 1).reason is None
    assert Finding("matmul", ("while_loops",), "load", "best", 0, 1).reason is None
