"""Attention of the benchmark's source, pipelined: that the configurations of its table need no more registers than
there are, and that addresses are bases and immediates.

Two configurations with every seed, with the one that has least room; `TRITONX_ATTENTION=full` compiles all."""

from __future__ import annotations

import importlib.util
import os
import re
from collections import Counter
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

import pytest

from tritonx.backends.nvidia.assembler.assemble import find_ptxas

SEED = int(os.environ["TRITONX_SEED"])
BENCHMARKS = Path(__file__).parents[4] / "benchmarks"
SIGNATURE = {**dict.fromkeys(("q_ptr", "k_ptr", "v_ptr", "o_ptr"), "*fp16"), "scale": "fp32", "n": "i32"}
TILES = ((128, 64, 4), (128, 64, 8), (128, 128, 8), (64, 64, 4))
TABLE = [
    *((head, causal, *tile, s) for head in (64, 128) for causal in (False, True) for tile in TILES for s in (2, 3)),
    *((256, False, m, 64, warps, 2) for m, warps in ((128, 8), (64, 4))),
]  # fmt: skip
TIGHT = (128, False, 128, 64, 4, 3)
CROWDED = {(128, True, 128, 64, 4, stages) for stages in (2, 3)}
"""Two loops with a mask in one: some words are spilled, as by Triton."""


@cache
def attention(folder: Path) -> Any:
    """The benchmark's kernel, for this package."""
    text = (BENCHMARKS / "kernels_attention.py").read_text()
    text = text.replace("import triton.language", "import tritonx.language").replace(
        "import triton\n", "import tritonx as triton\n"
    )
    copy = folder / "kernels_of_attention.py"
    copy.write_text(text)
    spec = importlib.util.spec_from_file_location(copy.stem, copy)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.attention


@pytest.fixture(scope="module")
def kernel(tmp_path_factory: pytest.TempPathFactory) -> Any:
    return attention(tmp_path_factory.mktemp("attention"))


def chosen() -> list[tuple[int, bool, int, int, int, int]]:
    others = [each for each in TABLE if each != TIGHT and each not in CROWDED]
    return [TIGHT, *(others if os.environ.get("TRITONX_ATTENTION") == "full" else Random(SEED).sample(others, 2))]


@pytest.mark.skipif(find_ptxas() is None, reason="no ptxas")
@pytest.mark.parametrize("configuration", chosen(), ids=str)
def test_nothing_is_spilled(compiler: Any, kernel: Any, configuration: tuple[int, bool, int, int, int, int]) -> None:
    head, causal, m, n, warps, stages = configuration
    constants = {"HEAD": head, "WIDTH": head, "BLOCK_M": m, "BLOCK_N": n, "CAUSAL": causal}
    made = compiler(kernel, "90", SIGNATURE, constants, num_warps=warps, num_stages=stages, pipeline=True)
    assert made.metadata["spills"] == 0 and made.metadata["local"] == 0, f"seed {SEED}"
    assert "C75" not in made.metadata["assembler_log"]
    assert made.count("wgmma.mma_async") and made.count("cp.async.cg")
    if configuration == TIGHT:
        moved = dict(re.findall(r"add\.s64\s+(%rd\d+), (%rd\d+), -?\d+;", made.ptx))  # the assembler's immediates
        sources = re.findall(r"cp\.async\.cg\.shared\.global \[%r\d+(?:\+\d+)?\], \[(%rd\d+)", made.ptx)
        copies = Counter(moved.get(source, source) for source in sources)
        assert min(copies.values()) >= n * head // 8 // (32 * warps), "what is constantly apart has one base"


def test_swizzled_rows_share_their_addresses(compiler: Any, kernel: Any) -> None:
    """Of a tile of 128 columns swizzled in eights, rows further apart than the swizzle turns are immediates."""
    constants = {"HEAD": 128, "WIDTH": 128, "BLOCK_M": 128, "BLOCK_N": 128, "CAUSAL": False}
    made = compiler(kernel, "80", SIGNATURE, constants, num_warps=8, num_stages=2)
    for kind, most in (("x4.shared", 8 + 8), ("x4.trans.shared", 8)):  # keys and queries; values
        bases = re.findall(rf"ldmatrix\.sync\.aligned\.m8n8\.{kind}\.b16 {{[^}}]*}}, \[(%r\d+)", made.ptx)
        assert len(bases) >= 64 and len({*bases}) <= most, kind


def test_one_slot_is_filled_behind_its_readers(compiler: Any, kernel: Any) -> None:
    """Two slots of 64 keys and values of 256 do not fit an A100 beside the queries: copies run ahead in one."""
    constants = {"HEAD": 256, "WIDTH": 256, "BLOCK_M": 128, "BLOCK_N": 64, "CAUSAL": False}
    made = compiler(kernel, "80", SIGNATURE, constants, num_warps=8, num_stages=2)
    assert made.count("cp.async.cg") == 2 * (2 * 64 * 256 * 2) // (16 * 256), "in front of the loop and in it"
    assert made.metadata["shared"] <= 128 * 1024
