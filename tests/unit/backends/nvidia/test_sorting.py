"""What a sorting network comes to."""

# pyright: reportArgumentType=false, reportOperatorIssue=false, reportUnknownMemberType=false
# pyright: reportUnknownVariableType=false, reportMissingParameterType=false, reportUnknownParameterType=false
# -- kernels are the language's, not Python's

from __future__ import annotations

import re
from typing import Any

import pytest

import tritonx
import tritonx.language as tl


@tritonx.jit
def sort_row(x_ptr, N: tl.constexpr):
    n = tl.arange(0, N)
    tl.store(x_ptr + n, tl.sort(tl.load(x_ptr + n)))


STEPS = 55
"""Of a network of 1024 elements."""
STEPS_IN_THREADS = 10 + 9 + 1
"""The two innermost axes and the outermost one are a thread's own eight elements."""


@pytest.mark.parametrize("dtype", ["fp32", "i32"])
def test_a_pair_is_its_minimum_and_its_maximum(dtype: str, compiler: Any) -> None:
    """A thread that has both elements of a pair computes each once; none is compared to be chosen."""
    made = compiler(sort_row, "90", {"x_ptr": f"*{dtype}"}, {"N": 1024}, num_warps=4, until="ptx")
    found = len(re.findall(r"\b(?:min|max)\.s32", made.ptx))
    assert found <= 8 * STEPS_IN_THREADS + 2 * 8 * (STEPS - STEPS_IN_THREADS)
    assert not re.findall(r"\bsetp\.[a-z]+\.f32|\bsetp\.[gl][te]\.s32", made.ptx)


def test_a_wide_element_is_compared_once(compiler: Any) -> None:
    made = compiler(sort_row, "90", {"x_ptr": "*i64"}, {"N": 1024}, num_warps=4, until="ptx")
    assert not re.findall(r"\b(?:min|max)\.s64", made.ptx)
    assert len(re.findall(r"\bsetp\.[gl][te]\.s64", made.ptx)) <= 8 * STEPS
