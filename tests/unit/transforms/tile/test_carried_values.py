"""Values that loops carry and that are equal in every round are one; what another carries of them stays right."""

# pyright: reportArgumentType=false, reportOperatorIssue=false, reportUnknownMemberType=false
# pyright: reportUnknownVariableType=false -- kernels are the language's, not Python's

from __future__ import annotations

import numpy as np
import pytest

import tritonx
import tritonx.language as tl


@tritonx.jit
def counting(p, step, n, TOGETHER: tl.constexpr):
    a = 0
    b = 0
    late = 5
    for _ in range(n):
        late = b
        a += step
        if TOGETHER:
            b = a
        else:
            b += step
    tl.store(p, a)
    tl.store(p + 1, b)
    tl.store(p + 2, late)


@pytest.mark.parametrize("together", [False, True])
@pytest.mark.parametrize("rounds", [0, 1, 2, 5])
def test_a_value_of_the_round_before(rounds: int, together: bool) -> None:
    out = np.full(3, -1, np.int32)
    counting[(1,)](out, 3, rounds, TOGETHER=together)
    assert out.tolist() == [3 * rounds, 3 * rounds, 3 * (rounds - 1) if rounds else 5]
