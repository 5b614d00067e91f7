"""What a scan comes to."""

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
def sum_columns(x_ptr, M: tl.constexpr, N: tl.constexpr, REVERSE: tl.constexpr):
    at = x_ptr + tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :]
    tl.store(at, tl.cumsum(tl.load(at), 0, reverse=REVERSE))


@pytest.mark.parametrize("reverse", [False, True])
def test_a_column_in_one_thread_takes_a_sum_less_than_elements(reverse: bool, compiler: Any) -> None:
    """A thread of one warp has 32 rows of four columns: 31 sums each, of which a tree would take 80."""
    constants = {"M": 32, "N": 128, "REVERSE": reverse}
    made = compiler(sum_columns, "90", {"x_ptr": "*fp32"}, constants, num_warps=1, until="ptx")
    assert len(re.findall(r"\badd\.(?:rn\.)?f32", made.ptx)) == 4 * 31
