"""Every op on every dtype and edge value: the kernel's Python lines and the CPU against the interpreter, on fresh
values (``TRITONX_SEED`` fixes them); and that the comparison sees what it should."""

from __future__ import annotations

import os
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from tritonx_testing.conformance.case import EXACT, Tolerance
from tritonx_testing.differential import compare_group, groups
from tritonx_testing.differential.devices import launcher
from tritonx_testing.differential.kernels import source
from tritonx_testing.differential.operands import COUNT, edges, operands
from tritonx_testing.differential.run import difference
from tritonx_testing.differential.table import Operation

SEED = int(os.environ["TRITONX_SEED"])
GROUPS = groups()


@pytest.mark.parametrize("device", ["python", "cpu"])
@pytest.mark.parametrize("group", GROUPS, ids=lambda g: g.name.replace(" ", ""))
def test_agrees_with_the_interpreter(group: Any, device: str) -> None:
    failures = compare_group(group, device, launcher(device), SEED)
    assert not failures, f"seed {SEED}\n" + "\n".join(map(str, failures))


def test_the_table() -> None:
    names = [(g.name, op.name) for g in GROUPS for op in g.operations]
    assert len(names) == len(set(names)) and len({g.name for g in GROUPS}) == len(GROUPS)
    assert len(names) > 700
    compile(source(GROUPS[0]), "<kernel>", "exec")


def test_every_pair_of_edges_is_tried() -> None:
    x, y = operands(np.random.default_rng(SEED), ("fp32", "fp32"))
    assert x.shape == (COUNT,)
    pairs = set(zip(x.view(np.uint32).tolist(), y.view(np.uint32).tolist(), strict=True))
    special = edges("fp32").view(np.uint32).tolist()
    assert {(a, b) for a in special for b in special} <= pairs
    assert {2**31, 2**32 + 1, -(2**63)} <= set(edges("int64").tolist())
    smallest = float(ml_dtypes.finfo(ml_dtypes.bfloat16).smallest_subnormal)
    assert smallest in edges("bf16").astype(np.float64).tolist()


def test_a_difference_is_seen() -> None:
    one = np.arange(COUNT, dtype=np.float32)
    operation = Operation("-x", "", "fp32")
    assert difference(operation, "cpu", [one], one, one.copy()) is None
    other = one.copy()
    other[0] = -0.0
    assert "1 of 1024 differ" in str(difference(operation, "cpu", [one], one, other))
    other = one.copy()
    other[7] = np.nextafter(np.float32(7), np.float32(8))
    assert "x = 7.0" in str(difference(operation, "cpu", [one], one, other))
    assert difference(Operation("f", "", "fp32", Tolerance(ulps=1)), "cpu", [one], one, other) is None
    assert difference(Operation("f", "", "fp32", Tolerance(ulps=0.4)), "cpu", [one], one, other) is not None


def test_nans_are_one_value_and_zeros_are_two() -> None:
    quiet = np.array([0x7FC00000, 0x00000000], np.uint32).view(np.float32)
    other = np.array([0xFFC00001, 0x80000000], np.uint32).view(np.float32)
    operation = Operation("x", "", "fp32", EXACT, count=2)
    assert (
        difference(operation, "cpu", [quiet], quiet, other) == "x = 0.0 gives -0.0, the interpreter 0.0; 1 of 2 differ"
    )


def test_an_op_that_fails_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """A kernel of many ops that does not run is taken apart."""

    def launch(kernel: Any, arrays: list[Any]) -> list[Any]:
        if "~x" in kernel.src:
            raise ValueError("no complement here")
        return launcher("python")(kernel, arrays)

    (group,) = (g for g in GROUPS if g.name == "int8")
    (failure,) = compare_group(group, "python", launch, SEED)
    assert failure.operation == "~x" and "ValueError: no complement here" in str(failure)
