"""A CPU's program is one thread: configurations that differ in what is for GPUs are one, and are tried once."""

from __future__ import annotations

import os
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tritonx
import tritonx.language as tl
from tritonx.backends.cpu import BACKEND
from tritonx.runtime import driver
from tritonx.runtime.compiling.sources import ASTSource
from tritonx.runtime.config import Config
from tritonx.runtime.tuning.report import MERGED

SEED = int(os.environ["TRITONX_SEED"])
ROUNDS = int(os.environ.get("TRITONX_CPU_OPTIONS", "3"))
SIGNATURE = {"a": "*fp32", "b": "*fp32", "c": "*fp32", "n": "i32"}


@pytest.fixture(autouse=True)
def _on_cpu(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setenv("TRITONX_CACHE_DIR", str(tmp_path))
    monkeypatch.setenv("TRITONX_TUNING_WORKERS", "0")
    driver.set_active("cpu")
    yield
    driver.reset_active()


@tritonx.jit
def product(a, b, c, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    total = tl.zeros((BLOCK, BLOCK), tl.float32)
    for k in tl.range(0, n, BLOCK):
        x = tl.load(a + i[:, None] * n + (k + i)[None, :])
        y = tl.load(b + (k + i)[:, None] * BLOCK + i[None, :])
        total = tl.dot(x, y, total)
    tl.store(c + i[:, None] * BLOCK + i[None, :], total)


@tritonx.jit
def sorted_sums(a, b, c, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.sort(tl.load(a + i, mask=i < n, other=0.0))
    tl.atomic_add(b, tl.sum(x))
    tl.store(c + i, tl.cumsum(x), mask=i < n)


@pytest.mark.parametrize("number", range(ROUNDS))
@pytest.mark.parametrize("kernel", [product, sorted_sums], ids=lambda kernel: kernel.__name__)
def test_what_is_said_to_change_nothing_changes_no_byte(kernel: Any, number: int) -> None:
    draw = random.Random(f"{SEED} {kernel.__name__} {number}")
    target = BACKEND.parse_target("")
    drawn = {
        "num_warps": 1 << draw.randint(0, 5),
        "num_stages": draw.randint(1, 5),
        "num_ctas": 1 << draw.randint(0, 3),
    }
    kept = {"enable_fp_fusion": draw.random() < 0.5, "num_threads": draw.randint(0, 2)}
    parsed = BACKEND.code_options(target, BACKEND.parse_options(target, {**drawn, **kept}))
    assert parsed == BACKEND.parse_options(target, kept)
    source = ASTSource(kernel, {**SIGNATURE, "BLOCK": "constexpr"}, {"BLOCK": 16})
    one, other = (tritonx.compile(source, target=target, options=given) for given in (kept, {**drawn, **kept}))
    for stage in ("ttir", "llir", "obj"):
        assert one.asm[stage] == other.asm[stage], (stage, drawn)


def test_the_tuner_tries_each_code_once() -> None:
    configs = [
        Config({"BLOCK": block}, num_warps=warps, num_stages=stages)
        for block in (16, 32)
        for warps in (2, 4)
        for stages in (1, 3)
    ]
    configs[-1].maxnreg = 64
    tuned = tritonx.autotune(configs, key=["n"])(sorted_sums)
    draw = np.random.default_rng(SEED)
    a, b, c = draw.random(100, np.float32), np.zeros(1, np.float32), np.full(100, np.nan, np.float32)
    tuned[lambda meta: (tritonx.cdiv(100, meta["BLOCK"]),)](a, b, c, 100)
    block = tuned.best_config.kwargs["BLOCK"]
    rows = np.zeros(-(-100 // block) * block, np.float64)
    rows[:100] = a
    wanted = np.cumsum(np.sort(rows.reshape(-1, block)), axis=1).ravel()[:100]
    np.testing.assert_allclose(c, wanted, rtol=1e-5)
    tried = {each.config: each for each in tuned.report.tried}
    assert list(tried) == configs
    assert [config for config in configs if tried[config].fate != MERGED] == [configs[0], configs[4]]
    assert all((each.runs == 0) == (each.fate == MERGED) for each in tried.values())
    assert all(tried[c].times == tried[configs[4 * (c.kwargs["BLOCK"] == 32)]].times for c in configs)
