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
"""What its compiler prints when it crashes, which it does about once in 300 kernels with sub-groups. It is the code,
not chance: LLVM's SPIR-V for the same text (`reduce/negated-uint64-8x64-w4`) differs with what the process has written
before, and one crashed every time that it was built, the other never."""

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
