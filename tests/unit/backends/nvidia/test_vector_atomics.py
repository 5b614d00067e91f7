"""Neighbours that one atomic takes: as many as the chip's instruction has room for, mask and alignment allow."""

from __future__ import annotations

import os
import re
from typing import Any

import pytest

from tritonx_testing.conformance import cases
from tritonx_testing.conformance.case import Case, Output
from tritonx_testing.conformance.families.atomic import neighbours_kernel
from tritonx_testing.conformance.families.blocks import reduce_kernel, reduced
from tritonx_testing.emulators.ptx.device import PtxDevice

SEED = int(os.environ["TRITONX_SEED"])

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
    found = re.findall(r"atom\.global\.gpu\.acq_rel\.add(\S+)", made.ptx)
    assert found == [suffix] * (1024 // 128 // width)


# Reductions of 16-bit floats through a descriptor whose blocks are not copied: (capability, blocks of a cluster, what
# extents and pointers are divisible by, the instruction, how many elements it takes).
ORDERED = [
    ("90", 2, 16, "atom.global.gpu.relaxed.max.noftz.v4.{}x2", 8),
    ("90", 1, 4, "atom.global.gpu.relaxed.max.noftz.v2.{}", 2),
    ("90", 1, 1, "atom.relaxed.gpu.global.cas.b16", 1),
    ("100", 1, 16, "atom.global.gpu.relaxed.max.noftz.v4.{}x2", 8),
    ("80", 1, 16, "atom.relaxed.gpu.global.cas.b16", 1),
    ("75", 1, 16, "atom.relaxed.gpu.global.cas.b16", 1),
]


@pytest.mark.parametrize(("kind", "name"), [("fp16", "f16"), ("bf16", "bf16")])
@pytest.mark.parametrize(("arch", "blocks", "aligned", "instruction", "width"), ORDERED)
def test_ordered_together(
    arch: str, blocks: int, aligned: int, instruction: str, width: int, kind: str, name: str, compiler: Any
) -> None:
    """In vectors from 9.0 on, of which pairs are vectors of two; one by one by compare-and-swap."""
    signature = {"x_ptr": f"*{kind}", "out_ptr": f"*{kind}", "rows": "i32", "columns": "i32"}
    constants = {"M": 32, "N": 64, "KIND": "max"}
    made = compiler(reduce_kernel, arch, signature, constants, aligned=aligned, num_ctas=blocks)
    found = re.findall(r"\b(?:atom|cp\.reduce)\.\S+", made.ptx)
    assert found == [instruction.format(name)] * (32 * 64 // 128 // blocks // width)


def test_whole_blocks_are_reduced_by_the_copy_engine(compiler: Any) -> None:
    signature = {"x_ptr": "*bf16", "out_ptr": "*bf16", "rows": "i32", "columns": "i32"}
    made = compiler(reduce_kernel, "90", signature, {"M": 32, "N": 64, "KIND": "min"})
    assert "cp.reduce.async.bulk.tensor.2d.global.shared::cta.min.bulk_group" in made.ptx
    assert "atom." not in made.ptx


REDUCTIONS = [case for case in cases() if case.name.startswith("atomic/blocks")]


@pytest.mark.parametrize("arch", ["75", "90"])
@pytest.mark.parametrize("case", REDUCTIONS, ids=lambda case: case.name)
def test_reductions_executed(case: Case, arch: str) -> None:
    is_right(case, arch)


@pytest.mark.parametrize("kind", ["max", "min"])
@pytest.mark.parametrize(
    ("dtype", "tile", "suffix"),
    [("fp16", (32, 8), ".v2.f16"), ("bf16", (32, 8), ".v2.bf16"), ("fp16", (32, 16), ".v2.f16x2"),
     ("bf16", (32, 32), ".v4.bf16x2")],
)  # fmt: skip
def test_vectors_executed(dtype: str, tile: tuple[int, int], suffix: str, kind: str) -> None:
    case = Case(f"{kind}-{dtype}", reduce_kernel, reduced(kind, dtype, (64, 64), tile), {"num_warps": 4})
    assert f"atom.global.gpu.relaxed.{kind}.noftz{suffix} " in is_right(case, "100")


def is_right(case: Case, arch: str) -> str:
    """Executes a case, and compares what it leaves. Returns the PTX."""
    trial, device = case.trial(SEED), PtxDevice(arch, SEED)
    got = device.run(case, trial)
    for output, array in zip((a for a in trial.args if isinstance(a, Output)), got, strict=True):
        output.check(array)
    return device.backend.cuda.executed
