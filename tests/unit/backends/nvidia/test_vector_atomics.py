"""Neighbours that one atomic takes: as many as the chip's instruction has room for, mask and alignment allow."""

from __future__ import annotations

import re
from typing import Any

import pytest

from tritonx.testing.conformance.families.atomic import neighbours_kernel

CASES = [
    ("90", "fp16", 8, 0, ".noftz.v4.f16x2", 8), ("90", "bf16", 8, 0, ".noftz.v4.bf16x2", 8),
    ("90", "fp32", 8, 0, ".v4.f32", 4), ("90", "bf16", 4, 2, ".noftz.bf16x2", 2), ("90", "fp32", 4, 2, ".v2.f32", 2),
    ("90", "fp16", 16, 1, ".noftz.f16", 1), ("90", "bf16", 3, 0, ".noftz.bf16", 1), ("90", "fp64", 8, 0, ".f64", 1),
    ("90", "i32", 8, 0, ".u32", 1), ("80", "fp16", 8, 0, ".noftz.f16x2", 2), ("80", "fp32", 8, 0, ".f32", 1),
    ("75", "fp16", 2, 0, ".noftz.f16x2", 2),
]  # fmt: skip


@pytest.mark.parametrize(("arch", "kind", "group", "shift", "suffix", "width"), CASES)
def test_as_many_as_can_be(
    arch: str, kind: str, group: int, shift: int, suffix: str, width: int, compiler: Any
) -> None:
    signature = {"x_ptr": f"*{kind}", "sum_ptr": f"*{kind}", "old_ptr": f"*{kind}", "n": "i32"}
    constants = {"SHIFT": shift, "GROUP": group, "OLD": True, "N": 1024}
    made = compiler(neighbours_kernel, arch, signature, constants)
    found = re.findall(r"atom\.global\.acq_rel\.gpu\.add(\S+)", made.ptx)
    assert found == [suffix] * (1024 // 128 // width)
