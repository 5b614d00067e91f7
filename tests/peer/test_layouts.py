"""The layouts of random encodings and shapes equal those of the Triton wheel."""

from __future__ import annotations

import importlib.util
import json
import os
import random
import subprocess
import sys
from pathlib import Path

import pytest

from tritonx.layouts import encodings as enc
from tritonx.layouts.lookup import linear_layout
from tritonx.layouts.samples import random_distributed, random_shared
from tritonx.layouts.text import encoding_text

pytestmark = pytest.mark.peer
if importlib.util.find_spec("triton") is None:
    pytest.skip("the Triton wheel is not installed", allow_module_level=True)

SEED = int(os.environ["TRITONX_SEED"])
ORACLE = Path(__file__).with_name("layout_oracle.py")


def ask(queries):
    done = subprocess.run(
        [sys.executable, str(ORACLE)], input=json.dumps(queries), capture_output=True, text=True, timeout=100
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return json.loads(done.stdout)


def lists(bases):
    return [list(basis) for basis in bases]


def query(e):
    """The oracle's words for an encoding."""
    match e:
        case enc.BlockedEncoding():
            return ["blocked", [e.size_per_thread, e.threads_per_warp, e.warps_per_cta, e.order, lists(e.cga)]]
        case enc.SliceEncoding():
            return ["slice", [e.dim, query(e.parent)]]
        case enc.NvidiaMmaEncoding():
            version = [e.version_major, e.version_minor]
            return ["nvidia_mma", [version, e.warps_per_cta, lists(e.cga), e.instr_shape]]
        case enc.DotOperandEncoding():
            return ["dot_op", [e.op_idx, query(e.parent), e.k_width]]
        case enc.AmdMfmaEncoding():
            shape = [e.version, e.warps_per_cta, e.instr_shape, e.is_transposed]
            return ["amd_mfma", [*shape, lists(e.cga), e.tiles_per_warp, e.element_bit_width]]
        case enc.AmdWmmaEncoding():
            shape = [e.version, e.is_transposed, e.warps_per_cta, e.tiles_per_warp]
            return ["amd_wmma", [*shape, lists(e.cga), e.instr_shape]]
        case enc.LinearEncoding():
            raise NotImplementedError
    raise AssertionError(e)


@pytest.mark.parametrize("number", range(4))
def test_distributed_layouts_equal(number):
    rng = random.Random(SEED + number)
    cases = [random_distributed(rng) for _ in range(400)]
    answers = ask([[*query(e), shape] for e, shape in cases])
    for (e, shape), expected in zip(cases, answers, strict=True):
        ours = {dim: lists(bases) for dim, bases in linear_layout(e, tuple(shape))}
        assert ours == expected, f"{e} on {shape}"


def as_bases(e, shape):
    layout = linear_layout(e, tuple(shape))
    if isinstance(e, enc.PaddedSharedEncoding):
        return enc.PaddedSharedEncoding(
            e.intervals, e.paddings, None, None, layout.bases("offset"), layout.bases("block")
        )
    return enc.SharedLinearEncoding(layout.bases("offset"), layout.bases("block"), 16)


def swapped(bases):
    """Two bases exchanged: another layout."""
    return (bases[1], bases[0], *bases[2:])


def test_shared_layouts_equal():
    rng = random.Random(SEED)
    cases = [random_shared(rng) for _ in range(150)]
    queries = [
        ["same_shared", [encoding_text(e), encoding_text(as_bases(e, shape)), element], shape]
        for e, shape, element in cases
    ]
    # The oracle tells layouts apart.
    wrong = enc.NvmmaSharedEncoding(128, False, 16), (64, 64)
    bases = linear_layout(*wrong).bases("offset")
    other = enc.SharedLinearEncoding(swapped(bases))
    queries.append(["same_shared", [encoding_text(wrong[0]), encoding_text(other), "f16"], wrong[1]])
    answers = ask(queries)
    assert not answers.pop()
    for (e, shape, _), same in zip(cases, answers, strict=True):
        assert same, f"{e} on {shape}:\n{linear_layout(e, tuple(shape))}"


def test_layouts_of_double_products_equal():
    """The accumulator of f64 products, and their operands, whose words are single elements."""
    queries, ours = [], []
    for warps in ((1, 1), (2, 2), (4, 1), (1, 8)):
        result = enc.NvidiaMmaEncoding(2, 0, warps, (16, 8))
        for shape in ([16, 16], [64, 32], [128, 16]):
            for e in (result, *(enc.DotOperandEncoding(side, result, 1) for side in (0, 1))):
                queries.append([*query(e), shape])
                ours.append({dim: lists(bases) for dim, bases in linear_layout(e, tuple(shape))})
    assert ask(queries) == ours
