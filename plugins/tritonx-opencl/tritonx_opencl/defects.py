"""What the OpenCL implementation itself gets wrong, with the proof that it is not the code it was given."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Defect:
    """``case`` of the conformance suite on ``target`` (of ``TARGETS``) does ``what``; ``proof`` says why the
    driver is at fault."""

    case: str
    target: str
    what: str
    proof: str


CRASH_REPORT = "PLEASE submit a bug report to https://software.intel.com"
"""What its compiler prints when it crashes. It did so about once in 300 kernels with sub-groups while modules could
define an id twice (`spirv`); not one crash has been seen since each is written by itself."""

DEFECTS: tuple[Defect, ...] = (
    Defect(
        "casts/fp64-256-w4",
        "spirv",
        "clBuildProgram does not end: doubles that are stored as bf16 and as f32, two or more a lane",
        "tests/test_defects.py: the two stores alone do that, and not with one double a lane, one lane a warp, or"
        " -cl-opt-disable",
    ),
)
"""Of intel-opencl-rt 2026.2. A case that stands here is not run on that target."""


def known(case: str, target: str) -> Defect | None:
    """The defect that makes this case useless there."""
    return next((d for d in DEFECTS if (d.case, d.target) == (case, target)), None)
